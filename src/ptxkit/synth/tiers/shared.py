"""Tier 7: a tile of shared memory that threads of a block fill and read across."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from ptxkit.cuda import nodes as n
from ptxkit.cuda.types import FLOAT, INT, Array, Scalar
from ptxkit.synth.streams import Stream
from ptxkit.synth.tiers import words
from ptxkit.synth.tiers.expressions import Palette
from ptxkit.synth.tiers.kernels import (
    BLOCK,
    PLANE_BLOCK,
    PLANE_GRID,
    PLANE_HEIGHT,
    PLANE_WIDTH,
    Frame,
    Made,
    at,
    one_kernel,
    zero,
)

SYNC = n.Evaluate(n.Call("__syncthreads"))
THREAD = n.builtin("threadIdx.x")


def shared_memory(draw: Stream) -> Made:
    """A tile that threads of a block fill and read across."""
    return _transposed(draw) if draw.chance(0.12) else _row(draw)


@dataclass(slots=True)
class _Tile:
    """A filled tile, and who reads it."""

    frame: Frame
    type: Scalar
    output: n.Name
    tile: n.Name
    thread: n.Name
    index: n.Name
    inside: n.Expression
    """Whether the thread has an element of its own."""
    width: n.Expression
    """Threads of the block."""
    palette: Palette

    def at(self, place: n.Expression) -> n.Index:
        """An element of the tile."""
        return at(self.tile, place)


def _row(draw: Stream) -> Made:
    frame = Frame(draw)
    type = draw.choice((FLOAT, FLOAT, INT))
    dynamic = draw.chance(0.25)
    output = frame.array(type, written=True)
    source = frame.array(type)
    size = frame.size_parameter()
    t = n.Name(frame.name(("t", "tid", "lane", "lid", "local")))
    i = n.Name(frame.name(("i", "idx", "gid", "index")))
    name = frame.name(words.TILES)
    space, count = ("extern shared", 0) if dynamic else ("shared", BLOCK)
    palette = Palette(draw, {type: [at(source, i)]}, math=0.15 if type.is_float else 0.0)
    load = palette.reading(type, draw.between(0, 2))
    inside = n.Binary("<", i, size)
    body: list[n.Statement] = [
        n.Declare(Array(type, (count,)), name, space=space),
        n.Declare(INT, t.name, THREAD),
        n.Declare(INT, i.name, frame.global_index()),
        n.Assign(at(n.Name(name), t), n.Conditional(inside, load, zero(type))),
        SYNC,
    ]
    width: n.Expression = n.builtin("blockDim.x") if draw.chance(0.5) else n.integer(BLOCK)
    tile = _Tile(frame, type, output, n.Name(name), t, i, inside, width, palette)
    body += draw.choice(_PATTERNS)(tile)
    return one_kernel(frame, tuple(body), dynamic_shared=BLOCK * type.size if dynamic else 0)


def _stored(tile: _Tile, value: n.Expression) -> n.Statement:
    return n.If(tile.inside, (n.Assign(at(tile.output, tile.index), value),))


def _exchanged(tile: _Tile) -> list[n.Statement]:
    """Another thread's element: the mirrored one, a partner, or one further on."""
    draw, t = tile.frame.draw, tile.thread
    other: n.Expression = draw.choice((
        n.Binary("-", n.Binary("-", tile.width, n.integer(1)), t),
        n.Binary("^", t, n.integer(draw.choice((1, 2, 4, 8)))),
        n.Binary("%", n.Binary("+", t, n.integer(draw.between(1, 30))), tile.width),
    ))  # fmt: skip
    across = tile.at(other)
    tile.palette.leaves[tile.type] = [across, tile.at(t)]
    return [_stored(tile, tile.palette.using(tile.type, draw.between(0, 2), [across]))]


def _neighbours(tile: _Tile) -> list[n.Statement]:
    """The elements to the left and to the right."""
    draw, t, type = tile.frame.draw, tile.thread, tile.type
    reach = n.integer(draw.choice((1, 1, 2)))
    none = zero(type)
    low = n.Conditional(n.Binary(">=", t, reach), tile.at(n.Binary("-", t, reach)), none)
    edge = n.Binary("-", tile.width, reach)
    high = n.Conditional(n.Binary("<", t, edge), tile.at(n.Binary("+", t, reach)), none)
    one, left = tile.frame.local(type, low)
    two, right = tile.frame.local(type, high)
    tile.palette.leaves[type] = [left, right, tile.at(t)]
    value = tile.palette.using(type, draw.between(1, 3), [left, right])
    return [one, two, _stored(tile, value)]


def _folded(tile: _Tile) -> list[n.Statement]:
    """A reduction over the block by halves."""
    draw, t, type = tile.frame.draw, tile.thread, tile.type
    step = n.Name(tile.frame.name(("s", "stride", "half", "step", "offset")))
    other = tile.at(n.Binary("+", t, step))
    if draw.chance(0.5):
        update: n.Statement = n.Assign(tile.at(t), other, "+=")
    else:
        function = draw.choice(("fminf", "fmaxf") if type.is_float else ("min", "max"))
        update = n.Assign(tile.at(t), n.Call(function, (tile.at(t), other)))
    half = n.Binary("/", tile.width, n.integer(2)) if draw.chance(0.5) else n.integer(BLOCK // 2)
    shrink = n.Assign(step, n.integer(1), ">>=") if draw.chance(0.6) else n.Assign(
        step, n.integer(2), "/="
    )  # fmt: skip
    loop = n.For(
        n.Declare(INT, step.name, half),
        n.Binary(">", step, n.integer(0)),
        shrink,
        (n.If(n.Binary("<", t, step), (update,)), SYNC),
        unroll=1 if draw.chance(0.5) else None,
    )
    total = tile.at(n.integer(0))
    tile.palette.leaves[type] = [total]
    value = tile.palette.using(type, 1, [total]) if draw.chance(0.4) else total
    store = n.Assign(at(tile.output, n.builtin("blockIdx.x")), value)
    return [loop, n.If(n.Binary("==", t, n.integer(0)), (store,))]


def _swept(tile: _Tile) -> list[n.Statement]:
    """A loop over elements of the tile in every thread."""
    draw, t, type = tile.frame.draw, tile.thread, tile.type
    declare, total = tile.frame.local(type, zero(type))
    k = n.Name(tile.frame.name(words.LOOPS))
    tile.palette.leaves[type] = [tile.at(k), tile.at(t)]
    whole = n.builtin("blockDim.x")
    few = n.integer(draw.between(3, 6))
    ends: tuple[n.Expression, ...] = (whole, n.Binary("+", t, n.integer(1)), few)
    until = draw.choice(ends)
    value = tile.palette.using(type, 1, [tile.at(k)])
    loop = n.For(
        n.Declare(INT, k.name, n.integer(0)),
        n.Binary("<", k, until),
        n.Assign(k, n.integer(1), "+="),
        (n.Assign(total, value, "+="),),
        unroll=1 if draw.chance(0.6) else None,
    )
    return [declare, loop, _stored(tile, total)]


_PATTERNS: tuple[Callable[[_Tile], list[n.Statement]], ...] = (
    _exchanged, _neighbours, _folded, _swept,
)  # fmt: skip


def _transposed(draw: Stream) -> Made:
    """A square tile, written by rows and read by columns."""
    frame = Frame(draw, grid=PLANE_GRID, block=PLANE_BLOCK)
    side = PLANE_BLOCK[0]
    type = draw.choice((FLOAT, FLOAT, INT))
    output, source = frame.array(type, written=True), frame.array(type)
    width = frame.size_parameter(PLANE_WIDTH, pool=words.WIDTHS)
    height = frame.size_parameter(PLANE_HEIGHT, pool=words.HEIGHTS)
    x, y = n.Name(frame.name(words.COLUMNS)), n.Name(frame.name(words.ROWS))
    tx, ty = n.builtin("threadIdx.x"), n.builtin("threadIdx.y")
    name = n.Name(frame.name(words.TILES))
    padding = draw.choice((0, 1))  # people pad rows against conflicts of memory banks
    own, mirrored = at(at(name, ty), tx), at(at(name, tx), ty)
    place = n.Binary("+", n.Binary("*", y, width), x)
    inside = n.Binary("&&", n.Binary("<", x, width), n.Binary("<", y, height))
    palette = Palette(draw, {type: [at(source, place)]})
    load = palette.reading(type, draw.between(0, 1))
    palette.leaves[type] = [mirrored, own]
    value = palette.using(type, draw.between(0, 2), [mirrored])
    body = (
        n.Declare(Array(type, (side, side + padding)), name.name, space="shared"),
        n.Declare(INT, x.name, frame.global_index("x")),
        n.Declare(INT, y.name, frame.global_index("y")),
        n.Assign(own, n.Conditional(inside, load, zero(type))),
        SYNC,
        n.If(inside, (n.Assign(at(output, place), value),)),
    )
    return one_kernel(frame, body)
