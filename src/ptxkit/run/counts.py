"""What a launch counted, in a form that costs little where thousands of launches are compared."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, overload

import numpy as np

from ptxkit._native import NodeList
from ptxkit.syntax import Instruction


@dataclass(frozen=True, slots=True, eq=False)
class Counts(Sequence[tuple[Instruction, int]]):
    """How often each operation of a kernel ran: its instruction, and a number.

    >>> import ptxkit
    >>> i = ptxkit.parse(".func f() { add.u32 a, b, c; }")["f"].instructions[0]
    >>> [(one.opcode, n) for one, n in Counts((i,), np.array([7]))]
    [('add.u32', 7)]
    """

    instructions: tuple[Instruction, ...] = ()
    """Of each operation. It is the same tuple for all launches of a kernel."""
    executed: np.ndarray[Any, np.dtype[np.int64]] = field(
        default_factory=lambda: np.zeros(0, np.int64)
    )
    """How often each of them ran, over all threads."""

    def __len__(self) -> int:
        return len(self.instructions)

    @overload
    def __getitem__(self, place: int) -> tuple[Instruction, int]: ...
    @overload
    def __getitem__(self, place: slice) -> tuple[tuple[Instruction, int], ...]: ...
    def __getitem__(self, place: int | slice) -> Any:
        if isinstance(place, slice):
            return tuple(self)[place]
        return self.instructions[place], int(self.executed[place])

    def __iter__(self) -> Iterator[tuple[Instruction, int]]:
        return zip(self.instructions, self.executed.tolist(), strict=True)


@dataclass(frozen=True, slots=True, eq=False)
class Shown(Sequence[tuple[Instruction, int, int, int]]):
    """Which sides came of each operation that chooses or cuts something off.

    Its instruction, its number, and as bits the sides that came and all that there are.
    """

    nodes: NodeList[Any] | tuple[Any, ...] = ()
    """All nodes of the module."""
    rows: Sequence[tuple[int, int, int, int]] = ()
    """The same with the numbers of nodes, from 1."""

    def __len__(self) -> int:
        return len(self.rows)

    @overload
    def __getitem__(self, place: int) -> tuple[Instruction, int, int, int]: ...
    @overload
    def __getitem__(self, place: slice) -> tuple[tuple[Instruction, int, int, int], ...]: ...
    def __getitem__(self, place: int | slice) -> Any:
        if isinstance(place, slice):
            return tuple(self)[place]
        node, *row = self.rows[place]
        return (self.nodes[node - 1], *row)

    def __iter__(self) -> Iterator[tuple[Instruction, int, int, int]]:
        return ((self.nodes[row[0] - 1], row[1], row[2], row[3]) for row in self.rows)
