"""Shared memory: ``smem.f32[32]``, tiles with swizzles, barriers, and the pool of a launch.

>>> from ptxkit.dsl import f16, kernel, ptx, smem
>>> @kernel(target="sm_80")
... def corner():
...     tile = smem.tile(f16, 64, 64, swizzle=128)
...     tile.store(9, 8, value=tile.load(1, 0, count=8))
...     ptx.ret()
>>> "[%r1+1152]" in corner.ptx(), "[%r1+144]" in corner.ptx()
(True, True)
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ptxkit.dsl.barriers import Barriers
from ptxkit.dsl.builder import current
from ptxkit.dsl.declarations import Words
from ptxkit.dsl.errors import DslError
from ptxkit.dsl.registers import Register, Variable
from ptxkit.dsl.swizzles import check_swizzle, repeat_of, swizzled
from ptxkit.dsl.types import Type
from ptxkit.dsl.views import View, plus, times

if TYPE_CHECKING:
    from ptxkit.dsl.tracing import FunctionBuilder

_BARRIER_BYTES = 8


class SharedTile(View):
    """Rows and columns in shared memory, swizzled as tensor copies and ``wgmma`` have it.

    A row wider than the swizzle is cut into panels, each of all rows, one after another: what
    several boxes of a tensor copy make.
    """

    def __init__(
        self, base: Any, type: Type, rows: int, columns: int, swizzle: int = 0, stages: int = 1
    ) -> None:
        self.rows, self.columns, self.stages = rows, columns, stages
        self.swizzle = check_swizzle(swizzle)
        row = columns * type.width // 8
        self.panel_bytes = min(row, swizzle) if swizzle else row
        if swizzle and row % swizzle:
            raise DslError(
                f"a row of {row} bytes is not made of rows of {swizzle}, as the swizzle needs",
                "choose a narrower swizzle, or more columns",
            )
        super().__init__(base, type, (self.panel_bytes // (type.width // 8), 1), "shared")

    @property
    def bytes(self) -> int:
        """The bytes of one stage."""
        return self.rows * self.columns * self.size

    @property
    def panel(self) -> int:
        """The columns of a panel."""
        return self.panel_bytes // self.size

    @property
    def panels(self) -> int:
        """How many panels lie one after another."""
        return self.columns // self.panel

    def offset_of(self, row: Any, column: Any) -> Any:
        """The bytes from the tile's begin to an element: an int for ints, else a register.

        >>> from ptxkit.dsl import f16
        >>> tile = SharedTile(Register("%r1", "u32", 0, None), f16, 64, 128, swizzle=128)
        >>> tile.offset_of(1, 0), tile.offset_of(0, 64)
        (144, 8192)
        """
        panel: Any = 0
        if self.panels > 1:
            count = self.panel
            shift = count.bit_length() - 1
            if isinstance(column, int):
                panel, column = divmod(column, count)
            else:
                panel, column = column >> shift, column & (count - 1)
        inside = plus(times(row, self.panel_bytes), times(column, self.size))
        return plus(times(panel, self.rows * self.panel_bytes), swizzled(inside, self.swizzle))

    def place(self, *indices: Any) -> tuple[Register, int]:
        """Where an element lies: a register and a number of bytes to add to it."""
        if len(indices) != 2:
            raise DslError(f"a tile has rows and columns, not {len(indices)} indices")
        inside = self.offset_of(*indices)
        if isinstance(inside, int):
            return self.base, self.offset + inside
        return plus(self.base, _like(inside, self.base)), self.offset

    def stage(self, number: Any) -> SharedTile:
        """One of several tiles of the kind, by an int or a register."""
        moved = SharedTile(self.base, self.type, self.rows, self.columns, self.swizzle)
        moved.offset = self.offset
        if isinstance(number, int):
            if not 0 <= number < self.stages:
                raise DslError(f"there are {self.stages} stages, from 0; not {number}")
            moved.offset += number * self.bytes
        else:
            moved.base = plus(self.base, _like(times(number, self.bytes), self.base))
        return moved

    def start(self, row: int = 0, column: int = 0) -> Register:
        """The address of an element known while tracing, before swizzling.

        Tensor copies and matrix descriptors swizzle by themselves.
        """
        panel, column = divmod(column, self.panel)
        known = self.offset + panel * self.rows * self.panel_bytes
        known += row * self.panel_bytes + column * self.size
        return self.base if known == 0 else self.base + known


def _like(value: Any, other: Register) -> Any:
    return value if isinstance(value, int) or value.type == other.type else value.to(other.type)


class Pool:
    """Shared memory whose size is said at the launch; what is taken of it is counted.

    ``kernel(...)`` calls ask for as much; ``k[grid, block, k.shared_bytes()](...)`` says it.
    """

    def __init__(self, variable: Variable, builder: FunctionBuilder) -> None:
        from ptxkit.dsl.arithmetic import fresh

        self.base: Register = fresh("u32").set(variable)
        self._builder = builder
        builder.function.shared_bytes = 0

    def take(self, size: int, align: int = 16) -> Register:
        """The address of so many bytes that nobody else gets."""
        taken = self._builder.function.shared_bytes or 0
        begin = -(-taken // align) * align
        self._builder.function.shared_bytes = begin + size
        return self.base if begin == 0 else self.base + begin

    def tile(
        self, type: Type, rows: int, columns: int, *, swizzle: int = 0, stages: int = 1
    ) -> SharedTile:
        """A tile, or ``stages`` of them one after another."""
        size = stages * rows * columns * type.width // 8
        base = self.take(size, repeat_of(swizzle))
        return _stages(SharedTile(base, type, rows, columns, swizzle, stages))

    def barriers(self, count: int = 1) -> Barriers:
        """So many mbarriers."""
        return Barriers(self.take(_BARRIER_BYTES * count, _BARRIER_BYTES), count)


class SharedWords(Words):
    """The begin of a declaration in shared memory, and what is made of it."""

    __slots__ = ()

    def tile(
        self, type: Type, rows: int, columns: int, *, swizzle: int = 0, stages: int = 1
    ) -> SharedTile:
        """A tile of rows and columns, or ``stages`` of them one after another."""
        size = stages * rows * columns * type.width // 8
        variable = self.align(repeat_of(swizzle)).b8[size]
        return _stages(SharedTile(variable, type, rows, columns, swizzle, stages))

    def barriers(self, count: int = 1) -> Barriers:
        """So many mbarriers: ``full = smem.barriers(4)``, ``full.at(stage).wait(phase)``."""
        from ptxkit.dsl.arithmetic import fresh

        return Barriers(fresh("u32").set(self.align(_BARRIER_BYTES).b64[count]), count)

    def dynamic(self, align: int = 1024) -> Pool:
        """All the shared memory of a launch that nothing else takes, to make tiles of."""
        builder: FunctionBuilder = current()  # type: ignore[assignment]
        if builder.function.shared_bytes is not None:
            raise DslError("the shared memory of the launch is taken already")
        return Pool(builder.module.dynamic_shared(builder.function, align), builder)


def _stages(tile: SharedTile) -> SharedTile:
    if tile.swizzle and tile.stages > 1 and tile.bytes % repeat_of(tile.swizzle):
        raise DslError(
            f"a stage of {tile.bytes} bytes ends within {repeat_of(tile.swizzle)} bytes, where the "
            "swizzle begins anew",
            "choose more rows, or make the stages one by one",
        )
    return tile


smem = SharedWords((".shared",))
