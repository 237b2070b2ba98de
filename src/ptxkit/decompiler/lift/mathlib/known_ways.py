"""Branches whose conditions are numbers, taken in advance.

Where an argument of a function is a number, what the function asks about it is known; but it
may be asked in a way that compilers do not look through, and they keep both answers, or copy
a whole loop for each. Functions and templates are brought to the one that is given.
"""

from __future__ import annotations

from ptxkit.decompiler.lift.flow import Branch, Jump
from ptxkit.decompiler.lift.function import Program
from ptxkit.decompiler.lift.mathlib.numbers import folded
from ptxkit.decompiler.lift.mathlib.terms import Terms
from ptxkit.decompiler.lift.values import Definition, Value, Variable


def take_known_ways(program: Program) -> bool:
    """Make jumps of branches that always go one way; whether there were any."""
    changed = False
    # Where fewer ways meet, more is known.
    while _Known(program).take():
        changed = True
    return changed


class _Known:
    """The numbers that variables of a function always hold."""

    def __init__(self, program: Program) -> None:
        self.program = program
        self.terms = Terms(program).prepare()
        self.numbers: dict[Definition, Value] = {}

    def take(self) -> bool:
        """Take what can be taken; whether there was anything."""
        flow = self.program.flow
        changed = False
        for number in flow.order:
            self._meet(number)
            block = flow.blocks[number]
            for step in block.statements:
                if step.kind == "set" and (found := self._folded(step.args[0])) is not None:
                    self.numbers[step.targets[0]] = found
            if isinstance(block.exit, Branch):
                answer = self._folded(block.exit.condition)
                if answer is not None:
                    block.exit = Jump(block.exit.then if answer.data else block.exit.otherwise)
                    changed = True
        if changed:
            self._drop()
        return changed

    def _meet(self, number: int) -> None:
        """What comes from all sides is known; what comes round a loop is not, yet."""
        for definition in self.program.meeting.get(number, ()):
            arriving = {
                self.numbers.get(end)
                if (end := self.terms.at_end(definition.variable, before)) is not None
                else None
                for before in self.terms.flow.predecessors[number]
            }
            if len(arriving) == 1 and (found := arriving.pop()) is not None:
                self.numbers[definition] = found

    def _folded(self, value: Value) -> Value | None:
        """A value as a number, if it is made of numbers."""
        if value.op == "const":
            return value
        if value.op == "var":
            return self.numbers.get(value.data)
        args = []
        for arg in value.args:
            known = self._folded(arg)
            if known is None:
                return None
            args.append(known)
        if not args:
            return None
        made = folded(value.op, value.width, *args, data=value.data)
        return made if made.op == "const" else None

    def _drop(self) -> None:
        """Let go of blocks that nothing leads to, and of what was set there."""
        program = self.program
        before = self._counted()
        program.flow.analyse()
        for number in [n for n in program.meeting if n not in program.flow.blocks]:
            del program.meeting[number]
        after = self._counted()
        for variable, count in before.items():
            variable.definitions -= count - after.get(variable, 0)

    def _counted(self) -> dict[Variable, int]:
        """How often variables are set."""
        found: dict[Variable, int] = {}
        for block in self.program.flow.blocks.values():
            for step in block.statements:
                for target in step.targets:
                    found[target.variable] = found.get(target.variable, 0) + 1
        return found
