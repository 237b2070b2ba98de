"""Two results of one kernel: equal but for roundings.

The kernel is evaluated in numpy twice, in its own types and with every float in 64 bits.
How far the two are apart says how much rounding can do to a value; a compiled kernel may
round differently (it fuses products and sums), but not by much more.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ptxkit import cuda
from ptxkit.synth.tiers.sample import Launch, Sample

Array = Any
#: How many times its own roundings a result may be off.
SLACK = 32.0
#: Roundings at the size of an array's largest value are always allowed.
FLOOR = 64.0


def evaluated(sample: Sample, launch: Launch, values: list[Any], *, wide: bool) -> list[Any]:
    """What numpy makes of the arguments."""
    kernel = next(k for k in sample.module.kernels if k.name == launch.kernel)
    found = [_copied(value, wide=wide) for value in values]
    cuda.evaluate(
        kernel,
        grid=launch.grid,
        block=launch.block,
        arguments=found,
        module=sample.module,
        dynamic_shared=launch.dynamic_shared,
        wide=wide,
    )
    return found


def _copied(value: Any, *, wide: bool) -> Any:
    if not isinstance(value, np.ndarray):
        return value
    return value.astype(np.float64) if wide and value.dtype.kind == "f" else value.copy()


def same(found: list[Any], expected: list[Any]) -> bool:
    """Whether the results of a kernel are equal to the last bit.

    >>> same([np.float32([1, np.nan])], [np.float32([1, np.nan])])
    True
    """
    return all(
        # Equal bytes are most often all there is to it, and faster to see.
        value.tobytes() == other.tobytes()
        or np.array_equal(value, other, equal_nan=value.dtype.kind == "f")
        for value, other in zip(found, expected, strict=True)
        if isinstance(value, np.ndarray)
    )


def difference(found: list[Any], narrow: list[Any], wide: list[Any]) -> str | None:
    """Say where the results of a kernel are not what numpy says; None where all are.

    >>> ones = [np.ones(3, np.float32)]
    >>> difference([ones[0] * np.float32(1.0000001)], ones, [np.ones(3)]) is None
    True
    >>> difference([ones[0] * 2], ones, [np.ones(3)])
    'argument 0 differs at 0: 2.0 instead of 1.0'
    """
    for number, (value, expected, exact) in enumerate(zip(found, narrow, wide, strict=True)):
        if not isinstance(value, np.ndarray):
            continue
        good = value == expected
        if value.dtype.kind == "f":
            good |= np.isnan(value) & np.isnan(expected)
            good |= _near(value, expected, exact)
        if not good.all():
            place = int(np.argmin(good))
            return (
                f"argument {number} differs at {place}: {value[place]} instead of {expected[place]}"
            )
    return None


def _near(value: Array, expected: Array, exact: Array) -> Array:
    epsilon = float(np.finfo(value.dtype).eps)
    with np.errstate(all="ignore"):
        finite = exact[np.isfinite(exact)]
        largest = float(np.abs(finite).max(initial=0.0))
        room = FLOOR * epsilon * largest + SLACK * np.abs(expected.astype(np.float64) - exact)
        distance = np.abs(value.astype(np.float64) - exact)
        beside = np.abs(value.astype(np.float64) - expected.astype(np.float64))
        return (distance <= room) | (beside <= room)
