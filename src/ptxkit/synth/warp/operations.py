"""The operators and builtins of generated kernels: how each is written and what it computes.

One row an operation. The numpy side is written from what Warp documents, not from its code,
so that it is an oracle of its own.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from ptxkit.synth.warp.types import Type

Array = np.ndarray[Any, Any]
Evaluate = Callable[..., Any]

# Precedence in Python, from loose to tight.
TERNARY, OR, AND, NOT, COMPARE, BIT_OR, BIT_XOR, BIT_AND, SHIFT, SUM, PRODUCT, SIGN, ATOM = range(
    13
)


@dataclass(frozen=True, slots=True)
class Operator:
    """A row: the spelling, with ``{}`` for arguments, its precedence, the numpy function."""

    spelling: str
    evaluate: Evaluate
    precedence: int = ATOM


def _infix(symbol: str, precedence: int, function: Evaluate) -> Operator:
    return Operator(symbol, function, precedence)


def _call(name: str, function: Evaluate) -> Operator:
    return Operator(f"wp.{name}", function)


def _dot(a: Array, b: Array) -> Any:
    return np.einsum("ni,ni->n", a, b).astype(a.dtype)


def _length(a: Array) -> Any:
    return np.sqrt(_dot(a, a))


def _normalize(a: Array) -> Any:
    length = _length(a)
    safe = np.where(length > 0, length, 1)
    return np.where((length > 0)[:, None], a / safe[:, None], 0).astype(a.dtype)


def _lerp(a: Array, b: Array, t: Array) -> Any:
    one = t.dtype.type(1)
    return a * _spread(one - t, a) + b * _spread(t, a)


def _spread(a: Array, like: Array) -> Any:
    """A number a thread, beside vectors or matrices."""
    return a.reshape(a.shape + (1,) * (like.ndim - a.ndim)) if like.ndim > a.ndim else a


def _times(a: Array, b: Array) -> Any:
    return _spread(a, b) * _spread(b, a)


def _over(a: Array, b: Array) -> Any:
    return a / _spread(b, a)


def _select(test: Array, a: Array, b: Array) -> Any:
    return np.where(_spread(test, a), a, b)


def _away_from_zero(a: Array) -> Any:
    return np.trunc(a + np.copysign(a.dtype.type(0.5), a))


def _sign(a: Array) -> Any:
    return np.where(a < 0, -1, 1).astype(a.dtype)


def _determinant(a: Array) -> Any:
    return np.linalg.det(a.astype(np.float64)).astype(a.dtype)


def _outer(a: Array, b: Array) -> Any:
    return a[:, :, None] * b[:, None, :]


def _fmod(a: Array, b: Array) -> Any:
    return np.fmod(a, b)


OPERATORS: dict[str, Operator] = {
    "add": _infix("+", SUM, np.add),
    "sub": _infix("-", SUM, np.subtract),
    "mul": _infix("*", PRODUCT, _times),
    "div": _infix("/", PRODUCT, _over),
    "floordiv": _infix("//", PRODUCT, np.floor_divide),
    "mod": _infix("%", PRODUCT, _fmod),
    "matmul": _infix("@", PRODUCT, lambda a, b: (a @ b).astype(a.dtype)),
    "matvec": _infix("@", PRODUCT, lambda a, b: np.einsum("nij,nj->ni", a, b).astype(a.dtype)),
    "bit_and": _infix("&", BIT_AND, np.bitwise_and),
    "bit_or": _infix("|", BIT_OR, np.bitwise_or),
    "bit_xor": _infix("^", BIT_XOR, np.bitwise_xor),
    "shift_left": _infix("<<", SHIFT, np.left_shift),
    "shift_right": _infix(">>", SHIFT, np.right_shift),
    "less": _infix("<", COMPARE, np.less),
    "less_equal": _infix("<=", COMPARE, np.less_equal),
    "greater": _infix(">", COMPARE, np.greater),
    "greater_equal": _infix(">=", COMPARE, np.greater_equal),
    "equal": _infix("==", COMPARE, np.equal),
    "not_equal": _infix("!=", COMPARE, np.not_equal),
    "and": _infix("and", AND, np.logical_and),
    "or": _infix("or", OR, np.logical_or),
    "not": Operator("not ", np.logical_not, NOT),
    "neg": Operator("-", np.negative, SIGN),
    "invert": Operator("~", np.invert, SIGN),
    "ternary": Operator("if", _select, TERNARY),
    "where": _call("where", _select),
    "min": _call("min", np.minimum),
    "max": _call("max", np.maximum),
    "clamp": _call("clamp", lambda a, low, high: np.minimum(np.maximum(low, a), high)),
    "abs": _call("abs", np.abs),
    "sign": _call("sign", _sign),
    "step": _call("step", lambda a: np.where(a < 0, 1, 0).astype(a.dtype)),
    "sin": _call("sin", np.sin),
    "cos": _call("cos", np.cos),
    "tan": _call("tan", np.tan),
    "asin": _call("asin", np.arcsin),
    "acos": _call("acos", np.arccos),
    "atan": _call("atan", np.arctan),
    "atan2": _call("atan2", np.arctan2),
    "sinh": _call("sinh", np.sinh),
    "cosh": _call("cosh", np.cosh),
    "tanh": _call("tanh", np.tanh),
    "exp": _call("exp", np.exp),
    "log": _call("log", np.log),
    "log2": _call("log2", np.log2),
    "log10": _call("log10", np.log10),
    "sqrt": _call("sqrt", np.sqrt),
    "cbrt": _call("cbrt", np.cbrt),
    "pow": _call("pow", np.power),
    "floor": _call("floor", np.floor),
    "ceil": _call("ceil", np.ceil),
    "round": _call("round", _away_from_zero),
    "rint": _call("rint", np.rint),
    "trunc": _call("trunc", np.trunc),
    "frac": _call("frac", lambda a: a - np.trunc(a)),
    "degrees": _call("degrees", np.degrees),
    "radians": _call("radians", np.radians),
    "lerp": _call("lerp", _lerp),
    "smoothstep": _call("smoothstep", lambda low, high, x: _smoothstep(low, high, x)),
    "dot": _call("dot", _dot),
    "cross": _call("cross", np.cross),
    "length": _call("length", _length),
    "length_sq": _call("length_sq", lambda a: _dot(a, a)),
    "normalize": _call("normalize", _normalize),
    "cw_mul": _call("cw_mul", np.multiply),
    "cw_div": _call("cw_div", np.divide),
    "outer": _call("outer", _outer),
    "transpose": _call("transpose", lambda a: np.swapaxes(a, 1, 2)),
    "determinant": _call("determinant", _determinant),
    "trace": _call("trace", lambda a: np.einsum("nii->n", a).astype(a.dtype)),
    "ddot": _call("ddot", lambda a, b: np.einsum("nij,nij->n", a, b).astype(a.dtype)),
    "diag": _call("diag", lambda a: a[:, :, None] * np.eye(a.shape[1], dtype=a.dtype)),
    "get_diag": _call("get_diag", lambda a: np.einsum("nii->ni", a).copy()),
    "tile_sum": _call("tile_sum", lambda a: a.sum(axis=1, keepdims=True, dtype=a.dtype)),
    "tile_max": _call("tile_max", lambda a: a.max(axis=1, keepdims=True)),
    "tile_min": _call("tile_min", lambda a: a.min(axis=1, keepdims=True)),
}


def _smoothstep(low: Array, high: Array, x: Array) -> Any:
    t = np.clip((x - low) / (high - low), x.dtype.type(0), x.dtype.type(1))
    return t * t * (x.dtype.type(3) - x.dtype.type(2) * t)


def convert(value: Array, type: Type) -> Array:
    """A number of one type as another, towards zero where digits are lost."""
    with np.errstate(invalid="ignore"):
        return value.astype(type.scalar.dtype)
