"""The instructions that are approximations: their true values and their documented errors."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
from tests.run.replay import Replay

Values = npt.NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Approximation:
    """A function, and the error that the PTX ISA allows it: ``limit`` in units of ``measure``."""

    pattern: str
    true: Callable[..., Any]
    measure: str  # "ulp", "relative", "absolute", or "mixed" of the two
    limit: float
    note: str = ""
    stated: bool = True
    """Whether the manual gives the limit; where it is silent, the tests choose one."""


def _within(function: Callable[[Values], Values], turns: float) -> Callable[[Values], Values]:
    return lambda x: np.where(np.abs(x) <= turns * np.pi, function(x), np.nan)


def _quotient(a: Values, b: Values) -> Values:
    return np.where((np.abs(b) >= 2.0**-126) & (np.abs(b) <= 2.0**126), a / b, np.nan)


def _rsqrt(x: Values) -> Values:
    return np.asarray(1 / np.sqrt(x))


#: The errors that the PTX ISA manual 9.0 states, in its sections 9.7.3 and 9.7.4.
APPROXIMATIONS = (
    Approximation(r"div\.full(\.ftz)?\.f32", np.divide, "ulp", 2.0),
    Approximation(r"div\.approx(\.ftz)?\.f32", _quotient, "ulp", 2.0, "2^-126 <= divisor <= 2^126"),
    Approximation(r"rcp\.approx(\.ftz)?\.f32", np.reciprocal, "ulp", 1.0),
    Approximation(r"sqrt\.approx(\.ftz)?\.f32", np.sqrt, "relative", 2.0**-23),
    Approximation(r"rsqrt\.approx(\.ftz)?\.f32", _rsqrt, "relative", 2.0**-22.9),
    Approximation(
        r"sin\.approx(\.ftz)?\.f32", _within(np.sin, 2), "absolute", 2.0**-20.5, "up to 2 pi"
    ),
    Approximation(
        r"sin\.approx(\.ftz)?\.f32", _within(np.sin, 100), "absolute", 2.0**-14.7, "up to 100 pi"
    ),
    Approximation(
        r"cos\.approx(\.ftz)?\.f32", _within(np.cos, 2), "absolute", 2.0**-20.5, "up to 2 pi"
    ),
    Approximation(
        r"cos\.approx(\.ftz)?\.f32", _within(np.cos, 100), "absolute", 2.0**-14.7, "up to 100 pi"
    ),
    Approximation(r"lg2\.approx(\.ftz)?\.f32", np.log2, "mixed", 2.0**-22),
    Approximation(r"ex2\.approx(\.ftz)?\.f32", np.exp2, "ulp", 2.0),
    Approximation(r"tanh\.approx\.f32", np.tanh, "relative", 2.0**-11),
    Approximation(r"ex2\.approx\.f16(x2)?", np.exp2, "relative", 2.0**-9.9),
    Approximation(r"ex2\.approx\.ftz\.bf16(x2)?", np.exp2, "relative", 2.0**-7),
    Approximation(r"tanh\.approx\.f16(x2)?", np.tanh, "absolute", 2.0**-10.987),
    Approximation(r"tanh\.approx\.bf16(x2)?", np.tanh, "absolute", 2.0**-8),
    Approximation(r"rcp\.approx\.ftz\.f64", np.reciprocal, "relative", 2.0**-19, stated=False),
    Approximation(r"rsqrt\.approx\.ftz\.f64", _rsqrt, "relative", 2.0**-19, stated=False),
    Approximation(r"rsqrt\.approx\.f64", _rsqrt, "relative", 2.0**-51, stated=False),
)


def approximations(opcode: str) -> tuple[Approximation, ...]:
    """The rows of an opcode, one for each range of inputs; none where the result is exact."""
    return tuple(row for row in APPROXIMATIONS if re.fullmatch(row.pattern, opcode))


def approximation(opcode: str) -> Approximation | None:
    """The first row of an opcode; None where the result is exact."""
    return next(iter(approximations(opcode)), None)


def content(opcode: str) -> str:
    """The type an approximation computes in: ``f32``, ``f16`` ..."""
    return opcode.rpartition(".")[2]


def elements(words: npt.NDArray[np.uint64], scalar: str) -> Values:
    """The numbers that registers hold, as doubles; pairs give twice as many."""
    if scalar == "f64":
        return words.view(np.float64)
    if scalar == "f32":
        return _widen(words.astype(np.uint32).view(np.float32))
    if scalar.endswith("x2"):
        words = np.stack([words & 0xFFFF, words >> 16 & 0xFFFF], axis=-1).reshape(-1)
    if scalar.startswith("bf16"):
        return _widen((words.astype(np.uint32) << 16).view(np.float32))
    return _widen(words.astype(np.uint16).view(np.float16))


def _widen(values: npt.NDArray[Any]) -> Values:
    with np.errstate(invalid="ignore"):  # a signalling NaN
        return values.astype(np.float64)


_FRACTION = {"f64": 52, "f32": 23, "f16": 10, "f16x2": 10, "bf16": 7, "bf16x2": 7}
_SMALLEST = {"f64": -1022, "f32": -126, "f16": -14, "f16x2": -14, "bf16": -126, "bf16x2": -126}


def error(measure: str, scalar: str, value: Values, true: Values) -> Values:
    """The error of values, in a measure, where both are finite; 0 elsewhere.

    What the true value's format cannot tell from 0 counts as exact: units below the smallest
    normal number are flushed by some forms and kept by others.
    """
    smallest = 2.0 ** _SMALLEST[scalar]
    counts = np.isfinite(value) & np.isfinite(true) & (np.abs(true) >= smallest)
    with np.errstate(all="ignore"):
        difference = np.where(counts, np.abs(value - true), 0.0)
        size = np.where(counts, np.abs(true), 1.0)
        if measure == "absolute":
            return difference
        if measure == "relative":
            return difference / size
        if measure == "mixed":  # relative, but absolute for results below 1
            return difference / np.maximum(size, 1.0)
        return difference / 2.0 ** (np.floor(np.log2(size)) - _FRACTION[scalar])


def true_values(row: Approximation, one: Replay) -> Values:
    """What the function gives for the inputs, in double precision; .ftz makes some of them 0."""
    scalar = content(one.opcode)
    smallest = 2.0 ** _SMALLEST[scalar] if ".ftz" in one.opcode else 0.0
    sources = [
        elements(values, scalar)
        for leaf, values in zip(one.case.leaves, one.inputs, strict=True)
        if leaf.read
    ]
    with np.errstate(all="ignore"):
        flushed = [np.where(np.abs(x) < smallest, np.copysign(0.0, x), x) for x in sources]
        return np.asarray(row.true(*flushed), dtype=np.float64)
