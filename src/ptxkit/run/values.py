"""Bits of registers as values, shown the way their type is read."""

from __future__ import annotations

import struct

from ptxkit.isa.types import BITS, FLOAT, SCALAR_TYPES, SIGNED

_FLOATS = {"f16": "<e", "f32": "<f", "f64": "<d"}


def typed(scalar: str, size: int, data: bytes) -> int | float | bool:
    """The value of a register's bytes read as a type.

    >>> typed("f32", 4, b"\\0\\0\\x80\\x3f"), typed("s32", 4, b"\\xff" * 4)
    (1.0, -1)
    """
    if scalar == "pred":
        return bool(data[0])
    if scalar in _FLOATS and struct.calcsize(_FLOATS[scalar]) == size:
        value: float = struct.unpack(_FLOATS[scalar], data[:size])[0]
        return value
    if scalar == "bf16" and size == 2:
        wide: float = struct.unpack("<f", b"\0\0" + data[:2])[0]
        return wide
    return int.from_bytes(data[:size], "little", signed=SCALAR_TYPES[scalar].kind == SIGNED)


def reading(declared: str, size: int, types: list[str], *, written: bool) -> str:
    """The type to read a register as: its own, or, where that is bits, the instruction's.

    >>> reading("b32", 4, ["f32"], written=True), reading("b64", 8, ["s32"], written=True)
    ('f32', 's64')
    >>> reading("f32", 4, ["b32"], written=False)
    'f32'
    """
    if SCALAR_TYPES[declared].kind != BITS or not types:
        return declared
    wanted = types[0] if written else types[-1]
    kind = SCALAR_TYPES[wanted].kind
    if SCALAR_TYPES[wanted].width == 8 * size:
        return wanted
    if kind in (FLOAT, BITS):
        return declared
    return f"{'s' if kind == SIGNED else 'u'}{8 * size}" if size <= 8 else declared


def shown(value: int | float | bool, scalar: str, *, address: bool = False) -> str:
    """A value as text: addresses and large numbers in hexadecimal, floats in few digits.

    >>> shown(0.1, "f64"), shown(struct.unpack("<f", b"\\xcd\\xcc\\xcc\\x3d")[0], "f32")
    ('0.1', '0.1')
    >>> shown(255, "b32", address=True), shown(-3, "s32"), shown(True, "pred")
    ('0xff', '-3', 'true')
    """
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, float):
        return repr(value) if scalar == "f64" else _short(value, scalar)
    limit = 0xFFFF if SCALAR_TYPES[scalar].kind == BITS else 0xFFFFFFFF
    if address or value > limit:
        return hex(value)
    return str(value)


def _short(value: float, scalar: str) -> str:
    """The fewest digits that give the same value of a narrow type."""
    layout = _FLOATS.get(scalar, "<f")
    for digits in range(1, 10):
        text = f"{value:.{digits}g}"
        try:
            if struct.unpack(layout, struct.pack(layout, float(text)))[0] == value:
                return repr(float(text))
        except OverflowError:
            continue
    return repr(value)
