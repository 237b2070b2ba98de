"""The source ``triton``: kernels for Triton, compiled without a GPU."""

from __future__ import annotations

import importlib.util
import tempfile
from collections.abc import Callable
from functools import cache
from importlib.metadata import version
from pathlib import Path
from types import ModuleType
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
from ptxkit.toolchain.versions import parse_arch

_BLOCK, _GRID, _SIZE, _WARPS = 64, 2, 119, 2
_COUNT = _BLOCK * _GRID
_ROWS, _COLUMNS = 3, 50  # of a matrix with one program a row
_HIGH, _WIDE = 8, 16  # of a tile in two dimensions
_FUNCTIONS = {
    "min": "tl.minimum({}, {})", "max": "tl.maximum({}, {})", "abs": "tl.abs({})",
    "sqrt": "tl.sqrt({})", "exp": "tl.exp({})", "log": "tl.log({})", "sin": "tl.sin({})",
    "cos": "tl.cos({})", "where": "tl.where({}, {}, {})",
}  # fmt: skip
_TYPES = {"f4": "*fp32", "f2": "*fp16", "i4": "*i32"}
_INPUTS = ("a", "b", "x", "y", "u", "v", "data", "weights", "left", "right")
_OUTPUTS = ("out", "result", "dst", "res")
_VALUES = ("p", "q", "r")
_HEAD = "import triton\nimport triton.language as tl\n\n\n@triton.jit\n"
_INDEX = ("i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)", "inside = i < n")


def _w(node: Expression) -> str:
    return written(node, _FUNCTIONS)


class _Kernel:
    """A kernel that is being made."""

    def __init__(self, draw: Stream, dtype: str = "f4") -> None:
        self.draw = draw
        self.dtype = dtype
        self.inputs = draw.shuffled(_INPUTS)[: draw.between(1, 3)]
        self.output = draw.choice(_OUTPUTS)
        self.arguments: list[ArrayArgument | int] = []
        self.parameters: list[str] = []
        self.grid = _GRID
        self.block = _BLOCK

    @property
    def leaves(self) -> list[Name]:
        """What is loaded, by the names it has then."""
        bound = 20.0 if self.dtype == "i4" else 4.0
        return [Name(_VALUES[k], bound) for k in range(len(self.inputs))]

    def palette(self, **options: float) -> Palette:
        """Expressions over what is loaded."""
        kind = "i" if self.dtype == "i4" else "f"
        return Palette(self.draw, self.leaves, kind, **options)

    def array(self, name: str, count: int = _COUNT, *, written: bool = False) -> None:
        """An array parameter."""
        low, high = {"i4": (-20, 20), "f2": (-2, 2)}.get(self.dtype, (-4, 4))
        self.parameters.append(name)
        self.arguments.append(ArrayArgument(name, self.dtype, count, written, low, high))

    def number(self, name: str, value: int) -> None:
        """A whole number as parameter."""
        self.parameters.append(name)
        self.arguments.append(value)

    def read(self, *nodes: Expression) -> None:
        """Keep the inputs that expressions use."""
        used = {part.text for node in nodes for part in parts_of(node) if isinstance(part, Name)}
        self.inputs = [x for x, leaf in zip(self.inputs, _VALUES, strict=False) if leaf in used]
        self._names = [leaf for leaf in _VALUES if leaf in used]

    def usual(self) -> list[str]:
        """Parameters and loads of one element a lane."""
        for name in self.inputs:
            self.array(name)
        self.array(self.output, written=True)
        self.number("n", _SIZE)
        cast = ".to(tl.float32)" if self.dtype == "f2" else ""
        zero = "0" if self.dtype == "i4" else "0.0"
        loads = (
            f"{leaf} = tl.load({name} + i, mask=inside, other={zero}){cast}"
            for name, leaf in zip(self.inputs, self._names, strict=True)
        )
        return [*_INDEX, *loads]

    def own(self, values: Values) -> dict[str, Any]:
        """What is loaded for every element below the size."""
        pairs = zip(self.inputs, self._names, strict=True)
        return {leaf: values[name][:_SIZE] for name, leaf in pairs}

    def stored(self, found: Any) -> Values:
        """The output with results in it."""
        result = np.zeros(_COUNT, np.int64 if self.dtype == "i4" else np.float64)
        result[:_SIZE] = found
        return {self.output: result}

    def text(self, name: str, body: list[str], constants: str = "BLOCK") -> str:
        """The whole file."""
        words = [*self.parameters, *(f"{word}: tl.constexpr" for word in constants.split())]
        lines = "\n".join(f"    {line}" for line in body)
        return f"{_HEAD}def {name}({', '.join(words)}):\n{lines}\n"


Made = tuple[_Kernel, str, Callable[[Values], Values]]
"""A kernel, its text, and what it computes."""


def _elementwise(kernel: _Kernel, name: str, must: str = "", **options: float) -> Made:
    value = kernel.palette(**options).reading(kernel.draw.between(1, 4))
    if must and must not in _w(value):
        value = apply("where", kernel.palette().condition(), value, kernel.leaves[0]) \
            if must == "tl.where" else apply("exp", apply("sin", value))  # fmt: skip
    kernel.read(value)
    loads = kernel.usual()
    cast = ".to(tl.float16)" if kernel.dtype == "f2" else ""
    result = f"({_w(value)}){cast}" if cast else _w(value)
    body = [*loads, f"tl.store({kernel.output} + i, {result}, mask=inside)"]
    return kernel, kernel.text(name, body), lambda v: kernel.stored(evaluate(value, kernel.own(v)))


def _arithmetic(draw: Stream, name: str) -> Made:
    return _elementwise(_Kernel(draw), name)


def _math(draw: Stream, name: str) -> Made:
    return _elementwise(_Kernel(draw), name, "tl.", math=0.5)


def _where(draw: Stream, name: str) -> Made:
    return _elementwise(_Kernel(draw), name, "tl.where", choice=0.4, math=0.1)


def _integer(draw: Stream, name: str) -> Made:
    return _elementwise(_Kernel(draw, "i4"), name, bits=0.35, choice=0.1)


def _half(draw: Stream, name: str) -> Made:
    return _elementwise(_Kernel(draw, "f2"), name, math=0.15)


def _row(kernel: _Kernel, value: Expression, *, stored: int) -> list[str]:
    """Parameters and loads of a row, with zeros past its end."""
    kernel.grid = _ROWS
    kernel.read(value)
    for name in kernel.inputs:
        kernel.array(name, _ROWS * _COLUMNS)
    kernel.array(kernel.output, stored, written=True)
    kernel.number("n", _COLUMNS)
    loads = (
        f"{leaf} = tl.load({name} + row * n + i, mask=inside, other=0.0)"
        for name, leaf in zip(kernel.inputs, kernel._names, strict=True)
    )
    return ["row = tl.program_id(0)", "i = tl.arange(0, BLOCK)", "inside = i < n", *loads]


def _rows(kernel: _Kernel, values: Values) -> dict[str, Any]:
    pairs = zip(kernel.inputs, kernel._names, strict=True)
    return {leaf: values[name].reshape(_ROWS, _COLUMNS) for name, leaf in pairs}


def _reduction(draw: Stream, name: str) -> Made:
    kernel = _Kernel(draw)
    value = kernel.palette(math=0.2).reading(draw.between(1, 3))
    body = _row(kernel, value, stored=_ROWS)
    fold, neutral = draw.choice((("sum", "0.0"), ("max", "-10000.0"), ("min", "10000.0")))
    scale = draw.choice((1.0, 0.5, 0.02))
    times = "" if scale == 1.0 else f" * {scale}"
    body += [
        f"masked = tl.where(inside, {_w(value)}, {neutral})",
        f"total = tl.{fold}(masked, axis=0)",
        f"tl.store({kernel.output} + row, total{times})",
    ]

    def compute(values: Values) -> Values:
        found = np.broadcast_to(evaluate(value, _rows(kernel, values)), (_ROWS, _COLUMNS))
        return {kernel.output: getattr(found, fold)(axis=1) * scale}

    return kernel, kernel.text(name, body), compute


def _normalise(draw: Stream, name: str) -> Made:
    """A softmax, or a division by the norm or the mean, over rows."""
    kernel = _Kernel(draw)
    value = kernel.palette(math=0.1).reading(draw.between(0, 2))
    body = _row(kernel, value, stored=_ROWS * _COLUMNS)
    kind = draw.choice(("softmax", "norm", "centre"))
    body.append(f"value = {_w(value)}")
    if kind == "softmax":
        body += [
            "top = tl.max(tl.where(inside, value, -10000.0), axis=0)",
            "power = tl.where(inside, tl.exp(value - top), 0.0)",
            "final = power / tl.sum(power, axis=0)",
        ]
    elif kind == "norm":
        body += [
            "square = tl.sum(tl.where(inside, value * value, 0.0), axis=0)",
            "final = value / tl.sqrt(square + 0.25)",
        ]
    else:
        body += [
            "mean = tl.sum(tl.where(inside, value, 0.0), axis=0) / n",
            "final = value - mean",
        ]
    body.append(f"tl.store({kernel.output} + row * n + i, final, mask=inside)")

    def compute(values: Values) -> Values:
        v = np.broadcast_to(evaluate(value, _rows(kernel, values)), (_ROWS, _COLUMNS))
        if kind == "softmax":
            power = np.exp(v - v.max(axis=1, keepdims=True))
            found = power / power.sum(axis=1, keepdims=True)
        elif kind == "norm":
            found = v / np.sqrt((v * v).sum(axis=1, keepdims=True) + 0.25)
        else:
            found = v - v.mean(axis=1, keepdims=True)
        return {kernel.output: found.reshape(-1)}

    return kernel, kernel.text(name, body), compute


def _loop(draw: Stream, name: str) -> Made:
    kernel = _Kernel(draw)
    kernel.inputs = kernel.inputs[:2]
    turns = draw.between(3, 7)
    value = kernel.palette(math=0.15).reading(draw.between(1, 2))
    if kernel.leaves[0] not in parts_of(value):
        value = apply("add", kernel.leaves[0], value)
    kernel.read(value)
    table, *others = kernel.inputs
    kernel.array(table, _COUNT * turns)
    for other in others:
        kernel.array(other)
    kernel.array(kernel.output, written=True)
    kernel.number("n", _SIZE)
    kernel.number("m", turns)
    loads = [
        f"{leaf} = tl.load({other} + i, mask=inside, other=0.0)"
        for other, leaf in zip(others, kernel._names[1:], strict=True)
    ]
    by_columns = draw.chance(0.5)
    place = "k * n + i" if by_columns else "i * m + k"
    body = [
        *_INDEX,
        *loads,
        "total = tl.zeros((BLOCK,), dtype=tl.float32)",
        "for k in range(0, m):",
        f"    {kernel._names[0]} = tl.load({table} + {place}, mask=inside, other=0.0)",
        f"    total += {_w(value)}",
        f"tl.store({kernel.output} + i, total, mask=inside)",
    ]

    def compute(values: Values) -> Values:
        i, total = np.arange(_SIZE), np.zeros(_SIZE)
        own = kernel.own(values)
        for k in range(turns):
            own[kernel._names[0]] = values[table][k * _SIZE + i if by_columns else i * turns + k]
            total = total + evaluate(value, own)
        return kernel.stored(total)

    return kernel, kernel.text(name, body), compute


def _two_dimensions(draw: Stream, name: str) -> Made:
    """A tile of a matrix: a sum along an axis, a transposition, or products of two vectors."""
    kernel = _Kernel(draw)
    kernel.inputs = kernel.inputs[:2]
    kernel.grid = 1
    value = kernel.palette(math=0.2).reading(draw.between(1, 3))
    kernel.read(value)
    for one in kernel.inputs:
        kernel.array(one, _HIGH * _WIDE)
    axis = draw.choice((0, 1, None))
    kept = _HIGH * _WIDE if axis is None else (_WIDE, _HIGH)[axis]
    kernel.array(kernel.output, kept, written=True)
    loads = [
        f"{leaf} = tl.load({one} + rows[:, None] * WIDE + columns[None, :])"
        for one, leaf in zip(kernel.inputs, kernel._names, strict=True)
    ]
    if axis is None:
        store = f"tl.store({kernel.output} + columns[None, :] * HIGH + rows[:, None], {_w(value)})"
    else:
        place = ("columns", "rows")[axis]
        store = f"tl.store({kernel.output} + {place}, tl.sum({_w(value)}, axis={axis}))"
    body = ["rows = tl.arange(0, HIGH)", "columns = tl.arange(0, WIDE)", *loads, store]

    def compute(values: Values) -> Values:
        pairs = zip(kernel.inputs, kernel._names, strict=True)
        own = {leaf: values[one].reshape(_HIGH, _WIDE) for one, leaf in pairs}
        found = np.broadcast_to(evaluate(value, own), (_HIGH, _WIDE))
        return {kernel.output: found.T.reshape(-1) if axis is None else found.sum(axis=axis)}

    return kernel, kernel.text(name, body, "HIGH WIDE"), compute


def _atomic(draw: Stream, name: str) -> Made:
    kernel = _Kernel(draw, "i4")
    bins = draw.choice((4, 8, 16))
    value = kernel.palette(bits=0.2).reading(draw.between(0, 2))
    if kernel.leaves[0] not in parts_of(value):
        value = apply("add", kernel.leaves[0], value)
    kernel.read(value)
    loads = kernel.usual()
    at = next(k for k, one in enumerate(kernel.parameters) if one == kernel.output)
    kernel.arguments[at] = ArrayArgument(kernel.output, "i4", bins, written=True)
    best = draw.chance(0.4)
    place = f"{kernel.output} + ({kernel._names[0]} & {bins - 1})"
    body = [*loads, f"tl.atomic_{'max' if best else 'add'}({place}, {_w(value)}, mask=inside)"]

    def compute(values: Values) -> Values:
        own = kernel.own(values)
        result = np.zeros(bins, np.int64)
        update = np.maximum if best else np.add
        amounts = np.broadcast_to(evaluate(value, own), (_SIZE,))
        update.at(result, own[kernel._names[0]] & (bins - 1), amounts)
        return {kernel.output: result}

    return kernel, kernel.text(name, body), compute


_RECIPES: dict[str, Callable[[Stream, str], Made]] = {
    "arithmetic": _arithmetic,
    "math": _math,
    "where": _where,
    "integer": _integer,
    "half": _half,
    "reduction": _reduction,
    "normalise": _normalise,
    "loop": _loop,
    "two_dimensions": _two_dimensions,
    "atomic": _atomic,
}
_CONSTANTS = {"BLOCK": _BLOCK, "HIGH": _HIGH, "WIDE": _WIDE}


class TritonSource(ProgramSource):
    """Kernels for Triton."""

    name: ClassVar[str] = "triton"
    origin: ClassVar[str] = "PTX is the output of Triton (MIT)."
    categories: ClassVar[tuple[str, ...]] = tuple(_RECIPES)

    def program(self, seed: int, index: int, category: str) -> Program:
        """The program at a place."""
        name = f"{category}_{index}"
        kernel, text, compute = _RECIPES[category](Stream(seed, self.name, index), name)
        arguments = tuple(kernel.arguments)
        return Program(name, category, text, arguments, compute, kernel.grid, 32 * _WARPS)

    def compile(self, program: Program, arch: str, workspace: Path) -> Compiled | Rejected:
        """PTX by Triton's compiler, without the lines of the source in it."""
        triton, compiler, backend = _triton()
        target = parse_arch(arch)
        with tempfile.TemporaryDirectory(prefix="triton-", dir=workspace) as folder:
            triton.knobs.cache.dir = folder
            kernel = getattr(_imported(program, Path(folder)), program.name)
            constants = {
                k: v for k, v in _CONSTANTS.items() if f"{k}: tl.constexpr" in program.text
            }
            signature = {
                name: "constexpr" if name in constants else _type(one)
                for name, one in zip(
                    kernel.arg_names, (*program.arguments, *constants), strict=True
                )
            }
            source = compiler.ASTSource(kernel, signature, constexprs=constants)
            options = {"num_warps": _WARPS, "enable_fp_fusion": True}
            try:
                made = triton.compile(
                    source, target=backend.GPUTarget("cuda", target.number, 32), options=options
                )
            except Exception as error:  # Triton's errors share no class of their own
                return Rejected("compile", f"{type(error).__name__}: {error}".splitlines()[0])
        return Compiled(made.asm["ptx"], program.name, made.metadata.shared)

    def passed(self, program: Program, values: Values) -> list[Any]:
        """The arguments, and two addresses of scratch memory that these kernels do not use."""
        own = [values[a.name] if isinstance(a, ArrayArgument) else a for a in program.arguments]
        return [*own, None, None]

    def provenance(self, settings: Settings) -> dict[str, str]:
        """Triton and the assembler."""
        if settings.views != "all":
            return {}
        _triton()
        return {"triton": version("triton"), **assembler_of(settings)}


def _type(argument: ArrayArgument | int | str) -> str:
    return _TYPES[argument.dtype] if isinstance(argument, ArrayArgument) else "i32"


def _imported(program: Program, folder: Path) -> ModuleType:
    """The program as a module: Triton reads the text of a function from its file."""
    path = folder / f"{program.name}.py"
    path.write_text(program.text)
    spec = importlib.util.spec_from_file_location(program.name, path)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@cache
def _triton() -> tuple[Any, Any, Any]:
    """Triton, its compiler, and what tells it about targets."""
    triton = import_extra("triton", extra="triton")
    # Lines would name files of this machine, and repeat the source.
    triton.knobs.compilation.disable_line_info = True
    compiler = import_extra("triton.compiler", extra="triton")
    return triton, compiler, import_extra("triton.backends.compiler", extra="triton")
