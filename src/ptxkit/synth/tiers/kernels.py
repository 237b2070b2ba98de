"""The frame of a kernel: names, parameters, arguments, index and guard."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from ptxkit.cuda import nodes as n
from ptxkit.cuda.types import (
    FLOAT,
    HALF,
    INT,
    UINT,
    VOID,
    Pointer,
    Scalar,
)
from ptxkit.synth.streams import Stream
from ptxkit.synth.tiers import words
from ptxkit.synth.tiers.expressions import Palette
from ptxkit.synth.tiers.sample import ArraySpec, Launch

BLOCK = 64
GRID = 2
THREADS = BLOCK * GRID
# The same number of threads as a plane, and a matrix that does not fill it.
PLANE_GRID, PLANE_BLOCK = (2, 1, 1), (8, 8, 1)
PLANE_WIDTH, PLANE_HEIGHT = 13, 7

Made = tuple[tuple[n.Function, ...], tuple[Launch, ...]]
"""Functions, and how the kernels among them are launched."""


def value_range(type: Scalar) -> tuple[float, float]:
    """Numbers that stay defined and comparable through a few operations."""
    if type == HALF:
        return -2.0, 2.0
    if type.is_float:
        return -4.0, 4.0
    if type.bits < 32:
        return (-20, 20) if type.signed else (0, 40)
    return (-20, 20) if type.signed else (0, 1000)


@dataclass
class Frame:
    """A kernel that is being made."""

    draw: Stream
    used: set[str] = field(default_factory=set)
    parameters: list[n.Parameter] = field(default_factory=list)
    arguments: list[ArraySpec | int | float] = field(default_factory=list)
    size: int = THREADS - 9
    """How many threads have work: not a multiple of anything, so that guards matter."""
    grid: tuple[int, int, int] = (GRID, 1, 1)
    block: tuple[int, int, int] = (BLOCK, 1, 1)

    def name(self, pool: Sequence[str]) -> str:
        """A name that this kernel does not use yet."""
        free = [w for w in pool if w not in self.used]
        name = self.draw.choice(free) if free else f"{pool[0]}{len(self.used)}"
        self.used.add(name)
        return name

    def array(self, type: Scalar, *, written: bool = False, count: int = THREADS) -> n.Name:
        """An array parameter."""
        name = self.name(words.OUTPUTS if written else words.INPUTS)
        const = not written and self.draw.chance(0.7)
        pointer = Pointer(type, const=const, restrict=self.draw.chance(0.2))
        self.parameters.append(n.Parameter(pointer, name))
        self.arguments.append(ArraySpec(type, count, *value_range(type), written))
        return n.Name(name)

    def scalar(self, type: Scalar) -> n.Name:
        """A number as parameter."""
        name = self.name(words.SCALARS)
        self.parameters.append(n.Parameter(type, name))
        if type.is_float:
            self.arguments.append(self.draw.between(1, 16) / 4)
        else:
            self.arguments.append(self.draw.between(1, 9))
        return n.Name(name)

    def size_parameter(
        self, value: int | None = None, type: Scalar = INT, pool: Sequence[str] = words.SIZES
    ) -> n.Name:
        """The number of elements as parameter."""
        name = self.name(pool)
        self.parameters.append(n.Parameter(type, name))
        self.arguments.append(self.size if value is None else value)
        return n.Name(name)

    def local(self, type: Scalar, value: n.Expression) -> tuple[n.Declare, n.Name]:
        """A local variable and its declaration."""
        name = self.name(words.LOCALS)
        return n.Declare(type, name, value), n.Name(name)

    def global_index(self, axis: str = "x") -> n.Expression:
        """``blockIdx.x * blockDim.x + threadIdx.x``, in one of the ways it is written."""
        product = (n.builtin(f"blockIdx.{axis}"), n.builtin(f"blockDim.{axis}"))
        if self.draw.chance(0.25):
            product = product[::-1]
        block, thread = n.Binary("*", *product), n.builtin(f"threadIdx.{axis}")
        pair = (thread, block) if self.draw.chance(0.2) else (block, thread)
        return n.Binary("+", *pair)

    def guarded(
        self, body: Callable[[n.Name], tuple[n.Statement, ...]], *, strided: float = 0.15
    ) -> tuple[n.Statement, ...]:
        """A body for each element below the size, with one of the usual guards."""
        draw = self.draw
        if draw.chance(0.1):
            return self._guarded_plane(body)
        index = n.Name(self.name(words.INDICES))
        type = UINT if draw.chance(0.12) else INT
        size = self.size_parameter(type=type)
        start = n.Declare(type, index.name, self.global_index())
        inside = n.Binary("<", index, size)
        if draw.chance(strided):
            stride = n.Binary("*", n.builtin("gridDim.x"), n.builtin("blockDim.x"))
            return (n.For(start, inside, n.Assign(index, stride, "+="), body(index)),)
        if draw.chance(0.4):
            return (start, n.If(n.Binary(">=", index, size), (n.Return(),)), *body(index))
        return (start, n.If(inside, body(index)))

    def _guarded_plane(
        self, body: Callable[[n.Name], tuple[n.Statement, ...]]
    ) -> tuple[n.Statement, ...]:
        """A body for each element of a matrix."""
        self.grid, self.block = PLANE_GRID, PLANE_BLOCK
        column, row = n.Name(self.name(words.COLUMNS)), n.Name(self.name(words.ROWS))
        width = self.size_parameter(PLANE_WIDTH, pool=words.WIDTHS)
        height = self.size_parameter(PLANE_HEIGHT, pool=words.HEIGHTS)
        index = n.Name(self.name(words.INDICES))
        place = n.Declare(INT, index.name, n.Binary("+", n.Binary("*", row, width), column))
        start = (
            n.Declare(INT, column.name, self.global_index("x")),
            n.Declare(INT, row.name, self.global_index("y")),
        )
        if self.draw.chance(0.4):
            outside = n.Binary("||", n.Binary(">=", column, width), n.Binary(">=", row, height))
            return (*start, n.If(outside, (n.Return(),)), place, *body(index))
        inside = n.Binary("&&", n.Binary("<", column, width), n.Binary("<", row, height))
        return (*start, n.If(inside, (place, *body(index))))

    def finish(
        self, name: str, body: tuple[n.Statement, ...], *, dynamic_shared: int = 0
    ) -> tuple[n.Function, Launch]:
        """The kernel and how it is launched."""
        order = list(range(len(self.parameters)))
        if self.draw.chance(0.3):
            # Outputs last or first, sizes in between: people differ.
            order = self.draw.shuffled(order)
        parameters = tuple(self.parameters[k] for k in order)
        arguments = tuple(self.arguments[k] for k in order)
        function = n.Function(name, parameters, body, VOID, linkage="C")
        return function, Launch(name, self.grid, self.block, arguments, dynamic_shared)


def one_kernel(frame: Frame, body: tuple[n.Statement, ...], **launch: int) -> Made:
    """A program of one kernel."""
    name = frame.draw.choice(words.KERNELS)
    function, how = frame.finish(name, body, **launch)
    return (function,), (how,)


def zero(type: Scalar) -> n.Literal:
    """0 of a type."""
    return n.Literal(0.0 if type.is_float else 0, type)


def at(array: n.Expression, index: n.Expression) -> n.Index:
    """``array[index]``."""
    return n.Index(array, index)


def float_palette(frame: Frame, index: n.Expression, count: int, **options: float) -> Palette:
    """Expressions over some float arrays and perhaps a number."""
    leaves: list[n.Expression] = [at(frame.array(FLOAT), index) for _ in range(count)]
    if frame.draw.chance(0.3):
        leaves.append(frame.scalar(FLOAT))
    return Palette(frame.draw, {FLOAT: leaves}, **options)  # type: ignore[arg-type]
