"""The source ``numba``: kernels in Python for numba-cuda, compiled without a GPU."""

from __future__ import annotations

import ctypes
from collections.abc import Callable
from functools import cache
from importlib.metadata import version
from pathlib import Path
from typing import Any, ClassVar

import numpy as np

from ptxkit.errors import import_extra
from ptxkit.synth.assembling import assembler_of
from ptxkit.synth.program import ArrayArgument, Program, Values
from ptxkit.synth.proving import Compiled, ProgramSource
from ptxkit.synth.pythonic.expressions import (
    Expression,
    Name,
    Palette,
    apply,
    evaluate,
    parts_of,
    written,
)
from ptxkit.synth.source import Rejected, Settings
from ptxkit.synth.streams import Stream
from ptxkit.toolchain import nvrtc
from ptxkit.toolchain.versions import parse_arch

_BLOCK, _GRID, _SIZE = 64, 2, 119
_COUNT = _BLOCK * _GRID
_FUNCTIONS = {
    "min": "min({}, {})", "max": "max({}, {})", "abs": "abs({})", "sqrt": "math.sqrt({})",
    "exp": "math.exp({})", "log": "math.log({})", "sin": "math.sin({})", "cos": "math.cos({})",
    "where": "({1} if {0} else {2})",
}  # fmt: skip
_TYPES = {"f4": "float32", "f8": "float64", "i4": "int32"}
_INPUTS = ("a", "b", "x", "y", "u", "v", "data", "weights", "left", "right")
_OUTPUTS = ("out", "result", "dst", "res")


class _Kernel:
    """A kernel that is being made: one thread an element."""

    def __init__(self, draw: Stream, dtype: str) -> None:
        self.draw = draw
        self.dtype = dtype
        names = draw.shuffled(_INPUTS)
        self.inputs = names[: draw.between(1, 3)]
        self.output = draw.choice(_OUTPUTS)
        self.arguments: list[ArrayArgument | int] = []
        self.parameters: list[str] = []

    def palette(self, **options: float) -> Palette:
        """Expressions over the thread's own elements."""
        kind = "i" if self.dtype == "i4" else "f"
        bound = 20.0 if kind == "i" else 4.0
        leaves = [Name(f"{name}[i]", bound) for name in self.inputs]
        return Palette(self.draw, leaves, kind, **options)

    def text(self, name: str, body: list[str], imports: str = "cuda") -> str:
        """The whole file."""
        lines = "\n".join(f"    {line}" for line in body)
        math = "import math\n\n" if "math." in lines else ""
        head = f"{math}from numba import {imports}\n\n\n"
        return f"{head}@cuda.jit\ndef {name}({', '.join(self.parameters)}):\n{lines}\n"

    def array(self, name: str, count: int = _COUNT, *, written: bool = False) -> None:
        """An array parameter."""
        low, high = (-20, 20) if self.dtype == "i4" else (-4, 4)
        self.parameters.append(name)
        self.arguments.append(ArrayArgument(name, self.dtype, count, written, low, high))

    def number(self, name: str, value: int) -> None:
        """A whole number as parameter."""
        self.parameters.append(name)
        self.arguments.append(value)

    def usual(self, *texts: str, size: int = _COUNT) -> None:
        """The inputs that are read, output, size."""
        self.inputs = [name for name in self.inputs if any(f"{name}[i]" in t for t in texts)]
        for name in self.inputs:
            self.array(name)
        self.array(self.output, size, written=True)
        self.number("n", _SIZE)

    def own(self, values: Values) -> dict[str, Any]:
        """What every thread below the size reads as its own."""
        return {f"{name}[i]": values[name][:_SIZE] for name in self.inputs}

    def stored(self, found: Any) -> Values:
        """The output with results in it."""
        result = np.zeros(_COUNT, np.int64 if self.dtype == "i4" else np.float64)
        result[:_SIZE] = found
        return {self.output: result}


Made = tuple[str, Callable[[Values], Values]]
"""The text of a kernel, and what it computes."""


def _w(node: Expression) -> str:
    return written(node, _FUNCTIONS)


def _elementwise(kernel: _Kernel, name: str, **options: float) -> Made:
    value = kernel.palette(**options).reading(kernel.draw.between(1, 4))
    if options.get("math") and "math." not in _w(value):
        value = apply("sin", value)
    kernel.usual(_w(value))
    body = ["i = cuda.grid(1)", "if i < n:", f"    {kernel.output}[i] = {_w(value)}"]
    if kernel.draw.chance(0.3):
        body = ["i = cuda.grid(1)", "if i >= n:", "    return", f"{kernel.output}[i] = {_w(value)}"]
    return kernel.text(name, body), lambda v: kernel.stored(evaluate(value, kernel.own(v)))


def _arithmetic(draw: Stream, name: str) -> tuple[_Kernel, Made]:
    kernel = _Kernel(draw, "f4")
    return kernel, _elementwise(kernel, name)


def _math(draw: Stream, name: str) -> tuple[_Kernel, Made]:
    kernel = _Kernel(draw, "f4")
    return kernel, _elementwise(kernel, name, math=0.5)


def _integer(draw: Stream, name: str) -> tuple[_Kernel, Made]:
    kernel = _Kernel(draw, "i4")
    return kernel, _elementwise(kernel, name, bits=0.35, choice=0.1)


def _double(draw: Stream, name: str) -> tuple[_Kernel, Made]:
    kernel = _Kernel(draw, "f8")
    return kernel, _elementwise(kernel, name, math=0.2, choice=0.1)


def _branch(draw: Stream, name: str) -> tuple[_Kernel, Made]:
    kernel = _Kernel(draw, "f4")
    palette = kernel.palette(math=0.15)
    first, second, third = (palette.reading(draw.between(1, 2)) for _ in range(3))
    one, two = palette.condition(), palette.condition()
    body = [
        "i = cuda.grid(1)",
        "if i < n:",
        f"    value = {_w(first)}",
        f"    if {_w(one)}:",
        f"        value = {_w(second)}",
    ]
    chained = draw.chance(0.6)
    if chained:
        body += [f"    elif {_w(two)}:", f"        value += {_w(third)}"]
    ended = draw.chance(0.4)
    if ended:
        body += ["    else:", "        value = -value"]
    body.append(f"    {kernel.output}[i] = value")
    kernel.usual(*body)

    def compute(values: Values) -> Values:
        own = kernel.own(values)
        start = evaluate(first, own)
        rest = -start if ended else start
        if chained:
            rest = np.where(evaluate(two, own), start + evaluate(third, own), rest)
        return kernel.stored(np.where(evaluate(one, own), evaluate(second, own), rest))

    return kernel, (kernel.text(name, body), compute)


def _loop(draw: Stream, name: str) -> tuple[_Kernel, Made]:
    kernel = _Kernel(draw, "f4")
    turns = draw.between(3, 7)
    table, *kernel.inputs = kernel.inputs
    known = draw.chance(0.3)
    end = str(turns) if known else "m"
    item = Name(f"{table}[i * {end} + k]")
    palette = Palette(draw, [item, *(Name(f"{name}[i]") for name in kernel.inputs)], math=0.1)
    value = palette.reading(draw.between(1, 2))
    if item not in parts_of(value):
        value = apply("sub", item, value)
    kernel.array(table, _COUNT * turns)
    kernel.usual(_w(value))
    if not known:
        kernel.number("m", turns)
    extreme = draw.chance(0.3)
    update = f"total = max(total, {_w(value)})" if extreme else f"total += {_w(value)}"
    start = "-1000.0" if extreme else "0.0"
    body = [
        "i = cuda.grid(1)",
        "if i < n:",
        f"    total = {start}",
        f"    for k in range({end}):",
        f"        {update}",
        f"    {kernel.output}[i] = total",
    ]

    def compute(values: Values) -> Values:
        total = np.full(_SIZE, float(start))
        own = kernel.own(values)
        for k in range(turns):
            own[item.text] = values[table][np.arange(_SIZE) * turns + k]
            found = evaluate(value, own)
            total = np.maximum(total, found) if extreme else total + found
        return kernel.stored(total)

    return kernel, (kernel.text(name, body), compute)


def _shared(draw: Stream, name: str) -> tuple[_Kernel, Made]:
    kernel = _Kernel(draw, "f4")
    kernel.inputs = kernel.inputs[:1]
    source = kernel.inputs[0]
    kernel.usual(f"{source}[i]")
    load = kernel.palette().reading(draw.between(0, 1))
    step = draw.choice((1, 2, 4, 8))
    places: tuple[tuple[str, Callable[[Any], Any]], ...] = (
        (f"{_BLOCK - 1} - t", lambda t: _BLOCK - 1 - t),
        (f"t ^ {step}", lambda t: t ^ step),
        (f"(t + {step}) % {_BLOCK}", lambda t: (t + step) % _BLOCK),
    )
    place, other = draw.choice(places)
    far, near = Name(f"tile[{place}]", 16), Name("tile[t]", 16)
    value: Expression = Palette(draw, [far, near]).reading(draw.between(1, 2))
    value = apply(draw.choice(("add", "sub", "min", "max")), far, value)
    body = [
        f"tile = cuda.shared.array({_BLOCK}, float32)",
        "t = cuda.threadIdx.x",
        "i = cuda.grid(1)",
        "tile[t] = 0.0",
        "if i < n:",
        f"    tile[t] = {_w(load)}",
        "cuda.syncthreads()",
        "if i < n:",
        f"    {kernel.output}[i] = {_w(value)}",
    ]

    def compute(values: Values) -> Values:
        tile = np.zeros(_COUNT)
        tile[:_SIZE] = evaluate(load, {f"{source}[i]": values[source][:_SIZE]})
        lane = np.arange(_COUNT) % _BLOCK
        moved = tile[np.arange(_COUNT) - lane + other(lane)]
        own = {far.text: moved[:_SIZE], near.text: tile[:_SIZE]}
        return kernel.stored(evaluate(value, own))

    return kernel, (kernel.text(name, body, imports="cuda, float32"), compute)


def _atomic(draw: Stream, name: str) -> tuple[_Kernel, Made]:
    kernel = _Kernel(draw, "i4")
    bins = draw.choice((4, 8, 16))
    first = kernel.palette().leaves[0]
    value = kernel.palette(bits=0.2).reading(draw.between(0, 2))
    place = f"{first.text} & {bins - 1}"
    kernel.usual(place, _w(value), size=bins)
    best = draw.chance(0.4)
    body = [
        "i = cuda.grid(1)",
        "if i < n:",
        f"    cuda.atomic.{'max' if best else 'add'}({kernel.output}, {place}, {_w(value)})",
    ]

    def compute(values: Values) -> Values:
        own = kernel.own(values)
        result = np.zeros(bins, np.int64)
        update = np.maximum if best else np.add
        amounts = np.broadcast_to(evaluate(value, own), (_SIZE,))
        update.at(result, own[first.text] & (bins - 1), amounts)
        return {kernel.output: result}

    return kernel, (kernel.text(name, body), compute)


def _while(draw: Stream, name: str) -> tuple[_Kernel, Made]:
    """A loop that ends when the value is small, or after some turns."""
    kernel = _Kernel(draw, "f4")
    start = kernel.palette(math=0.1).reading(draw.between(0, 2))
    turns, limit = draw.between(3, 9), draw.between(1, 8) / 4
    factor, shift = draw.choice((0.5, 0.25, 0.75, -0.5)), draw.between(0, 4) / 8
    kernel.usual(_w(start))
    leaves = draw.chance(0.3)  # by a break
    counted = draw.chance(0.5)
    test = f"abs(value) > {limit}"
    body = [
        "i = cuda.grid(1)",
        "if i < n:",
        f"    value = {_w(start)}",
        "    k = 0",
        f"    while k < {turns}:" if leaves else f"    while {test} and k < {turns}:",
        *([f"        if not {test}:", "            break"] if leaves else []),
        f"        value = value * {factor} + {shift}",
        "        k += 1",
        f"    {kernel.output}[i] = value{' + k' if counted else ''}",
    ]

    def compute(values: Values) -> Values:
        value = np.broadcast_to(evaluate(start, kernel.own(values)), (_SIZE,)).copy()
        count = np.zeros(_SIZE)
        for _ in range(turns):
            going = np.abs(value) > limit
            value[going] = value[going] * factor + shift
            count[going] += 1
        return kernel.stored(value + count if counted else value)

    return kernel, (kernel.text(name, body), compute)


_RECIPES: dict[str, Callable[[Stream, str], tuple[_Kernel, Made]]] = {
    "arithmetic": _arithmetic,
    "math": _math,
    "branch": _branch,
    "loop": _loop,
    "integer": _integer,
    "double": _double,
    "shared": _shared,
    "atomic": _atomic,
    "while_loop": _while,
}


class NumbaSource(ProgramSource):
    """Kernels for numba-cuda."""

    name: ClassVar[str] = "numba"
    origin: ClassVar[str] = "PTX is the output of numba-cuda (BSD) and NVIDIA's NVVM."
    categories: ClassVar[tuple[str, ...]] = tuple(_RECIPES)

    def program(self, seed: int, index: int, category: str) -> Program:
        """The program at a place."""
        draw = Stream(seed, self.name, index)
        name = f"{category}_{index}"
        kernel, (text, compute) = _RECIPES[category](draw, name)
        return Program(name, category, text, tuple(kernel.arguments), compute, _GRID, _BLOCK)

    def compile(self, program: Program, arch: str, workspace: Path) -> Compiled | Rejected:
        """PTX by numba's own compiler; arrays come as seven parameters each."""
        cuda, types = _numba()
        names: dict[str, Any] = {}
        # The grammar wrote it; it holds a kernel and nothing else.
        exec(compile(program.text, f"{program.name}.py", "exec"), names)
        arguments = [
            types.Array(getattr(types, _TYPES[one.dtype]), 1, "C")
            if isinstance(one, ArrayArgument)
            else types.int32
            for one in program.arguments
        ]
        target = parse_arch(arch)
        try:
            text, _ = cuda.compile_ptx(
                names[program.name].py_func,
                types.void(*arguments),
                cc=divmod(target.number, 10),
                device=False,
            )
        except Exception as error:  # numba's errors share no class of their own
            return Rejected("compile", f"{type(error).__name__}: {error}".splitlines()[0])
        kernel = text.split(".visible .entry ", 1)[1].split("(", 1)[0].strip()
        return Compiled(text, kernel)

    def passed(self, program: Program, values: Values) -> list[Any]:
        """An array is: two addresses, elements, bytes of one, the data, its shape and its step."""
        found: list[Any] = []
        for one in program.arguments:
            if isinstance(one, ArrayArgument):
                array = values[one.name]
                size = array.dtype.itemsize
                found += [None, None, len(array), size, array, len(array), size]
            else:
                found.append(one)
        return found

    def provenance(self, settings: Settings) -> dict[str, str]:
        """numba and the assembler."""
        if settings.views != "all":
            return {}
        _numba()
        versions = {name: version(name) for name in ("numba", "numba-cuda", "llvmlite")}
        return {**versions, **assembler_of(settings)}


@cache
def _numba() -> tuple[Any, Any]:
    """``numba.cuda`` and ``numba.types``."""
    import_extra("numba_cuda", extra="numba", package="numba-cuda")
    # numba looks for NVIDIA's libraries by name: what is loaded already is found.
    folder = nvrtc.load().path.parent
    for library in folder.glob("libnvvm.so*"):
        ctypes.CDLL(str(library))
    return import_extra("numba.cuda", extra="numba"), import_extra("numba.types", extra="numba")


__all__ = ["NumbaSource"]
