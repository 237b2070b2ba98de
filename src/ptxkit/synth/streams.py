"""Random numbers that are a function of where they are asked for.

A stream is named by its seed and a path of words; what another stream draws, and in which
order, changes nothing here. The numbers come from BLAKE2b of the name and a counter, so they
are the same on every machine and in every version of Python and numpy.
"""

from __future__ import annotations

import hashlib
import struct
from collections.abc import Sequence
from itertools import accumulate
from typing import Any, TypeVar

import numpy as np

from ptxkit._native import philox

T = TypeVar("T")

_WORDS = 8
_BLOCK = struct.Struct("<8Q")
_SCALE = 2.0**-53


class Stream:
    """Numbers drawn one after another from a named place.

    >>> Stream(7, "warp", 3).below(1000) == Stream(7, "warp", 3).below(1000)
    True
    >>> [Stream(7, "warp", index).below(10) for index in range(4)]
    [9, 1, 5, 7]
    """

    def __init__(self, seed: int, *path: str | int) -> None:
        # The separator can't be part of a number, and words are ours: names can't collide.
        self._name = "/".join(["ptxkit", str(seed), *map(str, path)]).encode()
        self._counter = 0
        self._words: tuple[int, ...] = ()
        self._next = _WORDS

    def word(self) -> int:
        """64 random bits."""
        if self._next == _WORDS:
            digest = hashlib.blake2b(
                self._name, digest_size=64, salt=self._counter.to_bytes(16, "little")
            ).digest()
            self._words = _BLOCK.unpack(digest)
            self._counter += 1
            self._next = 0
        self._next += 1
        return self._words[self._next - 1]

    def below(self, end: int) -> int:
        """A whole number from 0 to ``end - 1``."""
        return self.word() * end >> 64

    def between(self, first: int, last: int) -> int:
        """A whole number from ``first`` to ``last``, both included."""
        return first + self.below(last - first + 1)

    def uniform(self, low: float = 0.0, high: float = 1.0) -> float:
        """A real number from ``low`` up to ``high``."""
        return low + (high - low) * ((self.word() >> 11) * _SCALE)

    def chance(self, probability: float) -> bool:
        """True as often as told."""
        return self.uniform() < probability

    def choice(self, items: Sequence[T]) -> T:
        """One of the items, each as likely as the others."""
        return items[self.below(len(items))]

    def weighted(self, weights: dict[T, int]) -> T:
        """One of the keys, as likely as its weight says."""
        sums = list(accumulate(weights.values()))
        drawn = self.below(sums[-1])
        return next(key for key, end in zip(weights, sums, strict=True) if drawn < end)

    def shuffled(self, items: Sequence[T]) -> list[T]:
        """The items in a random order."""
        found = list(items)
        for last in range(len(found) - 1, 0, -1):
            other = self.below(last + 1)
            found[last], found[other] = found[other], found[last]
        return found

    def words(self, count: int) -> np.ndarray[Any, np.dtype[np.uint64]]:
        """Many words at once, from a stream of their own that this one starts.

        >>> Stream(1, "x").words(2).dtype
        dtype('uint64')
        """
        return np.frombuffer(philox(self.word(), count), np.uint64)

    def reals(self, shape: Sequence[int], low: float, high: float) -> np.ndarray[Any, Any]:
        """An array of real numbers in double precision."""
        words = self.words(int(np.prod(shape, dtype=np.int64)))
        unit = (words >> np.uint64(11)).astype(np.float64) * _SCALE
        values: np.ndarray[Any, Any] = low + (high - low) * unit
        return values.reshape(tuple(shape))

    def integers(self, shape: Sequence[int], low: int, high: int) -> np.ndarray[Any, Any]:
        """An array of whole numbers from ``low`` to ``high``, both included."""
        words = self.words(int(np.prod(shape, dtype=np.int64)))
        span = np.uint64(high - low + 1)
        values: np.ndarray[Any, Any] = low + (words % span).astype(np.int64)
        return values.reshape(tuple(shape))
