"""Drop what serves nothing any more, branches included.

Alive is what has an effect, and what that needs: the values it takes, and the branches that
decide whether it runs. Where ways meet and a variable is read, the branches that decide which
of its values arrives are needed too. All else goes; a branch that decides nothing becomes a
jump to where its ways meet again.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from ptxkit.decompiler.lift.flow import Branch, Flow, Jump, Select
from ptxkit.decompiler.lift.function import Program
from ptxkit.decompiler.lift.mathlib.terms import Terms
from ptxkit.decompiler.lift.reading import exit_values, leaves
from ptxkit.decompiler.lift.values import Definition, FactTable, Step, Variable

_END = -1


def _after(flow: Flow) -> dict[int, int] | None:
    """Immediate post-dominators; None where some block never gets to an end."""
    place = {block: k for k, block in enumerate(_backwards(flow))}
    if any(block not in place for block in flow.order):
        return None
    below: dict[int, int] = {_END: _END}
    order = sorted(place, key=place.__getitem__)
    changed = True
    while changed:
        changed = False
        for block in order[1:]:
            following = flow.blocks[block].successors() or (_END,)
            nearest: int | None = None
            for one in following:
                if one not in below:
                    continue
                if nearest is None:
                    nearest = one
                    continue
                while nearest != one:
                    while place[nearest] > place[one]:
                        nearest = below[nearest]
                    while place[one] > place[nearest]:
                        one = below[one]
            if nearest is not None and below.get(block) != nearest:
                below[block] = nearest
                changed = True
    return below


def _backwards(flow: Flow) -> list[int]:
    """Blocks in reverse post-order of the graph with its edges turned, from the end."""
    ends = [b for b in flow.order if not flow.blocks[b].successors()]
    seen = {_END}
    order: list[int] = []
    stack = [(_END, iter(ends))]
    while stack:
        block, rest = stack[-1]
        for following in rest:
            if following not in seen:
                seen.add(following)
                stack.append((following, iter(flow.predecessors[following])))
                break
        else:
            stack.pop()
            order.append(block)
    return order[::-1]


def _merge(program: Program) -> None:
    """Make one block of those that always follow each other."""
    flow = program.flow
    for number in list(flow.order):
        if number not in flow.blocks:
            continue
        block = flow.blocks[number]
        while isinstance(block.exit, Jump):
            following = block.exit.target
            if following == 0 or flow.predecessors[following] != [number]:
                break
            after = flow.blocks.pop(following)
            block.statements += after.statements
            block.exit = after.exit
            program.meeting.pop(following, None)
            for one in after.successors():
                flow.predecessors[one] = [number if p == following else p
                                          for p in flow.predecessors[one]]  # fmt: skip
    flow.analyse()


@dataclass(slots=True)
class Sweep:
    """Drops what is dead from one function."""

    terms: Terms
    spare: set[int]
    """Steps (by id) that have an effect nobody needs once what they served has gone."""
    facts: FactTable = field(default_factory=FactTable)
    steps: dict[Definition, tuple[int, Step]] = field(default_factory=dict)
    setters: dict[Variable, list[tuple[int, Step]]] = field(default_factory=dict)
    joins: dict[Definition, int] = field(default_factory=dict)
    alive: set[int] = field(default_factory=set)
    deciding: set[int] = field(default_factory=set)
    read: set[Definition] = field(default_factory=set)
    reached: set[int] = field(default_factory=set)
    pending: list[tuple[int, Step]] = field(default_factory=list)
    guards: dict[int, list[int]] = field(default_factory=dict)

    def run(self) -> None:
        """Drop it."""
        program = self.terms.program
        flow = program.flow
        below = _after(flow)
        if below is None:
            return
        self._guards(flow, below)
        for number, met in program.meeting.items():
            self.joins.update(dict.fromkeys(met, number))
        for number, block in flow.blocks.items():
            for step in block.statements:
                for target in step.targets:
                    self.steps[target] = number, step
                    self.setters.setdefault(target.variable, []).append((number, step))
        for number, block in flow.blocks.items():
            for step in block.statements:
                if self._has_effect(step):
                    self._keep(number, step)
            if not block.successors():
                self._reach(number)
        while self.pending:
            number, step = self.pending.pop()
            self._reach(number)
            for value in step.args:
                for definition in leaves(value):
                    self._need(definition)
        self._drop(flow, below)

    def _guards(self, flow: Flow, below: dict[int, int]) -> None:
        """For every block the blocks whose branches decide whether it runs."""
        for block in flow.order:
            following = flow.blocks[block].successors()
            if len(following) < 2:
                continue
            for one in following:
                runner = one
                while runner not in (below[block], _END):
                    self.guards.setdefault(runner, []).append(block)
                    runner = below[runner]

    def _has_effect(self, step: Step) -> bool:
        if id(step) in self.spare:
            return False
        if step.kind != "set":
            return True
        facts = self.facts.of(step.args[0])
        return (
            facts.effect or "volatile" in facts.loads or step.targets[0].variable.role == "result"
        )

    def _keep(self, number: int, step: Step) -> None:
        if id(step) not in self.alive:
            self.alive.add(id(step))
            self.pending.append((number, step))

    def _reach(self, block: int) -> None:
        """A block has to run: so do the branches that decide about it."""
        if block in self.reached:
            return
        self.reached.add(block)
        for guard in self.guards.get(block, ()):
            if guard not in self.deciding:
                self.deciding.add(guard)
                self._reach(guard)
                for value in exit_values(self.terms.flow.blocks[guard]):
                    for definition in leaves(value):
                        self._need(definition)

    def _need(self, definition: Definition) -> None:
        if definition in self.read:
            return None
        self.read.add(definition)
        found = self.steps.get(definition)
        if found is not None:
            return self._keep(*found)
        join = self.joins.get(definition)
        if join is None:
            for number, step in self.setters.get(definition.variable, ()):
                self._keep(number, step)
            return None
        for before in self.terms.flow.predecessors[join]:
            # Which way control comes decides which value it is.
            self._reach(before)
            version = self.terms.at_end(definition.variable, before)
            if version is not None:
                self._need(version)
        return None

    def _drop(self, flow: Flow, below: dict[int, int]) -> None:
        met = {d.variable for d in self.read if d in self.joins}
        gone: set[Variable] = set()
        for number, block in flow.blocks.items():
            kept = [step for step in block.statements if id(step) in self.alive]
            for step in block.statements:
                if id(step) not in self.alive:
                    gone.update(target.variable for target in step.targets)
            block.statements = kept
            if isinstance(block.exit, Branch | Select) and number not in self.deciding:
                block.exit = Jump(below[number])
        flow.analyse()
        _merge(self.terms.program)
        left: dict[Variable, int] = {}
        for block in flow.blocks.values():
            for step in block.statements:
                for target in step.targets:
                    left[target.variable] = left.get(target.variable, 0) + 1
        for variable in gone - met:
            variable.definitions = left.get(variable, 0)
