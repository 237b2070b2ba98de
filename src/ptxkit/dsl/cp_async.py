"""``cp.async``: copies from global to shared memory while the threads go on.

>>> from ptxkit.dsl import cp_async, f32, kernel, ptr, ptx, reg, smem, sreg, view
>>> @kernel(target="sm_80")
... def fetch(x: ptr[f32]):
...     tile = smem.tile(f32, 16, 16)
...     cp_async.tile(tile, view(x, f32, strides=(64, 1)), reg.u32(init=sreg.tid.x), 64)
...     cp_async.commit()
...     cp_async.wait(0)
...     ptx.bar.sync(0)
...     ptx.ret()
>>> fetch.ptx().count("cp.async.cg.shared.global")
1
"""

from __future__ import annotations

from typing import Any

from ptxkit.dsl.arithmetic import emit
from ptxkit.dsl.errors import DslError
from ptxkit.dsl.shared import SharedTile
from ptxkit.dsl.views import View, plus, times

_PIECE = 16


def copy(to: Any, source: Any, size: int = 16, *, valid: Any = None, when: Any = None) -> None:
    """Copy 4, 8 or 16 bytes between two addresses.

    Of ``valid`` bytes only, an int or a register, the rest are zeros: what lies outside a
    matrix. Sixteen bytes go past the first-level cache.
    """
    if size not in (4, 8, 16):
        raise DslError(f"cp.async copies 4, 8 or 16 bytes, not {size}")
    cache = "cg" if size == 16 else "ca"
    more = [] if valid is None else [valid]
    emit(f"cp.async.{cache}.shared.global", to, source, size, *more, when=when)


def tile(to: SharedTile, source: View, thread: Any, threads: int, *, piece: int = _PIECE) -> None:
    """Copy a whole tile, a share for each of so many threads, ``piece`` bytes at a time.

    ``source`` begins where the tile's first element lies. Neighbouring threads take neighbouring
    pieces of a row.
    """
    per_piece = piece // to.size
    per_row = to.columns // per_piece
    if piece % to.size or to.columns % per_piece:
        raise DslError(f"a row of {to.columns} elements is not made of {piece}-byte pieces")
    pieces = to.rows * per_row
    if per_row & (per_row - 1) or (threads % per_row and per_row % threads):
        raise DslError(
            f"{threads} threads cannot share rows of {per_row} pieces",
            "the pieces of a row are a power of two, and threads whole rows or parts of one",
        )
    shift = per_row.bit_length() - 1
    for first in range(0, pieces, threads):
        number = plus(thread, first)
        when = None if first + threads <= pieces else number < pieces
        if threads % per_row == 0:  # the column is the same in every round
            row = plus(thread >> shift, first // per_row) if shift else number
        else:
            row = number >> shift
        column = times((thread if threads % per_row == 0 else number) & (per_row - 1), per_piece)
        copy(to.at(row, column), source.at(row, column), piece, when=when)


def commit() -> None:
    """End a group of copies."""
    emit("cp.async.commit_group")


def wait(pending: int = 0) -> None:
    """Wait for this thread's groups but the last ``pending``."""
    emit("cp.async.wait_group", pending)
