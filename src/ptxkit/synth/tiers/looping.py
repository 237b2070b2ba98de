"""Tier 8: loops."""

from __future__ import annotations

from ptxkit.cuda import nodes as n
from ptxkit.cuda.types import FLOAT, INT, Scalar
from ptxkit.synth.streams import Stream
from ptxkit.synth.tiers import words
from ptxkit.synth.tiers.expressions import Palette
from ptxkit.synth.tiers.kernels import THREADS, Frame, Made, at, one_kernel, zero

_LONG, _SHORT = (4, 9), (2, 4)  # turns; a compiler writes out all of a loop it knows the length of


def loops(draw: Stream) -> Made:
    """For and while loops, nested or not, with early exits."""
    frame = Frame(draw)
    type = draw.choice((FLOAT, FLOAT, INT))
    output = frame.array(type, written=True)

    def body(i: n.Name) -> tuple[n.Statement, ...]:
        start: n.Expression = zero(type) if draw.chance(0.6) else at(frame.array(type), i)
        declare, total = frame.local(type, start)
        statements = [declare, *_loop(frame, type, total, i, _LONG, draw.between(1, 2))]
        value: n.Expression = total
        if draw.chance(0.3):
            value = Palette(draw, {type: [total]}).using(type, 1, [total])
        return (*statements, n.Assign(at(output, i), value))

    return one_kernel(frame, frame.guarded(body))


def _loop(
    frame: Frame,
    type: Scalar,
    total: n.Name,
    i: n.Expression,
    turns: tuple[int, int],
    depth: int,
) -> list[n.Statement]:
    draw = frame.draw
    k = n.Name(frame.name(words.LOOPS))
    if draw.chance(0.7):
        length = draw.between(*turns)
        bound: n.Expression = frame.size_parameter(length)
    else:
        length = draw.between(*_SHORT)
        bound = n.integer(length)
    table = frame.array(type, count=THREADS * length)
    row: n.Expression = n.Binary("+", n.Binary("*", i, n.integer(length)), k)
    if isinstance(bound, n.Name):
        row = n.Binary("+", n.Binary("*", i, bound), k)
    if draw.chance(0.3):
        row = n.Binary("+", n.Binary("*", k, n.integer(THREADS)), i)
    read = [at(table, row)]
    if draw.chance(0.4):
        read.append(at(frame.array(type, count=length), k))
    leaves: list[n.Expression] = list(read)
    if type == INT:
        leaves.append(k)
    elif draw.chance(0.3):
        leaves.append(n.Cast(type, k))
    palette = Palette(draw, {type: leaves}, math=0.1 if type.is_float else 0.0, ternary=0.05)
    inner: list[n.Statement] = []
    if draw.chance(0.15):
        inner.append(n.If(palette.condition(1), (n.Continue(),)))
    value = palette.using(type, draw.between(0, 2), read)
    kind = draw.weighted({"sum": 40, "horner": 10, "extreme": 10})
    if kind == "sum":
        inner.append(n.Assign(total, value, draw.choice(("+=", "+=", "-="))))
    elif kind == "horner" and type.is_float:
        scaled = n.Binary("*", total, n.Literal(draw.between(1, 7) / 8, type))
        inner.append(n.Assign(total, n.Binary("+", scaled, value)))
    else:
        function = draw.choice(("fminf", "fmaxf") if type.is_float else ("min", "max"))
        inner.append(n.Assign(total, n.Call(function, (total, value))))
    if draw.chance(0.15):
        limit = n.Literal(50.0 if type.is_float else 50, type)
        inner.append(n.If(n.Binary(">", total, limit), (n.Break(),)))
    if depth > 1 and draw.chance(0.4):
        inner += _loop(frame, type, total, i, _SHORT, depth - 1)
    return _written_loop(draw, k, bound, tuple(inner))


def _written_loop(
    draw: Stream, k: n.Name, bound: n.Expression, inner: tuple[n.Statement, ...]
) -> list[n.Statement]:
    begin = n.Declare(INT, k.name, n.integer(0))
    again = n.Binary("<", k, bound)
    step = n.Assign(k, n.integer(draw.weighted({1: 50, 2: 10})), "+=")
    jumps = any(isinstance(node, n.Continue) for s in inner for node in s.walk())
    kind = "for" if jumps else draw.weighted({"for": 50, "while": 10, "do": 7})
    if kind == "while":
        return [begin, n.While(again, (*inner, step))]
    if kind == "do":
        return [begin, n.DoWhile((*inner, step), again)]
    # Without the pragma a compiler writes several turns out, which hides the loop.
    return [n.For(begin, again, step, inner, unroll=1 if draw.chance(0.6) else None)]
