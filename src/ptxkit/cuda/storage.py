"""What variables and pointers of the evaluator hold.

Everything is held for all threads at once: a scalar is an array with one value a thread,
a pointer is a buffer and an array of offsets.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from ptxkit.cuda.types import Array as ArrayType
from ptxkit.cuda.types import Pointer, Scalar, Type, Vector
from ptxkit.errors import PtxkitError

Array = Any


class EvaluationError(PtxkitError):
    """A program that the evaluator cannot run, or that does what no program may."""


@dataclass(slots=True)
class Buffer:
    """Memory of one element type: rows of elements.

    Global memory has one row; shared memory one a block; an array in a function one a
    thread. ``rows`` maps a thread to its row.
    """

    data: Array
    rows: Array
    element: Scalar
    name: str
    writable: bool = True


@dataclass(slots=True)
class PointerValue:
    """Where pointers of all threads point: element offsets into one buffer.

    ``shape`` is what is left of an array's dimensions: indexing takes one off.
    """

    buffer: Buffer
    offset: Array
    target: Type
    shape: tuple[int, ...] = ()

    @property
    def stride(self) -> int:
        """Elements from one pointed-to thing to the next."""
        size = self.target.count if isinstance(self.target, Vector) else 1
        return size * math.prod(self.shape[1:])

    def moved(self, index: Array) -> PointerValue:
        """This pointer plus an index, as C++ adds them."""
        moved = index.astype(np.int64)
        if self.stride != 1:
            moved *= self.stride
        offset = self.offset + moved
        return PointerValue(self.buffer, offset, self.target, self.shape)

    def first(self) -> PointerValue:
        """What an array is to its elements: one dimension less."""
        return PointerValue(self.buffer, self.offset, self.target, self.shape[1:])


@dataclass(slots=True)
class Value:
    """A value of a scalar or vector type for all threads; a vector has one array a field."""

    data: Array
    type: Scalar | Vector


@dataclass(slots=True)
class Variable:
    """A named place: a value, a pointer, or an array (a pointer to its own buffer)."""

    type: Type
    value: Value | PointerValue | None


@dataclass(slots=True)
class Scope:
    """Names visible in a function."""

    names: dict[str, Variable] = field(default_factory=dict)
    parent: Scope | None = None

    def find(self, name: str) -> Variable | None:
        """The variable of a name, here or around."""
        scope: Scope | None = self
        while scope is not None:
            if name in scope.names:
                return scope.names[name]
            scope = scope.parent
        return None


def load(pointer: PointerValue, mask: Array) -> Value:
    """Read what active threads point to."""
    offset, rows = np.where(mask, _checked(pointer, mask), 0), pointer.buffer.rows
    data, target = pointer.buffer.data, pointer.target
    # One index is faster than two, and most memory has one row.
    memory = data[0] if data.shape[0] == 1 else None
    if isinstance(target, Vector):
        places = [offset + k for k in range(target.count)]
        parts = [data[rows, place] if memory is None else memory[place] for place in places]
        return Value(parts, target)
    if not isinstance(target, Scalar):
        raise EvaluationError(f"a value of type '{target.spelling}' cannot be read")
    return Value(data[rows, offset] if memory is None else memory[offset], target)


def store(pointer: PointerValue, data: Array, mask: Array) -> None:
    """Write for active threads; of several to one place the last thread's stays."""
    if not pointer.buffer.writable:
        raise EvaluationError(f"'{pointer.buffer.name}' is constant and was written")
    offset = _checked(pointer, mask)[mask]
    memory = pointer.buffer.data
    rows = spread(pointer.buffer.rows, mask)[mask] if memory.shape[0] > 1 else 0
    parts = data if isinstance(data, list) else [data]
    for k, part in enumerate(parts):
        memory[rows, offset + k if k else offset] = spread(part, mask)[mask]


def spread(values: Array, mask: Array) -> Array:
    """Values with one for every thread, where there may be one for all.

    >>> spread(np.array(3), np.ones(2, bool)).tolist()
    [3, 3]
    """
    return values if values.shape == mask.shape else np.broadcast_to(values, mask.shape)


def _checked(pointer: PointerValue, mask: Array) -> Array:
    """The offsets of all threads; those of the active ones are inside."""
    last = pointer.target.count if isinstance(pointer.target, Vector) else 1
    size = pointer.buffer.data.shape[1]
    offset = spread(pointer.offset, mask)
    # What is negative is large as an unsigned number.
    wrong = mask & (offset.view(np.uint64) > size - last) if size >= last else mask
    if wrong.any():
        thread = int(np.argmax(wrong))
        raise EvaluationError(
            f"thread {thread} uses element {int(offset[thread])} of '{pointer.buffer.name}', "
            f"which has {size}"
        )
    return offset


def cast_pointer(pointer: PointerValue, target: Pointer) -> PointerValue:
    """A pointer to other things in the same buffer, where those are of its element type."""
    to = target.target
    element: Type = to.element if isinstance(to, Vector) else to
    while isinstance(element, ArrayType):
        element = element.element
    if element != pointer.buffer.element:
        raise EvaluationError(
            f"'{pointer.buffer.name}' holds {pointer.buffer.element.spelling}; the evaluator does "
            f"not look at it as {to.spelling}"
        )
    shape = (0, *to.shape) if isinstance(to, ArrayType) else ()
    return PointerValue(pointer.buffer, pointer.offset, element if shape else to, shape)
