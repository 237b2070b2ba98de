"""Versions of registers: which assignment a use sees, and which of them are one variable.

The definitions of a register that reach a use together are one variable (a web): a
register that a compiler used for two things becomes two variables, one whose definitions
meet (a loop counter) stays one. Each assignment of a variable, and each place where some
meet, is a version of it (a :class:`Definition`), so that passes can tell whether a
variable still holds what it held elsewhere.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from ptxkit.decompiler.lift.pieces import Piece
from ptxkit.decompiler.lift.values import Definition, Variable
from ptxkit.isa.dataflow import registers
from ptxkit.isa.types import SCALAR_TYPES
from ptxkit.syntax import Instruction, Name, Scopes
from ptxkit.syntax.scopes import Scope


@dataclass(slots=True)
class Versions:
    """Versions by the node of a register's name."""

    reads: dict[int, Definition] = field(default_factory=dict)
    writes: dict[int, Definition] = field(default_factory=dict)
    variables: list[Variable] = field(default_factory=list)
    meeting: dict[int, list[Definition]] = field(default_factory=dict)
    """The versions that begin where blocks meet, by block."""


class _Raw:
    """A version before the webs are known."""

    __slots__ = ("block", "parent", "register", "result", "used")

    def __init__(self, register: int, block: int) -> None:
        self.register = register
        self.block = block
        self.parent: _Raw | None = None
        self.result: Definition | None = None
        self.used = False


def _find(item: _Raw) -> _Raw:
    while (above := item.parent) is not None:
        if above.parent is not None:
            item.parent = above.parent
        item = above
    return item


def _join(item: _Raw, other: _Raw) -> None:
    """Make the webs of two versions one."""
    below, above = _find(item), _find(other)
    if below is not above:
        below.parent = above


@dataclass(slots=True)
class Dominators:
    """The dominator tree over pieces."""

    order: list[int]
    above: dict[int, int]
    children: dict[int, list[int]]
    frontier: dict[int, list[int]]


def dominators(pieces: list[Piece]) -> Dominators:
    """Immediate dominators and dominance frontiers of pieces, from the entry."""
    order: list[int] = []
    seen = {0}
    stack = [(0, iter(pieces[0].successors))]
    while stack:
        block, rest = stack[-1]
        for following in rest:
            if following not in seen:
                seen.add(following)
                stack.append((following, iter(pieces[following].successors)))
                break
        else:
            stack.pop()
            order.append(block)
    order.reverse()
    place = {block: number for number, block in enumerate(order)}
    above = {0: 0}
    changed = True
    while changed:
        changed = False
        for block in order[1:]:
            nearest = -1
            for one in pieces[block].predecessors:
                if one not in above:
                    continue
                if nearest < 0:
                    nearest = one
                    continue
                while nearest != one:
                    while place[nearest] > place[one]:
                        nearest = above[nearest]
                    while place[one] > place[nearest]:
                        one = above[one]
            if above.get(block) != nearest:
                above[block] = nearest
                changed = True
    children: dict[int, list[int]] = {block: [] for block in order}
    frontier: dict[int, list[int]] = {block: [] for block in order}
    for block in order[1:]:
        children[above[block]].append(block)
    for block in order:
        before = [p for p in pieces[block].predecessors if p in place]
        if len(before) < 2 and not (before and block == 0):
            continue
        for runner in before:
            while runner != above[block] or (block == 0 and runner != 0):
                if block not in frontier[runner]:
                    frontier[runner].append(block)
                if runner == 0:
                    break
                runner = above[runner]
            if block == 0 and 0 not in frontier[0]:
                frontier[0].append(0)
    return Dominators(order, above, children, frontier)


class VersionFinder:
    """Finds the versions of one function's registers."""

    def __init__(self, pieces: list[Piece], scopes: Scopes) -> None:
        self.pieces = pieces
        self.scopes = scopes
        self.tree = dominators(pieces)
        self.numbers: dict[tuple[int, str], int] = {}
        self.types: list[str] = []
        self.names: list[str] = []
        self.raws: list[_Raw] = []
        self.orphans: list[_Raw] = []
        self.accesses: dict[int, list[tuple[list[tuple[int, int]], list[tuple[int, int]]]]] = {}

    def run(self) -> Versions:
        """The versions."""
        for block in self.tree.order:
            piece = self.pieces[block]
            rows = [self._access(i, guard=False) for i in piece.instructions]
            if piece.last is not None:
                if piece.last.name in ("bra", "brx", "ret", "exit"):
                    rows.append(self._access(piece.last, guard=True))
                elif piece.last.guard is not None:
                    name = piece.last.guard.predicate
                    scope = self.scopes.scope_of(piece.last)
                    rows.append(([], [(self._register(name, scope), name.index)]))
            self.accesses[block] = rows
        meeting = self._joins()
        writes: list[tuple[int, _Raw]] = []
        reads: list[tuple[int, _Raw]] = []
        self._rename(meeting, reads, writes)
        return self._collect(meeting, reads, writes)

    def _access(
        self, instruction: Instruction, *, guard: bool
    ) -> tuple[list[tuple[int, int]], list[tuple[int, int]]]:
        found = registers(instruction, self.scopes)
        scope = self.scopes.scope_of(instruction)
        skip = -1
        if not guard and instruction.guard is not None:
            skip = instruction.guard.predicate.index
        return (
            [(self._register(name, scope), name.index) for name in found.defined],
            [(self._register(name, scope), name.index) for name in found.used
             if name.index != skip],
        )  # fmt: skip

    def _register(self, name: Name, scope: Scope) -> int:
        declaration = scope.resolve(name.identifier, name.span[0])
        key = (declaration.node.index if declaration is not None else -1, name.identifier)
        number = self.numbers.get(key)
        if number is None:
            number = self.numbers[key] = len(self.types)
            self.types.append(declaration.type if declaration is not None else "b32")
            self.names.append(name.identifier)
        return number

    def _joins(self) -> dict[int, dict[int, _Raw]]:
        """Where definitions of a register meet: the iterated dominance frontier."""
        definers: dict[int, set[int]] = {}
        counts: dict[int, int] = {}
        for block, rows in self.accesses.items():
            for defined, _ in rows:
                for register, _ in defined:
                    definers.setdefault(register, set()).add(block)
                    counts[register] = counts.get(register, 0) + 1
        found: dict[int, dict[int, _Raw]] = {}
        frontier = self.tree.frontier
        for register, blocks in definers.items():
            if counts[register] < 2:
                continue
            placed: set[int] = set()
            pending = list(blocks)
            while pending:
                for block in frontier[pending.pop()]:
                    if block not in placed:
                        placed.add(block)
                        found.setdefault(block, {})[register] = self._new(register, block)
                        if block not in blocks:
                            pending.append(block)
        return found

    def _new(self, register: int, block: int) -> _Raw:
        made = _Raw(register, block)
        self.raws.append(made)
        return made

    def _rename(
        self,
        meeting: dict[int, dict[int, _Raw]],
        reads: list[tuple[int, _Raw]],
        writes: list[tuple[int, _Raw]],
    ) -> None:
        current: dict[int, _Raw] = {}
        inputs: list[tuple[_Raw, _Raw]] = []
        stack: list[tuple[int, list[tuple[int, _Raw | None]] | None]] = [(0, None)]
        while stack:
            block, undo = stack.pop()
            if undo is not None:
                for register, old in reversed(undo):
                    if old is None:
                        del current[register]
                    else:
                        current[register] = old
                continue
            undo = []
            for register, raw in meeting.get(block, {}).items():
                undo.append((register, current.get(register)))
                current[register] = raw
            for defined, used in self.accesses[block]:
                for register, node in used:
                    seen = current.get(register)
                    if seen is None:
                        # Set on some ways here at most: a version that nobody sets as such.
                        seen = self._new(register, block)
                        self.orphans.append(seen)
                        undo.append((register, None))
                        current[register] = seen
                    seen.used = True
                    reads.append((node, seen))
                for register, node in defined:
                    made = self._new(register, block)
                    undo.append((register, current.get(register)))
                    current[register] = made
                    writes.append((node, made))
            for successor in self.pieces[block].successors:
                for register, raw in meeting.get(successor, {}).items():
                    if register in current:
                        inputs.append((raw, current[register]))
            stack.append((block, undo))
            stack.extend((child, None) for child in self.tree.children[block])
        by_register: dict[int, list[_Raw]] = {}
        for _, raw in writes:
            by_register.setdefault(raw.register, []).append(raw)
        for orphan in self.orphans:
            for raw in by_register.get(orphan.register, ()):
                _join(raw, orphan)
        # Only meetings that somebody looks at join their inputs.
        by_meeting: dict[_Raw, list[_Raw]] = {}
        for raw, source in inputs:
            by_meeting.setdefault(raw, []).append(source)
        pending = [raw for raw in by_meeting if raw.used]
        while pending:
            raw = pending.pop()
            for source in by_meeting.get(raw, ()):
                if not source.used:
                    source.used = True
                    if source in by_meeting:
                        pending.append(source)
                _join(source, raw)

    def _collect(
        self,
        meeting: dict[int, dict[int, _Raw]],
        reads: list[tuple[int, _Raw]],
        writes: list[tuple[int, _Raw]],
    ) -> Versions:
        versions = Versions()
        variables: dict[_Raw, Variable] = {}

        def definition(raw: _Raw) -> Definition:
            if raw.result is None:
                root = _find(raw)
                variable = variables.get(root)
                if variable is None:
                    type = self.types[root.register]
                    known = SCALAR_TYPES.get(type)
                    width = 1 if type == "pred" else known.width if known is not None else 32
                    variable = Variable(
                        len(versions.variables), width, type, self.names[root.register]
                    )
                    variables[root] = variable
                    versions.variables.append(variable)
                raw.result = Definition(variable, raw.block)
            return raw.result

        for node, raw in writes:
            made = versions.writes[node] = definition(raw)
            made.variable.definitions += 1
        for node, raw in reads:
            versions.reads[node] = definition(raw)
        for orphan in self.orphans:
            known = definition(orphan).variable
            if known.definitions:
                known.definitions += 1  # what it holds depends on the way taken
        # A meeting of one variable's versions, or one that nobody looks at, leaves unknown
        # what other variables of the register hold.
        by_register: dict[int, list[Variable]] = {}
        for root, variable in variables.items():
            if variable.definitions > 1:
                by_register.setdefault(root.register, []).append(variable)
        for block, found in meeting.items():
            made_here = versions.meeting[block] = []
            for register, raw in found.items():
                own = definition(raw) if raw.used else None
                for variable in by_register.get(register, ()):
                    if own is not None and own.variable is variable:
                        made_here.append(own)
                    else:
                        made_here.append(Definition(variable, block))
        return versions
