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

    def translated(self, second: Outcome, first: Outcome) -> Outcome:
        """What the second left behind, with the first one's addresses where it has these."""
        memory = [self._words(b, a) for b, a in zip(second.memory, first.memory, strict=True)]
        variables = {
            name: self._words(data, first.variables[name])
            for name, data in second.variables.items()
        }
        return replace(second, memory=memory, variables=variables)

    def _words(self, data: bytes, wanted: bytes) -> bytes:
        if data == wanted or len(data) != len(wanted):
            return data
        whole = len(data) // 8 * 8
        words, others = (np.frombuffer(b[:whole], np.uint64) for b in (data, wanted))
        result = words.copy()
        for one in self._moved:
            inside = (words >= one.start) & (words < one.start + one.size)
            moved = words - np.uint64(one.start) + np.uint64(one.to)
            # Other numbers may look like addresses: these are left alone.
            same = inside & (moved == others)
            result[same] = moved[same]
        translated: bytes = result.tobytes()
        return translated + data[whole:]
