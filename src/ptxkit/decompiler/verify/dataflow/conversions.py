"""Constants in one floating-point format that become constants in another.

``__float2half(0.0f)`` is an instruction to compilers, since cuda_fp16.h has it as assembly; others
write the number itself.
"""

from __future__ import annotations

import struct
from math import isfinite

#: How the bits of a format are read as an integer and as a number, and how many there are.
_FORMATS = {"f16": ("<H", "<e", 16), "f32": ("<I", "<f", 32), "f64": ("<Q", "<d", 64)}
#: The formats that instructions take numbers to and from, to the nearest where they round.
CONVERSIONS = {
    f"cvt{rounding}.{target}.{source}": (target, source)
    for rounding, target, source in (
        (".rn", "f16", "f32"), (".rn", "f16", "f64"), (".rn", "f32", "f64"),
        ("", "f32", "f16"), ("", "f64", "f16"), ("", "f64", "f32"),
    )
}  # fmt: skip


def converted(opcode: str, number: int) -> tuple[int, int] | None:
    """The bits of a format, and what becomes of a finite number; None where it overflows.

    >>> [converted("cvt.rn.f16.f32", x) for x in (0x80000000, 0x3F800000, 0x477FF000, 0x7FC00000)]
    [(16, 32768), (16, 15360), None, None]
    >>> converted("cvt.f64.f16", 0x0001) == (64, 0x3E70000000000000)
    True
    """
    target, source = (_FORMATS[name] for name in CONVERSIONS[opcode])
    (value,) = struct.unpack(source[1], struct.pack(source[0], number))
    if not isfinite(value):
        return None
    try:
        made = struct.pack(target[1], value)
    except OverflowError:
        return None
    return target[2], struct.unpack(target[0], made)[0]
