"""``mma``: which element of a tile a lane's register holds, and how to get it there.

>>> from ptxkit.dsl import f16, f32, mma
>>> product = mma.Mma("m16n8k16", f32, f16)
>>> product.a.place(5, 1), product.b.place(5, 1, 1), product.c.place(5, 3)
((9, 2), (11, 1), (9, 3))
>>> product.opcode
'mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32'
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from ptxkit.dsl.arithmetic import emit, fresh
from ptxkit.dsl.errors import DslError
from ptxkit.dsl.operands import addr, sreg
from ptxkit.dsl.registers import Register
from ptxkit.dsl.types import Type
from ptxkit.dsl.views import View, plus, times

_INTEGERS = frozenset("u8 s8 u4 s4 b1".split())


@dataclass(frozen=True, slots=True)
class Fragment:
    """A matrix spread over the registers of a warp, or for ``wgmma`` of four warps.

    ``role`` is ``"a"`` (rows of M, columns of K), ``"b"`` (rows of K, columns of N) or ``"c"``
    (rows of M, columns of N; the result has the same shape).
    """

    role: str
    rows: int
    columns: int
    type: Type

    @property
    def packed(self) -> int:
        """Elements in one register."""
        return max(1, 32 // self.type.width)

    @property
    def warps(self) -> int:
        """Over how many warps it is spread: four for the 64 rows of ``wgmma``."""
        return 4 if self.rows == 64 and self.role != "b" else 1

    @property
    def count(self) -> int:
        """Registers in a lane."""
        return self.rows * self.columns // (32 * self.warps * self.packed)

    @property
    def register(self) -> str:
        """The type of its registers."""
        if self.role == "c" and self.type.name in ("f32", "f64", "s32"):
            return self.type.name
        return "f64" if self.type.name == "f64" else "b32"

    def place(self, lane: Any, register: int, element: int = 0) -> tuple[Any, Any]:
        """Row and column of an element of a register; the lane is an int or a register.

        Lanes of several warps are numbered through: the thread in its group of four warps.
        """
        if not 0 <= register < self.count or not 0 <= element < self.packed:
            raise DslError(
                f"the fragment has {self.count} registers of {self.packed} elements; "
                f"there is no element {element} of register {register}"
            )
        group, member = (lane & 31) >> 2 if self.warps > 1 else lane >> 2, lane & 3
        if self.role == "b":
            row = plus(times(member, self.packed), element + 4 * self.packed * register)
            return row, group
        if self.role == "a":
            halves = 2 if self.rows > 8 else 1
            row = plus(group, 8 * (register % halves))
            first = element + 4 * self.packed * (register // halves)
            column = plus(times(member, self.packed), first)
        else:
            flat = register * self.packed + element
            pair, halves = flat // 2, 2 if self.rows > 8 else 1
            row = plus(group, 8 * (pair % halves))
            column = plus(times(member, 2), flat % 2 + 8 * (pair // halves))
        if self.warps > 1:
            row = plus(row, times(lane >> 5, 16))
        return row, column

    def new(self, value: Any = None) -> list[Register]:
        """Registers for it, with a value in all of them where one is given."""
        made = [fresh(self.register) for _ in range(self.count)]
        if value is not None:
            for one in made:
                one.set(value)
        return made

    # -- memory ------------------------------------------------------------------------------

    def load(self, source: View, row: Any = 0, column: Any = 0, lane: Any = None) -> list[Register]:
        """Load it from a matrix, register by register.

        The elements of a register must lie next to each other: a's and c's in a row, b's in a
        column, so ``source`` holds b's columns as rows.
        """
        found = []
        for register in range(self.count):
            place = self._within(register, row, column, lane)
            loaded = source.load(*place, count=self.packed)
            value = loaded[0] if isinstance(loaded, list) else loaded
            found.append(_as(value, self.register))
        return found

    def store(
        self,
        to: View,
        registers: Sequence[Register],
        row: Any = 0,
        column: Any = 0,
        lane: Any = None,
    ) -> None:
        """Store it to a matrix; two elements of c that are neighbours go together."""
        if len(registers) != self.count:
            raise DslError(f"the fragment has {self.count} registers, not {len(registers)}")
        step = 2 if self.role == "c" and self.packed == 1 else 1
        for register in range(0, self.count, step):
            place = self._within(register, row, column, lane)
            values = list(registers[register : register + step])
            to.store(*place, value=values if step == 2 or self.packed > 1 else values[0])

    def _within(self, register: int, row: Any, column: Any, lane: Any) -> tuple[Any, Any]:
        inside = self.place(_lane() if lane is None else lane, register)
        own = inside if self.role != "b" else inside[::-1]
        return plus(own[0], row), plus(own[1], column)

    def load_matrix(
        self, source: View, row: Any = 0, column: Any = 0, *, trans: bool = False, lane: Any = None
    ) -> list[Register]:
        """Load it from shared memory by ``ldmatrix``, which wants rows of 16 bytes.

        ``source`` holds a's rows, or b's columns as rows; with ``trans`` it is the other way
        round (elements of 16 bits only). Row and column are those of ``source``.
        """
        if self.role == "c" or (self.packed == 1 and self.type.width != 32):
            raise DslError("ldmatrix loads a and b of elements of 32 bits or less")
        if trans and self.type.width != 16:
            raise DslError(f"ldmatrix turns elements of 16 bits, not .{self.type.name}")
        lane = _lane() if lane is None else lane
        wide = 16 // source.size  # elements in a row of one matrix
        # Eight lanes each name the rows of one matrix; the registers count the matrices of a
        # first down, then to the right, and those of b along K.
        low, matrix = lane & 7, (lane >> 3) & (self.count - 1)
        down: Any = 0
        right: Any = matrix
        if self.role == "a" and self.rows > 8:
            down, right = matrix & 1, matrix >> 1 if self.count > 2 else 0
        if trans:
            down, right = right, down
        place = source.address(
            plus(plus(low, times(down, 8)), row), plus(times(right, wide), column)
        )
        made = [fresh("b32") for _ in range(self.count)]
        turn = ".trans" if trans else ""
        emit(f"ldmatrix.sync.aligned.m8n8.x{self.count}{turn}.shared.b16", made, addr(place))
        return made

    def store_matrix(
        self,
        to: View,
        registers: Sequence[Register],
        row: Any = 0,
        column: Any = 0,
        *,
        lane: Any = None,
    ) -> None:
        """Store c of 16-bit elements to shared memory by ``stmatrix``, four registers at a time.

        Sums in single precision are made narrower first: :func:`narrowed`.
        """
        if self.role != "c" or self.type.width != 16 or self.rows < 16 or self.count % 4:
            raise DslError("stmatrix stores c of 16-bit elements, of 16 columns or more")
        if len(registers) != self.count:
            raise DslError(f"the fragment has {self.count} registers, not {len(registers)}")
        lane = _lane() if lane is None else lane
        down = plus(lane & 15, times((lane >> 5), 16)) if self.warps > 1 else lane & 15
        across = times((lane >> 4) & 1, 8)
        for first in range(0, self.count, 4):
            place = to.address(plus(down, row), plus(plus(across, 4 * first), column))
            values = list(registers[first : first + 4])
            emit("stmatrix.sync.aligned.m8n8.x4.shared.b16", addr(place), values)


def narrowed(registers: Sequence[Register], type: Type) -> list[Register]:
    """Sums in single precision as pairs of ``f16`` or ``bf16``: what c of that type holds."""
    made = []
    for low, high in zip(registers[::2], registers[1::2], strict=True):
        pair = fresh("b32")
        emit(f"cvt.rn.{type.name}x2.f32", pair, high, low)
        made.append(pair)
    return made


def _lane() -> Register:
    return fresh("u32").set(sreg.laneid)


def _as(value: Register, type: str) -> Register:
    return value if value.type == type or type == "b32" else value.to(type)


class Mma:
    """A product ``d = a * b + c`` of one warp: its fragments, and the instruction.

    >>> from ptxkit.dsl import s8, s32
    >>> Mma("m16n8k32", s32, s8).a.count
    4
    """

    def __init__(self, shape: str, sums: Type, type: Type, other: Type | None = None) -> None:
        found = re.fullmatch(r"m(\d+)n8k(\d+)", shape)
        if found is None or (shape == "m8n8k4" and type.name != "f64"):
            raise DslError(
                f"'{shape}' is not a shape whose fragments are known here",
                "write 'm16n8k16' or the like; m8n8k4 is for f64 only",
            )
        m, k = int(found[1]), int(found[2])
        self.m, self.n, self.k = m, 8, k
        other = other or type
        self.a = Fragment("a", m, k, type)
        self.b = Fragment("b", k, 8, other)
        self.c = Fragment("c", m, 8, sums)
        words = [f"mma.sync.aligned.{shape}.row.col", sums.name, type.name, other.name, sums.name]
        self.opcode = ".".join(words)
        if type.name == "b1":
            self.opcode += ".xor.popc"

    def __call__(
        self,
        d: Sequence[Register],
        a: Sequence[Register],
        b: Sequence[Register],
        c: Sequence[Register] | None = None,
    ) -> None:
        """``d = a * b + c``; without c, ``d += a * b``."""
        emit(self.opcode, *(_vector(one) for one in (d, a, b, d if c is None else c)))


def _vector(registers: Sequence[Register]) -> list[Register]:
    return list(registers)
