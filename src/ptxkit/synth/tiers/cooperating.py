"""Tier 9: exchanges in a warp, votes, and atomic updates."""

from __future__ import annotations

from ptxkit.cuda import nodes as n
from ptxkit.cuda.types import FLOAT, INT, UINT, Array, Scalar
from ptxkit.synth.streams import Stream
from ptxkit.synth.tiers import words
from ptxkit.synth.tiers.expressions import Palette
from ptxkit.synth.tiers.kernels import GRID, Frame, Made, at, one_kernel, zero
from ptxkit.synth.tiers.shared import SYNC, THREAD

_FULL = n.Literal(0xFFFFFFFF, UINT)
_REDUCTIONS = ("__reduce_add_sync", "__reduce_min_sync", "__reduce_max_sync")


def warp_and_atomic(draw: Stream) -> Made:
    """Exchanges in a warp, votes, and atomic updates."""
    frame = Frame(draw)
    type = draw.choice((FLOAT, INT, INT))
    source = frame.array(type)
    i = n.Name(frame.name(words.INDICES))
    begin: list[n.Statement] = [n.Declare(INT, i.name, frame.global_index())]
    palette = Palette(draw, {type: [at(source, i)]}, bitwise=0.2)
    declare, value = frame.local(type, palette.reading(type, draw.between(0, 2)))
    begin.append(declare)
    kind = draw.choice((_folded, _exchanged, _voted, _counted, _accumulated))
    return one_kernel(frame, (*begin, *kind(frame, type, value, i)))


def _folded(frame: Frame, type: Scalar, value: n.Name, i: n.Name) -> list[n.Statement]:
    """A reduction over the warp by shuffles."""
    draw = frame.draw
    output = frame.array(type, written=True)
    step = n.Name(frame.name(("offset", "d", "delta_", "mask", "o_")))
    function = draw.choice(("__shfl_xor_sync", "__shfl_down_sync"))
    other: n.Expression = n.Call(function, (_FULL, value, step))
    if draw.chance(0.5):
        update: n.Statement = n.Assign(value, other, "+=")
    else:
        extreme = draw.choice(("fminf", "fmaxf") if type.is_float else ("min", "max"))
        update = n.Assign(value, n.Call(extreme, (value, other)))
    start = n.integer(draw.choice((16, 8, 4)))
    loop = n.For(n.Declare(INT, step.name, start), n.Binary(">", step, n.integer(0)),
                 n.Assign(step, n.integer(1), ">>="), (update,),
                 unroll=1 if draw.chance(0.4) else None)  # fmt: skip
    if draw.chance(0.4):
        warp = n.Binary("/", i, n.integer(32))
        lane = n.Binary("%", THREAD, n.integer(32)) if draw.chance(0.5) else n.Binary(
            "&", THREAD, n.integer(31)
        )  # fmt: skip
        store = n.If(n.Binary("==", lane, n.integer(0)), (n.Assign(at(output, warp), value),))
        return [loop, store]
    palette = Palette(draw, {type: [value]})
    return [loop, n.Assign(at(output, i), palette.using(type, draw.between(0, 1), [value]))]


def _exchanged(frame: Frame, type: Scalar, value: n.Name, i: n.Name) -> list[n.Statement]:
    """One value of another lane, or what a whole warp makes of its values."""
    draw = frame.draw
    output = frame.array(type, written=True)
    if type == INT and draw.chance(0.3):
        other: n.Expression = n.Call(draw.choice(_REDUCTIONS), (_FULL, value))
    else:
        function, most = draw.choice((
            ("__shfl_sync", 31), ("__shfl_up_sync", 8), ("__shfl_down_sync", 8),
            ("__shfl_xor_sync", 31),
        ))  # fmt: skip
        other = n.Call(function, (_FULL, value, n.integer(draw.between(1, most))))
    declare, found = frame.local(type, other)
    palette = Palette(draw, {type: [found, value]}, bitwise=0.1)
    return [
        declare,
        n.Assign(at(output, i), palette.using(type, draw.between(0, 2), [found])),
    ]


def _voted(frame: Frame, type: Scalar, value: n.Name, i: n.Name) -> list[n.Statement]:
    """What the lanes of a warp say about a condition."""
    draw = frame.draw
    output = frame.array(INT, written=True)
    condition = Palette(draw, {type: [value]}, literals=0.6).condition(2)
    function = draw.choice(("__ballot_sync", "__any_sync", "__all_sync"))
    vote: n.Expression = n.Call(function, (_FULL, condition))
    if function == "__ballot_sync":
        vote = n.Call("__popc", (vote,)) if draw.chance(0.7) else n.Cast(INT, vote)
    other = n.Cast(INT, value) if type.is_float else value
    palette = Palette(draw, {INT: [vote, other]})
    return [n.Assign(at(output, i), palette.using(INT, draw.between(0, 1), [vote]))]


def _counted(frame: Frame, type: Scalar, value: n.Name, i: n.Name) -> list[n.Statement]:
    """A histogram, or another update of a few places by all threads."""
    draw = frame.draw
    bins = draw.choice((4, 8, 16, 32))
    output = frame.array(INT, written=True, count=bins)
    whole: n.Expression = n.Cast(INT, value) if type.is_float else value
    place = n.Binary("&", whole, n.integer(bins - 1))
    target = n.Unary("&", at(output, place))
    if draw.chance(0.5):
        amount: n.Expression = n.integer(draw.between(1, 3))
        return [n.Evaluate(n.Call("atomicAdd", (target, amount)))]
    name = draw.choice(("atomicMax", "atomicMin", "atomicXor", "atomicOr", "atomicAdd"))
    update = n.Evaluate(n.Call(name, (target, whole)))
    if draw.chance(0.5):
        return [update]
    palette = Palette(draw, {type: [value]}, literals=0.6)
    return [n.If(palette.condition(1), (update,))]


def _accumulated(frame: Frame, type: Scalar, value: n.Name, i: n.Name) -> list[n.Statement]:
    """A sum over the block in shared memory."""
    draw = frame.draw
    output = frame.array(type, written=True, count=GRID)
    name = frame.name(words.TILES)
    first = n.Binary("==", THREAD, n.integer(0))
    place = at(n.Name(name), n.integer(0))
    amount = Palette(draw, {type: [value]}).using(type, draw.between(0, 1), [value])
    return [
        n.Declare(Array(type, (1,)), name, space="shared"),
        n.If(first, (n.Assign(place, zero(type)),)),
        SYNC,
        n.Evaluate(n.Call("atomicAdd", (n.Unary("&", place), amount))),
        SYNC,
        n.If(first, (n.Assign(at(output, n.builtin("blockIdx.x")), place),)),
    ]
