"""Whether bits that are stored, and nobody says as what, look like a number of floating point."""

from __future__ import annotations

import struct

#: Codes and the bits of the exponent: 1.0, 0.25, -3e5 and the like are near the middle of it.
_FORMATS = {32: ("<I", "<f", 23, 127, 20), 64: ("<Q", "<d", 52, 1023, 30)}
_DIGITS = 6


def looks_like_float(bits: int, width: int) -> bool:
    """Whether bits are those of a number that people write, and of no whole number they do.

    >>> looks_like_float(0x3F800000, 32), looks_like_float(0xBF000000, 32)
    (True, True)
    >>> looks_like_float(1 << 30, 32), looks_like_float(0x9E3779B9, 32), looks_like_float(0, 32)
    (False, False, False)
    """
    if width not in _FORMATS:
        return False
    whole, real, mantissa, middle, span = _FORMATS[width]
    exponent = bits >> mantissa & (2 * middle + 1)
    if abs(exponent - middle) > span or not bits & ((1 << (width - 2)) - 1):
        return False
    (value,) = struct.unpack(real, struct.pack(whole, bits))
    short = float(f"{value:.{_DIGITS}g}")
    return bool(struct.pack(real, short) == struct.pack(real, value))
