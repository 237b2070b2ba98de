"""``wgmma``: products of 64 rows by four warps, from matrices in shared memory.

>>> from ptxkit.dsl import f16, f32, wgmma
>>> product = wgmma.Wgmma(128, f32, f16)
>>> product.c.count, product.c.place(37, 5)
(64, (17, 11))
>>> hex(wgmma.encode(0x400, leading=16, stride=1024, swizzle=128))
'0x4000004000010040'
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ptxkit.dsl.arithmetic import emit, fresh
from ptxkit.dsl.errors import DslError
from ptxkit.dsl.mma import Fragment
from ptxkit.dsl.registers import Register
from ptxkit.dsl.shared import SharedTile
from ptxkit.dsl.swizzles import SWIZZLES, check_swizzle
from ptxkit.dsl.types import Type

#: Elements along K of one instruction, by the bits of an element.
_DEPTH = {16: 16, 32: 8, 8: 32}


def encode(address: int, *, leading: int, stride: int, swizzle: int) -> int:
    """The descriptor of a matrix: where it begins, and the bytes between its parts.

    All are multiples of 16. What ``leading`` and ``stride`` mean is said at
    :func:`descriptor`.
    """
    for name, value in (("address", address), ("leading", leading), ("stride", stride)):
        if value % 16 or not 0 <= value < 1 << 18:
            raise DslError(f"the {name} of a matrix descriptor is {value}", "it is a multiple of "
                           "16 below 262144")  # fmt: skip
    mode = SWIZZLES[check_swizzle(swizzle)][1]
    return address >> 4 | leading >> 4 << 16 | stride >> 4 << 32 | mode << 62


class Descriptor:
    """A matrix descriptor in a register; ``descriptor + bytes`` is that of a part further on."""

    __slots__ = ("register",)

    def __init__(self, register: Register) -> None:
        self.register = register

    def __add__(self, count: Any) -> Descriptor:
        if isinstance(count, int):
            if count % 16:
                raise DslError(f"a descriptor is moved by multiples of 16 bytes, not {count}")
            return self if count == 0 else Descriptor(self.register + (count >> 4))
        return Descriptor(self.register + (count >> 4).to("u64"))


def descriptor(tile: SharedTile, row: int = 0, column: int = 0, *, major: str = "k") -> Descriptor:
    """The descriptor of a tile, from a row and column on.

    ``major="k"``: the tile's rows are M or N, its columns K. Eight rows and the next eight are
    ``stride`` apart; ``leading`` is of use without a swizzle only, and such a tile is made of
    8 by 16-byte pieces one after another, not of rows. ``major="mn"``: the tile's rows are K,
    its columns M or N; panels are ``leading`` apart, and eight rows and the next ``stride``.
    """
    if tile.swizzle == 0:
        raise DslError(
            "a tile without a swizzle lies in rows, which wgmma cannot read",
            "make it with swizzle=32, 64 or 128",
        )
    eight_rows = 8 * tile.panel_bytes
    leading = 16 if major == "k" else tile.rows * tile.panel_bytes
    if major not in ("k", "mn"):
        raise DslError(f"a matrix is 'k' or 'mn' major, not {major!r}")
    fixed = encode(0, leading=leading, stride=eight_rows, swizzle=tile.swizzle)
    start = tile.start(row, column)
    low = (start >> 4) & 0x3FFF
    return Descriptor(low.to("u64") | fixed)


class Wgmma:
    """A product ``d = a * b + d`` of four warps: fragments of d and a, and the instruction."""

    def __init__(self, n: int, sums: Type, type: Type, other: Type | None = None) -> None:
        if type.width not in _DEPTH or n % 8 or not 8 <= n <= 256:
            raise DslError(
                f"wgmma has no product of 64 by {n} in .{type.name}",
                "n is a multiple of 8 up to 256; elements are f16, bf16, tf32, e4m3, e5m2, s8, u8",
            )
        other = other or type
        self.n, self.k = n, _DEPTH[type.width]
        self.type = type
        self.a = Fragment("a", 64, self.k, type)
        self.c = Fragment("c", 64, n, sums)
        self._is_float = sums.is_float
        words = ["wgmma.mma_async.sync.aligned", f"m64n{n}k{self.k}"]
        self.opcode = ".".join([*words, sums.name, type.name, other.name])

    def __call__(
        self,
        d: Sequence[Register],
        a: Descriptor | Sequence[Register],
        b: Descriptor,
        *,
        add: Any = True,
        turned_a: bool = False,
        turned_b: bool = False,
    ) -> None:
        """Start ``d += a * b``, or ``d = a * b`` where the predicate or bool ``add`` is not true.

        ``turned_a`` and ``turned_b`` say that a matrix in shared memory is not K-major; only
        elements of 16 bits can be.
        """
        with_d = add
        if isinstance(add, bool):
            with_d = fresh("pred")
            emit("setp.ne.b32", with_d, fresh("b32").set(int(add)), 0)
        left = a.register if isinstance(a, Descriptor) else list(a)
        rest: list[Any] = [with_d]
        if self._is_float:
            rest += [1, 1]
        if self.type.width == 16:
            rest += [int(turned_b)] if not isinstance(a, Descriptor) else []
            if isinstance(a, Descriptor):
                rest += [int(turned_a), int(turned_b)]
        elif turned_a or turned_b:
            raise DslError(f"matrices of .{self.type.name} are K-major")
        emit(self.opcode, list(d), left, b.register, *rest)


def fence() -> None:
    """Order what was done to registers before the products that follow."""
    emit("wgmma.fence.sync.aligned")


def commit() -> None:
    """End a group of products."""
    emit("wgmma.commit_group.sync.aligned")


def wait(pending: int = 0) -> None:
    """Wait for all groups but the last ``pending``."""
    emit("wgmma.wait_group.sync.aligned", pending)
