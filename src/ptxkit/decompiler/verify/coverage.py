"""Which instructions of a kernel have run."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field

from ptxkit.run import RunReport
from ptxkit.syntax import Function, Instruction, Module
from ptxkit.syntax.graph import BasicBlock, ControlFlowGraph

_WRITES = frozenset(("st", "atom", "red", "sust", "sured", "call"))
#: The share that must have run where the rest is not the same to the letter.
_ENOUGH = 0.5
_MEMORY = frozenset("ld st atom red bar barrier membar fence call".split())
_MOVES = frozenset("mov cvta bra selp setp trap".split())
_ADDRESSES = frozenset("add sub mul mad shl cvt not and or xor shr".split())
_FLOAT = re.compile(r"\.(?:b?f16|f16x2|bf16x2|f32|f64)\b")
_NAME = re.compile(r"[%$A-Za-z_][\w$.]*")


@dataclass(slots=True)
class Coverage:
    """The blocks of a kernel and of what it calls; those that have run."""

    blocks: list[BasicBlock]
    ran: set[int] = field(default_factory=set)
    """Spans of instructions, by their starts."""
    wrote: bool = False

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
        blocks = [b for f in found for b in ControlFlowGraph.of(f).reachable() if b.instructions]
        writes = any(i.name in _WRITES for b in blocks for i in b.instructions)
        return Coverage(blocks, wrote=not writes)

    def add(self, report: RunReport) -> None:
        """Take in what a run has executed."""
        for node, count in report.counts:
            if count:
                self.ran.add(node.span[0])
                self.wrote |= node.name in _WRITES

    def _missing(self) -> list[tuple[BasicBlock, list[Instruction]]]:
        found = []
        for block in self.blocks:
            left = [i for i in block.instructions if i.span[0] not in self.ran]
            # A jump runs as part of the comparison before it, and is not counted by itself.
            if any(i.name != "bra" for i in left):
                found.append((block, left))
        return found

    @property
    def complete(self) -> bool:
        """Whether everything has run."""
        return not self._missing()

    @property
    def share(self) -> float:
        """The share of instructions that have run."""
        total = sum(len(block.instructions) for block in self.blocks)
        return 1.0 - sum(len(left) for _, left in self._missing()) / max(1, total)

    def unlike(self, other: Coverage) -> str:
        """What has not run here or there and is not the same in both; empty where nothing is.

        Code that no input reaches, such as the rest of a loop that a compiler has unrolled, need
        not be the same to the letter: it is enough that there is little of it, and that it has
        the same loads, stores, barriers and floating-point arithmetic.
        """
        mine, theirs = (Counter(_shape(left) for _, left in c._missing()) for c in (self, other))
        if mine == theirs:
            return ""
        if self.complete and other.share >= _ENOUGH:
            # Every way of the original was gone: what the compiler made besides is for no input.
            return ""
        works = [Counter(w for _, left in c._missing() for w in _work(left)) for c in (self, other)]
        if works[0] == works[1] and min(self.share, other.share) >= _ENOUGH:
            return ""
        count = sum(len(left) for _, left in (*self._missing(), *other._missing()))
        lines = sorted({left[0].line for _, left in self._missing()})
        shown = ", ".join(map(str, lines[:4]))
        where = f"; of the original from line {shown}" if lines else ""
        return f"{count} instructions of both never ran, and differ{where}"


def _shape(instructions: list[Instruction]) -> tuple[str, ...]:
    """Instructions with their registers and labels numbered in the order they appear."""
    numbers: dict[str, str] = {}

    def number(match: re.Match[str]) -> str:
        return numbers.setdefault(match[0], f"${len(numbers)}")

    shapes = []
    for one in instructions:
        guard = f"@{'!' * one.guard.negated}{one.guard.predicate.text} " if one.guard else ""
        operands = ", ".join(operand.text for operand in one.operands)
        shapes.append(_NAME.sub(number, guard) + one.opcode + " " + _NAME.sub(number, operands))
    return tuple(shapes)


def _work(instructions: list[Instruction]) -> Iterator[str]:
    """What instructions do besides computing addresses and conditions."""
    for one in instructions:
        if one.name in _MEMORY:
            # Compilers differ in how they name the type of what is moved.
            yield re.sub(r"\.[usf](?=\d)", ".b", one.opcode)
        elif one.name not in _MOVES and (one.name not in _ADDRESSES or _FLOAT.search(one.opcode)):
            yield one.opcode
