"""A kernel in some language: its text, its arguments, and what numpy says it does."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from ptxkit.synth.streams import Stream

Values = dict[str, Any]

_WORD = re.compile(r"[A-Za-z_]\w*|\d+\.?\d*(?:e-?\d+)?|\s+|.")


@dataclass(frozen=True, slots=True)
class ArrayArgument:
    """An array: random numbers to read, or zeros to write."""

    name: str
    dtype: str
    """In numpy's short spelling, such as ``f4``."""
    count: int
    written: bool = False
    low: float = -4.0
    high: float = 4.0

    def made(self, stream: Stream) -> Any:
        """The array."""
        dtype = np.dtype(self.dtype)
        if self.written:
            return np.zeros(self.count, dtype)
        if dtype.kind == "f":
            return stream.reals((self.count,), self.low, self.high).astype(dtype)
        return stream.integers((self.count,), int(self.low), int(self.high)).astype(dtype)


@dataclass(frozen=True, slots=True)
class Program:
    """A kernel and how it is launched."""

    name: str
    category: str
    text: str
    arguments: tuple[ArrayArgument | int, ...]
    """In the order of the kernel's parameters."""
    compute: Callable[[Values], Values] = field(compare=False)
    """What it leaves in the arrays it writes, by name."""
    grid: int = 1
    block: int = 64
    wide: bool = True
    """Whether numpy computes it in 64 bits, or in the types of the arrays."""

    @property
    def arrays(self) -> tuple[ArrayArgument, ...]:
        """The arguments that are arrays."""
        return tuple(one for one in self.arguments if isinstance(one, ArrayArgument))

    def values(self, seed: int, source: str, index: int) -> Values:
        """Random arguments, the same for the same place."""
        stream = Stream(seed, source, index, "arguments")
        return {one.name: one.made(stream) for one in self.arrays}

    def expected(self, values: Values) -> Values:
        """What numpy says about the arrays that are written."""
        if self.wide:
            given = {
                name: array.astype(np.float64 if array.dtype.kind == "f" else np.int64)
                for name, array in values.items()
            }
        else:
            given = {name: array.copy() for name, array in values.items()}
        with np.errstate(all="ignore"):
            found = self.compute(given)
        return {name: array.astype(values[name].dtype) for name, array in found.items()}

    def shape(self) -> str:
        """The text without names and constants."""
        names: dict[str, str] = {}

        def plain(word: str) -> str:
            if word[0].isdecimal():
                return "0"
            if word in self._own_names():
                return names.setdefault(word, f"v{len(names)}")
            return word

        return "".join(plain(match[0]) for match in _WORD.finditer(self.text))

    def _own_names(self) -> frozenset[str]:
        return frozenset((self.name, *(one.name for one in self.arrays)))
