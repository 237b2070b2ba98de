"""What is known of numbers at a meeting that are not the same at any time.

A loop is entered where a number is large enough, and does not change that number: so it is in all
turns. Such comparisons are taken from the ways that first lead to a meeting, and given up where
they do not hold on another one.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice

from ptxkit.decompiler.verify.dataflow.agreement import Agreement
from ptxkit.decompiler.verify.dataflow.decisions import LEAF, Diagram
from ptxkit.decompiler.verify.dataflow.meetings import Compared, Meeting, Way
from ptxkit.decompiler.verify.dataflow.questions import asked, held_by, operands_of, values_at
from ptxkit.decompiler.verify.dataflow.registers import Registers

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
            # What is the same at any time on one way may have changed before another one.
            proposed = (one for way in ways for one in self._proposed(meeting, way))
            meeting.compared = list(islice(dict.fromkeys(proposed), _MOST))
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
            found = self.decisions.both(found, asked(self.decisions, one, values))
        return found

    def _holds(self, one: Compared, way: Way) -> bool:
        values = values_at(self.registers, one, way)
        if values is None:
            return False
        against = self.decisions.negate(asked(self.decisions, one, values))
        against = self.decisions.both(way.condition, against)
        if against == self.decisions.false:
            return True
        return Agreement(self.decisions, self.timeless).never(against)

    def _proposed(self, meeting: Meeting, way: Way) -> Iterator[Compared]:
        """Comparisons that follow from the condition of a way."""
        nodes = self.decisions.reached(way.condition, _NODES)
        if len(nodes) > _NODES:
            return
        names = held_by(self.registers, way, self.registers.names(meeting))
        proposed = (
            Compared(bool(row[1]), row[2], operands, holds)
            for question in sorted({self.decisions.nodes[node][0] for node in nodes} - {LEAF})
            if (row := self.terms.rows[question])[0] == "lt"
            for holds in (True, False)
            for operands in operands_of(self.timeless, row, names)
        )
        yield from islice((one for one in proposed if self._holds(one, way)), _MOST)
