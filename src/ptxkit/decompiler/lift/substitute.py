"""Put values where their variables are used, and drop what nobody reads.

A variable with one definition may be replaced by its value wherever the versions of the
variables in it are still current and the memory it reads has not been written since.
What is worth it is a matter of style: values used once, addresses, constants, copies and
short comparisons.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

from ptxkit.decompiler.lift.flow import Branch, Flow, FlowBlock, Select
from ptxkit.decompiler.lift.function import Program
from ptxkit.decompiler.lift.idioms import Idioms
from ptxkit.decompiler.lift.order import Order, as_written, indices_first, moved_away, out_of_line
from ptxkit.decompiler.lift.values import (
    Definition,
    FactTable,
    Step,
    Value,
    Variable,
    raw,
    replaced,
)

_LIMIT = 28
#: So many more operations are not behind `&&` where they are always computed.
_HEAVY = 3
#: After so many attempts nothing is substituted.
_ROUNDS = 40
_COPIES = frozenset(("const", "var", "symbol", "slot", "component"))
_ADDRESS_PARTS = frozenset(
    "add sub mul shl sext zext const var symbol slot generic specific builtin component".split()
)
#: Collectives that leave memory alone.
_HARMLESS = ("__shfl", "__ballot", "__any", "__all", "__activemask", "__match", "__reduce")
_COMPARISONS = frozenset(
    "eq ne lt.s le.s gt.s ge.s lt.u le.u gt.u ge.u feq fne flt fle fgt fge".split()
)
_SIGNED_TAKERS = frozenset("lt.s le.s gt.s ge.s div.s rem.s shr.s min.s max.s sext mulhi.s".split())


def exit_values(block: FlowBlock) -> tuple[Value, ...]:
    """The values that decide where control goes after a block."""
    exit = block.exit
    if isinstance(exit, Branch):
        return (exit.condition,)
    if isinstance(exit, Select):
        return (exit.value,)
    return ()


def set_exit(block: FlowBlock, value: Value) -> None:
    """Change the value that decides where control goes."""
    exit = block.exit
    if isinstance(exit, Branch):
        block.exit = Branch(value, exit.then, exit.otherwise)
    elif isinstance(exit, Select):
        block.exit = Select(value, exit.targets)


def leaves(value: Value) -> Iterator[Definition]:
    """The versions of variables in a value, as often as they occur."""
    stack = [value]
    while stack:
        one = stack.pop()
        if one.op == "var":
            yield one.data
        else:
            stack.extend(one.args)


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
    reads: dict[Variable, int] = field(default_factory=dict)
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
    loaded: dict[Definition, int] = field(default_factory=dict)
    """Loads that are used once, and their lines."""
    indices: set[Definition] = field(default_factory=set)
    """What is computed from the indices of threads alone."""
    fixed: set[Definition] = field(default_factory=set)
    """What stays where it stands, since it has an effect."""
    read: dict[Definition, int] = field(default_factory=dict)
    """Indices of threads, and which of them was read first."""

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
        self._drop_dead()
        if Idioms(self.program).run():
            self._drop_dead()
        if self.order == "line" or self.in_order:
            as_written(self.flow, self.in_order)
        elif self.order == "block":
            indices_first(self.flow)
        self._depths()
        self._mark_addresses()
        self._order()
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
        """Candidates stay where they are; whatever they were put into is expanded again."""
        for definition in gone:
            self.candidates.pop(definition, None)
        pending = list(gone)
        while pending:
            definition = pending.pop()
            self.expanded.pop(definition, None)
            self.carriers.pop(definition, None)
            pending += [user for user in self.takers.get(definition, ()) if user in self.expanded]

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

    # ---- dead code -----------------------------------------------------------------------

    def _drop_dead(self) -> None:
        where: dict[Variable, list[Step]] = {}
        reads: dict[Variable, int] = {}
        uses: dict[Definition, int] = {}

        def count(value: Value, by: int) -> None:
            for definition in leaves(value):
                variable = definition.variable
                reads[variable] = reads.get(variable, 0) + by
                uses[definition] = uses.get(definition, 0) + by

        written: set[Definition] = set()
        for block in self.flow.blocks.values():
            for step in block.statements:
                for value in step.args:
                    count(value, 1)
                if step.kind == "set":
                    where.setdefault(step.targets[0].variable, []).append(step)
                written.update(step.targets)
            for value in exit_values(block):
                count(value, 1)
        dead: set[int] = set()
        pending = [v for v in where if not reads.get(v)]
        while pending:
            variable = pending.pop()
            for step in where[variable]:
                value = step.args[0]
                if id(step) in dead or self.facts.of(value).effect or variable.role == "result":
                    continue
                if "volatile" in self.facts.of(value).loads:
                    continue
                dead.add(id(step))
                count(value, -1)
                for definition in leaves(value):
                    other = definition.variable
                    if not reads.get(other) and other in where:
                        pending.append(other)
        for block in self.flow.blocks.values():
            kept = []
            for step in block.statements:
                if id(step) in dead:
                    continue
                unread = step.kind == "set" and not reads.get(step.targets[0].variable)
                if unread and step.args[0].op in ("atomic", "collective", "function"):
                    # Its effect is wanted, its result is not.
                    step = Step("effect", [], step.args, step.data, step.line)
                kept.append(step)
            block.statements = kept
        self.uses, self.reads = uses, reads
        self.pinned = {d.variable for d in uses if d not in written and d.variable.definitions == 1}

    # ---- candidates ----------------------------------------------------------------------

    def _depths(self) -> None:
        flow = self.flow
        self.depths = dict.fromkeys(flow.order, 0)
        for head in flow.order:
            for block in flow.loop_blocks(head):
                self.depths[block] += 1

    def _mark_addresses(self) -> None:
        """Definitions that addresses are made of."""
        values: dict[Definition, Value] = {}
        sets: dict[Variable, list[Value]] = {}
        pending: list[Definition] = []
        for block in self.flow.blocks.values():
            for step in block.statements:
                if step.kind == "set":
                    values[step.targets[0]] = step.args[0]
                    if step.targets[0].variable.definitions > 1:
                        sets.setdefault(step.targets[0].variable, []).append(step.args[0])
                if step.kind == "store":
                    pending.extend(leaves(step.args[0]))
                for value in step.args:
                    for part in value.walk():
                        if part.op in ("load", "atomic"):
                            pending.extend(leaves(part.args[0]))
                        if part.op in _SIGNED_TAKERS or (
                            part.op == "cvt" and part.data[1][0] == "s"
                        ):
                            self.signed.update(leaves_here(part))
            for value in exit_values(block):
                for part in value.walk():
                    if part.op in _SIGNED_TAKERS:
                        self.signed.update(leaves_here(part))
        # What holds bytes: an index is scaled in there, and belongs to the address.
        whole = set(pending)
        while pending:
            definition = pending.pop()
            if definition in self.addresses:
                continue
            # A pointer that moves is set to addresses.
            for value in sets.pop(definition.variable, ()):
                if value.width == 64:
                    pending.extend(leaves(value))
            value = values.get(definition)
            if value is None or value.op not in _ADDRESS_PARTS:
                continue
            bytes_ = definition in whole
            scales = bytes_ and value.op in ("shl", "mul") and value.args[1].op == "const"
            if definition.variable.width != 64 and not (scales or _names_memory(value, values)):
                continue
            self.addresses.add(definition)
            inner = list(leaves(value))
            if bytes_ and value.op in ("add", "sub", "var", "generic", "specific"):
                whole.update(inner)
            pending.extend(inner)

    def _order(self) -> None:
        """Write what was computed first on the left, where the order is free."""
        places: dict[Definition, int] = {}
        weights: dict[Definition, int] = {}
        for number in self.flow.order:
            for step in self.flow.blocks[number].statements:
                step.args = [self._sorted(value, places, weights) for value in step.args]
                for target in step.targets:
                    places[target] = _place(step, places)
                    if step.kind == "set" and step.args[0].op == "builtin":
                        self.read[target] = len(self.read) + 1
                    if step.kind != "set" or self.facts.of(step.args[0]).effect:
                        self.fixed.add(target)
                if step.kind == "set":
                    if _is_load(step.args[0]) and self.uses.get(step.targets[0]) == 1:
                        self.loaded[step.targets[0]] = step.line
                    inner = [weights.get(d, 0) for d in leaves(step.args[0]) if self.uses[d] == 1]
                    weights[step.targets[0]] = sum(inner) + (step.args[0].op not in _COPIES)

    def _sorted(
        self, value: Value, places: dict[Definition, int], weights: dict[Definition, int]
    ) -> Value:
        if self.exact and value.op in ("fadd", "fmul", "fma"):
            return value
        if value.width == 1 and value.op in ("and", "or"):
            # Both were computed: what takes long would not have been, after `&&`.
            one, two = (weights.get(a.data, 0) if a.op == "var" else 0 for a in value.args)
            if abs(one - two) > _HEAVY:
                return value if one > two else raw(value.op, 1, value.args[::-1], value.data)
        if value.op in _FREE and all(a.op == "var" and a.data in self.loaded for a in value.args):
            # The compiler reads the second one first, if it moves loads about.
            one, two = (self.loaded[a.data] for a in value.args)
            if (one < two) == self.in_order:
                return value
            return raw(value.op, value.width, value.args[::-1], value.data)
        if self.in_order and value.op != "fma":
            stays = any(a.op != "var" or a.data in self.fixed for a in value.args)
            return self._as_read(value) if stays else _ordered(value, places, self.uses)
        if value.op == "fma" and self._after_loads(value):
            return raw("fma", value.width, value.args, (*value.data[:2], "after"))
        if self.order == "line" and value.width > 1:
            return value  # what is computed first stands on a line of its own
        return _ordered(value, places, self.uses)

    def _as_read(self, value: Value) -> Value:
        """``threadIdx.x + blockIdx.x * blockDim.x``, if that was read first."""
        if value.op != "add" or value.args[0].op != "mul":
            return value
        product, index = (min((self.read.get(d, 0) for d in leaves(a)), default=0)
                          for a in value.args)  # fmt: skip
        if not index or index > product:
            return value
        return raw("add", value.width, value.args[::-1], value.data)

    def _after_loads(self, value: Value) -> bool:
        """Whether what a product is added to was computed before its factors were read."""
        *factors, addend = value.args
        if addend.op != "var" or self.uses.get(addend.data, 0) != 1 or addend.data in self.loaded:
            return False
        return all(f.op == "var" and f.data in self.loaded for f in factors)

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

    def _worth(self, target: Definition, value: Value) -> bool:
        uses = self.uses.get(target, 0)
        if value.op == "builtin" or (value.args and value.width == 32 and all(
            a.op == "const" or (a.op == "var" and a.data in self.indices) for a in value.args
        )):  # fmt: skip
            # People keep what is taken with a sign in an int: `int i = threadIdx.x;`.
            self.indices.add(target)
            if target in self.signed:
                return False
        if uses == 1 or value.op in _COPIES:
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

    dropped: set[Definition] = field(default_factory=set)
    pinned: set[Variable] = field(default_factory=set)

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
            fits = all(current.get(d.variable) is d for d in facts.fragile)
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
                self.dropped.add(leaf)

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
        lift.pointers = {replaced(value, self._lookup) for value in lift.pointers}

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


def _is_load(value: Value) -> bool:
    inner = value.args[0] if value.op in ("sext", "zext") else value
    return inner.op == "load"


def _place(step: Step, places: dict[Definition, int]) -> int:
    """Where a value stands among others; 0 where that says nothing."""
    if step.kind == "set" and step.args[0].op == "load":
        # The compiler moves loads about: where the address is computed counts.
        address = step.args[0].args[0]
        if address.op == "add" and address.args[1].op == "const":
            address = address.args[0]
        return places.get(address.data, 0) if address.op == "var" else 0
    if step.kind == "set" and step.args[0].op == "builtin":
        return 0
    return len(places) + 1


_FREE = frozenset("add mul and or xor fadd fmul eq ne feq fne".split())


def _ordered(value: Value, places: dict[Definition, int], uses: dict[Definition, int]) -> Value:
    if value.op not in _FREE and value.op != "fma":
        return value
    known = []
    for argument in value.args:
        if argument.op != "var":
            known.append(0)
            continue
        known.append(places.get(argument.data, 0) if uses.get(argument.data, 0) == 1 else 0)
    if value.op == "fma":
        loads = not any(known[:2])
        if known[2] and (known[2] < max(known[:2]) or loads):
            return raw("fma", value.width, value.args, (*value.data[:2], "after"))
        return value
    if known[0] and known[1] and known[1] < known[0]:
        return raw(value.op, value.width, value.args[::-1], value.data)
    return value


def leaves_here(value: Value) -> list[Definition]:
    """The variables directly under an operation."""
    return [arg.data for arg in value.args if arg.op == "var"]


def _names_memory(value: Value, values: dict[Definition, Value]) -> bool:
    """Whether a 32-bit value is an address of shared memory: it names a variable there."""
    seen: set[Definition] = set()
    stack = [value]
    while stack:
        one = stack.pop()
        if one.op in ("symbol", "specific"):
            return True
        if one.op == "var":
            inner = values.get(one.data)
            if one.data not in seen and inner is not None and inner.op in _ADDRESS_PARTS:
                seen.add(one.data)
                stack.append(inner)
        else:
            stack.extend(one.args)
    return False
