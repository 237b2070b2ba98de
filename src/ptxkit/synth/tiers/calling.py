"""Tier 10: device functions, or two kernels in one file."""

from __future__ import annotations

from dataclasses import replace

from ptxkit.cuda import nodes as n
from ptxkit.cuda.types import FLOAT
from ptxkit.synth.streams import Stream
from ptxkit.synth.tiers import words
from ptxkit.synth.tiers.elementwise import (
    nested_arithmetic,
    several_statements,
    ternary_and_compare,
    type_diversity,
    unary_math,
)
from ptxkit.synth.tiers.expressions import Palette
from ptxkit.synth.tiers.kernels import Frame, Made, at, float_palette
from ptxkit.synth.tiers.looping import loops
from ptxkit.synth.tiers.shared import shared_memory


def several_functions(draw: Stream) -> Made:
    """Device functions, or two kernels in one file."""
    return _two_kernels(draw) if draw.chance(0.3) else _with_functions(draw)


def _two_kernels(draw: Stream) -> Made:
    first = draw.choice((nested_arithmetic, ternary_and_compare, several_statements))(draw)
    second = draw.choice((loops, type_diversity, unary_math, shared_memory))(draw)
    functions, launches = list(first[0]), list(first[1])
    for function, launch in zip(*second, strict=True):
        name = function.name + "2" if function.name == functions[0].name else function.name
        functions.append(replace(function, name=name))
        launches.append(replace(launch, kernel=name))
    return tuple(functions), tuple(launches)


def _with_functions(draw: Stream) -> Made:
    helpers: list[n.Function] = []
    names = draw.shuffled(words.FUNCTIONS)[: draw.between(1, 3)]
    for name in names:
        x = n.Name(draw.choice(("x", "v", "t", "value")))
        known = tuple(f.name for f in helpers)
        palette = Palette(draw, {FLOAT: [x]}, math=0.25, ternary=0.1, functions=known)
        body: list[n.Statement] = []
        if draw.chance(0.35):
            body.append(n.If(palette.condition(1), (n.Return(palette.reading(FLOAT, 1)),)))
        body.append(n.Return(palette.using(FLOAT, draw.between(1, 3), [x])))
        # Those that are written into their callers leave no trace.
        qualifiers = ("__noinline__",) if draw.chance(0.85) else ()
        helpers.append(
            n.Function(name, (n.Parameter(FLOAT, x.name),), tuple(body), FLOAT, False, qualifiers)
        )
    frame = Frame(draw)
    frame.used.update(names)
    output = frame.array(FLOAT, written=True)

    def inside(i: n.Name) -> tuple[n.Statement, ...]:
        palette = float_palette(frame, i, draw.between(1, 3), math=0.5)
        palette.functions = tuple(names)
        value: n.Expression = palette.reading(FLOAT, draw.between(0, 1))
        for name in draw.shuffled(names)[: draw.between(1, 2)]:
            call = n.Call(name, (palette.reading(FLOAT, draw.between(0, 1)),))
            value = n.Binary(draw.choice("+-*"), call, value)
        return (n.Assign(at(output, i), value),)

    body_statements = frame.guarded(inside)
    # A name of the kernel must not hide a function.
    kernel = draw.choice([w for w in words.KERNELS if w not in names])
    function, launch = frame.finish(kernel, body_statements)
    return (*helpers, function), (launch,)
