"""How each instruction becomes operations of the simulator: one table, a file per subject."""

from __future__ import annotations

from ptxkit.run.lowering import (
    arithmetic,
    asynchronous,
    atomics,
    bits,
    calls,
    compare,
    control,
    convert,
    matrix,
    memory,
    mma,
    move,
    texture,
    video,
    warp,
    wmma,
)
from ptxkit.run.lowering.words import Lower

#: By the instruction's name, such as ``add``.
LOWERINGS: dict[str, Lower] = {
    **arithmetic.LOWERINGS,
    **bits.LOWERINGS,
    **compare.LOWERINGS,
    **convert.LOWERINGS,
    **move.LOWERINGS,
    **video.LOWERINGS,
    **memory.LOWERINGS,
    **atomics.LOWERINGS,
    **asynchronous.LOWERINGS,
    **calls.LOWERINGS,
    **control.LOWERINGS,
    **warp.LOWERINGS,
    **matrix.LOWERINGS,
    **mma.LOWERINGS,
    **wmma.LOWERINGS,
    **texture.LOWERINGS,
}

__all__ = ["LOWERINGS", "Lower"]
