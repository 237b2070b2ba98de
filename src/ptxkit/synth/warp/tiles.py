"""Kernels whose blocks work on tiles together, in registers and in shared memory."""

from __future__ import annotations

import math
from collections.abc import Callable

from ptxkit.synth.streams import Stream
from ptxkit.synth.warp import tree
from ptxkit.synth.warp.builder import Builder, Palette, apply, whole
from ptxkit.synth.warp.reals import reduce
from ptxkit.synth.warp.types import FLOAT32, INT, REAL, Type

Expression = tree.Expression
_LENGTHS = (16, 32, 64, 128)
_BUDGET = (2, 6)  # every operation is one for all elements that a thread has
_MAPPED: dict[str, tuple[float, Callable[[float], float]]] = {
    "sin": (math.inf, lambda x: 1.0),
    "cos": (math.inf, lambda x: 1.0),
    "abs": (math.inf, lambda x: x),
    "sign": (math.inf, lambda x: 1.0),
    "ceil": (math.inf, lambda x: x + 1),
    "neg": (math.inf, lambda x: x),
    "floor": (math.inf, lambda x: x + 1),
}
_PAIRED: dict[str, Callable[[float, float], float]] = {
    "mul": lambda x, y: x * y,
    "min": max,
    "max": max,
    "add": lambda x, y: x + y,
}


def tile_kernel(stream: Stream) -> Builder:
    """A kernel that loads tiles, computes with them, and stores tiles or sums of them."""
    b = Builder(stream, Palette({}), budget=_BUDGET)
    b.launch = (stream.between(2, 4),)
    b.indices = b.indices[:1]
    length = stream.choice(_LENGTHS)
    type = Type(FLOAT32, (length,), tile=True)
    index = tree.Name(INT, b.launch[0], b.indices[0].name)
    offset = apply("mul", INT, b.launch[0] * length, index, whole(length))
    loaded = []
    for _ in range(stream.between(1, 3)):
        item = b.input(shape=(b.launch[0] * length,))
        b.used.add(item.name)
        storage = stream.weighted({"": 4, "shared": 3, "register": 1})
        value = tree.TileLoad(type, 2.0, item.name, offset, storage)
        loaded.append(b.local(value))
    for _ in range(stream.between(0, 2)):
        b.local(_tile(b, type, 2))
    result = b.local(_tile(b, type, 3))
    kinds = ["store", "reduce", "both"]
    match stream.choice(kinds):
        case "store":
            _store(b, result, offset)
        case "reduce":
            _reduce(b, result, index)
        case "both":
            _store(b, result, offset)
            _reduce(b, result, index)
    return b


def _tile(b: Builder, type: Type, depth: int) -> Expression:
    names = b.visible(type)
    if depth <= 0 or b.stream.chance(0.1):
        return b.read(b.stream.choice(names))
    match b.operation({"sum": 5, "scale": 3, "map": 4, "pair": 3}):
        case None:
            return b.read(b.stream.choice(names))
        case "sum":
            x, y = _tile(b, type, depth - 1), _tile(b, type, depth - 1)
            operator = b.stream.choice(("add", "sub"))
            return _damped(b, apply(operator, type, x.bound + y.bound, x, y))
        case "scale":
            x, factor = _tile(b, type, depth - 1), b.constant(0.2, 2.0)
            return _damped(b, apply("mul", type, x.bound * factor.bound, x, factor))
        case "map":
            function = b.stream.choice(tuple(_MAPPED))
            limit, bound = _MAPPED[function]
            x = reduce(b, _tile(b, type, depth - 1), limit)
            return _damped(b, apply(f"tile_map {function}", type, bound(x.bound), x))
    function = b.stream.choice(tuple(_PAIRED))
    x, y = _tile(b, type, depth - 1), _tile(b, type, depth - 1)
    return _damped(
        b, apply(f"tile_map {function}", type, _PAIRED[function](x.bound, y.bound), x, y)
    )


def _damped(b: Builder, value: Expression) -> Expression:
    return reduce(b, value, b.limit / 8)


def _store(b: Builder, value: tree.Name, offset: Expression) -> None:
    count = b.launch[0] * value.type.shape[0]
    item = b.output(shape=(count,))
    b.emit(tree.TileStore(item.name, value, offset))


def _reduce(b: Builder, value: tree.Name, index: tree.Name) -> None:
    """One number a block, or one for all of them."""
    operator = b.stream.choice(("tile_sum", "tile_sum", "tile_max", "tile_min"))
    one = Type(FLOAT32, (1,), tile=True)
    bound = value.bound * (value.type.shape[0] if operator == "tile_sum" else 1)
    reduced = b.local(apply(operator, one, bound, value))
    if operator == "tile_sum" and b.stream.chance(0.4):
        item = b.output(REAL, (1,))
        b.emit(tree.TileStore(item.name, reduced, whole(0), atomic=True))
    else:
        item = b.output(REAL, b.launch)
        b.emit(tree.TileStore(item.name, reduced, index))
