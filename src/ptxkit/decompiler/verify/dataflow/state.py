"""What is known at a point of a function: registers, parameters of calls, memory."""

from __future__ import annotations

from dataclasses import dataclass

from ptxkit.decompiler.verify.dataflow.decisions import Diagram
from ptxkit.decompiler.verify.dataflow.decode import Register

Slot = tuple[str, int, int]
"""Some bytes of a parameter of a call: its name, where they begin, how many; 0 if any number."""


@dataclass(slots=True)
class State:
    """Registers and memory at some point, under some condition."""

    condition: Diagram
    registers: dict[Register, Diagram]
    slots: dict[Slot, Diagram]
    memory: Diagram
    since: Diagram
    """The memory as the last call left it that may end the thread, or give memory back."""

    def copy(self, condition: Diagram) -> State:
        """The same under another condition."""
        return State(condition, dict(self.registers), dict(self.slots), self.memory, self.since)


@dataclass(frozen=True, slots=True)
class Touched:
    """Memory that an instruction needs to be there: where, how much, and when."""

    address: Diagram
    bits: int
    condition: Diagram
    loaded: bool
    in_global: bool = False
    """Whether it is taken for global memory."""
    space: str = ""
    """The kind of memory, as it is compared; empty for memory of any kind."""
    since: Diagram | None = None
    """The memory as it was left by the last call that may have given this back, or ended all."""
