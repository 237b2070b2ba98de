"""Values that depend on conditions: ordered decision diagrams with terms at their leaves.

A diagram asks conditions in one fixed order and never asks in vain, so that equal functions of
the conditions are the same diagram, whether they came from branches, predicates or selections.

>>> t = Terms()
>>> d = Decisions(t)
>>> p, q = (d.ask(t.make("symbol", name)) for name in "pq")
>>> x, y = (d.leaf(t.make("symbol", name)) for name in "xy")
>>> d.choose(p, x, d.choose(q, x, y)) == d.choose(q, x, d.choose(p, x, y))
True
"""

from __future__ import annotations

from collections.abc import Callable, Hashable
from math import inf

from ptxkit.decompiler.verify.dataflow.signs import without_sign
from ptxkit.decompiler.verify.dataflow.terms import OFTEN, GiveUpError, Term, Terms

Diagram = int


class TooManyCasesError(GiveUpError):
    """Conditions come together in too many ways."""


LEAF = -1
#: Why a proof ends that has a limit of its own.
TOO_LONG = "it takes too long"
#: Questions for each case that there may be: diagrams may be put together for long and stay small.
_QUESTIONS = 20
#: Nodes of a value of many cases, up to which it is told what it can be.
_LEAVES = 400


class Decisions:
    """All diagrams of a proof."""

    def __init__(
        self, terms: Terms, most: int | None = None, limit: int = 50_000, work: float = inf
    ) -> None:
        """With ``most``, values of more cases than that become one term: see :meth:`closed`.

        It gives up after so much ``work``, as :attr:`work` counts it.
        """
        self.most_work = work
        self.terms = terms
        terms.cases = self.leaves
        self._most = most
        self._large: dict[Diagram, bool] = {}
        self.nodes: list[tuple[int, int, int]] = []
        self._numbers: dict[tuple[int, int, int], Diagram] = {}
        self._chosen: dict[tuple[Diagram, Diagram, Diagram], Diagram] = {}
        self._within: dict[tuple[Diagram, Diagram], Diagram] = {}
        self._applied: dict[tuple[Hashable, tuple[Diagram, ...]], Diagram] = {}
        self._limit = limit
        self.found: dict[Hashable, dict[Term, Term]] = {}
        """What terms are in other words, for who asks for it again and again."""
        self.contradictions: dict[tuple[tuple[Term, bool], ...], bool] = {}
        """Whether facts contradict each other, for the same."""
        self.true = self.leaf(terms.make("true"))
        self.false = self.leaf(terms.make("false"))
        self.undefined = self.leaf(terms.make("undefined"))

    @property
    def work(self) -> int:
        """How much was done until now: all that was put together."""
        return len(self.terms.rows) + len(self._chosen) + len(self._within) + len(self._applied)

    def check(self) -> None:
        """Raise where too much has been done, or it has taken too long."""
        self.terms.budget.check()
        if self.work > self.most_work:
            raise GiveUpError(TOO_LONG)

    def _node(self, row: tuple[int, int, int]) -> Diagram:
        found = self._numbers.get(row)
        if found is None:
            if len(self.nodes) > self._limit:
                raise TooManyCasesError("too many cases")
            found = self._numbers[row] = len(self.nodes)
            self.nodes.append(row)
        return found

    def leaf(self, term: Term) -> Diagram:
        """A value without conditions."""
        return self._node((LEAF, term, 0))

    def term(self, diagram: Diagram) -> Term | None:
        """The value, where there are no conditions."""
        top, term, _ = self.nodes[diagram]
        return term if top == LEAF else None

    def ask(self, condition: Term) -> Diagram:
        """The truth of a condition."""
        return self._node((condition, self.true, self.false))

    def _split(self, diagram: Diagram, condition: int) -> tuple[Diagram, Diagram]:
        top, yes, no = self.nodes[diagram]
        return (yes, no) if top == condition else (diagram, diagram)

    def choose(self, condition: Diagram, yes: Diagram, no: Diagram) -> Diagram:
        """``condition ? yes : no``."""
        if condition == self.true or yes == no:
            return yes
        if condition == self.false:
            return no
        if yes == self.true and no == self.false:
            return condition
        key = condition, yes, no
        found = self._chosen.get(key)
        if found is None:
            tops = [t for d in key if (t := self.nodes[d][0]) != LEAF]
            if not tops:
                raise GiveUpError("a condition that is no comparison")
            top = min(tops)
            parts = [self._split(d, top) for d in key]
            high = self.choose(parts[0][0], parts[1][0], parts[2][0])
            low = self.choose(parts[0][1], parts[1][1], parts[2][1])
            found = high if high == low else self._asking(top, high, low)
            if len(self._chosen) > _QUESTIONS * self._limit:
                raise GiveUpError("too many cases")
            self._chosen[key] = found
            if not len(self._chosen) & OFTEN:
                self.check()
        return found

    def _asking(self, asked: Term, yes: Diagram, no: Diagram) -> Diagram:
        """What depends on a question; which sign a number has is none that its size depends on."""
        first, second = self.nodes[yes], self.nodes[no]
        if first[0] == second[0] == LEAF:
            alone = without_sign(self.terms, asked, first[1], second[1])
            if alone is not None:
                return self.leaf(alone)
        return self._node((asked, yes, no))

    def within(self, condition: Diagram, value: Diagram) -> Diagram:
        """A value where a condition holds, and whatever is simplest elsewhere.

        Two values that are equal wherever the condition holds become the same.

        >>> t = Terms()
        >>> d = Decisions(t)
        >>> p, x, y = d.ask(t.make("p")), d.leaf(t.make("x")), d.leaf(t.make("y"))
        >>> d.within(p, d.choose(p, x, y)) == x
        True
        """
        top, yes, no = self.nodes[condition]
        if top == LEAF or self.nodes[value][0] == LEAF:
            return value
        key = condition, value
        found = self._within.get(key)
        if found is None:
            asked = min(top, self.nodes[value][0])
            first, second = self._split(value, asked)
            yes, no = self._split(condition, asked)
            if no == self.false:
                found = self.within(yes, first)
            elif yes == self.false:
                found = self.within(no, second)
            else:
                high, low = self.within(yes, first), self.within(no, second)
                found = high if high == low else self._node((asked, high, low))
            self._within[key] = found
            if not len(self._within) & OFTEN:
                self.check()
        return found

    @property
    def closes(self) -> bool:
        """Whether values of many cases are one term each."""
        return self._most is not None

    def closed(self, value: Diagram) -> Diagram:
        """A value as one term, where there are many cases.

        Equal values have equal diagrams, and so the same term; but what the cases are cannot be
        told from the term any more.
        """
        if self._most is None:
            return value
        large = self._large.get(value)
        if large is None:
            large = self._large[value] = len(self.reached(value, self._most)) > self._most
        return self.leaf(self.terms.make("cases", value)) if large else value

    def case_by_case(
        self, key: Hashable, function: Callable[[Term], Term], value: Diagram
    ) -> Diagram:
        """A function of one value, of each of its cases even if it is closed.

        What is closed and then cut to some bits is the same as what is cut first.
        """

        def compute(term: Term) -> Diagram:
            row = self.terms.rows[term]
            if row[0] != "cases" or len(self.reached(row[1], _LEAVES)) > _LEAVES:
                return self.leaf(function(term))
            return self.closed(self.apply(key, compute, (row[1],)))

        return self.apply(key, compute, (value,))

    def reached(self, diagram: Diagram, most: int) -> set[Diagram]:
        """The nodes of a diagram, or some more than are asked for."""
        found: set[Diagram] = set()
        pending = [diagram]
        while pending and len(found) <= most:
            node = pending.pop()
            if node not in found:
                found.add(node)
                top, yes, no = self.nodes[node]
                if top != LEAF:
                    pending += (yes, no)
        return found

    def cases(self, value: Diagram) -> dict[Term, Diagram]:
        """The terms that a value can be, each with the condition on which it is.

        >>> t = Terms()
        >>> d = Decisions(t)
        >>> p, x, y = d.ask(t.make("p")), d.leaf(t.make("x")), d.leaf(t.make("y"))
        >>> [case == d.term(x) for case in d.cases(d.choose(p, x, y))]
        [True, False]
        """
        top, yes, no = self.nodes[value]
        if top == LEAF:
            return {yes: self.true}
        found: dict[Term, Diagram] = {}
        for part, asked in ((yes, self.ask(top)), (no, self.negate(self.ask(top)))):
            for term, condition in self.cases(part).items():
                now = self.both(asked, condition)
                found[term] = self.either(found[term], now) if term in found else now
        return found

    def leaves(self, value: Diagram, most: int = _LEAVES) -> set[Term] | None:
        """All terms that a value can be, of those with cases too; None if it has too many nodes.

        >>> t = Terms()
        >>> d = Decisions(t, 1)
        >>> p, x, y = d.ask(t.make("p")), d.leaf(t.make("x")), d.leaf(t.make("y"))
        >>> len(d.leaves(d.closed(d.choose(p, x, y))))
        2
        """
        found: set[Term] = set()
        seen: set[Diagram] = set()
        pending = [value]
        while pending:
            node = pending.pop()
            if node in seen:
                continue
            seen.add(node)
            if len(seen) > most:
                return None
            top, first, second = self.nodes[node]
            if top != LEAF:
                pending += (first, second)
            elif self.terms.rows[first][0] == "cases":
                pending.append(self.terms.rows[first][1])
            else:
                found.add(first)
        return found

    def negate(self, a: Diagram) -> Diagram:
        """``not a``."""
        return self.choose(a, self.false, self.true)

    def both(self, a: Diagram, b: Diagram) -> Diagram:
        """``a and b``."""
        return self.choose(a, b, self.false)

    def either(self, a: Diagram, b: Diagram) -> Diagram:
        """``a or b``."""
        return self.choose(a, self.true, b)

    def apply(
        self, key: Hashable, function: Callable[..., Diagram], arguments: tuple[Diagram, ...]
    ) -> Diagram:
        """A function of terms, case by case; ``key`` names it for the memory."""
        place = key, arguments
        found = self._applied.get(place)
        if found is not None:
            return found
        tops = [top for top in (self.nodes[d][0] for d in arguments) if top != LEAF]
        if not tops:
            leaves = [self.nodes[d][1] for d in arguments]
            undefined = self.undefined in arguments
            found = self.undefined if undefined else function(*leaves)
        else:
            top = min(tops)
            parts = [self._split(d, top) for d in arguments]
            high = self.apply(key, function, tuple(p[0] for p in parts))
            low = self.apply(key, function, tuple(p[1] for p in parts))
            found = self.choose(self.ask(top), high, low)
        self._applied[place] = found
        if not len(self._applied) & OFTEN:
            self.check()
        return found
