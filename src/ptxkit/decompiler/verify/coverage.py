"""Which instructions of a kernel have run, and which ways its branches went."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from ptxkit.run import RunReport
from ptxkit.syntax import Function, Instruction, Module
from ptxkit.syntax.graph import BasicBlock, ControlFlowGraph

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
    """For each branch, by its start, the ways that threads went: taken, and not."""
    shown: dict[tuple[int, int], tuple[int, int]] = field(default_factory=dict)
    """For each operation of an instruction, by its start: sides that came, and all there are."""
    wrote: bool = False
    dead: set[int] = field(default_factory=set)
    """Blocks that have not run, by their place, and that nothing can reach."""

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
        before = self._reached()
        threads: dict[int, int] = {}
        for node, count in report.counts:
            if count:
                threads[node.span[0]] = count
                self.ran.add(node.span[0])
                self.wrote |= node.name in _WRITES
        for node, number, seen, every in report.sides:
            key = node.span[0], number
            self.shown[key] = self.shown.get(key, (0, 0))[0] | seen, every
        for block in self.blocks:
            for branch, taken in _ways(block, threads):
                self.sides.setdefault(branch.span[0], set()).add(taken)
        return self._reached() > before

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


def _ways(block: BasicBlock, threads: dict[int, int]) -> Iterator[tuple[Instruction, bool]]:
    """The ways that threads went at the end of a block, where counts tell."""
    branch = block.instructions[-1]
    came = [threads.get(one.span[0], 0) for one in block.instructions if one.guard is None]
    if branch.name != "bra" or branch.guard is None or not came:
        return
    taken = threads.get(branch.span[0], 0)
    if taken:
        yield branch, True
    if taken < max(came):
        yield branch, False
