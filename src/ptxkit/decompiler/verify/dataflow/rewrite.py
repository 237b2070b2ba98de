"""What is held on a way to a meeting, in words of what registers hold there.

A compiler may compute something before a loop from registers that the loop keeps, another one
inside of it from the same registers: at the meeting, the one is an expression in the others.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping

from ptxkit.decompiler.verify.dataflow.bits import bitwise
from ptxkit.decompiler.verify.dataflow.bounds import as_signed
from ptxkit.decompiler.verify.dataflow.decisions import LEAF, Decisions, Diagram
from ptxkit.decompiler.verify.dataflow.terms import Question, Term, Terms
from ptxkit.decompiler.verify.dataflow.timeless import LATER, Timeless

#: Terms are looked into so far.
_DEPTH = 12


class Rewriter:
    """Replaces terms by the registers that hold them.

    A term that is the same at any time may stay as it is; of any other, all parts must be held by
    some register, or be made of such parts.
    """

    def __init__(
        self,
        decisions: Decisions,
        timeless: Timeless,
        words: Mapping[Term, Term],
        everything: bool = False,
        condition: Diagram | None = None,
        same: bool = False,
    ) -> None:
        """With ``everything``, what has no word stays as it is, and no term is left out.

        Of values of many cases only those are left in which a ``condition`` holds. Where words are
        the ``same`` as what they are for, what is made of some may have a word itself.
        """
        self.same = same
        self.condition = condition
        self.open: set[Diagram] = set()
        """Values of several cases that were met, and of which several are left."""
        self.decisions = decisions
        self.terms = decisions.terms
        self.timeless = timeless
        self.words = words
        self.everything = everything
        self._sought = timeless.summary(self._parts_of_words(), cases=condition is not None)
        self._done: dict[Term, Term | None] = {}
        self._at_depth: dict[tuple[Term, int], Term | None] = {}
        self._diagrams: dict[Diagram, Diagram | None] = {}
        self._sums = [
            (row[1], self.terms.rows[term][2], dict(row[3]), word)
            for term, word in words.items()
            if (row := self.terms.rows[term])[0] == "sum"
        ]
        self._products = [
            (row[1], Counter(row[2:]), word)
            for term, word in words.items()
            if (row := self.terms.rows[term])[0] == "multiply"
        ]

    def _parts_of_words(self) -> Iterator[Term]:
        """What has a word, and what of it is in sums and products that have more parts."""
        for term in self.words:
            yield term
            if self.terms.rows[term][0] in ("sum", "multiply"):
                yield from self.timeless.parts_inside(term)

    def diagram(self, diagram: Diagram) -> Diagram | None:
        """A diagram in those words; None where there are none for it."""
        # Ways through it meet again: there are far more of them than nodes.
        if diagram not in self._diagrams:
            self._diagrams[diagram] = self._rewritten(diagram)
        return self._diagrams[diagram]

    def _rewritten(self, diagram: Diagram) -> Diagram | None:
        top, yes, no = self.decisions.nodes[diagram]
        if top == LEAF:
            term = self.term(yes)
            return None if term is None else self.decisions.leaf(term)
        question = self._question(top)
        if question is None:
            return None
        asked, turned = question
        if asked is None:
            return self.diagram(yes if turned else no)
        first = self.diagram(yes)
        second = None if first is None else self.diagram(no)
        if first is None or second is None:
            return None
        if turned:
            first, second = second, first
        return self.decisions.choose(self.decisions.ask(asked), first, second)

    def _question(self, asked: Term) -> Question | None:
        """A question in those words, or its answer."""
        row = self.terms.rows[asked]
        if row[0] not in ("eq", "lt"):
            found = self.term(asked)
            return None if found is None else (found, False)
        parts: list[Term] = []
        for one in row[2 if row[0] == "eq" else 3 :]:
            part = self.term(one)
            if part is None:
                return None
            parts.append(part)
        return _answered(self.terms, row, parts)

    def term(self, term: Term, depth: int = _DEPTH) -> Term | None:
        """A term in those words."""
        if term in self.words:
            return self.words[term]
        if self.everything:
            if term not in self._done:
                if not self.timeless.has_inside(term, self._sought):
                    return term
                made = self._made(term, depth)
                if self.same and made is not None:
                    made = self.words.get(made, made)
                self._done[term] = made
            return self._done[term]
        if self.timeless.term(term):
            return term
        if not depth:
            return None
        known = term, depth
        if known not in self._at_depth:
            self._at_depth[known] = self._made(term, depth - 1)
        return self._at_depth[known]

    def _made(self, term: Term, depth: int) -> Term | None:
        row = self.terms.rows[term]
        if row[0] == "sum":
            return self._sum(row[1], row[2], dict(row[3]), depth)
        if row[0] == "cases" and self.condition is not None:
            return self._cases(row[1])
        if row[0] == "multiply" and self._products:
            made = self._product(row[1], Counter(row[2:]), depth)
            if made is not None:
                return made
        first = self.timeless.first_part(term)
        if first is None and self.everything:
            first = LATER.get(row[0], len(row))
        if first is None:
            return None
        parts: list[Term] = []
        for one in row[first:]:
            part = self.term(one, depth)
            if part is None:
                return None
            parts.append(part)
        again = _AGAIN.get(row[0])
        if again is not None:
            return again(self.terms, row[:first], parts)
        return self.terms.make(*row[:first], *parts)

    def _cases(self, value: Diagram) -> Term | None:
        """A value of many cases."""
        assert self.condition is not None
        left = self.diagram(self.decisions.within(self.condition, value))
        if left is None:
            return None
        alone = self.decisions.term(left)
        if alone is not None:
            return alone
        self.open.add(left)
        return self.terms.make("cases", left)

    def _product(self, width: int, factors: Counter[Term], depth: int) -> Term | None:
        """A product that a register holds some factors of, times the others."""
        for wide, inside, word in self._products:
            if wide != width or not inside <= factors:
                continue
            made = word
            for factor in (factors - inside).elements():
                part = self.term(factor, depth)
                if part is None:
                    return None
                made = self.terms.multiply(width, made, part)
            return made
        return None

    def _sum(self, width: int, constant: int, parts: dict[Term, int], depth: int) -> Term | None:
        """A sum: part by part, or without the sums that registers hold, then part by part."""
        terms = self.terms
        if self._sums and not self.everything:
            # What single parts are is the same wherever it is asked for.
            alone = self._parts(width, constant, parts, depth)
            if alone is not None:
                return alone
        made = terms.constant(width, 0)
        for wide, number, inside, word in self._sums:
            lead = next((atom for atom in inside if not self.timeless.term(atom)), None)
            if wide != width or lead is None or lead not in parts:
                continue
            # Less than none at all is minus so many: it stays so for whatever the word is later.
            times, left = divmod(as_signed(width, parts[lead]), as_signed(width, inside[lead]))
            if left:
                continue
            for atom, factor in inside.items():
                parts[atom] = parts.get(atom, 0) - times * factor
            constant -= times * number
            made = terms.add(width, made, terms.scale(width, word, times))
        rest = self._parts(width, constant, parts, depth)
        return None if rest is None else terms.add(width, made, rest)

    def _parts(self, width: int, constant: int, parts: dict[Term, int], depth: int) -> Term | None:
        """A sum, part by part."""
        terms = self.terms
        made = terms.constant(width, constant)
        for atom, factor in parts.items():
            if factor % (1 << width):
                part = self.term(atom, depth)
                if part is None:
                    return None
                made = terms.add(width, made, terms.scale(width, part, factor))
        return made


Prefix = tuple[object, ...]


def _multiplied(terms: Terms, prefix: Prefix, parts: list[Term]) -> Term | None:
    width = int(str(prefix[1]))
    made = terms.constant(width, 1)
    for part in parts:
        made = terms.multiply(width, made, part)
    return made


def _extended(terms: Terms, prefix: Prefix, parts: list[Term]) -> Term | None:
    return terms.extend(prefix[0] == "signed", int(str(prefix[1])), int(str(prefix[2])), parts[0])


def _truncated(terms: Terms, prefix: Prefix, parts: list[Term]) -> Term | None:
    return terms.truncate(int(str(prefix[1])), int(str(prefix[2])), parts[0])


def _compared(terms: Terms, prefix: Prefix, parts: list[Term]) -> Term | None:
    """A comparison, if it is still the same question."""
    asked, turned = _answered(terms, prefix, parts)
    return None if turned else asked


def _answered(terms: Terms, row: Prefix, parts: list[Term]) -> Question:
    if row[0] == "eq":
        width = int(str(row[1]))
        return terms.equal(width, parts[0], terms.constant(width, 0))
    return terms.less(bool(row[1]), int(str(row[2])), parts[0], parts[1])


def _ordered(terms: Terms, prefix: Prefix, parts: list[Term]) -> Term | None:
    opcode = str(prefix[1])
    again = bitwise(terms, opcode, parts)
    if again is not None:
        return again
    return terms.operation(str(prefix[1]), int(str(prefix[2])), parts)


#: Rows that have one form of their own.
_AGAIN: dict[str, Callable[[Terms, Prefix, list[Term]], Term | None]] = {
    "multiply": _multiplied, "signed": _extended, "unsigned": _extended, "truncate": _truncated,
    "eq": _compared, "lt": _compared, "op": _ordered,
}  # fmt: skip
