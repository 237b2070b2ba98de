"""Functions of CUDA C++ that the evaluator knows, as a table: signature and numpy code.

A signature is written with the words of types: ``"float float -> float"``. ``T`` stands
for the common type of the arguments, as in the overloads of ``min`` and ``max``.

>>> BUILTINS["__popc"].compute(np.array([7, 256], np.uint32)).tolist()
[3, 1]
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np

from ptxkit.cuda.types import SCALARS, Scalar

Array = Any  # numpy arrays; their own types say too little to be worth their noise


@dataclass(frozen=True, slots=True)
class Builtin:
    """A function: the types it takes (None: the common type), gives, and what it does."""

    arguments: tuple[Scalar | None, ...]
    result: Scalar | None
    compute: Callable[..., Array]


# ---- bits --------------------------------------------------------------------------------


def _unsigned(a: Array) -> Array:
    return np.ascontiguousarray(a).view(f"u{a.dtype.itemsize}")


def _population(a: Array) -> Array:
    bits = np.unpackbits(_unsigned(a)[..., None].view(np.uint8), axis=-1)
    return bits.sum(axis=-1).astype(np.int32)


def _highest(a: Array) -> Array:
    """The number of bits up to and with the highest one that is set."""
    values = _unsigned(a).copy()
    result = np.zeros(values.shape, np.int32)
    step = values.dtype.itemsize * 4
    while step:
        moved = values >> values.dtype.type(step)
        more = moved != 0
        result[more] += step
        values = np.where(more, moved, values)
        step //= 2
    return result + (values != 0).astype(np.int32)


def _leading_zeros(a: Array) -> Array:
    return np.int32(a.dtype.itemsize * 8) - _highest(a)


def _first_set(a: Array) -> Array:
    unsigned = _unsigned(a)
    return _highest(unsigned & (~unsigned + unsigned.dtype.type(1)))


def _reverse_bits(a: Array) -> Array:
    bits = np.unpackbits(_unsigned(a)[..., None].view(np.uint8), axis=-1, bitorder="little")
    return np.packbits(bits[..., ::-1], axis=-1, bitorder="little").view(a.dtype)[..., 0]


def _multiply_high(a: Array, b: Array) -> Array:
    bits = a.dtype.itemsize * 8
    product = [int(x) * int(y) >> bits for x, y in zip(np.ravel(a), np.ravel(b), strict=True)]
    return np.array(product, dtype=a.dtype).reshape(a.shape)


def _reinterpret(source: str, target: str) -> Callable[[Array], Array]:
    return lambda a: np.ascontiguousarray(a, source).view(target)


# ---- floating point ----------------------------------------------------------------------


def _saturate(a: Array) -> Array:
    return np.where(np.isnan(a), a.dtype.type(0), np.clip(a, 0, 1)).astype(a.dtype)


def fused(a: Array, b: Array, c: Array) -> Array:
    """``a * b + c`` with one rounding.

    >>> x = np.array([1 + 2**-12], np.float32)
    >>> fused(x, x, -np.array([1 + 2**-11], np.float32)).item() == 2**-24
    True
    """
    if a.dtype == np.float64:
        numbers = zip(*(np.ravel(v).tolist() for v in np.broadcast_arrays(a, b, c)), strict=True)
        return np.array([_exact_fused(*v) for v in numbers]).reshape(np.shape(a))
    # The product of two floats is exact in double. The sum is then rounded twice, which
    # differs from once only when the first rounding lands on a tie: rounding it to odd
    # instead keeps away from ties.
    product = a.astype(np.float64) * b.astype(np.float64)
    addend = c.astype(np.float64)
    total = product + addend
    rest = total - product
    error = (product - (total - rest)) + (addend - rest)
    bits = total.view(np.int64)
    inexact = (error != 0) & np.isfinite(total) & (bits & 1 == 0)
    towards = np.where((error > 0) == (total > 0), 1, -1)
    return np.where(inexact, bits + towards, bits).view(np.float64).astype(a.dtype)


def _exact_fused(a: float, b: float, c: float) -> float:
    if not all(map(math.isfinite, (a, b, c))):
        return a * b + c
    exact = Fraction(a) * Fraction(b) + Fraction(c)
    if exact == 0:
        return a * b + c
    try:
        return float(exact)
    except OverflowError:
        return math.copysign(math.inf, exact)


def _through_double(function: Callable[..., Array]) -> Callable[..., Array]:
    return lambda *a: function(*(x.astype(np.float64) for x in a)).astype(a[0].dtype)


def _round_half_away(a: Array) -> Array:
    whole = np.trunc(a)
    return whole + np.where(np.abs(a - whole) >= 0.5, np.copysign(1, a), 0).astype(a.dtype)


def _positive_difference(a: Array, b: Array) -> Array:
    return np.where(a <= b, a.dtype.type(0), a - b)


def _least(a: Array, b: Array) -> Array:
    return np.fmin(a, b) if a.dtype.kind == "f" else np.minimum(a, b)


def _greatest(a: Array, b: Array) -> Array:
    return np.fmax(a, b) if a.dtype.kind == "f" else np.maximum(a, b)


def _same(a: Array) -> Array:
    return a


# Name without the suffix of its type: how many arguments, and the function. The first
# table is computed in double and rounded; the second is exact in its own type.
_MATH: dict[str, tuple[int, Callable[..., Array]]] = {
    "sin": (1, np.sin), "cos": (1, np.cos), "tan": (1, np.tan), "asin": (1, np.arcsin),
    "acos": (1, np.arccos), "atan": (1, np.arctan), "sinh": (1, np.sinh), "cosh": (1, np.cosh),
    "tanh": (1, np.tanh), "exp": (1, np.exp), "exp2": (1, np.exp2), "expm1": (1, np.expm1),
    "log": (1, np.log), "log2": (1, np.log2), "log10": (1, np.log10), "log1p": (1, np.log1p),
    "cbrt": (1, np.cbrt), "erf": (1, np.vectorize(math.erf, otypes=[np.float64])),
    "rsqrt": (1, lambda a: 1 / np.sqrt(a)), "pow": (2, np.power), "atan2": (2, np.arctan2),
    "hypot": (2, np.hypot),
}  # fmt: skip
_EXACT: dict[str, tuple[int, Callable[..., Array]]] = {
    "sqrt": (1, np.sqrt), "fabs": (1, np.abs), "floor": (1, np.floor), "ceil": (1, np.ceil),
    "trunc": (1, np.trunc), "rint": (1, np.rint), "round": (1, _round_half_away),
    "fmod": (2, np.fmod), "fmin": (2, np.fmin), "fmax": (2, np.fmax),
    "copysign": (2, np.copysign), "fdim": (2, _positive_difference), "fma": (3, fused),
}  # fmt: skip
# CUDA's fast versions: less exact, the same function.
_FAST = ("sinf", "cosf", "tanf", "expf", "logf", "log2f", "log10f", "powf")

_OTHERS: tuple[tuple[str, str, Callable[..., Array]], ...] = (
    ("min", "T T -> T", _least),
    ("max", "T T -> T", _greatest),
    ("abs", "T -> T", np.abs),
    ("__fdividef", "float float -> float", np.divide),
    ("__fmaf_rn", "float float float -> float", fused),
    ("__fmul_rn", "float float -> float", np.multiply),
    ("__fadd_rn", "float float -> float", np.add),
    ("__fsub_rn", "float float -> float", np.subtract),
    ("__fdiv_rn", "float float -> float", np.divide),
    ("__fsqrt_rn", "float -> float", np.sqrt),
    ("__frcp_rn", "float -> float", lambda a: a.dtype.type(1) / a),
    ("__saturatef", "float -> float", _saturate),
    ("__popc", "uint -> int", _population),
    ("__popcll", "ulonglong -> int", _population),
    ("__clz", "int -> int", _leading_zeros),
    ("__clzll", "longlong -> int", _leading_zeros),
    ("__ffs", "int -> int", _first_set),
    ("__ffsll", "longlong -> int", _first_set),
    ("__brev", "uint -> uint", _reverse_bits),
    ("__brevll", "ulonglong -> ulonglong", _reverse_bits),
    ("__mulhi", "int int -> int", _multiply_high),
    ("__umulhi", "uint uint -> uint", _multiply_high),
    ("__mul64hi", "longlong longlong -> longlong", _multiply_high),
    ("__umul64hi", "ulonglong ulonglong -> ulonglong", _multiply_high),
    ("__float_as_int", "float -> int", _reinterpret("f4", "i4")),
    ("__float_as_uint", "float -> uint", _reinterpret("f4", "u4")),
    ("__int_as_float", "int -> float", _reinterpret("i4", "f4")),
    ("__uint_as_float", "uint -> float", _reinterpret("u4", "f4")),
    ("__double_as_longlong", "double -> longlong", _reinterpret("f8", "i8")),
    ("__longlong_as_double", "longlong -> double", _reinterpret("i8", "f8")),
    ("__float2half", "float -> half", _same),
    ("__half2float", "half -> float", _same),
    ("__float2bfloat16", "float -> bfloat16", _same),
    ("__bfloat162float", "bfloat16 -> float", _same),
    ("isnan", "T -> bool", np.isnan),
    ("isinf", "T -> bool", np.isinf),
)


def _row(signature: str, compute: Callable[..., Array]) -> Builtin:
    arguments, result = signature.split(" -> ")
    types = tuple(None if w == "T" else SCALARS[w] for w in arguments.split())
    return Builtin(types, None if result == "T" else SCALARS[result], compute)


def _table() -> dict[str, Builtin]:
    table: dict[str, Builtin] = {}
    for rows, wrap in ((_MATH, _through_double), (_EXACT, None)):
        for name, (count, function) in rows.items():
            for suffix, word in (("", "double"), ("f", "float")):
                signature = f"{' '.join([word] * count)} -> {word}"
                table[name + suffix] = _row(signature, wrap(function) if wrap else function)
    table.update({f"__{name}": table[name] for name in _FAST})
    table.update({name: _row(signature, compute) for name, signature, compute in _OTHERS})
    return table


BUILTINS: dict[str, Builtin] = _table()
"""Every function by name."""
