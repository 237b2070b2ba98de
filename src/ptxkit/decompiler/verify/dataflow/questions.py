"""Predicates that only one of two functions keeps, as questions about numbers that it keeps, too.

The one asks whether a thread is inside before a loop, and keeps the answer; the other asks again
behind it. On a way where the answer is known the question may be, too, since comparisons that led
to a loop hold on in it.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import islice
from typing import Any

from ptxkit.decompiler.verify.dataflow.agreement import Agreement
from ptxkit.decompiler.verify.dataflow.decisions import LEAF, Decisions, Diagram
from ptxkit.decompiler.verify.dataflow.meetings import Compared, Meeting, Name, Way
from ptxkit.decompiler.verify.dataflow.registers import Registers
from ptxkit.decompiler.verify.dataflow.terms import Term
from ptxkit.decompiler.verify.dataflow.timeless import Timeless

#: Questions of a way that are looked at, and nodes of conditions that are looked into.
_MOST, _NODES = 6, 48


def asked(decisions: Decisions, one: Compared, values: Sequence[Diagram]) -> Diagram:
    """Where a comparison of some values comes out as it is said to."""
    terms = decisions.terms

    def ask(first: Term, second: Term) -> Diagram:
        question, turned = terms.less(one.signed, one.width, first, second)
        if question is None:
            return decisions.true if turned else decisions.false
        answer = decisions.ask(question)
        return decisions.negate(answer) if turned else answer

    key = "compared", one.signed, one.width
    found = decisions.apply(key, ask, (values[0], values[1]))
    return found if one.holds else decisions.negate(found)


def held_by(registers: Registers, way: Way, names: Iterable[Name]) -> dict[Term, list[Name]]:
    """Which registers hold a number at the end of a way that is not the same at any time."""
    found: dict[Term, list[Name]] = {}
    for name in names:
        held = registers.decisions.term(registers.held(way, name))
        if held is not None and not registers.timeless.term(held):
            found.setdefault(held, []).append(name)
    return found


def operands_of(
    timeless: Timeless, row: tuple[Any, ...], names: Mapping[Term, Sequence[Name]]
) -> Iterator[tuple[Name | Term, Name | Term]]:
    """The two numbers of a comparison, of which at least one is in a register and may change."""
    found: list[list[Name | Term]] = []
    for one in row[3:5]:
        found.append([one] if timeless.term(one) else [*names.get(one, ())])
    if not all(map(timeless.term, row[3:5])):
        yield from ((first, second) for first in found[0] for second in found[1])


def values_at(registers: Registers, one: Compared, way: Way) -> list[Diagram] | None:
    """What a comparison is of at the end of a way; None where nothing is known of a register."""
    decisions = registers.decisions
    values = [
        decisions.leaf(operand) if isinstance(operand, int) else registers.held(way, operand)
        for operand in one.operands
    ]
    return None if decisions.undefined in values else values


class Questions:
    """Finds the question that a predicate answers."""

    def __init__(self, registers: Registers) -> None:
        """Of these registers."""
        self.registers = registers
        self.decisions = registers.decisions

    def about(
        self, meeting: Meeting, ways: list[Way], name: Name, names: Sequence[Name]
    ) -> Diagram | None:
        """A predicate as a question about what some registers hold, if it is that on all ways."""
        proposed = (one for way in ways for one in self._proposed(way, name, names))
        for one in dict.fromkeys(proposed):
            if all(self._is_answer(one, way, name) for way in ways):
                values = [self._value(operand, meeting) for operand in one.operands]
                return asked(self.decisions, one, values)
        return None

    def _proposed(self, way: Way, name: Name, names: Sequence[Name]) -> Iterator[Compared]:
        """What was asked for it on a way, or what led there, where that is the answer."""
        decisions = self.decisions
        top, yes, no = decisions.nodes[self.registers.held(way, name)]
        if top != LEAF and {yes, no} == {decisions.true, decisions.false}:
            questions = [top]
        elif top == LEAF:
            nodes = decisions.reached(way.condition, _NODES)
            several = {decisions.nodes[node][0] for node in nodes} - {LEAF}
            questions = sorted(several) if len(nodes) <= _NODES else []
        else:
            return
        held = held_by(self.registers, way, names)
        proposed = (
            Compared(bool(row[1]), row[2], operands, holds)
            for question in questions
            if (row := decisions.terms.rows[question])[0] == "lt"
            for operands in operands_of(self.registers.timeless, row, held)
            for holds in (True, False)
        )
        yield from islice((one for one in proposed if self._is_answer(one, way, name)), _MOST)

    def _value(self, operand: Name | Term, meeting: Meeting) -> Diagram:
        if isinstance(operand, int):
            return self.decisions.leaf(operand)
        return self.registers.incoming(meeting, *operand)

    def _is_answer(self, one: Compared, way: Way, name: Name) -> bool:
        """Whether a predicate is the answer to a question wherever a way is gone."""
        values = values_at(self.registers, one, way)
        if values is None:
            return False
        both = (asked(self.decisions, one, values), self.registers.held(way, name))
        first, second = (self.registers.under(way.condition, value) for value in both)
        return Agreement(self.decisions, self.registers.timeless).same(first, second)
