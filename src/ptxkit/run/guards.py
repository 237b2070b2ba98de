"""Arrays that lie side by side, moved apart while sanitizing.

Two views of one array may touch, and an access past the end of the first then falls on the
second, where nobody would notice.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

#: Bytes that must be free after an array for an access past its end to be seen.
_GAP = 256

Array = np.ndarray[Any, Any]


def apart(arguments: Sequence[Any]) -> tuple[list[Any], list[tuple[Array, Array]]]:
    """The arguments with copies for arrays that end where others begin.

    The second result has the arrays and their copies, to bring back what was written. Arrays
    that overlap are meant to, and stay.

    >>> both = np.zeros((2, 4), np.int32)
    >>> moved, pairs = apart([both[0], both[1], 5])
    >>> [original.shape for original, _ in pairs]
    [(4,), (4,)]
    >>> abs(moved[0].ctypes.data - moved[1].ctypes.data) >= 256
    True
    """
    moved = list(arguments)
    pairs: list[tuple[Array, Array]] = []
    spans = {
        number: (one.ctypes.data, one.ctypes.data + one.nbytes)
        for number, one in enumerate(arguments)
        if isinstance(one, np.ndarray) and one.flags.c_contiguous and one.nbytes
    }
    for number, (begin, end) in spans.items():
        others = [span for other, span in spans.items() if other != number]
        overlaps = any(start < end and begin < stop for start, stop in others)
        near = any(start - _GAP < end and begin < stop + _GAP for start, stop in others)
        if near and not overlaps:
            copy = _guarded(arguments[number])
            pairs.append((arguments[number], copy))
            moved[number] = copy
    return moved, pairs


def _guarded(array: Array) -> Array:
    raw = np.zeros(array.nbytes + 3 * _GAP, np.uint8)
    # At the same place within 256 bytes, so that alignment and misalignment stay.
    start = _GAP + (array.ctypes.data - raw.ctypes.data) % _GAP
    copy: Array = raw[start : start + array.nbytes].view(array.dtype).reshape(array.shape)
    copy[...] = array
    copy.flags.writeable = array.flags.writeable
    return copy


def bring_back(pairs: list[tuple[Array, Array]]) -> None:
    """Write what a kernel has written to the copies into the arrays themselves."""
    for original, copy in pairs:
        if original.flags.writeable:
            original[...] = copy
