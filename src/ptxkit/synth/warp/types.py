"""The types of generated kernels: scalars, vectors, matrices and tiles of them."""

from __future__ import annotations

from dataclasses import dataclass
from math import prod
from typing import Any

import numpy as np


@dataclass(frozen=True, slots=True)
class Scalar:
    """A number type of Warp."""

    name: str
    """As in ``wp.float32``."""
    kind: str
    """``"f"``, ``"i"``, ``"u"`` or ``"b"``, as numpy has it."""
    size: int
    suffix: str = ""
    """What the names of vector types end in: ``vec3d``."""
    cast: str = ""
    """How a conversion is spelled, where Python has a word for it."""

    @property
    def dtype(self) -> np.dtype[Any]:
        """The same type in numpy."""
        return np.dtype(self.name)


@dataclass(frozen=True, slots=True)
class Type:
    """A scalar with its shape: () a number, (3,) a vector, (2, 2) a matrix."""

    scalar: Scalar
    shape: tuple[int, ...] = ()
    tile: bool = False
    """Whether the threads of a block hold it together."""

    @property
    def is_real(self) -> bool:
        """Whether it is made of floating-point numbers."""
        return self.scalar.kind == "f"

    @property
    def spelled(self) -> str:
        """The type in Python.

        >>> Type(FLOAT64, (3,)).spelled, Type(FLOAT32, (2, 2)).spelled, INT.spelled
        ('wp.vec3d', 'wp.mat22', 'wp.int32')
        """
        if not self.shape:
            return f"wp.{self.scalar.name}" if self.scalar.kind != "b" else "bool"
        word = "vec" if len(self.shape) == 1 else "mat"
        return f"wp.{word}{''.join(map(str, self.shape))}{self.scalar.suffix}"

    @property
    def bytes(self) -> int:
        """The size of one value."""
        return self.scalar.size * prod(self.shape)

    @property
    def element(self) -> Type:
        """The type of one number of it."""
        return Type(self.scalar)


FLOAT16 = Scalar("float16", "f", 2, "h")
FLOAT32 = Scalar("float32", "f", 4, "", "float")
FLOAT64 = Scalar("float64", "f", 8, "d")
INT32 = Scalar("int32", "i", 4, "i", "int")
INT64 = Scalar("int64", "i", 8, "l")
UINT32 = Scalar("uint32", "u", 4, "ui")
BOOL8 = Scalar("bool", "b", 1)

REAL = Type(FLOAT32)
HALF = Type(FLOAT16)
DOUBLE = Type(FLOAT64)
INT = Type(INT32)
LONG = Type(INT64)
UINT = Type(UINT32)
BOOL = Type(BOOL8)


def vector(scalar: Scalar, length: int) -> Type:
    """A vector type."""
    return Type(scalar, (length,))


def matrix(scalar: Scalar, size: int) -> Type:
    """A square matrix type."""
    return Type(scalar, (size, size))
