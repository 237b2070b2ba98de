"""What is known of numbers at a meeting that are not the same at any time.

A loop is entered where a number is large enough, and does not change that number: so it is in all
turns. Such comparisons are taken from the way that first leads to a meeting, and given up where
they do not hold on another one.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice
from typing import Any

from ptxkit.decompiler.verify.dataflow.agreement import Agreement
from ptxkit.decompiler.verify.dataflow.decisions import LEAF, Diagram
from ptxkit.decompiler.verify.dataflow.meetings import Compared, Meeting, Name, Way
from ptxkit.decompiler.verify.dataflow.registers import Registers
from ptxkit.decompiler.verify.dataflow.terms import Term

#: Comparisons of a meeting at most, and nodes of conditions that are looked into.
_MOST, _NODES = 12, 48


class Invariants:
    """Finds such comparisons."""

    def __init__(self, registers: Registers) -> None:
        """Of these registers."""
        self.registers = registers
        self.decisions = registers.decisions
        self.terms = registers.terms
        self.timeless = registers.timeless

    def refine(self, meeting: Meeting, ways: list[Way]) -> bool:
        """Give up what does not hold on all ways; whether there was any."""
        if meeting.regions is None:
            # Nobody has relied on anything yet.
            meeting.compared = list(self._proposed(meeting, ways[0]))
        held = [one for one in meeting.compared if all(self._holds(one, way) for way in ways)]
        changed = len(held) < len(meeting.compared) and meeting.regions is not None
        meeting.compared = held
        return changed

    def condition(self, meeting: Meeting) -> Diagram:
        """What all of them say together."""
        found = self.decisions.true
        for one in meeting.compared:
            values = [
                self.decisions.leaf(operand)
                if isinstance(operand, int)
                else self.registers.incoming(meeting, *operand)
                for operand in one.operands
            ]
            found = self.decisions.both(found, self._asked(one, values))
        return found

    def _holds(self, one: Compared, way: Way) -> bool:
        values = [
            self.decisions.leaf(operand)
            if isinstance(operand, int)
            else self.registers.held(way, operand)
            for operand in one.operands
        ]
        if self.decisions.undefined in values:
            return False
        against = self.decisions.negate(self._asked(one, values))
        against = self.decisions.both(way.condition, against)
        if against == self.decisions.false:
            return True
        return Agreement(self.decisions, self.timeless).never(against)

    def _asked(self, one: Compared, values: list[Diagram]) -> Diagram:
        def ask(first: Term, second: Term) -> Diagram:
            asked, turned = self.terms.less(one.signed, one.width, first, second)
            if asked is None:
                return self.decisions.true if turned else self.decisions.false
            answer = self.decisions.ask(asked)
            return self.decisions.negate(answer) if turned else answer

        key = "compared", one.signed, one.width
        found = self.decisions.apply(key, ask, (values[0], values[1]))
        return found if one.holds else self.decisions.negate(found)

    def _proposed(self, meeting: Meeting, way: Way) -> Iterator[Compared]:
        """Comparisons that follow from the condition of a way."""
        nodes = self.decisions.reached(way.condition, _NODES)
        if len(nodes) > _NODES:
            return
        names: dict[Term, list[Name]] = {}
        for name in self.registers.names(meeting):
            held = self.decisions.term(self.registers.held(way, name))
            if held is not None and not self.timeless.term(held):
                names.setdefault(held, []).append(name)
        proposed = (
            Compared(bool(row[1]), row[2], operands, holds)
            for asked in sorted({self.decisions.nodes[node][0] for node in nodes} - {LEAF})
            if (row := self.terms.rows[asked])[0] == "lt"
            for holds in (True, False)
            for operands in self._operands(row, names)
        )
        yield from islice((one for one in proposed if self._holds(one, way)), _MOST)

    def _operands(
        self, row: tuple[Any, ...], names: dict[Term, list[Name]]
    ) -> Iterator[tuple[Name | Term, Name | Term]]:
        """Two numbers, of which at least one is in a register and may change."""
        found: list[list[Name | Term]] = []
        for one in row[3:5]:
            found.append([one] if self.timeless.term(one) else [*names.get(one, ())])
        if not all(map(self.timeless.term, row[3:5])):
            yield from ((first, second) for first in found[0] for second in found[1])
