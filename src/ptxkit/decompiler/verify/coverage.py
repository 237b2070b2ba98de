"""Which instructions of a kernel have run, and which ways its branches went."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from ptxkit.decompiler.verify.variables import behind_variables
from ptxkit.run import RunReport
from ptxkit.syntax import Function, Instruction, Module
from ptxkit.syntax.graph import BasicBlock, ControlFlowGraph

#: Of these it is told under their guards whether threads did them or not.
_GUARDED = frozenset(("bra", "atom", "red"))
_WRITES = frozenset(("st", "atom", "red", "sust", "sured", "call"))


@dataclass(slots=True)
class Coverage:
    """The blocks of a kernel and of what it calls; those that have run."""

    blocks: list[BasicBlock]
    functions: list[Function]
    """For each block the function that it is of."""
    ran: set[int] = field(default_factory=set)
    """Spans of instructions, by their starts."""
    sides: dict[int, set[bool]] = field(default_factory=dict)
    """For each branch and atomic under a guard, by its start, what threads did: it, and not."""
    shown: dict[tuple[int, int], tuple[int, int]] = field(default_factory=dict)
    """For each operation of an instruction, by its start: sides that came, and all there are."""
    wrote: bool = False
    dead: set[int] = field(default_factory=set)
    """Blocks that have not run, by their place, and that nothing can reach."""
    _tables: dict[int, _Table] = field(default_factory=dict)

    @staticmethod
    def of(module: Module, kernel: Function) -> Coverage:
        """Nothing has run yet."""
        by_name = {f.name: f for f in module.functions if f.has_body}
        found: list[Function] = []
        pending = [kernel]
        while pending:
            function = pending.pop()
            if function not in found:
                found.append(function)
                for call in function.instructions:
                    if call.name in ("call", "mov"):
                        pending += [by_name[n.text] for n in call.find("Name") if n.text in by_name]
                names = sorted(behind_variables(module, function))
                pending += [by_name[name] for name in names if name in by_name]
        pairs = [(b, f) for f in found for b in ControlFlowGraph.of(f).reachable()]
        blocks = [block for block, _ in pairs if block.instructions]
        writes = any(i.name in _WRITES for b in blocks for i in b.instructions)
        functions = [function for block, function in pairs if block.instructions]
        return Coverage(blocks, functions, wrote=not writes)

    def instructions(self) -> Iterator[Instruction]:
        """All instructions that control can reach."""
        return (one for block in self.blocks for one in block.instructions)

    def add(self, report: RunReport) -> bool:
        """Take in what a run has executed; whether some of that is new."""
        counts = report.counts
        table = self._tables.get(id(counts.instructions))
        if table is None:
            table = self._tables[id(counts.instructions)] = _Table.of(self, counts.instructions)
        fresh = (counts.executed > 0) & ~table.ran
        before = len(self.ran)
        if fresh.any():
            table.ran |= fresh
            self.ran.update(table.starts[fresh].tolist())
            self.wrote |= bool((table.writes & fresh).any())
        new = len(self.ran) > before
        for node, number, seen, every in report.sides.rows:
            known = table.shown.get((node, number))
            if known is None or seen & ~known:
                table.shown[node, number] = seen | (known or 0)
                key = report.sides.nodes[node - 1].span[0], number
                held = self.shown.get(key, (0, 0))[0]
                self.shown[key] = held | seen, every
                new |= bool(seen & ~held)
        if table.open:
            executed = counts.executed.tolist()
            for branch in table.open:
                for taken in branch.ways(executed):
                    went = self.sides.setdefault(branch.start, set())
                    new |= taken not in went
                    went.add(taken)
            table.open = [one for one in table.open if len(self.sides.get(one.start, ())) < 2]
        return new

    def _reached(self) -> int:
        ways = sum(map(len, self.sides.values()))
        return len(self.ran) + ways + sum(seen.bit_count() for seen, _ in self.shown.values())

    def hiding(self) -> dict[int, int]:
        """Instructions that ran, by their starts, and the sides of them that never came."""
        found: dict[int, int] = {}
        for (start, _), (seen, every) in self.shown.items():
            if every & ~seen:
                found[start] = found.get(start, 0) | every & ~seen
        return found

    def add_stop(self, counts: Sequence[tuple[Instruction, int]]) -> bool:
        """Take in that a run ended at an assertion or trap; whether that is new.

        Only the block with it: what others did until then has not been compared. Nothing behind it
        can ever run.
        """
        before = self._reached()
        ran = {node.span[0] for node, count in counts if count}
        for block in self.blocks:
            if any(_stops(one) and one.span[0] in ran for one in block.instructions):
                self.ran.update(one.span[0] for one in block.instructions)
        return self._reached() > before

    def missing(self) -> list[tuple[BasicBlock, list[Instruction]]]:
        """The blocks in which something has not run, though it may, and what."""
        return [(block, left) for place, block, left in self._left() if place not in self.dead]

    def _left(self) -> Iterator[tuple[int, BasicBlock, list[Instruction]]]:
        for place, block in enumerate(self.blocks):
            left = [i for i in block.instructions if i.span[0] not in self.ran]
            # A jump runs as part of the comparison before it, and is not counted by itself.
            if any(i.name != "bra" for i in left):
                yield place, block, left

    def one_sided(self) -> list[Instruction]:
        """Branches that always went one way, though the code at both of their ends has run."""
        unreached = {block for block, _ in self.missing()}
        return [
            block.instructions[-1]
            for block in self.blocks
            if len(self.sides.get(block.instructions[-1].span[0], ())) == 1
            and unreached.isdisjoint(block.successors)
        ]

    @property
    def complete(self) -> bool:
        """Whether everything has run."""
        return not self.missing()

    @property
    def share(self) -> float:
        """The share of instructions that have run."""
        total = sum(len(block.instructions) for block in self.blocks)
        return 1.0 - sum(len(left) for _, _, left in self._left()) / max(1, total)


def _stops(one: Instruction) -> bool:
    return one.name == "trap" or (
        one.name == "call" and any(n.text == "__assertfail" for n in one.find("Name"))
    )


@dataclass(slots=True)
class _Branch:
    """A branch, or what some threads do, in the numbers that launches give for its operations."""

    start: int
    own: list[int]
    before: list[list[int]]
    """The operations of the instructions of its block that all threads run."""

    def ways(self, executed: list[int]) -> Iterator[bool]:
        """The ways that threads went in one launch, where counts tell."""
        came = max(_last(places, executed) for places in self.before)
        taken = _last(self.own, executed)
        if taken:
            yield True
        if taken < came:
            yield False


def _last(places: list[int], executed: list[int]) -> int:
    """How often an instruction ran: the last of its operations that did."""
    return next((executed[k] for k in reversed(places) if executed[k]), 0)


@dataclass(slots=True, eq=False)
class _Table:
    """What is known of a kernel's operations, by their place in the counts of a launch."""

    instructions: tuple[Instruction, ...]
    """Kept, as it is known by its identity."""
    starts: np.ndarray[Any, np.dtype[np.int64]]
    writes: np.ndarray[Any, np.dtype[np.bool_]]
    ran: np.ndarray[Any, np.dtype[np.bool_]]
    open: list[_Branch]
    """Branches that have not gone both ways yet."""
    shown: dict[tuple[int, int], int] = field(default_factory=dict)
    """Sides that came, for each node and operation."""

    @staticmethod
    def of(covered: Coverage, instructions: tuple[Instruction, ...]) -> _Table:
        """For the instructions of a kernel's operations."""
        starts = [one.span[0] for one in instructions]
        places: dict[int, list[int]] = {}
        for place, start in enumerate(starts):
            places.setdefault(start, []).append(place)
        branches = []
        for block in covered.blocks:
            before = [places.get(i.span[0], []) for i in block.instructions if i.guard is None]
            for one in block.instructions if before else ():
                if one.guard is not None and one.name in _GUARDED:
                    start = one.span[0]
                    branches.append(_Branch(start, places.get(start, []), before))
        return _Table(
            instructions,
            np.array(starts, np.int64),
            np.array([one.name in _WRITES for one in instructions], np.bool_),
            np.array([start in covered.ran for start in starts], np.bool_),
            branches,
        )
