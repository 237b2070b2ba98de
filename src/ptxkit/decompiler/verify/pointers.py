"""Addresses of the variables and functions of a module, which are others in another module.

What a kernel leaves behind may point to them. Such pointers are the same where they point to the
same place of what is the same variable or function.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace

import numpy as np

from ptxkit.decompiler.verify.outcome import Outcome, Side


@dataclass(frozen=True, slots=True)
class _Moved:
    """Bytes of the second, and where they begin in the first."""

    start: int
    size: int
    to: int


class Pointers:
    """Makes pointers of the second of two modules those of the first."""

    def __init__(self, sides: tuple[Side, Side], partners: Iterable[tuple[str, str]]) -> None:
        first, second = (side.loaded.addresses for side in sides)
        self._moved = [
            _Moved(*second[other], first[name][0])
            for name, other in partners
            if name in first and other in second
        ]

    def translated(self, outcome: Outcome) -> Outcome:
        """What was left behind, with the first one's addresses."""
        return replace(
            outcome,
            memory=[self._words(data) for data in outcome.memory],
            variables={name: self._words(data) for name, data in outcome.variables.items()},
        )

    def _words(self, data: bytes) -> bytes:
        whole = len(data) // 8 * 8
        words = np.frombuffer(data[:whole], np.uint64)
        result = words.copy()
        for one in self._moved:
            inside = (words >= one.start) & (words < one.start + one.size)
            result[inside] = words[inside] - np.uint64(one.start) + np.uint64(one.to)
        moved: bytes = result.tobytes()
        return moved + data[whole:]
