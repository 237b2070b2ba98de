"""Compare what two ways of running a kernel left behind."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

Array = np.ndarray[Any, Any]


@dataclass(frozen=True, slots=True)
class Tolerance:
    """How far two results may be apart: ``absolute + relative * |reference|``."""

    relative: float
    absolute: float


EXACT = Tolerance(0.0, 0.0)
#: By the type of the numbers. Compilers contract and reorder; a wrong kernel is off by more.
TOLERANCES = {
    np.dtype(np.float16): Tolerance(2e-2, 2e-2),
    np.dtype(np.float32): Tolerance(2e-4, 2e-4),
    np.dtype(np.float64): Tolerance(1e-9, 1e-9),
}


def tolerance_of(arrays: Iterable[Array]) -> Tolerance:
    """The widest tolerance that was used for some arrays.

    >>> tolerance_of([np.zeros(1, np.int32), np.zeros(1, np.float16)]).relative
    0.02
    """
    return max(
        (TOLERANCES.get(array.dtype, EXACT) for array in arrays),
        key=lambda tolerance: tolerance.relative,
        default=EXACT,
    )


def difference(
    found: Mapping[str, Array], expected: Mapping[str, Array], *, slack: float = 1.0
) -> str | None:
    """Say where results differ; None where all are as expected.

    >>> difference({"y": np.float32([1.0, 2.0])}, {"y": np.float32([1.0, 2.5])})
    "'y' differs at 1: 2.0 instead of 2.5"
    """
    for name, reference in expected.items():
        value = found[name]
        if not np.isfinite(reference).all():
            return f"'{name}' is not finite"
        tolerance = TOLERANCES.get(reference.dtype, EXACT)
        limit = slack * (tolerance.absolute + tolerance.relative * np.abs(reference))
        if reference.dtype.kind == "f":
            distance = np.abs(value.astype(np.float64) - reference.astype(np.float64))
            wrong = ~(distance <= limit)
        else:
            wrong = value != reference
        if wrong.any():
            place = tuple(int(part[0]) for part in np.nonzero(wrong))
            shown = place[0] if len(place) == 1 else place
            return f"'{name}' differs at {shown}: {value[place]} instead of {reference[place]}"
    return None


def digest(arrays: Mapping[str, Any]) -> str:
    """A short name for the exact bytes of some arrays and numbers.

    >>> digest({"x": np.arange(3)}) == digest({"x": np.arange(3)})
    True
    """
    found = hashlib.blake2b(digest_size=8)
    for name, value in arrays.items():
        found.update(name.encode())
        if isinstance(value, dict):
            found.update(digest(value).encode())
        else:
            found.update(np.ascontiguousarray(value).tobytes())
    return found.hexdigest()
