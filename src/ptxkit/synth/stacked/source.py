"""The source ``ptx``: programs of `ptxkit.stack`, with the PTX that they become."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any, ClassVar

import numpy as np

from ptxkit import stack
from ptxkit.stack import StackError
from ptxkit.synth.assembling import assembler_of
from ptxkit.synth.program import ArrayArgument, Program, Values
from ptxkit.synth.proving import Compiled, ProgramSource
from ptxkit.synth.source import Rejected, Sample, Settings
from ptxkit.synth.stacked.machine import INSTRUCTIONS, Machine, text_of
from ptxkit.synth.streams import Stream

_THREADS = 64
_STACKS = {"f4": "f32", "f8": "f64", "i4": "b32"}
_REGISTERS = {"f4": ("f", "f32"), "f8": ("fd", "f64"), "i4": ("r", "b32")}
_FLOATS = tuple(w for w, i in INSTRUCTIONS.items() if i.result == "f32" and "cvt" not in w)
_DOUBLES = tuple(w for w, i in INSTRUCTIONS.items() if i.result == "f64" and "cvt" not in w)
_WHOLE = tuple(w for w, i in INSTRUCTIONS.items() if i.result == "b32")
_CONVERSIONS = tuple(w for w in INSTRUCTIONS if w.startswith("cvt"))
_PREDICATES = tuple(w for w in INSTRUCTIONS if w.endswith(".pred"))
_JOINING = {
    stack: tuple(
        w for w, i in INSTRUCTIONS.items() if (i.operands, i.result) == ((stack, stack), stack)
    )
    for stack in _STACKS.values()
}
_TESTS = {"f32": ("setp.lt.f32", "setp.ge.f32"), "f64": ("setp.lt.f64", "setp.ge.f64"),
          "b32": ("setp.lt.s32", "setp.ge.s32")}  # fmt: skip
_ROOTS = {"sqrt.rn.f32": "abs.f32", "sqrt.rn.f64": "abs.f64"}


class _Writer:
    """Draws words."""

    def __init__(self, draw: Stream, inputs: dict[str, str], words: tuple[str, ...]) -> None:
        self.draw = draw
        self.inputs = inputs
        self.words = words
        self.stacks = sorted({_STACKS[type] for type in inputs.values()})

    def value(self) -> str:
        """An input or a constant."""
        if self.draw.chance(0.75):
            return self.draw.choice(tuple(self.inputs))
        kind = self.draw.choice(self.stacks)
        if kind == "b32":
            return str(self.draw.between(1, 40))
        number = self.draw.between(1, 12) / 8
        return f"{number}:f64" if kind == "f64" else f"{number}"

    def some(self, count: int, moves: float = 0.1) -> list[Any]:
        """Words that mostly find what they need."""
        found: list[Any] = []
        for _ in range(count):
            if self.draw.chance(moves):
                found.append(self._move())
            elif self.draw.chance(0.45):
                found.append(self.value())
            else:
                word = self.draw.choice(self.words)
                # Roots of what is negative are no numbers.
                found += [_ROOTS[word], word] if word in _ROOTS else [word]
        return found

    def _move(self) -> str:
        word = self.draw.choice(("dup", "dup#1", "swap", "reverse", "drop"))
        return f"{self.draw.choice(self.stacks)}.{word}"

    def joined(self) -> list[str]:
        """Words that bring values together: the last one pushed alone would be the result."""
        found = []
        for kind in self.stacks:
            found += [self.draw.choice(_JOINING[kind]) for _ in range(self.draw.between(2, 5))]
        return self.draw.shuffled(found)

    def condition(self) -> list[str]:
        """Words that leave a predicate."""
        kind = self.draw.choice(self.stacks)
        own = [name for name, type in self.inputs.items() if _STACKS[type] == kind]
        first = self.draw.choice(own)
        others = [name for name in own if name != first]
        constant = {"f32": "0.25", "f64": "0.5:f64", "b32": "7"}[kind]
        second = self.draw.choice(others) if others and self.draw.chance(0.5) else constant
        return [first, second, self.draw.choice(_TESTS[kind])]


def _straight(writer: _Writer) -> list[Any]:
    return writer.some(writer.draw.between(8, 40))


def _branching(writer: _Writer) -> list[Any]:
    draw = writer.draw
    found = writer.some(draw.between(3, 8))
    for _ in range(draw.between(1, 3)):
        otherwise = writer.some(draw.between(1, 6)) if draw.chance(0.6) else []
        found += [*writer.condition(), ("if", writer.some(draw.between(1, 8)), otherwise)]
        found += writer.some(draw.between(1, 6))
    return found


def _repeating(writer: _Writer) -> list[Any]:
    draw = writer.draw
    body = writer.some(draw.between(2, 7), moves=0.2)
    return [*writer.some(draw.between(3, 8)), ("repeat", draw.between(2, 5), body),
            *writer.some(draw.between(1, 6))]  # fmt: skip


def _remembering(writer: _Writer) -> list[Any]:
    """Values put into slots and taken out again."""
    draw = writer.draw
    found = writer.some(draw.between(4, 10))
    kind = draw.choice(writer.stacks)
    for slot in range(draw.between(1, 3)):
        found += [writer.value(), f"{kind}.to#{slot}", *writer.some(draw.between(2, 8))]
        found.append(f"{kind}.from#{slot}")
    return [*found, *writer.some(draw.between(1, 8))]


_Recipe = tuple[dict[str, str], tuple[str, ...], Callable[[_Writer], list[Any]]]
_CATEGORIES: dict[str, _Recipe] = {
    "float": ({"x": "f4", "y": "f4", "z": "f4"}, (*_FLOATS, *_TESTS["f32"]), _straight),
    "integer": ({"i": "i4", "j": "i4", "k": "i4"}, (*_WHOLE, *_TESTS["b32"]), _straight),
    "double": ({"x": "f8", "y": "f8"}, (*_DOUBLES, *_TESTS["f64"]), _straight),
    "mixed": ({"x": "f4", "y": "f8", "i": "i4"},
              (*_FLOATS, *_DOUBLES, *_WHOLE, *_CONVERSIONS, *_CONVERSIONS, *_PREDICATES,
               *_TESTS["f32"], *_TESTS["b32"]), _straight),
    "branch": ({"x": "f4", "y": "f4", "i": "i4"}, (*_FLOATS, *_WHOLE), _branching),
    "repeat": ({"x": "f4", "y": "f4"}, _FLOATS, _repeating),
    "slots": ({"x": "f4", "i": "i4"}, (*_FLOATS, *_WHOLE), _remembering),
}  # fmt: skip


class StackSource(ProgramSource):
    """Programs of the stack machine, each in a kernel with one thread an element."""

    name: ClassVar[str] = "ptx"
    origin: ClassVar[str] = "PTX is the output of ptxkit."
    categories: ClassVar[tuple[str, ...]] = tuple(_CATEGORIES)
    text_view: ClassVar[str] = "stack_program"
    views: ClassVar[tuple[str, ...]] = ("stack_program",)
    shard_size: ClassVar[int] = 200
    life: ClassVar[int] = 20_000

    def program(self, seed: int, index: int, category: str) -> Program:
        """The program at a place."""
        draw = Stream(seed, self.name, index)
        inputs, words, write = _CATEGORIES[category]
        writer = _Writer(draw, inputs, words)
        # One of each first: there is something to work on, and every output has a value.
        items = [*draw.shuffled(tuple(inputs)), *write(writer), *writer.joined()]
        outputs = {f"out_{type}": type for type in dict.fromkeys(inputs.values())}
        arguments = [
            ArrayArgument(name, type, _THREADS, False, *_range(type))
            for name, type in inputs.items()
        ]
        results = [ArrayArgument(name, type, _THREADS, True) for name, type in outputs.items()]

        def compute(values: Values) -> Values:
            given = {name: (_STACKS[type], values[name]) for name, type in inputs.items()}
            machine = Machine(given)
            machine.run(items)
            return {
                name: (machine.stacks.get(_STACKS[type]) or [np.zeros_like(values[name])])[-1]
                for name, type in outputs.items()
            }

        name = f"{category}_{index}"
        everything = (*arguments, *results)
        return Program(name, category, text_of(items), everything, compute, 1, _THREADS, wide=False)

    def compile(self, program: Program, arch: str, workspace: Path) -> Compiled | Rejected:
        """The stub of the program, in a kernel around it."""
        try:
            return Compiled(_kernel(program, arch), "k")
        except StackError as error:
            return Rejected("compile", str(error).splitlines()[0])

    def foretold(self, sample: Sample, settings: Settings) -> dict[str, Any]:
        """All but the PTX: no launch has shared memory."""
        launch = [sample.program.grid, sample.program.block, 0]
        return {"launch": launch, **super().foretold(sample, settings)}

    def passed(self, program: Program, values: Values) -> list[Any]:
        """The arrays."""
        return [values[one.name] for one in program.arrays]

    def provenance(self, settings: Settings) -> dict[str, str]:
        """The assembler is all it needs."""
        return assembler_of(settings) if settings.views == "all" else {}


def _range(type: str) -> tuple[float, float]:
    return (-50, 50) if type == "i4" else (-1.5, 1.5)


def _kernel(program: Program, arch: str) -> str:
    """The stub of a program between the loads of its inputs and the stores of its outputs."""
    operands: dict[bool, dict[str, tuple[str, str]]] = {False: {}, True: {}}
    loads, stores = [], []
    counts: dict[str, int] = {}
    for number, one in enumerate(program.arrays):
        prefix, type = _REGISTERS[one.dtype]
        counts[prefix] = counts.get(prefix, 0) + 1
        register = f"%{prefix}{counts[prefix]}"
        operands[one.written][one.name] = (type, register)
        size = np.dtype(one.dtype).itemsize
        place = f"ld.param.u64 %rd1, [k_{number}]; mad.wide.u32 %rd2, %r9, {size}, %rd1;".split(
            "; "
        )
        lines = [part if part.endswith(";") else f"{part};" for part in place]
        if one.written:
            stores += [*lines, f"st.global.{type} [%rd2], {register};"]
        else:
            loads += [*lines, f"ld.global.{type} {register}, [%rd2];"]
    stub = stack.compile(program.text, operands[False], operands[True], missing="zero")
    parameters = ", ".join(f".param .u64 k_{n}" for n in range(len(program.arrays)))
    body = "\n".join(f"    {line}" for line in ["mov.u32 %r9, %tid.x;", *loads])
    end = "\n".join(f"    {line}" for line in [*stores, "ret;"])
    return f""".version 8.0
.target {arch}
.address_size 64
.visible .entry k({parameters})
{{
    .reg .b32 %r<10>;
    .reg .f32 %f<10>;
    .reg .f64 %fd<10>;
    .reg .b64 %rd<3>;
{body}
{stub}{end}
}}
"""
