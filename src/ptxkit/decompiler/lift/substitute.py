"""Put values where their variables are used, and drop what nobody reads.

A variable with one definition may be replaced by its value wherever the versions of the
variables in it are still current and the memory it reads has not been written since.
What is worth it is a matter of style: values used once, addresses, constants, copies and
short comparisons.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from ptxkit.decompiler.lift.address_parts import parts_of_addresses
from ptxkit.decompiler.lift.flow import Flow
from ptxkit.decompiler.lift.function import Program
from ptxkit.decompiler.lift.idioms import Idioms
from ptxkit.decompiler.lift.operands import COPIES, Operands
from ptxkit.decompiler.lift.order import Order, as_written, indices_first, moved_away, out_of_line
from ptxkit.decompiler.lift.reading import exit_values, leaves, set_exit
from ptxkit.decompiler.lift.unread import drop_unread
from ptxkit.decompiler.lift.values import (
    Definition,
    FactTable,
    Step,
    Value,
    Variable,
    replaced,
)

_LIMIT = 28
#: After so many attempts nothing is substituted.
_ROUNDS = 40
#: Collectives that leave memory alone.
_HARMLESS = ("__shfl", "__ballot", "__any", "__all", "__activemask", "__match", "__reduce")
_COMPARISONS = frozenset(
    "eq ne lt.s le.s gt.s ge.s lt.u le.u gt.u ge.u feq fne flt fle fgt fge".split()
)
#: What takes long, and has a name where it is in several places.
_DIVISIONS = frozenset("div.s div.u rem.s rem.u".split())


@dataclass(slots=True)
class _Candidate:
    """A definition that may go: its value, its place, when memory was last written."""

    value: Value
    block: int
    epochs: dict[str, int]
    depth: int


@dataclass(slots=True)
class Substitution:
    """Substitutes in one function."""

    program: Program
    order: Order = "free"
    """Whether values stay in the blocks, or the lines, in which PTX computes them."""
    exact: bool = False
    """Whether operands of floating point stay in their order."""
    facts: FactTable = field(default_factory=FactTable)
    uses: dict[Definition, int] = field(default_factory=dict)
    candidates: dict[Definition, _Candidate] = field(default_factory=dict)
    expanded: dict[Definition, Value] = field(default_factory=dict)
    carriers: dict[Definition, frozenset[Definition]] = field(default_factory=dict)
    takers: dict[Definition, list[Definition]] = field(default_factory=dict)
    """The candidates that have a definition in their values."""
    starts: dict[int, dict[str, int]] = field(default_factory=dict)
    """When memory was last written, at the start of each block."""
    addresses: set[Definition] = field(default_factory=set)
    depths: dict[int, int] = field(default_factory=dict)
    signed: set[Definition] = field(default_factory=set)
    numbers: dict[Definition, Value] = field(default_factory=dict)
    """Versions that are numbers, though their variables change; addresses are none."""
    begins: dict[Definition, Value] = field(default_factory=dict)
    """Versions that are an index of a thread or the like, though their variables change."""
    moved: set[Definition] = field(default_factory=set)
    """Addresses that say those instead of the variables."""
    indices: set[Definition] = field(default_factory=set)
    """What is computed from the indices of threads alone."""
    repeated: set[Definition] = field(default_factory=set)
    """What is in addresses that are written more than once."""
    widened: dict[Definition, int] = field(default_factory=dict)
    """How often numbers are read in 64 bits, of those that are widened once."""
    pinned: set[Variable] = field(default_factory=set)
    dropped: set[Definition] = field(default_factory=set)

    @property
    def flow(self) -> Flow:
        """The graph."""
        return self.program.flow

    @property
    def in_order(self) -> bool:
        """Whether the compiler leaves what it computes where it is written."""
        return self.program.lift.in_order

    def run(self) -> None:
        """Drop what is dead, then substitute."""
        reads = drop_unread(self.flow, self.facts)
        if Idioms(self.program, self.exact).run():
            reads = drop_unread(self.flow, self.facts)
        self.uses, self.pinned = reads.uses, reads.pinned
        if self.order == "line" or self.in_order:
            as_written(self.flow, self.in_order)
        elif self.order == "block":
            indices_first(self.flow)
        self._depths()
        self.addresses, self.signed = parts_of_addresses(self.flow)
        self._find_repeated()
        self._find_widened()
        Operands(self.program, self.order, self.exact, self.facts, self.uses).run()
        self._choose()
        for _ in range(_ROUNDS):
            gone = self._check() or self._keep_in_order()
            if not gone:
                break
            self._drop(gone)
        else:
            self._drop(set(self.candidates))
        self._rewrite()

    def _drop(self, gone: set[Definition]) -> None:
        """Candidates stay where they are; whatever they were put into is expanded again.

        But addresses go on, once, with what variables began with that have moved on since.
        """
        for definition in gone:
            if self._begins_with_an_index(definition):
                self.moved.add(definition)
            else:
                self.candidates.pop(definition, None)
        pending = list(gone)
        while pending:
            definition = pending.pop()
            self.expanded.pop(definition, None)
            self.carriers.pop(definition, None)
            pending += [user for user in self.takers.get(definition, ()) if user in self.expanded]

    def _begins_with_an_index(self, definition: Definition) -> bool:
        known = definition in self.candidates and definition in self.addresses
        return (
            known
            and definition not in self.moved
            and any(leaf in self.begins for leaf in leaves(self.expand(definition)))
        )

    def _keep_in_order(self) -> set[Definition]:
        """What must stand where it does."""
        found = moved_away(self) if self.order != "free" else set()
        if self.order == "line":
            found |= out_of_line(self)
        return found

    def moving(self, definition: Definition) -> Value | None:
        """The value of a definition that goes to its uses."""
        found = self.candidates.get(definition)
        return None if found is None else found.value

    def exits(self, block: int) -> tuple[Value, ...]:
        """What decides where control goes after a block."""
        return exit_values(self.flow.blocks[block])

    # ---- candidates ----------------------------------------------------------------------

    def _depths(self) -> None:
        flow = self.flow
        self.depths = dict.fromkeys(flow.order, 0)
        for head in flow.order:
            for block in flow.loop_blocks(head):
                self.depths[block] += 1

    def _choose(self) -> None:
        epochs: dict[str, int] = {}
        for number in self.flow.order:
            block = self.flow.blocks[number]
            self.starts[number] = dict(epochs)
            for step in block.statements:
                self._advance(step, epochs)
                if step.kind != "set":
                    continue
                target, value = step.targets[0], step.args[0]
                facts = self.facts.of(value)
                if value.op == "const" and value.width < 64:
                    self.numbers[target] = value
                if value.op == "builtin" and target.variable.definitions > 1:
                    self.begins[target] = value
                if (
                    target.variable.definitions != 1
                    or target.variable.role == "result"
                    or target.variable in self.pinned
                    or facts.effect
                    or "volatile" in facts.loads
                    or value.op == "texture"
                    or target.variable.declared == "vector"
                    or not self._worth(target, value)
                ):
                    continue
                self.candidates[target] = _Candidate(
                    value, number, dict(epochs) if facts.loads else {}, self.depths[number]
                )
                for leaf in leaves(value):
                    self.takers.setdefault(leaf, []).append(target)

    def _find_repeated(self) -> None:
        for number in reversed(self.flow.order):
            for step in reversed(self.flow.blocks[number].statements):
                if step.kind != "set":
                    continue
                target = step.targets[0]
                often = target in self.addresses and self.uses.get(target, 0) > 1
                if often or target in self.repeated:
                    self.repeated.update(leaves(step.args[0]))

    def _find_widened(self) -> None:
        for block in self.flow.blocks.values():
            for step in block.statements:
                match step:
                    case Step("set", [target], [Value(op="sext" | "zext", args=(part,))]):
                        if part.op == "var":
                            self.widened[part.data] = self.uses.get(target, 0)

    def _worth(self, target: Definition, value: Value) -> bool:
        uses = self.uses.get(target, 0)
        if value.op in _DIVISIONS and target in self.repeated:
            return False
        if value.op == "builtin" or (value.args and value.width == 32 and all(
            a.op == "const" or (a.op == "var" and a.data in self.indices) for a in value.args
        )):  # fmt: skip
            # People keep what is taken with a sign in an int: `int i = threadIdx.x;`.
            self.indices.add(target)
            if target in self.signed:
                return False
        # The number of a thread has a name, also where it is read in 64 bits alone.
        read = self.widened.get(target, 0) if value.op != "builtin" else 0
        if read > 1 and all(leaf in self.indices for leaf in leaves(value)):
            return False
        if uses == 1 or value.op in COPIES:
            return True
        if value.op == "builtin":
            return True
        if target in self.addresses:
            return True
        if value.op in ("sext", "zext") and value.args[0].op in ("var", "const", "builtin"):
            return True
        if value.op in _COMPARISONS and self.facts.of(value).size <= 3:
            return uses <= 3 or not self.facts.of(value).fragile
        if value.op == "not" and value.width == 1:
            return True
        return value.op == "load" and value.data.space == "param"

    def _advance(self, step: Step, epochs: dict[str, int]) -> None:
        """Note which memory a step may write."""
        if step.kind == "store":
            self._bump(step.data.space, epochs)
        elif step.kind == "asm":
            self._bump("generic", epochs)
        elif step.args and step.args[0].op in ("atomic", "collective", "function"):
            value = step.args[0]
            if value.op == "atomic":
                self._bump(value.data[1].space, epochs)
            elif value.op == "function" or not value.data[0].name.startswith(_HARMLESS):
                self._bump("generic", epochs)
        elif any("volatile" in self.facts.of(value).loads for value in step.args):
            # Who waits for others to write does not read the rest before, nor after it.
            self._bump("generic", epochs)

    def _bump(self, space: str, epochs: dict[str, int]) -> None:
        spaces = ("global", "shared", "local", "generic") if space == "generic" else (space,)
        for one in (*spaces, "generic"):
            epochs[one] = epochs.get(one, 0) + 1

    # ---- checking ------------------------------------------------------------------------

    def expand(self, definition: Definition) -> Value:
        """A candidate's value with all candidates in it expanded."""
        found = self.expanded.get(definition)
        if found is not None:
            return found
        candidate = self.candidates[definition]
        inside: set[Definition] = set()
        if candidate.epochs or self.facts.of(candidate.value).loads:
            inside.add(definition)
        for leaf in leaves(candidate.value):
            if leaf in self.candidates:
                self.expand(leaf)
                inside |= self.carriers[leaf]
        value = replaced(candidate.value, self._lookup)
        if definition in self.moved:
            value = replaced(value, lambda leaf: self.begins.get(leaf.data))
        if self.facts.of(value).size > _LIMIT and definition not in self.addresses:
            # Too long to read: what is in it stays on its own.
            value = candidate.value
            for leaf in list(leaves(value)):
                if leaf in self.candidates and self.facts.of(self.expand(leaf)).size > 4:
                    self.dropped.add(leaf)
            value = replaced(candidate.value, self._lookup)
        self.expanded[definition] = value
        self.carriers[definition] = frozenset(inside)
        return value

    def _lookup(self, leaf: Value) -> Value | None:
        if leaf.data in self.candidates:
            return self.expand(leaf.data)
        return self.numbers.get(leaf.data)

    def _check(self) -> set[Definition]:
        """The candidates that cannot go everywhere they are used."""
        self.dropped = set()
        current: dict[Variable, Definition] = {}
        children: dict[int, list[int]] = {block: [] for block in self.flow.order}
        for below, above in self.flow.above.items():
            children[above].append(below)
        stack: list[tuple[int, list[tuple[Variable, Definition | None]] | None]] = [(0, None)]
        while stack:
            number, undo = stack.pop()
            if undo is not None:
                for variable, old in reversed(undo):
                    if old is None:
                        del current[variable]
                    else:
                        current[variable] = old
                continue
            undo = []
            epochs = dict(self.starts[number])
            for definition in self.program.meeting.get(number, ()):
                undo.append((definition.variable, current.get(definition.variable)))
                current[definition.variable] = definition
            block = self.flow.blocks[number]
            for step in block.statements:
                skip = step.kind == "set" and step.targets[0] in self.candidates
                if not skip:
                    for value in step.args:
                        self._check_value(value, number, current, epochs)
                self._advance(step, epochs)
                for target in step.targets:
                    if target.variable.definitions > 1:
                        undo.append((target.variable, current.get(target.variable)))
                        current[target.variable] = target
            for value in exit_values(block):
                self._check_value(value, number, current, epochs)
            stack.append((number, undo))
            stack.extend((child, None) for child in children[number])
        return self.dropped

    def _check_value(
        self,
        value: Value,
        number: int,
        current: dict[Variable, Definition],
        epochs: dict[str, int],
    ) -> None:
        for leaf in leaves(value):
            if leaf not in self.candidates:
                continue
            whole = self.expand(leaf)
            facts = self.facts.of(whole)
            stale = {d for d in facts.fragile if current.get(d.variable) is not d}
            fits = not stale
            for carrier in self.carriers[leaf]:
                candidate = self.candidates.get(carrier)
                if candidate is None or candidate.block != number:
                    fits = False
                    break
                for space in self.facts.of(candidate.value).loads:
                    if epochs.get(space, 0) != candidate.epochs.get(space, 0):
                        fits = False
            if fits and facts.size > 3 and leaf not in self.addresses:
                fits = self.depths[number] <= self.candidates[leaf].depth
            if not fits:
                kept = self._copies_of(leaf, stale) or self._indices_of(leaf) or {leaf}
                self.dropped.update(kept)

    def _copies_of(self, definition: Definition, stale: set[Definition]) -> set[Definition]:
        """Copies in a value of what has changed since: with those in variables it can go on."""
        found: set[Definition] = set()
        seen = {definition}
        pending = [definition] if stale else []
        while pending:
            one = pending.pop()
            value = self.candidates[one].value
            if value.op == "var" and value.data in stale:
                found.add(one)
            some = {leaf for leaf in leaves(value) if leaf in self.candidates} - seen
            seen |= some
            pending += some
        return found - {definition}

    def _indices_of(self, address: Definition) -> set[Definition]:
        """The indices in an address that read memory: with those in variables it can go on.

        An element that is used twice is ``x[n]`` and ``y[n]`` to people, not an address.
        """
        found: set[Definition] = set()
        pending = [address] if address in self.addresses else []
        while pending:
            for leaf in leaves(self.candidates[pending.pop()].value):
                if leaf not in self.candidates or not self.carriers.get(leaf):
                    continue
                if leaf in self.addresses:
                    pending.append(leaf)
                elif leaf.variable.width == 32:
                    found.add(leaf)
                else:
                    return set()
        return found

    def _rewrite(self) -> None:
        for block in self.flow.blocks.values():
            kept: list[Step] = []
            for step in block.statements:
                if step.kind == "set" and step.targets[0] in self.candidates:
                    continue
                step.args = [replaced(value, self._lookup) for value in step.args]
                kept.append(step)
            block.statements = kept
            for value in exit_values(block):
                set_exit(block, replaced(value, self._lookup))
        self._drop_repeated()
        lift = self.program.lift
        lift.pointers = dict.fromkeys(replaced(v, self._lookup) for v in lift.pointers)

    def _drop_repeated(self) -> None:
        """Drop assignments of a number to a variable that holds it already."""
        for number in self.flow.order:
            before = self.flow.predecessors[number]
            if len(before) != 1 or before[0] == number:
                continue
            held: dict[Variable, Value] = {}
            for step in self.flow.blocks[before[0]].statements:
                for target in step.targets:
                    held.pop(target.variable, None)
                    if step.kind == "set" and step.args[0].op == "const":
                        held[target.variable] = step.args[0]
            kept: list[Step] = []
            for step in self.flow.blocks[number].statements:
                target = step.targets[0] if step.targets else None
                if (
                    target is not None
                    and step.kind == "set"
                    and held.get(target.variable) is step.args[0]
                ):
                    continue
                for one in step.targets:
                    held.pop(one.variable, None)
                kept.append(step)
            self.flow.blocks[number].statements = kept
