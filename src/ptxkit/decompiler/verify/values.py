"""Numbers to try a kernel on: ordinary ones, equal ones, and those that break things.

>>> generator = np.random.default_rng(1)
>>> filled("f32", 4, "small", generator).view(np.float32).tolist()
[0.0, 0.0, 4.0, 8.0]
"""

from __future__ import annotations

from collections.abc import Collection
from functools import lru_cache
from typing import Any

import numpy as np

from ptxkit.isa.types import SCALAR_TYPES
from ptxkit.run.layout import scalar_bytes

#: The ways to fill memory, in the order they are tried. Arrays that are "alike" hold the same
#: numbers, shifted and with few changes; "marks" are those that the code compares with; of
#: "rising" ones the greatest is the last, of "falling" ones the least; "wide" ones are of all
#: sizes that the type has, each as often. There are as many as no grid, block or size comes around
#: after.
KINDS = (
    *("small", "random", "special", "tiny", "alike", "falling"),
    *("unit", "marks", "wide", "rising", "zeros", "special", "falling"),
)
#: What the next number is above the last one.
_STEPS = {"rising": 1, "falling": -1}
Generator = np.random.Generator
#: What a generator is about to give.
_State = tuple[int, int, int, int]
#: So many numbers are worth keeping, up to so many bytes, and so many times: 80 MB in all.
_MANY, _MOST, _KEPT = 256, 160 << 10, 512
Bytes = np.ndarray[Any, np.dtype[np.uint8]]

_FLOATS = {"f16": np.float16, "f32": np.float32, "f64": np.float64}
#: Few enough that many of them are equal.
_RANGES = {"small": (-8, 9), "tiny": (-1, 3), "alike": (0, 4), "zeros": (0, 1)}
_SPECIAL = (
    *(0.0, -0.0, 1.0, -1.0, np.inf, -np.inf, np.nan, np.nan, 0.5, 2.0, 1e-3, 100.0),
    *(1e-40, -1e-40, 1e5, 3e38, -3e38, 1.1754944e-38, 0.99999994, 1e-310, 1e300),
)


def filled(
    type: str,
    count: int,
    kind: str,
    generator: Generator,
    marks: Collection[int | float] = (),
) -> Bytes:
    """That many numbers of a PTX type, as bytes that nobody may write to."""
    if count < _MANY or count * scalar_bytes(type) > _MOST:
        return _filled(type, count, kind, generator, marks)
    numbers, after = _kept(
        type, count, kind, _state(generator.bit_generator), tuple(marks) if kind == "marks" else ()
    )
    _set_state(generator.bit_generator, after)
    return numbers


@lru_cache(maxsize=_KEPT)
def _kept(
    type: str, count: int, kind: str, state: _State, marks: tuple[int | float, ...]
) -> tuple[Bytes, _State]:
    """The numbers that a generator gives in a state, and its state after them.

    Every candidate for a function is tried on the same numbers, and so are functions with the same
    parameters.
    """
    bits = np.random.PCG64(0)
    _set_state(bits, state)
    numbers = _filled(type, count, kind, np.random.Generator(bits), marks)
    numbers.flags.writeable = False
    return numbers, _state(bits)


def _state(bits: Any) -> _State:
    whole = bits.state
    return whole["state"]["state"], whole["state"]["inc"], whole["has_uint32"], whole["uinteger"]


def _set_state(bits: Any, to: _State) -> None:
    own = {"state": to[0], "inc": to[1]}
    bits.state = {
        "bit_generator": "PCG64", "state": own, "has_uint32": to[2], "uinteger": to[3]
    }  # fmt: skip


def _filled(
    type: str, count: int, kind: str, generator: Generator, marks: Collection[int | float]
) -> Bytes:
    if type.endswith("x2"):
        type, count = type[:-2], 2 * count
    if type == "b128":  # two halves, each a number
        type, count = "b64", 2 * count
    if kind == "marks" and type != "bf16":
        return _marked(type, count, marks, generator)
    if kind == "wide" and (type in _FLOATS or type == "bf16"):
        return _wide(type, count, generator)
    if type in _FLOATS:
        with np.errstate(over="ignore"):
            numbers: Bytes = _reals(count, kind, generator).astype(_FLOATS[type]).view(np.uint8)
        return numbers
    if type == "bf16":
        with np.errstate(over="ignore"):
            words = _reals(count, kind, generator).astype(np.float32).view(np.uint32) >> 16
        halves: Bytes = words.astype(np.uint16).view(np.uint8)
        return halves
    return integers(max(1, SCALAR_TYPES[type].width // 8), count, kind, generator)


def _marked(type: str, count: int, marks: Collection[int | float], generator: Generator) -> Bytes:
    """Numbers that the code compares with, and their neighbours, among small ones."""
    if type in _FLOATS:
        known = np.array(sorted({0.0, 1.0, *map(float, marks)}))
        with np.errstate(over="ignore"):
            chosen = generator.choice(known, count).astype(_FLOATS[type])
            beside = generator.choice((-np.inf, np.inf), count).astype(_FLOATS[type])
            near = np.where(generator.random(count) < 0.4, np.nextafter(chosen, beside), chosen)
            other = _reals(count, "small", generator).astype(_FLOATS[type])
        reals: Bytes = np.where(generator.random(count) < 0.25, other, near).view(np.uint8)
        return reals
    size = max(1, SCALAR_TYPES[type].width // 8)
    whole = [int(m) for m in marks if isinstance(m, int)]
    bits = 8 * size
    known = np.array(
        sorted({(m + d + (1 << bits - 1)) % (1 << bits) - (1 << bits - 1)
                for m in (0, *whole) for d in (-1, 0, 1)})
    )  # fmt: skip
    exact = np.array([m for m in known if m in whole] or [0])
    often, any_of = generator.choice(exact, count), generator.choice(known, count)
    chosen = np.where(generator.random(count) < 0.4, often, any_of)
    values = chosen.astype(np.dtype(f"i{size}"))
    small = generator.integers(0, 9, count).astype(values.dtype)
    numbers: Bytes = np.where(generator.random(count) < 0.25, small, values).view(np.uint8)
    return numbers


def _wide(type: str, count: int, generator: Generator) -> Bytes:
    """Finite numbers of a floating-point type, every exponent as often as the others."""
    size = SCALAR_TYPES[type].width // 8
    bits = generator.integers(0, 1 << 8 * size, count, dtype=f"u{size}")
    mantissa = {"f16": 10, "bf16": 7, "f32": 23, "f64": 52}[type]
    exponent = ((1 << 8 * size - 1) - 1) >> mantissa << mantissa
    # One without an exponent is denormal; one with the greatest is no finite number.
    infinite = (bits & exponent) == exponent
    finite = np.where(infinite, bits ^ (1 << mantissa), bits).astype(f"u{size}")
    numbers: Bytes = finite.view(np.uint8)
    return numbers


def _reals(count: int, kind: str, generator: Generator) -> Any:
    if kind in _STEPS:
        return 0.25 * _STEPS[kind] * np.arange(count)
    if kind in _RANGES:
        # Both zeros: sums that begin with a wrong one show it.
        signs = generator.choice((1.0, -1.0), count) if kind != "small" else 1.0
        return generator.integers(*_RANGES[kind], count).astype(np.float64) * signs
    if kind == "unit":
        return generator.uniform(0.0, 1.0, count)
    ordinary = generator.standard_normal(count)
    if kind in ("random", "marks"):
        return ordinary * 4.0
    # Enough ordinary ones that not everything becomes NaN.
    scaled = ordinary * 10.0 ** generator.integers(-4, 8, count)
    chosen = generator.choice(np.array(_SPECIAL), count)
    return np.where(generator.random(count) < 0.3, chosen, scaled)


def integers(size: int, count: int, kind: str, generator: Generator) -> Bytes:
    """Integers of so many bytes each."""
    dtype = np.dtype(f"i{size}")
    limits = np.iinfo(dtype)
    values: Any
    if kind in _STEPS:
        values = _STEPS[kind] * np.arange(count)
    elif kind in _RANGES:
        values = generator.integers(*_RANGES[kind], count)
    elif kind == "unit":
        values = generator.integers(0, 200 if size > 1 else 128, count)
    elif kind in ("random", "marks"):
        values = generator.integers(limits.min, limits.max, count, endpoint=True)
    elif kind == "wide":
        whole = generator.integers(limits.min, limits.max, count, endpoint=True)
        values = whole >> generator.integers(0, 8 * size, count)
    else:
        extremes = np.array([0, 1, -1, 2, limits.min, limits.max, limits.min + 1, 32, 31, -7])
        wide = generator.integers(limits.min, limits.max, count, endpoint=True)
        values = np.where(generator.random(count) < 0.5, generator.choice(extremes, count), wide)
    numbers: Bytes = values.astype(dtype).view(np.uint8)
    return numbers


def places(
    size: int, count: int, limit: int, ascending: bool, stray: bool, generator: Generator
) -> Bytes:
    """Integers from 0 that can be indices; in order where they are to be bounds of ranges.

    With ``stray`` some are outside, as code that checks its indices expects.
    """
    values = generator.integers(0, max(1, limit), count)
    if stray:
        wrong = generator.choice((-1, -2, limit, limit + 1, 2 * limit), count)
        values = np.where(generator.random(count) < 0.15, wrong, values)
    elif ascending:
        # Rising slowly from the start, as the starts of rows do.
        values = np.cumsum(generator.integers(0, 4, count)) % max(1, 16 * limit)
    return values.astype(np.dtype(f"i{size}")).view(np.uint8)


def shifted(type: str, count: int, shift: int, number: int, generator: Generator) -> Bytes:
    """The numbers that all arrays of a type share in a trial, some places on, and a few changed.

    Programs that look for what two arrays have in common find it.
    """
    common = filled(type, count + shift, "alike", np.random.default_rng([number, 0xA11CE]))
    width = len(common) // (count + shift)
    moved = common[shift * width :].reshape(count, width)
    own = filled(type, count, "alike", generator).reshape(count, width)
    changed = generator.random(count) < 0.06
    mixed: Bytes = np.where(changed[:, None], own, moved).reshape(-1)
    return mixed
