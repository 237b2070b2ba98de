"""Terms that are the same at any time: made of parameters, special registers and constants alone.

What is loaded from constant memory is so, too.

What a loop leaves as it is can be written down inside of it as it was before; and what was known
about it before is known inside.
"""

from __future__ import annotations

from collections.abc import Iterable

from ptxkit.decompiler.verify.dataflow.decisions import LEAF, Decisions, Diagram
from ptxkit.decompiler.verify.dataflow.terms import Term

#: Where the terms begin in a row; other rows depend on memory, or on a turn of a loop.
_FIRST = {
    "multiply": 2, "signed": 3, "unsigned": 3, "truncate": 3, "op": 3, "tuple": 1, "place": 1,
    "part": 3, "slot": 2, "truth": 1, "compare": 3, "eq": 2, "lt": 3,
}  # fmt: skip
_PLAIN = frozenset(("symbol", "special", "parameter", "float", "true", "false", "constant memory"))
#: Where the terms begin in rows that depend on memory.
LATER = {"ld": 3, "after": 2, "result": 3}
#: Bits of a summary of what is inside of a term: the first says that values of many cases are.
_BITS = 1 << 10
_OF_CASES = 1
#: Diagrams with more nodes are not worth carrying into loops.
_NODES, _KNOWN = 8, 64


class Timeless:
    """Tells such terms and diagrams from others."""

    def __init__(self, decisions: Decisions) -> None:
        self.decisions = decisions
        self._terms: dict[Term, bool] = {}
        self._left: dict[Diagram, Diagram] = {}
        self._made_of: dict[Term, frozenset[Term]] = {}
        self._summaries: dict[Term, int] = {}

    def term(self, term: Term) -> bool:
        """Whether a term is the same at any time."""
        pending = [term]
        while pending:
            one = pending[-1]
            parts = self._parts(one) if one not in self._terms else ()
            unknown = [part for part in parts or () if part not in self._terms]
            if unknown:
                pending += unknown
                continue
            pending.pop()
            if one not in self._terms:
                self._terms[one] = parts is not None and all(self._terms[part] for part in parts)
        return self._terms[term]

    def made_of(self, term: Term) -> frozenset[Term]:
        """What a term is a function of, down to what is none; many are left out."""
        found = self._made_of.get(term)
        if found is None:
            parts = self._parts(term)
            several = {term} if not parts and self.decisions.terms.constant_of(term) is None else ()
            found = frozenset(several)
            for part in parts or ():
                found = found | self.made_of(part)
            found = self._made_of[term] = found if len(found) <= _NODES else frozenset()
        return found

    def has_inside(self, term: Term, sought: int) -> bool:
        """Whether terms of a ``summary`` may be inside of a term; where not, none of them is."""
        found = self._summaries.get(term)
        return bool((self._summary(term) if found is None else found) & sought)

    @staticmethod
    def summary(terms: Iterable[Term], cases: bool = False) -> int:
        """What to look for in a term: some terms, and whether it is values of many cases, too."""
        found = _OF_CASES if cases else 0
        for term in terms:
            found |= 1 << 1 + term % (_BITS - 1)
        return found

    def _summary(self, term: Term) -> int:
        pending = [term]
        while pending:
            one = pending[-1]
            if one in self._summaries:
                pending.pop()
                continue
            parts = self.parts_inside(one)
            unknown = [part for part in parts if part not in self._summaries]
            if unknown:
                pending += unknown
                continue
            pending.pop()
            row = self.decisions.terms.rows[one]
            found = self.summary((one,), cases=row[0] == "cases")
            for part in parts:
                found |= self._summaries[part]
            self._summaries[one] = found
        return self._summaries[term]

    def parts_inside(self, term: Term) -> tuple[Term, ...]:
        """The terms that a term is made of, whether or not it is the same at any time."""
        row = self.decisions.terms.rows[term]
        if row[0] == "sum":
            return tuple(atom for atom, _ in row[3])
        first = self.first_part(term)
        return row[LATER.get(row[0], len(row)) if first is None else first :]

    def _parts(self, term: Term) -> tuple[Term, ...] | None:
        row = self.decisions.terms.rows[term]
        if row[0] == "sum":
            return tuple(atom for atom, _ in row[3])
        if row[0] in _PLAIN:
            return ()
        first = self.first_part(term)
        return None if first is None else row[first:]

    def first_part(self, term: Term) -> int | None:
        """Where the terms begin that a term is a function of; None where it is no such function."""
        rows = self.decisions.terms.rows
        row = rows[term]
        if row[0] == "ld" and rows[row[3]][0] == "constant memory":
            return 3  # nobody stores there
        return _FIRST.get(row[0])

    def value(self, diagram: Diagram) -> bool:
        """Whether a diagram is small, and the same at any time."""
        nodes = self.decisions.reached(diagram, _NODES)
        return len(nodes) <= _NODES and all(
            self.term(yes if top == LEAF else top)
            for top, yes, _ in (self.decisions.nodes[node] for node in nodes)
        )

    def known(self, condition: Diagram) -> Diagram:
        """What of a condition holds at any time later; little of it where that is a lot."""
        left = self._known(condition)
        few = len(self.decisions.reached(left, _KNOWN)) <= _KNOWN
        return left if few else self.decisions.true

    def _known(self, condition: Diagram) -> Diagram:
        top, yes, no = self.decisions.nodes[condition]
        if top == LEAF:
            return condition
        found = self._left.get(condition)
        if found is None:
            first, second = self._known(yes), self._known(no)
            if self.term(top):
                found = self.decisions.choose(self.decisions.ask(top), first, second)
            else:
                found = self.decisions.either(first, second)
            self._left[condition] = found
        return found
