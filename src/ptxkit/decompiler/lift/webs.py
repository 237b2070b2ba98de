"""Webs: the definitions of a register that reach a use together are one variable.

A register that a compiler used for two things becomes two variables, and one whose
definitions meet (a loop counter) stays one.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from ptxkit.isa.dataflow import registers
from ptxkit.syntax import Instruction, Name, Scopes
from ptxkit.syntax.graph import BasicBlock, ControlFlowGraph

Key = tuple[int, str]


@dataclass(slots=True)
class Web:
    """One variable: the type its register was declared with, and where it occurs."""

    number: int
    register: str
    type: str
    definitions: int = 0
    uses: int = 0


@dataclass(slots=True)
class _Access:
    """The registers of one instruction, as (key, name node)."""

    instruction: Instruction
    defined: list[tuple[Key, Name]]
    used: list[tuple[Key, Name]]
    guarded: bool


@dataclass(slots=True)
class Webs:
    """Webs by the node of the name that means them."""

    by_name: dict[int, Web] = field(default_factory=dict)
    all: list[Web] = field(default_factory=list)

    def of(self, name: Name) -> Web:
        """The variable of a register's name at its place."""
        return self.by_name[name.index]


class _Sets:
    """Union-find over definitions."""

    def __init__(self) -> None:
        self.parent: list[int] = []

    def new(self) -> int:
        self.parent.append(len(self.parent))
        return len(self.parent) - 1

    def find(self, item: int) -> int:
        while self.parent[item] != item:
            self.parent[item] = self.parent[self.parent[item]]
            item = self.parent[item]
        return item

    def join(self, one: int, other: int) -> None:
        self.parent[self.find(other)] = self.find(one)


def find_webs(graph: ControlFlowGraph, scopes: Scopes) -> Webs:
    """The webs of a function."""
    return _Finder(graph, scopes).run()


class _Finder:
    def __init__(self, graph: ControlFlowGraph, scopes: Scopes) -> None:
        self.scopes = scopes
        self.order = graph.reachable()
        self.above = graph.immediate_dominators()
        self.numbers: dict[Key, int] = {}
        self.types: list[str] = []
        self.names: list[str] = []
        self.sets = _Sets()
        self.owner: list[int] = []  # the register of a definition
        self.accesses = {
            block: [self._access(i) for i in block.instructions] for block in self.order
        }

    def _access(self, instruction: Instruction) -> _Access:
        found = registers(instruction)
        return _Access(
            instruction,
            [(self._key(name), name) for name in found.defined],
            [(self._key(name), name) for name in found.used],
            instruction.guard is not None,
        )

    def _key(self, name: Name) -> Key:
        declaration = self.scopes.resolve(name)
        key = (declaration.node.index if declaration is not None else -1, name.identifier)
        if key not in self.numbers:
            self.numbers[key] = len(self.types)
            self.types.append(declaration.type if declaration is not None else "b32")
            self.names.append(name.identifier)
        return key

    def run(self) -> Webs:
        live = self._live_in()
        joins = self._joins(live)
        arriving: dict[BasicBlock, dict[int, int]] = {}
        for block in self.order:
            arriving[block] = {}
            for register in joins.get(block, ()):
                arriving[block][register] = self._define(register)
        children: dict[BasicBlock | None, list[BasicBlock]] = {}
        for block, parent in self.above.items():
            children.setdefault(parent, []).append(block)
        uses: list[tuple[int, int]] = []
        defines: list[tuple[int, int]] = []
        stack: list[tuple[BasicBlock, dict[int, int]]] = [(self.order[0], {})]
        while stack:
            block, current = stack.pop()
            current = {**current, **arriving[block]}
            self._walk(block, current, uses, defines)
            for successor in block.successors:
                for register, phi in arriving.get(successor, {}).items():
                    if register in current:
                        self.sets.join(phi, current[register])
            stack.extend((child, current) for child in children.get(block, ()))
        return self._collect(uses, defines)

    def _define(self, register: int) -> int:
        self.owner.append(register)
        return self.sets.new()

    def _walk(
        self,
        block: BasicBlock,
        current: dict[int, int],
        uses: list[tuple[int, int]],
        defines: list[tuple[int, int]],
    ) -> None:
        for access in self.accesses[block]:
            for key, name in access.used:
                register = self.numbers[key]
                if register not in current:
                    # Read before it was ever written: a variable of its own.
                    current[register] = self._define(register)
                uses.append((name.index, current[register]))
            for key, name in access.defined:
                register = self.numbers[key]
                made = self._define(register)
                if access.guarded and register in current:
                    # Where the guard fails the old value stays.
                    self.sets.join(current[register], made)
                current[register] = made
                defines.append((name.index, made))

    def _collect(self, uses: list[tuple[int, int]], defines: list[tuple[int, int]]) -> Webs:
        webs, found = Webs(), {}
        for places, defining in ((defines, True), (uses, False)):
            for node, definition in places:
                root = self.sets.find(definition)
                if root not in found:
                    register = self.owner[root]
                    web = Web(len(webs.all), self.names[register], self.types[register])
                    found[root] = web
                    webs.all.append(web)
                web = found[root]
                webs.by_name[node] = web
                if defining:
                    web.definitions += 1
                else:
                    web.uses += 1
        return webs

    # ---- where values meet ---------------------------------------------------------------

    def _live_in(self) -> dict[BasicBlock, int]:
        """Registers read before they are written from a block on, as bits of a number."""
        reads, writes = {}, {}
        for block in self.order:
            read = written = 0
            for access in self.accesses[block]:
                for key, _ in access.used:
                    read |= (1 << self.numbers[key]) & ~written
                for key, _ in access.defined:
                    bit = 1 << self.numbers[key]
                    if access.guarded:
                        read |= bit & ~written
                    else:
                        written |= bit
            reads[block], writes[block] = read, written
        live = dict.fromkeys(self.order, 0)
        changed = True
        while changed:
            changed = False
            for block in reversed(self.order):
                after = 0
                for successor in block.successors:
                    after |= live.get(successor, 0)
                now = reads[block] | (after & ~writes[block])
                if now != live[block]:
                    live[block] = now
                    changed = True
        return live

    def _joins(self, live: dict[BasicBlock, int]) -> dict[BasicBlock, list[int]]:
        """Blocks where definitions of a register meet: the iterated dominance frontier."""
        frontier: dict[BasicBlock, set[BasicBlock]] = {block: set() for block in self.order}
        inside = set(self.order)
        for block in self.order:
            before = [p for p in block.predecessors if p in inside]
            if len(before) < 2 and not (before and block is self.order[0]):
                continue
            for runner in before:
                at: BasicBlock | None = runner
                while at is not None and at is not self.above[block]:
                    frontier[at].add(block)
                    at = self.above[at]
        definers: dict[int, set[BasicBlock]] = {}
        for block in self.order:
            for access in self.accesses[block]:
                for key, _ in access.defined:
                    definers.setdefault(self.numbers[key], set()).add(block)
        found: dict[BasicBlock, list[int]] = {}
        for register, blocks in definers.items():
            placed: set[BasicBlock] = set()
            pending = list(blocks)
            while pending:
                for block in frontier[pending.pop()]:
                    if block not in placed and live[block] >> register & 1:
                        placed.add(block)
                        found.setdefault(block, []).append(register)
                        if block not in blocks:
                            pending.append(block)
        return found
