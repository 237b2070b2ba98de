"""The swizzles of shared memory that tensor copies write and ``wgmma`` reads.

Sixteen-byte pieces trade places within a row of 32, 64 or 128 bytes, by the row they are in:
bits 4 and up of an address are xored with the bits three above them. So eight rows of a column
lie in eight different banks.
"""

from __future__ import annotations

from typing import Any

from ptxkit.dsl.errors import DslError

#: The bytes of a row, the bits of the address that change, and what ``wgmma`` calls the mode.
SWIZZLES = {0: (0, 0), 32: (0x10, 3), 64: (0x30, 2), 128: (0x70, 1)}


def check_swizzle(swizzle: int) -> int:
    """Refuse a swizzle that the hardware does not have."""
    if swizzle not in SWIZZLES:
        raise DslError(f"there is no swizzle of {swizzle!r} bytes", "it is 0, 32, 64 or 128")
    return swizzle


def swizzled(offset: Any, swizzle: int) -> Any:
    """Where a byte lies that is at an offset before swizzling; for an int or a register.

    The offset counts from a place aligned to eight rows: 256, 512 or 1024 bytes.

    >>> [swizzled(128 * row, 128) - 128 * row for row in range(8)]
    [0, 16, 32, 48, 64, 80, 96, 112]
    >>> swizzled(swizzled(0x1234, 64), 64) == 0x1234
    True
    """
    mask, _ = SWIZZLES[check_swizzle(swizzle)]
    return offset ^ ((offset >> 3) & mask) if mask else offset


def repeat_of(swizzle: int) -> int:
    """The bytes after which a swizzle begins anew, and to which it is aligned: eight rows.

    >>> repeat_of(128), repeat_of(0)
    (1024, 128)
    """
    return 8 * (check_swizzle(swizzle) or 16)
