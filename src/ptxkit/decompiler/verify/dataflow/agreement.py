"""Whether two values are equal in all cases that there can be.

Diagrams know nothing about their conditions. Some cases contradict themselves: no number is less
than 4, not less than 2, and neither 2 nor 3. In others a condition says that two terms are equal,
and then what is made of the one is the same as what is made of the other.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from types import MappingProxyType
from typing import Any, NamedTuple

from ptxkit.decompiler.verify.dataflow import differences, reals
from ptxkit.decompiler.verify.dataflow.bits import masked, shifted_right, shifted_signed
from ptxkit.decompiler.verify.dataflow.bounds import as_signed, bounds, whole
from ptxkit.decompiler.verify.dataflow.decisions import LEAF, Decisions, Diagram
from ptxkit.decompiler.verify.dataflow.fields import lowest
from ptxkit.decompiler.verify.dataflow.rewrite import Rewriter
from ptxkit.decompiler.verify.dataflow.terms import Question, Term
from ptxkit.decompiler.verify.dataflow.timeless import Timeless

#: Cases to look at, at most; and where little work may be done at all.
_CASES, _FEW_CASES = 2_000, 200
#: How little that is.
_LITTLE = 200_000
#: Conditions that are looked into have so many nodes at most.
_CONDITIONS = 64
#: Ranges of numbers that are gone through one by one, and that are tried in other facts.
_FEW, _TRIED = 64, 8

#: Numbers of so few bits of which also those are told that are not the lowest.
_SHIFTED = 4
#: Shifts after which the sign of a number is looked for.
_MOVED = 9
#: The widths of numbers that have a sign, and that these are extended to.
_WIDER = {32: (64,), 64: ()}

Fact = tuple[Term, bool]
NOTHING: Mapping[Any, Any] = MappingProxyType({})


class _Lowest(NamedTuple):
    """That so many of the lowest bits of a number, which has more of them, are another one."""

    width: int
    of: Term
    bits: int
    number: int


class Agreement:
    """Compares values case by case."""

    def __init__(self, decisions: Decisions, timeless: Timeless) -> None:
        self.decisions = decisions
        self.terms = decisions.terms
        self.timeless = timeless
        self._left = _CASES if decisions.most_work > _LITTLE else _FEW_CASES

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
        if self._left <= 0:
            return condition  # there may be too many cases even to go through them
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
        if self._left <= 0:
            # As many cases are too many even to go through: they are as good as different.
            yield self.terms.constant(1, 0), self.terms.constant(1, 1), ()
            return
        top = min(tops)
        first, second = (node[1:] if node[0] == top else (one, one)
                         for node, one in zip(nodes, (a, b), strict=True))  # fmt: skip
        yield from self._differing(first[0], second[0], (*facts, (top, True)))
        yield from self._differing(first[1], second[1], (*facts, (top, False)))

    def _equal(self, a: Term, b: Term, facts: tuple[Fact, ...]) -> bool:
        words = self._solved(facts)
        if words is None or self._contradict(facts):
            return True
        rewriter = self._rewriter(words)
        first, second = rewriter.term(a), rewriter.term(b)
        if first is not None and first == second:
            return True
        return self.decisions.closes and self._equal_inside(a, b, facts, words)

    def _contradict(self, facts: tuple[Fact, ...]) -> bool:
        """Whether facts cannot all hold, by what they say of numbers."""
        known = self.decisions.contradictions
        if facts not in known:
            known[facts] = (
                self._is_empty(facts)
                or reals.contradict(self.terms, facts)
                or differences.contradict(self.terms, facts)
            )
        return known[facts]

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
            Rewriter(decisions, self.timeless, words, everything=True, condition=left, same=True)
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
        wanted = {"eq": (True,), "lt": (True, False)}
        facts = tuple(
            (one, holds)
            for one in asked
            for holds in wanted.get(self.terms.rows[one][0], ())
            if self._follows(condition, one, holds)
        )
        return (self._solved(facts) if facts else None) or {}

    def _follows(self, condition: Diagram, asked: Term, holds: bool) -> bool:
        """Whether a question has an answer wherever a condition holds."""
        answer = self.decisions.ask(asked)
        other = self.decisions.negate(answer) if holds else answer
        return self.decisions.both(condition, other) == self.decisions.false

    def _rewriter(self, words: dict[Term, Term]) -> Rewriter:
        return Rewriter(self.decisions, self.timeless, words, everything=True, same=True)

    def _solved(
        self, facts: tuple[Fact, ...], given: Mapping[Term, Term] = NOTHING
    ) -> dict[Term, Term] | None:
        """What terms must be where all facts hold; None where they cannot all hold.

        Some may be ``given``.
        """
        rows = [(self.terms.rows[asked], holds) for asked, holds in facts]
        words = self._unsigned(rows) | dict(given)
        lower: list[_Lowest] = []
        for row, holds in rows:
            if row[0] != "eq":
                continue
            width = row[1]
            left = self._rewriter(words).term(row[2])
            if left is None or not holds:
                words = self._with(words, {} if left is None else self._other(width, left))
                continue
            constant, parts = self.terms.parts(width, left)
            if not parts and constant:
                return None
            found = self._isolated(width, left, parts)
            words = self._with(words, found)
            lower += self._lowest(width, found)
        for one in lower:
            words = self._with(words, self._rejoined(words, one))
        return words if not words or self._consistent(words, facts) else None

    def _consistent(self, words: dict[Term, Term], facts: tuple[Fact, ...]) -> bool:
        """Whether no question is, in other words, one that has another answer."""
        rewriter = self._rewriter(words)
        # What has no sign is said so first: its parts are others then.
        natural = self._rewriter(self._unsigned([(self.terms.rows[a], b) for a, b in facts]))
        answers = dict(facts)
        for one, holds in facts:
            row = self.terms.rows[one]
            if row[0] not in ("eq", "lt"):
                continue
            plain = (natural.term(one) or one for one in row[2 if row[0] == "eq" else 3 :])
            values = [rewriter.term(one) for one in plain]
            question = self._asked(row, values)
            if question is None:
                continue
            asked, turned = question
            answer = asked is not None and answers.setdefault(asked, holds != turned)
            if (answer != turned) != holds:
                return False
        return True

    def _with(self, words: dict[Term, Term], found: dict[Term, Term]) -> dict[Term, Term]:
        """What terms must be, with more that was found."""
        if not found:
            return words
        last = self._rewriter(found)
        return {one: last.term(value) or value for one, value in words.items()} | found

    def _lowest(self, width: int, words: dict[Term, Term]) -> Iterator[_Lowest]:
        """Numbers of which the lowest bits are known."""
        for atom, value in words.items():
            number, found = self.terms.constant_of(value), lowest(self.terms, width, atom)
            if number is not None and found is not None:
                yield _Lowest(*self._before_cut(width, found[0]), found[1], number)

    def _rejoined(self, words: dict[Term, Term], known: _Lowest) -> dict[Term, Term]:
        """What a number must be of which the lowest bits are known, where all others are, too."""
        terms, width = self.terms, known.width
        upper = self._rewriter(words).term(shifted_right(terms, width, known.of, known.bits))
        above = None if upper is None else terms.constant_of(upper)
        if above is None:
            return {}
        number = terms.constant(width, above << known.bits | known.number)
        left = terms.add(width, known.of, number, -1)
        return self._isolated(width, left, terms.parts(width, left)[1])

    def _other(self, width: int, left: Term) -> dict[Term, Term]:
        """What is one of two numbers, where a difference says that it is not the one."""
        constant, parts = self.terms.parts(width, left)
        if len(parts) != 1:
            return {}
        ((atom, factor),) = parts.items()
        if abs(as_signed(width, factor)) != 1:
            return {}
        number = -constant * as_signed(width, factor) % (1 << width)
        low, high = bounds(self.terms, atom, width, False)
        if high != low + 1 or number not in (low, high):
            return {}
        return {atom: self.terms.constant(width, low + high - number)}

    def _isolated(self, width: int, left: Term, parts: dict[Term, int]) -> dict[Term, Term]:
        """What some part of a sum must be, where that is 0; or a multiple of it."""
        terms = self.terms
        for atom, factor in sorted(parts.items(), reverse=True):
            sign = as_signed(width, factor)
            if abs(sign) == 1:
                rest = terms.add(width, left, terms.scale(width, atom, factor), -1)
                found = {atom: terms.scale(width, rest, -sign)}
                return found | self._lower(width, atom, found[atom])
        # What loops count is told by what bounds it.
        for atom in sorted(parts, key=lambda one: (terms.rows[one][0] != "carried", one)):
            multiple = terms.scale(width, atom, parts[atom])
            if terms.rows[multiple][0] == "sum":
                return {multiple: terms.add(width, multiple, left, -1)}
        return {}

    def _unsigned(self, rows: list[tuple[tuple[Any, ...], bool]]) -> dict[Term, Term]:
        """What is the same for a number that is not negative as if it had no sign."""
        found: dict[Term, Term] = {}
        for row, holds in rows:
            if row[0] != "lt" or not row[1] or row[2] not in _WIDER:
                continue
            # Not less than what is 0 or more, or more than that.
            least = bounds(self.terms, row[3] if holds else row[4], row[2], True)[0]
            if least >= (-1 if holds else 0):
                found |= self._natural(row[2], row[4] if holds else row[3])
        return found

    def _natural(self, width: int, one: Term) -> dict[Term, Term]:
        """The same of one such number."""
        key = "natural", width, one
        if key not in self.decisions.found:
            terms = self.terms
            found: dict[Term, Term] = {}
            for by in range(_MOVED):
                upper = shifted_right(terms, width, one, by)
                found[masked(terms, width, upper, (1 << width - 1 - by) - 1)] = upper
                found[shifted_signed(terms, width, one, by)] = upper
            zero = terms.constant(width, 0)
            found[shifted_signed(terms, width, one, width - 1)] = zero
            found[shifted_right(terms, width, one, width - 1)] = zero
            for wide in _WIDER[width]:
                extended = terms.extend(True, width, wide, one)
                found[extended] = terms.extend(False, width, wide, one)
            simple = ("op", "signed")
            self.decisions.found[key] = {
                a: b for a, b in found.items() if terms.rows[a][0] in simple and a != b
            }
        return self.decisions.found[key]

    def _lower(self, width: int, atom: Term, value: Term) -> dict[Term, Term]:
        """What some of the lowest bits of a number are where more of them are known."""
        terms = self.terms
        number, found = terms.constant_of(value), lowest(terms, width, atom)
        if number is None or found is None:
            return {}
        key = "bits", width, atom, number
        if key not in self.decisions.found:
            width, whole = self._before_cut(width, found[0])
            words: dict[Term, Term] = {}
            for start in range(found[1] if found[1] <= _SHIFTED else 1):
                upper = shifted_right(terms, width, whole, start)
                for count in range(1, found[1] - start + (start > 0)):
                    mask = (1 << count) - 1
                    term, wide = masked(terms, width, upper, mask), width
                    if terms.rows[term][0] == "unsigned":
                        wide, term = terms.rows[term][1], terms.rows[term][3]
                    if lowest(terms, wide, term) is not None:
                        words[term] = terms.constant(wide, number >> start & mask)
            self.decisions.found[key] = words
        return self.decisions.found[key]

    def _before_cut(self, width: int, whole: Term) -> tuple[int, Term]:
        """A number with the same lowest bits, as it was before it was cut, and how many it has."""
        terms = self.terms
        constant, parts = terms.parts(width, whole)
        rows = {one: terms.rows[one] for one in parts}
        wide = {row[1] for row in rows.values() if row[0] == "truncate" and row[2] == width}
        if len(wide) != 1 or any(row[0] != "truncate" for row in rows.values()):
            return width, whole
        (more,) = wide
        made = terms.constant(more, constant)
        for one, factor in parts.items():
            made = terms.add(more, made, terms.scale(more, rows[one][3], factor))
        return more, made

    def _asked(self, row: tuple[Any, ...], values: list[Term | None]) -> Question | None:
        """A comparison of other values; None where these are not told."""
        if any(value is None for value in values):
            return None
        first = values[0] or 0
        if row[0] == "eq":
            return self.terms.equal(row[1], first, self.terms.constant(row[1], 0))
        return self.terms.less(row[1], row[2], first, values[1] or 0)

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
                    if abs(sign) == 1:
                        numbers = found.setdefault(term, self._numbers(term, row[1]))
                        numbers.exclude(-constant * sign % (1 << row[1]), all_but=holds)
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
        if few is None:
            return False
        # What says nothing of the same numbers does not contradict it.
        made_of = self.timeless.made_of
        facts = tuple(one for one in facts if made_of(one[0]) & made_of(term))
        if len(facts) < 2:
            return False
        for number in few:
            value = self.terms.constant(numbers.width, number)
            asked, turned = self.terms.equal(numbers.width, term, value)
            given = self._lower(numbers.width, term, value)
            given = given | {term: value} if given else given
            if asked is None or self._solved(((asked, not turned), *facts), given) is not None:
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

    def exclude(self, number: int, all_but: bool) -> None:
        """Only those that are not a number, given without a sign; or only that one."""
        if not all_but:
            self.others.add(number)
            return
        for signed, ends in self.ends.items():
            only = as_signed(self.width, number) if signed else number
            ends[:] = max(ends[0], only), min(ends[1], only)

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
