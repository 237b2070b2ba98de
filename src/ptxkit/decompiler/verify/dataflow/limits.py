"""How large a number can be where a condition holds.

A loop that goes on while ``i <= n - 512`` has no ``i`` that overflows when some less than 512 is
added, and compilers know that. It takes the condition of the loop and what was known before it.
"""

from __future__ import annotations

from ptxkit.decompiler.verify.dataflow.bounds import as_signed, bounds
from ptxkit.decompiler.verify.dataflow.decisions import LEAF, Decisions, Diagram
from ptxkit.decompiler.verify.dataflow.registers import FLAG
from ptxkit.decompiler.verify.dataflow.terms import Term

#: Conditions that are looked into have so many nodes at most.
_NODES = 64


class Limits:
    """Bounds of terms under conditions."""

    def __init__(self, decisions: Decisions) -> None:
        self.decisions = decisions
        self.terms = decisions.terms
        self._facts: dict[Diagram, list[tuple[Term, bool]]] = {}

    def facts(self, condition: Diagram) -> list[tuple[Term, bool]]:
        """The questions of a condition that have one answer wherever it holds."""
        found = self._facts.get(condition)
        if found is not None:
            return found
        decisions = self.decisions
        found = self._facts[condition] = []
        nodes = decisions.reached(condition, _NODES)
        if len(nodes) > _NODES:
            return found
        for asked in sorted({decisions.nodes[node][0] for node in nodes} - {LEAF}):
            if self.terms.rows[asked][0] != "lt":
                continue
            holds = decisions.both(condition, decisions.ask(asked))
            if holds in (condition, decisions.false):
                found.append((asked, holds == condition))
        return found

    def greatest_of(self, condition: Diagram, value: Diagram, width: int) -> int:
        """The same of a value that may have cases: of flags, which have little else."""
        told = self.decisions.term(value)
        if told is not None:
            return self.greatest(condition, told, width)
        found = self.decisions.leaves(value) if width == FLAG else None
        if found is None:
            return 1 << width
        return max(self.greatest(condition, one, width) for one in found)

    def greatest(self, condition: Diagram, term: Term, width: int) -> int:
        """A number that a term is not above, without a sign, wherever a condition holds.

        >>> from ptxkit.decompiler.verify.dataflow.terms import Terms
        >>> t = Terms()
        >>> d = Decisions(t)
        >>> n, i = t.make("n"), t.make("i")
        >>> last = t.add(32, n, t.constant(32, -512))
        >>> enough = d.negate(d.ask(t.make("lt", False, 32, n, t.constant(32, 512))))
        >>> goes_on = d.negate(d.ask(t.make("lt", False, 32, last, i)))
        >>> Limits(d).greatest(d.both(enough, goes_on), i, 32) == 2**32 - 1 - 512
        True
        >>> Limits(d).greatest(goes_on, i, 32) == 2**32 - 1
        True
        """
        facts = self.facts(condition)
        said: list[int] = []
        for asked, holds in facts:
            _, signed, bits, first, second = self.terms.rows[asked]
            if signed or bits != width:
                continue
            if holds and first == term:
                said.append(self._most(facts, second, width) - 1)
            elif not holds and second == term:
                said.append(self._most(facts, first, width))
        # What a loop adds to is not bounded by how large it was before.
        return min(said, default=self._most(facts, term, width))

    def _most(self, facts: list[tuple[Term, bool]], term: Term, width: int) -> int:
        """The same by what is said of the parts of a term."""
        most = bounds(self.terms, term, width, False)[1]
        constant, parts = self.terms.parts(width, term)
        below = -as_signed(width, constant)
        if below > 0 and len(parts) == 1:
            ((atom, factor),) = parts.items()
            if factor == 1 and self._least(facts, atom, width) >= below:
                most = min(most, bounds(self.terms, atom, width, False)[1] - below)
        return most

    def _least(self, facts: list[tuple[Term, bool]], term: Term, width: int) -> int:
        least = bounds(self.terms, term, width, False)[0]
        for asked, holds in facts:
            _, signed, bits, first, second = self.terms.rows[asked]
            number = self.terms.constant_of(second)
            if holds or bits != width or first != term or number is None:
                continue
            if not signed or not number >> width - 1:
                least = max(least, number)
        return least
