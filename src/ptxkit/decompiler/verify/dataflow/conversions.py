"""Constants in one floating-point format that become constants in another, or integers.

``__float2half(0.0f)`` is an instruction to compilers, since cuda_fp16.h has it as assembly; others
write the number itself. ``(int)__powf(2.0f, 3.0f)`` is known to be 8 too late for them to see it.
"""

from __future__ import annotations

import struct
from math import isfinite, trunc

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
#: The integers and formats that instructions take numbers to and from, towards zero.
TRUNCATIONS = {
    f"cvt.rzi.{sign}{bits}.{source}": (sign, bits, source)
    for sign in "su" for bits in (32, 64) for source in ("f32", "f64")
}  # fmt: skip


def converted(opcode: str, number: int) -> tuple[int, int] | None:
    """The bits of a format, and what becomes of a finite number; None where it overflows.

    >>> [converted("cvt.rn.f16.f32", x) for x in (0x80000000, 0x3F800000, 0x477FF000, 0x7FC00000)]
    [(16, 32768), (16, 15360), None, None]
    >>> converted("cvt.f64.f16", 0x0001) == (64, 0x3E70000000000000)
    True
    """
    name, source = CONVERSIONS[opcode]
    target, value = _FORMATS[name], _number(source, number)
    if not isfinite(value):
        return None
    try:
        made = struct.pack(target[1], value)
    except OverflowError:
        return None
    return target[2], struct.unpack(target[0], made)[0]


def truncated(opcode: str, number: int) -> int | None:
    """What integer becomes of a number; None where it has not enough bits for that.

    >>> [truncated("cvt.rzi.s32.f32", x) for x in (0x41080000, 0xBFC00000, 0x4F000000, 0x7FC00000)]
    [8, -1, None, None]
    >>> [truncated("cvt.rzi.u32.f32", x) for x in (0xBF000000, 0xBF800000, 0x4F000000)]
    [0, None, 2147483648]
    """
    sign, bits, source = TRUNCATIONS[opcode]
    value = _number(source, number)
    if not isfinite(value):
        return None
    made = trunc(value)
    least, end = (-(1 << bits - 1), 1 << bits - 1) if sign == "s" else (0, 1 << bits)
    return made if least <= made < end else None


def _number(source: str, bits: int) -> float:
    integer, number, _ = _FORMATS[source]
    value: float
    (value,) = struct.unpack(number, struct.pack(integer, bits))
    return value
