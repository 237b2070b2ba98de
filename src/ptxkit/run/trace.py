"""What one thread did, instruction by instruction, with the values of its registers."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, overload

from ptxkit.run.values import shown
from ptxkit.syntax import Instruction

Value = int | float | bool


@dataclass(frozen=True, slots=True)
class MemoryAccess:
    """Bytes that an instruction read or wrote for the thread."""

    space: str
    address: int
    """In global memory the address itself, elsewhere the offset in the space."""
    size: int
    write: bool

    def __str__(self) -> str:
        return f"{'write' if self.write else 'read'} {self.space}[{self.address:#x}] ({self.size})"


@dataclass(frozen=True, slots=True)
class TraceRecord:
    """One instruction that the thread came to. ``str(record)`` is one line of text."""

    instruction: Instruction | None
    """The instruction; None for the return at the end of a body that has no ``ret``."""
    function: str
    active: bool
    """False where its guard was false."""
    reads: dict[str, Value]
    writes: dict[str, Value]
    """Registers by name. Floats are floats, predicates bools, everything else ints."""
    accesses: tuple[MemoryAccess, ...]
    types: dict[str, str]
    location: tuple[str, int] | None = None

    @property
    def line(self) -> int:
        """Line in the PTX; 0 for the return at the end of a body."""
        return 0 if self.instruction is None else self.instruction.line

    @property
    def text(self) -> str:
        """The instruction on one line."""
        return "ret;" if self.instruction is None else " ".join(self.instruction.text.split())

    def __str__(self) -> str:
        addresses = address_registers(self.instruction)

        def list_of(values: dict[str, Value]) -> str:
            return ", ".join(
                f"{name}={shown(value, self.types[name], address=name in addresses)}"
                for name, value in values.items()
            )

        parts = [f"{self.line:>5}  {self.text:<40}"]
        if not self.active:
            parts.append("(guard is false)")
        if self.reads:
            parts.append(list_of(self.reads))
        if self.writes and self.active:
            parts.append(f"-> {list_of(self.writes)}")
        parts += [str(access) for access in self.accesses]
        return "  ".join(parts).rstrip()


def address_registers(instruction: Instruction | None) -> set[str]:
    """The registers that hold addresses, as far as the instruction alone tells."""
    if instruction is None:
        return set()
    inside = [name for one in instruction.find("Address") for name in one.find("Name")]
    pointers = {name.identifier for name in inside}
    if instruction.name == "cvta":
        pointers |= {name.identifier for name in instruction.find("Name")}
    return pointers


class Trace(Sequence[TraceRecord]):
    """The records of one thread, in the order it ran them.

    At most as many as the limit are kept; ``left_out`` says how many more there were.
    """

    def __init__(self, records: Sequence[TraceRecord], left_out: int, last: bool) -> None:
        self._records = tuple(records)
        self.left_out = left_out
        """Instructions the thread ran that are not kept here."""
        self.last = last
        """True where the last ones were kept, and not the first."""

    @overload
    def __getitem__(self, index: int) -> TraceRecord: ...
    @overload
    def __getitem__(self, index: slice) -> tuple[TraceRecord, ...]: ...
    def __getitem__(self, index: Any) -> Any:
        return self._records[index]

    def __len__(self) -> int:
        return len(self._records)

    def __iter__(self) -> Iterator[TraceRecord]:
        return iter(self._records)

    def __repr__(self) -> str:
        return f"<Trace of {len(self)} instructions, {self.left_out} left out>"

    def lines(self) -> Iterator[str]:
        """The text of each record, and a note where some were left out."""
        note = f"... {self.left_out:,} more instructions; raise the limit to see them"
        if self.left_out and self.last:
            yield note
        for record in self._records:
            yield str(record)
        if self.left_out and not self.last:
            yield note

    def __str__(self) -> str:
        return "\n".join(self.lines())
