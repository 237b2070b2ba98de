"""What operations of floating point make of numbers."""

from __future__ import annotations

import struct
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from ptxkit.decompiler.lift.algebra import make
from ptxkit.decompiler.lift.values import Value, const

#: What gives the bits that the device gives, wherever the result is a number; and comparisons.
_OPERATIONS: dict[str, Callable[..., Any]] = {
    "fneg": np.negative, "fmul": np.multiply, "fadd": np.add, "fsub": np.subtract,
    "sqrtf": np.sqrt, "sqrt": np.sqrt, "fabsf": np.abs, "fabs": np.abs,
    "trunc": np.trunc, "truncf": np.trunc, "floor": np.floor, "floorf": np.floor,
    "ceil": np.ceil, "ceilf": np.ceil,
}  # fmt: skip
#: With some options compilers take a root that is not exact.
_INEXACT = frozenset(("sqrt", "sqrtf"))
_COMPARISONS: dict[str, Callable[..., Any]] = {"feq": np.equal, "fne": np.not_equal}
_FORMS = {32: ("<f", "<I", np.float32), 64: ("<d", "<Q", np.float64)}


def operation(value: Value) -> str:
    """What a value is made by: an operation, or a function of one instruction."""
    return str(value.data.name) if value.op == "call" else value.op


def is_known(value: Value) -> bool:
    """Whether it is an operation whose results are known for numbers."""
    return value.width in _FORMS and operation(value) in _OPERATIONS


def bits_of(name: str, width: int, taken: Sequence[int]) -> int:
    """The bits of what an operation makes of numbers that are given by their bits.

    >>> hex(bits_of("fmul", 32, [0x7F800000, 0xC0000000]))
    '0xff800000'
    """
    letter, word, _ = _FORMS[width]
    with np.errstate(all="ignore"):
        made = _OPERATIONS[name](*(_number(bits, width) for bits in taken))
    found: int = struct.unpack(word, struct.pack(letter, made))[0]
    return found


def folded(op: str, width: int, *args: Value, data: Any = None) -> Value:
    """A value, as a number where it is made of numbers.

    >>> folded("feq", 1, const(0, 64), const(1 << 63, 64)).data
    1
    """
    name = data.name if op == "call" else op
    usual = all(a.op == "const" and a.width in _FORMS and _is_usual(a.data, a.width) for a in args)
    if args and usual:
        if op in _COMPARISONS:
            one, two = (_number(a.data, a.width) for a in args)
            return const(int(_COMPARISONS[op](one, two)), 1)
        if name in _OPERATIONS.keys() - _INEXACT and all(a.width == width for a in args):
            made = bits_of(name, width, [a.data for a in args])
            if _is_usual(made, width):
                return const(made, width)
    return make(op, width, *args, data=data)


def _number(bits: int, width: int) -> Any:
    letter, word, kind = _FORMS[width]
    return kind(struct.unpack(letter, struct.pack(word, bits))[0])


def _is_usual(bits: int, width: int) -> bool:
    """Whether it is zero or a normal number: what nothing flushes, and no NaN, has one form."""
    exponent = bits >> 23 & 255 if width == 32 else bits >> 52 & 2047
    least = 255 if width == 32 else 2047
    return 0 < exponent < least or not bits & ((1 << width - 1) - 1)
