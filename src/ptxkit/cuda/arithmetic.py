"""Numbers as the GPU computes them, on numpy arrays: conversions and operators.

>>> import numpy as np
>>> convert(np.array([3e9, -1.5, np.nan], np.float32), FLOAT, INT).tolist()
[2147483647, -1, 0]
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ptxkit.cuda.types import BFLOAT16, BOOL, DOUBLE, FLOAT, HALF, INT, Scalar

Array = Any  # numpy arrays; their own types say too little to be worth their noise

_DTYPES: dict[tuple[str, bool], np.dtype[Any]] = {}
_FLOATS = {HALF: np.float16, BFLOAT16: np.float32, FLOAT: np.float32, DOUBLE: np.float64}


def dtype_of(type: Scalar, *, wide: bool = False) -> np.dtype[Any]:
    """The numpy type that holds a scalar. ``wide`` holds every float in 64 bits.

    bfloat16 lives in float32 arrays whose values are all bfloat16.
    """
    found = _DTYPES.get((type.word, wide))
    if found is None:
        found = _DTYPES[type.word, wide] = _dtype_of(type, wide=wide)
    return found


def _dtype_of(type: Scalar, *, wide: bool) -> np.dtype[Any]:
    if type.is_float:
        return np.dtype(np.float64 if wide else _FLOATS[type])
    if type == BOOL:
        return np.dtype(np.bool_)
    return np.dtype(f"{'i' if type.signed else 'u'}{type.size}")


def round_to_bfloat16(values: Array) -> Array:
    """Nearest bfloat16, ties to even, kept in float32."""
    bits = np.asarray(values, np.float32).view(np.uint32)
    odd = (bits >> np.uint32(16)) & np.uint32(1)
    rounded = (bits + np.uint32(0x7FFF) + odd) & np.uint32(0xFFFF0000)
    return np.where(np.isnan(values), np.float32(np.nan), rounded.view(np.float32))


def convert(values: Array, source: Scalar, target: Scalar, *, wide: bool = False) -> Array:
    """A conversion as C++ writes it and the GPU does it: to integers it truncates and stops
    at the ends of the range; not-a-number gives 0 (for 64 bits only the top bit)."""
    if source is target or source == target:
        return values
    dtype = dtype_of(target, wide=wide)
    if target == BOOL:
        return values != 0
    if source.is_float and not target.is_float:
        return _float_to_integer(values, target, dtype)
    result = values.astype(dtype)
    return round_to_bfloat16(result) if target == BFLOAT16 and not wide else result


def _float_to_integer(values: Array, target: Scalar, dtype: np.dtype[Any]) -> Array:
    # Narrow integers come by way of int, as the compiler does it.
    through = target if target.bits >= 32 else INT
    info = np.iinfo(dtype_of(through))
    exact = np.trunc(values.astype(np.float64))
    low, high = float(info.min), float(info.max)
    # The largest 64-bit integers are no doubles, so `high` is one past the end there.
    inside = (exact > low) & (exact < high)
    result = np.where(inside, exact, 0).astype(info.dtype)
    result = np.where(exact >= high, info.dtype.type(info.max), result)
    result = np.where(exact <= low, info.dtype.type(info.min), result)
    nothing = 0 if through.bits == 32 else info.min if through.signed else 1 << 63
    return np.where(np.isnan(values), info.dtype.type(nothing), result).astype(dtype)


def _divide(a: Array, b: Array) -> Array:
    if a.dtype.kind == "f":
        return a / b
    # C++ truncates where numpy floors; a division by zero gives all ones on the GPU.
    zero = b == 0
    safe = np.where(zero, np.ones_like(b), b)
    quotient = a // safe
    if a.dtype.kind == "i":
        quotient = quotient + ((quotient * safe != a) & ((a < 0) != (safe < 0))).astype(a.dtype)
    return np.where(zero, np.array(-1).astype(a.dtype), quotient)


def _remainder(a: Array, b: Array) -> Array:
    return a - _divide(a, b) * b


def _shift_left(a: Array, b: Array) -> Array:
    count = b.astype(np.uint64)
    inside = count < a.dtype.itemsize * 8
    moved = np.left_shift(a, np.where(inside, count, 0).astype(a.dtype))
    return np.where(inside, moved, np.zeros_like(a))


def _shift_right(a: Array, b: Array) -> Array:
    # Past the width only the sign is left.
    count = np.minimum(b.astype(np.uint64), np.uint64(a.dtype.itemsize * 8))
    inside = count < a.dtype.itemsize * 8
    moved = np.right_shift(a, np.where(inside, count, 0).astype(a.dtype))
    return np.where(inside, moved, np.where(a < 0, np.array(-1).astype(a.dtype), np.zeros_like(a)))


OPERATORS: dict[str, Callable[[Array, Array], Array]] = {
    "+": np.add, "-": np.subtract, "*": np.multiply, "/": _divide, "%": _remainder,
    "&": np.bitwise_and, "|": np.bitwise_or, "^": np.bitwise_xor,
    "<<": _shift_left, ">>": _shift_right,
    "==": np.equal, "!=": np.not_equal, "<": np.less, "<=": np.less_equal,
    ">": np.greater, ">=": np.greater_equal,
}  # fmt: skip
COMPARISONS = frozenset(("==", "!=", "<", "<=", ">", ">="))


def operate(operator: str, left: Array, right: Array, type: Scalar, *, wide: bool) -> Array:
    """An operator on two operands that were both brought to ``type``."""
    result = OPERATORS[operator](left, right)
    if type == BFLOAT16 and operator not in COMPARISONS and not wide:
        return round_to_bfloat16(result)
    return result
