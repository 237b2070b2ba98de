"""The simulator's code of single instructions, for those who compute with them directly."""

from __future__ import annotations

from dataclasses import dataclass

from ptxkit._native import Program
from ptxkit.run.function_state import Register
from ptxkit.run.lower import Lowering
from ptxkit.run.module_context import ModuleContext, UnsupportedError
from ptxkit.syntax import Function, Instruction, Module


@dataclass(frozen=True, slots=True)
class Pieces:
    """A kernel's code, and which part of it each instruction became.

    ``ranges`` has an entry for each instruction in the order of the text: the numbers of
    its first operation and of the one after its last, or None where the simulator does
    not know it. ``registers`` tells where every register lies.
    """

    program: Program
    ranges: tuple[tuple[int, int] | None, ...]
    registers: dict[str, Register]


class _Recorder(Lowering):
    def __init__(self, module: Module) -> None:
        super().__init__(ModuleContext(module, check=False))
        self.ranges: list[tuple[int, int] | None] = []

    def _instruction(self, node: Instruction) -> None:
        begin = self.program.size(self.state.index)
        try:
            super()._instruction(node)
        except UnsupportedError:
            self.ranges.append(None)
        else:
            self.ranges.append((begin, self.program.size(self.state.index)))


def lower_pieces(module: Module, kernel: Function) -> Pieces:
    """Lower a kernel without branches, instruction by instruction."""
    recorder = _Recorder(module)
    program = recorder.lower(kernel)
    registers = {name: found for (_, name), found in recorder.state.registers.items()}
    return Pieces(program, tuple(recorder.ranges), registers)
