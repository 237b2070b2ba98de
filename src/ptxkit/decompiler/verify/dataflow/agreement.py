"""Whether two values are equal in all cases that there can be.

Diagrams know nothing about their conditions. Some cases contradict themselves: no number is less
than 4, not less than 2, and neither 2 nor 3. In others a condition says that two terms are equal,
and then what is made of the one is the same as what is made of the other.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from ptxkit.decompiler.verify.dataflow.bits import masked
from ptxkit.decompiler.verify.dataflow.bounds import as_signed, bounds, whole
from ptxkit.decompiler.verify.dataflow.decisions import LEAF, Decisions, Diagram
from ptxkit.decompiler.verify.dataflow.fields import lowest
from ptxkit.decompiler.verify.dataflow.reals import contradict
from ptxkit.decompiler.verify.dataflow.rewrite import Rewriter
from ptxkit.decompiler.verify.dataflow.terms import Term
from ptxkit.decompiler.verify.dataflow.timeless import Timeless

#: Cases to look at, at most.
_CASES = 2_000
#: Conditions that are looked into have so many nodes at most.
_CONDITIONS = 64
#: Ranges of numbers that are gone through one by one, and that are tried in other facts.
_FEW, _TRIED = 64, 8

Fact = tuple[Term, bool]


class Agreement:
    """Compares values case by case."""

    def __init__(self, decisions: Decisions, timeless: Timeless) -> None:
        self.decisions = decisions
        self.terms = decisions.terms
        self.timeless = timeless
        self._left = _CASES

    def same(self, a: Diagram, b: Diagram) -> bool:
        """Whether two values are equal wherever they can be asked for."""
        return a == b or all(
            self._equal(first, second, facts) for first, second, facts in self._differing(a, b)
        )

    def never(self, condition: Diagram) -> bool:
        """Whether a condition contradicts itself in all cases."""
        return self.same(condition, self.decisions.false)

    def differing(
        self, condition: Diagram, a: Diagram, b: Diagram, facts: tuple[Fact, ...] = ()
    ) -> Diagram:
        """The cases of a condition in which two values are not known to be equal."""
        decisions = self.decisions
        if condition == decisions.false or a == b:
            return decisions.false
        nodes = [decisions.nodes[one] for one in (condition, a, b)]
        tops = [node[0] for node in nodes if node[0] != LEAF]
        if not tops:
            self._left -= 1
            same = self._left > 0 and self._equal(nodes[1][1], nodes[2][1], facts)
            return decisions.false if same else condition
        top = min(tops)
        yes, no = (
            [node[1 + side] if node[0] == top else one
             for node, one in zip(nodes, (condition, a, b), strict=True)]
            for side in (0, 1)
        )  # fmt: skip
        return decisions.choose(
            decisions.ask(top),
            self.differing(yes[0], yes[1], yes[2], (*facts, (top, True))),
            self.differing(no[0], no[1], no[2], (*facts, (top, False))),
        )

    def _differing(
        self, a: Diagram, b: Diagram, facts: tuple[Fact, ...] = ()
    ) -> Iterator[tuple[Term, Term, tuple[Fact, ...]]]:
        if a == b:
            return
        nodes = [self.decisions.nodes[one] for one in (a, b)]
        tops = [node[0] for node in nodes if node[0] != LEAF]
        if not tops:
            self._left -= 1
            # After too many, the next one is as good as different.
            yield (nodes[0][1], nodes[1][1], facts if self._left > 0 else ())
            return
        top = min(tops)
        first, second = (node[1:] if node[0] == top else (one, one)
                         for node, one in zip(nodes, (a, b), strict=True))  # fmt: skip
        yield from self._differing(first[0], second[0], (*facts, (top, True)))
        yield from self._differing(first[1], second[1], (*facts, (top, False)))

    def _equal(self, a: Term, b: Term, facts: tuple[Fact, ...]) -> bool:
        words = self._solved(facts)
        if words is None or self._is_empty(facts) or contradict(self.terms, facts):
            return True
        rewriter = self._rewriter(words)
        first, second = rewriter.term(a), rewriter.term(b)
        if first is not None and first == second:
            return True
        return self.decisions.closes and self._equal_inside(a, b, facts, words)

    def _equal_inside(
        self, a: Term, b: Term, facts: tuple[Fact, ...], words: dict[Term, Term]
    ) -> bool:
        """Whether values of many cases are equal in those that facts leave of them."""
        decisions = self.decisions
        left = decisions.true
        for asked, holds in facts:
            answer = decisions.ask(asked)
            left = decisions.both(left, answer if holds else decisions.negate(answer))
        both = [
            Rewriter(decisions, self.timeless, words, everything=True, condition=left)
            for _ in range(2)
        ]
        first, second = (one.term(term) for one, term in zip(both, (a, b), strict=True))
        if first is None or second is None or first == second:
            return first is not None and first == second
        # What only one of the two asks for is looked at one case after the other.
        several = {decisions.nodes[one][0] for one in both[0].open ^ both[1].open}
        several -= {known for known, _ in facts}  # in other words, it stays open
        if not several or self._left <= 0:
            return False
        self._left -= 1
        decisions.check()
        asked = min(several)
        return all(self._equal(a, b, (*facts, (asked, holds))) for holds in (True, False))

    def words(self, condition: Diagram) -> dict[Term, Term]:
        """What terms are wherever a condition holds."""
        decisions = self.decisions
        nodes = decisions.reached(condition, _CONDITIONS)
        if len(nodes) > _CONDITIONS:
            return {}
        asked = sorted({decisions.nodes[node][0] for node in nodes} - {LEAF})
        facts = tuple(
            (one, True)
            for one in asked
            if self.terms.rows[one][0] == "eq"
            and decisions.both(condition, decisions.negate(decisions.ask(one))) == decisions.false
        )
        return (self._solved(facts) if facts else None) or {}

    def _rewriter(self, words: dict[Term, Term]) -> Rewriter:
        return Rewriter(self.decisions, self.timeless, words, everything=True)

    def _solved(self, facts: tuple[Fact, ...]) -> dict[Term, Term] | None:
        """What terms must be where all facts hold; None where they cannot all hold."""
        words: dict[Term, Term] = {}
        rows = [(self.terms.rows[asked], holds) for asked, holds in facts]
        for row, holds in rows:
            if row[0] != "eq" or not holds:
                continue
            width = row[1]
            left = self._rewriter(words).term(row[2])
            if left is None:
                continue
            constant, parts = self.terms.parts(width, left)
            if not parts and constant:
                return None
            for atom, factor in sorted(parts.items(), reverse=True):
                sign = as_signed(width, factor)
                if abs(sign) == 1:
                    rest = self.terms.add(width, left, self.terms.scale(width, atom, factor), -1)
                    found = {atom: self.terms.scale(width, rest, -sign)}
                    found |= self._lower(width, atom, found[atom])
                    last = self._rewriter(found)
                    words = {one: last.term(value) or value for one, value in words.items()} | found
                    break
        rewriter = self._rewriter(words)
        for row, holds in rows:
            if row[0] in ("eq", "lt") and words:
                values = [rewriter.term(one) for one in row[2 if row[0] == "eq" else 3 :]]
                if self._decided(row, values) not in (None, holds):
                    return None
        return words

    def _lower(self, width: int, atom: Term, value: Term) -> dict[Term, Term]:
        """What the lowest bits of a number are where more of them are known."""
        number, found = self.terms.constant_of(value), lowest(self.terms, width, atom)
        if number is None or found is None:
            return {}
        masks = [(1 << bits) - 1 for bits in range(1, found[1])]
        low = {masked(self.terms, width, found[0], mask): mask for mask in masks}
        return {
            term: self.terms.constant(width, number & mask)
            for term, mask in low.items()
            if lowest(self.terms, width, term) is not None
        }

    def _decided(self, row: tuple[Any, ...], values: list[Term | None]) -> bool | None:
        if any(value is None for value in values):
            return None
        first = values[0] or 0
        if row[0] == "eq":
            asked, answer = self.terms.equal(row[1], first, self.terms.constant(row[1], 0))
        else:
            asked, answer = self.terms.less(row[1], row[2], first, values[1] or 0)
        return answer if asked is None else None

    def _is_empty(self, facts: tuple[Fact, ...]) -> bool:
        """Whether facts leave no number for some term."""
        found: dict[Term, _Numbers] = {}
        for asked, holds in facts:
            row = self.terms.rows[asked]
            if row[0] == "lt" and (limit := self.terms.constant_of(row[4])) is not None:
                numbers = found.setdefault(row[3], self._numbers(row[3], row[2]))
                numbers.limit(bool(row[1]), limit, holds)
            elif row[0] == "eq":
                constant, parts = self.terms.parts(row[1], row[2])
                if len(parts) == 1:
                    ((term, factor),) = parts.items()
                    sign = as_signed(row[1], factor)
                    if abs(sign) == 1 and not holds:
                        others = found.setdefault(term, self._numbers(term, row[1])).others
                        others.add(-constant * sign % (1 << row[1]))
        return any(numbers.are_none() for numbers in found.values()) or any(
            self._none_fits(term, numbers, facts) for term, numbers in found.items()
        )

    def _numbers(self, term: Term, width: int) -> _Numbers:
        """What a term can be, whatever the facts."""
        numbers = _Numbers(width)
        for signed in (True, False):
            numbers.ends[signed] = list(bounds(self.terms, term, width, signed))
        return numbers

    def _none_fits(self, term: Term, numbers: _Numbers, facts: tuple[Fact, ...]) -> bool:
        """Whether a term can be few numbers only, and facts about others contradict each."""
        few = numbers.few(_TRIED)
        if few is None or len(facts) < 2:
            return False
        for number in few:
            value = self.terms.constant(numbers.width, number)
            asked, _ = self.terms.equal(numbers.width, term, value)
            if asked is None or self._solved(((asked, True), *facts)) is not None:
                return False
        return True


class _Numbers:
    """The numbers that a term can be."""

    def __init__(self, width: int) -> None:
        self.width = width
        self.ends = {signed: list(whole(width, signed)) for signed in (True, False)}
        self.others: set[int] = set()

    def limit(self, signed: bool, number: int, below: bool) -> None:
        """Only those below a number, or only the others."""
        ends = self.ends[signed]
        number = as_signed(self.width, number) if signed else number
        if below:
            ends[1] = min(ends[1], number - 1)
        else:
            ends[0] = max(ends[0], number)

    def few(self, most: int) -> list[int] | None:
        """All of them, without a sign, where they are few."""
        for low, high in (self.ends[False], self.ends[True]):
            if 0 <= high - low < most:
                numbers = (n % (1 << self.width) for n in range(low, high + 1))
                return [n for n in numbers if n not in self.others]
        return None

    def are_none(self) -> bool:
        """Whether there is none."""
        signed, plain = self.ends[True], self.ends[False]
        half = 1 << self.width - 1
        if signed[0] >= 0 or plain[1] < half:
            # What has no sign is the same number either way.
            low, high = max(signed[0], plain[0], 0), min(signed[1], plain[1])
            if low > high:
                return True
            signed = plain = [low, high]
        return any(
            low > high
            or (
                high - low < _FEW
                and all(n % (1 << self.width) in self.others for n in range(low, high + 1))
            )
            for low, high in (signed, plain)
        )
