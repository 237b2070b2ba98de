"""How numbers are spelled, in C++ and in S-expressions.

>>> spell(Literal(0.1, FLOAT)), spell(Literal(7, UINT)), spell(Literal(1.0, DOUBLE))
('0.1f', '7u', '1.0')
"""

from __future__ import annotations

import math
import struct
from functools import lru_cache

import numpy as np

from ptxkit.cuda.arithmetic import round_to_bfloat16
from ptxkit.cuda.nodes import Literal
from ptxkit.cuda.types import (
    BFLOAT16,
    BOOL,
    DOUBLE,
    FLOAT,
    HALF,
    INT,
    LONG_LONG,
    SCALARS,
    UINT,
    UNSIGNED_LONG_LONG,
    Scalar,
)

# Suffixes of the S-expression; those of C++ are the same but for the two half types,
# which C++ can only make by a call. A type without one is written as (cast type n).
SUFFIXES = {INT: "", UINT: "u", LONG_LONG: "ll", UNSIGNED_LONG_LONG: "ull",
            SCALARS["long"]: "l", SCALARS["ulong"]: "ul",
            DOUBLE: "", FLOAT: "f", HALF: "h", BFLOAT16: "bf"}  # fmt: skip
_FROM_BITS = {
    FLOAT: ("__int_as_float(0x{:08x})", 32),
    DOUBLE: ("__longlong_as_double(0x{:016x}ll)", 64),
    HALF: ("__ushort_as_half(0x{:04x})", 16),
    BFLOAT16: ("__ushort_as_bfloat16(0x{:04x})", 16),
}
#: Words of C++ for what has no digits; NVRTC knows them only where a file says what they are.
WORDS = {"INFINITY": "__int_as_float(0x7f800000)", "NAN": "__int_as_float(0x7fc00000)"}
_WORD_OF_BITS = {
    (FLOAT, 0x7F800000): "INFINITY", (DOUBLE, 0x7FF << 52): "INFINITY",
    (FLOAT, 0xFF800000): "-INFINITY", (DOUBLE, 0xFFF << 52): "-INFINITY",
    (FLOAT, 0x7FC00000): "NAN", (DOUBLE, 0xFFF << 51): "NAN",
}  # fmt: skip
_NUMPY = {HALF: np.float16, FLOAT: np.float32, DOUBLE: np.float64}
_FROM_FLOAT = {HALF: "__float2half({}f)", BFLOAT16: "__float2bfloat16({}f)"}


def from_bits(bits: int, type: Scalar) -> Literal:
    """The literal of a floating-point value given by its bits.

    >>> from_bits(0x3F800000, FLOAT).value
    1.0
    >>> spell(from_bits(0xFF800000, FLOAT)), spell(from_bits(0x7FFFFFFF, FLOAT))
    ('-INFINITY', '__int_as_float(0x7fffffff)')
    """
    value = value_of_bits(bits, type)
    if math.isfinite(value):
        return Literal(value, type)
    return Literal(0.0, type, bits)


def value_of_bits(bits: int, type: Scalar) -> float:
    """The number that a pattern of bits stands for."""
    if type == BFLOAT16:
        return float(struct.unpack("<f", struct.pack("<I", (bits & 0xFFFF) << 16))[0])
    form = {16: "<e", 32: "<f", 64: "<d"}[type.bits]
    return float(struct.unpack(form, bits.to_bytes(type.size, "little"))[0])


def rounded(value: float, type: Scalar) -> float:
    """The nearest number of the type.

    >>> rounded(0.1, FLOAT)
    0.10000000149011612
    """
    if type == BFLOAT16:
        return float(round_to_bfloat16(np.float32(value)))
    return float(_NUMPY[type](value))


def digits(value: float, type: Scalar) -> str:
    """The shortest decimal that reads back as the same value of the type, with a point.

    >>> digits(1e-5, FLOAT), digits(3.0, DOUBLE), digits(16777216.0, FLOAT)
    ('1e-05', '3.0', '16777216.0')
    """
    # Zeros of both signs are equal, and would be taken for one another.
    return _digits(value, type.word) if value else _digits.__wrapped__(value, type.word)


@lru_cache(maxsize=4096)
def _digits(value: float, word: str) -> str:
    wide = word == DOUBLE.word
    text = repr(float(value)) if wide else repr(float(str(np.float32(value))))
    return text if any(c in text for c in ".en") else text + ".0"


def is_word(literal: Literal) -> bool:
    """Whether it is written as a word, which means a float.

    >>> is_word(from_bits(0xFFF << 52, DOUBLE)), is_word(Literal(1.0, DOUBLE))
    (True, False)
    """
    return literal.bits is not None and (literal.type, literal.bits) in _WORD_OF_BITS


def spell(literal: Literal) -> str:
    """As written in C++; bits up to the highest one are a mask to people.

    >>> spell(Literal(0xFFFFFFE0, UINT))
    '0xffffffe0u'
    """
    type = literal.type
    if type == BOOL:
        return "true" if literal.value else "false"
    if literal.bits is not None:
        word = _WORD_OF_BITS.get((type, literal.bits))
        return word or _FROM_BITS[type][0].format(literal.bits)
    if type.is_float:
        text = digits(float(literal.value), type)
        return _FROM_FLOAT[type].format(text) if type in _FROM_FLOAT else text + SUFFIXES[type]
    value = int(literal.value)
    if type not in SUFFIXES:
        return f"({type.spelling}){value}"
    if type.signed and value == -(1 << (type.bits - 1)):
        return f"(-{-(value + 1)}{SUFFIXES[type]} - 1)"
    if not type.signed and value >> (type.bits - 1):
        return f"{value:#x}{SUFFIXES[type]}"
    return f"{value}{SUFFIXES[type]}"
