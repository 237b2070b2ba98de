"""Run a program in numpy: all threads at once, control flow by masks.

This is the independent oracle: it knows the tree and Warp's documented meaning, and nothing
of what Warp or NVIDIA's compilers make of it.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from ptxkit.errors import PtxkitError
from ptxkit.synth.warp import tree
from ptxkit.synth.warp.operations import OPERATORS, convert
from ptxkit.synth.warp.types import INT, REAL, UINT, Type

Array = np.ndarray[Any, Any]
_MOST_ITERATIONS = 4096


class OracleError(PtxkitError):
    """A program that does what no program of the grammar may: an index outside, no end."""


def evaluate(program: tree.Program, values: dict[str, Any]) -> None:
    """Run a program on arrays in place; structs are dictionaries of their fields."""
    with np.errstate(all="ignore"):
        _Run(program, values).kernel()


@dataclass(slots=True)
class _Frame:
    """The variables of the kernel or of one call of a function."""

    names: dict[str, Array] = field(default_factory=dict)
    result: Array | None = None
    returned: Array | None = None


@dataclass(slots=True)
class _Loop:
    """Which threads have left a loop, or this iteration of it."""

    left: Array
    skipped: Array


class _Run:
    def __init__(self, program: tree.Program, values: dict[str, Any]) -> None:
        self._program = program
        self._count = int(np.prod(program.launch))
        self._arrays: dict[str, Array] = {}
        self._functions = {function.name: function for function in program.functions}
        self._structs = {struct.name: struct for struct in program.structs}
        self._frame = _Frame()
        self._loops: list[_Loop] = []
        for item in program.parameters:
            value = values[item.name]
            if item.is_array:
                self._arrays[item.name] = value
            elif item.struct:
                for part in self._structs[item.struct].fields:
                    self._frame.names[f"{item.name}.{part.name}"] = self._same(
                        value[part.name], part.type
                    )
            else:
                self._frame.names[item.name] = self._same(value, item.type)

    def _same(self, value: Any, type: Type) -> Array:
        """One value for all threads."""
        array = np.asarray(value, dtype=type.scalar.dtype)
        return np.broadcast_to(array, (self._count, *type.shape))

    def kernel(self) -> None:
        program = self._program
        places = np.unravel_index(np.arange(self._count), program.launch)
        for name, place in zip(program.indices, places, strict=True):
            self._frame.names[name] = place.astype(np.int32)
        self._body(program.body, np.ones(self._count, dtype=bool))

    # Statements. A mask says which threads take part.

    def _body(self, body: tree.Body, mask: Array) -> None:
        for statement in body:
            active = self._active(mask)
            if not active.any():
                return
            _STATEMENTS[type(statement)](self, statement, active)

    def _active(self, mask: Array) -> Array:
        if self._frame.returned is not None:
            mask = mask & ~self._frame.returned
        if self._loops:
            mask = mask & ~self._loops[-1].left & ~self._loops[-1].skipped
        return mask

    def assign(self, node: tree.Assign, mask: Array) -> None:
        value = self.value(node.value)
        if node.operator:
            value = OPERATORS[node.operator].evaluate(self._frame.names[node.name], value)
        self._set(node.name, value.astype(node.value.type.scalar.dtype), node.value.type, mask)

    def _set(self, name: str, value: Array, type: Type, mask: Array) -> None:
        value = np.broadcast_to(value, (self._count, *type.shape))
        old = self._frame.names.get(name)
        if old is not None and old.shape == value.shape and not mask.all():
            wide = mask.reshape(mask.shape + (1,) * len(type.shape))
            value = np.where(wide, value, old)
        self._frame.names[name] = value

    def store(self, node: tree.Store, mask: Array) -> None:
        place = self._place(node.array, node.index, mask)
        value = np.broadcast_to(self.value(node.value), (self._count, *node.value.type.shape))
        self._arrays[node.array][tuple(part[mask] for part in place)] = value[mask]

    def atomic(self, node: tree.Atomic, mask: Array) -> None:
        place = self._place(node.array, node.index, mask)
        value = np.broadcast_to(self.value(node.value), (self._count, *node.value.type.shape))
        function = _ATOMICS[node.operator]
        function.at(self._arrays[node.array], tuple(part[mask] for part in place), value[mask])

    def _place(self, array: str, index: tuple[tree.Expression, ...], mask: Array) -> list[Array]:
        found = []
        for expression, size in zip(index, self._arrays[array].shape, strict=False):
            place = np.broadcast_to(self.value(expression), (self._count,)).astype(np.int64)
            if ((place < 0) | (place >= size))[mask].any():
                raise OracleError(f"'{self._program.name}' leaves the array '{array}'")
            found.append(np.clip(place, 0, size - 1))
        return found

    def choose(self, node: tree.If, mask: Array) -> None:
        test = np.broadcast_to(self.value(node.test), (self._count,))
        self._body(node.body, mask & test)
        self._body(node.otherwise, mask & ~test)

    def count(self, node: tree.For, mask: Array) -> None:
        at = np.broadcast_to(self.value(node.start), (self._count,)).astype(np.int32)
        stop = np.broadcast_to(self.value(node.stop), (self._count,))

        def test() -> Array:
            return at < stop if node.step > 0 else at > stop

        def step() -> None:
            nonlocal at
            at = at + np.int32(node.step)

        def body(active: Array) -> None:
            self._set(node.name, at, node.start.type, active)
            self._body(node.body, active)

        self._repeat(test, body, step, mask)

    def repeat(self, node: tree.While, mask: Array) -> None:
        def test() -> Array:
            return np.broadcast_to(self.value(node.test), (self._count,))

        self._repeat(test, lambda active: self._body(node.body, active), lambda: None, mask)

    def _repeat(
        self,
        test: Callable[[], Array],
        body: Callable[[Array], None],
        step: Callable[[], None],
        mask: Array,
    ) -> None:
        none = np.zeros(self._count, dtype=bool)
        loop = _Loop(none.copy(), none.copy())
        self._loops.append(loop)
        for _ in range(_MOST_ITERATIONS):
            loop.skipped = none.copy()
            loop.left |= ~test()
            active = self._active(mask)
            if not active.any():
                self._loops.pop()
                return
            body(active)
            step()
        raise OracleError(f"'{self._program.name}' has a loop without end")

    def leave(self, node: tree.Break, mask: Array) -> None:
        self._loops[-1].left |= mask

    def skip(self, node: tree.Continue, mask: Array) -> None:
        self._loops[-1].skipped |= mask

    def finish(self, node: tree.Return, mask: Array) -> None:
        frame = self._frame
        shape = (self._count, *node.value.type.shape)
        value = np.broadcast_to(self.value(node.value), shape)
        if frame.result is None or frame.returned is None:
            frame.result, frame.returned = value.copy(), mask.copy()
            return
        frame.result[mask] = value[mask]
        frame.returned |= mask

    def draw(self, node: tree.Draw, mask: Array) -> None:
        state = _hash(self._frame.names[node.state])
        limits = [self.value(argument) for argument in node.arguments]
        kind, value = _DRAWS[node.operator](state, limits)
        self._set(node.state, state, UINT, mask)
        self._set(node.name, value, kind, mask)

    def new_struct(self, node: tree.NewStruct, mask: Array) -> None:
        for part in self._structs[node.struct].fields:
            zero = np.zeros((self._count, *part.type.shape), part.type.scalar.dtype)
            self._set(f"{node.name}.{part.name}", zero, part.type, mask)

    def tile_store(self, node: tree.TileStore, mask: Array) -> None:
        value = self.value(node.value)
        place = self._tile_place(node.offset, value.shape[1])
        array = self._arrays[node.array]
        value = np.broadcast_to(value, (self._count, value.shape[1]))
        if node.atomic:
            np.add.at(array, place[mask], value[mask])
        else:
            array[place[mask]] = value[mask]

    def _tile_place(self, offset: tree.Expression, length: int) -> Array:
        start = np.broadcast_to(self.value(offset), (self._count,))
        return start[:, None].astype(np.int64) + np.arange(length)

    # Expressions: one row a thread, or one row for all.

    def value(self, node: tree.Expression) -> Array:
        match node:
            case tree.Constant(value=value):
                return np.asarray([value], dtype=node.type.scalar.dtype)
            case tree.Name(name=name):
                return self._frame.names[name]
            case tree.Load(array=array, index=index):
                whole = self._arrays[array]
                parts = []
                for expression, size in zip(index, whole.shape, strict=False):
                    place = np.broadcast_to(self.value(expression), (self._count,))
                    parts.append(np.clip(place.astype(np.int64), 0, size - 1))
                return whole[tuple(parts)]
            case tree.Extent(array=array, dimension=dimension):
                return np.asarray([self._arrays[array].shape[dimension]], dtype=np.int32)
            case tree.Operation():
                return self._operation(node)
            case tree.Call(function=function, arguments=arguments):
                return self._call(self._functions[function], arguments)
            case tree.TileLoad(array=array, offset=offset):
                return self._arrays[array][self._tile_place(offset, node.type.shape[0])]
        raise TypeError(f"no expression: {node!r}")

    def _operation(self, node: tree.Operation) -> Array:
        values = [self.value(argument) for argument in node.arguments]
        word, _, function = node.operator.partition(" ")
        if word == "cast":
            return convert(values[0], node.type)
        if word == "construct":
            rows = [np.broadcast_to(value, (self._count,)) for value in values]
            return np.stack(rows, axis=1).reshape(self._count, *node.type.shape)
        if word == "component":
            whole, *places = values
            at: tuple[Any, ...] = (slice(None), *(int(place[0]) for place in places))
            found: Array = whole[at]
            return found
        if word == "rand_init":
            seed, offset = (value.astype(np.uint32) for value in values)
            return _hash(seed + _hash(offset))
        row = OPERATORS[function if word == "tile_map" else word]
        result = row.evaluate(*values)
        return np.asarray(result).astype(node.type.scalar.dtype, copy=False)

    def _call(self, function: tree.Function, arguments: tuple[tree.Expression, ...]) -> Array:
        frame = _Frame()
        for (name, type), argument in zip(function.parameters, arguments, strict=True):
            frame.names[name] = np.broadcast_to(self.value(argument), (self._count, *type.shape))
        outer, loops = self._frame, self._loops
        self._frame, self._loops = frame, []
        self._body(function.body, np.ones(self._count, dtype=bool))
        self._frame, self._loops = outer, loops
        if frame.result is None:
            raise OracleError(f"'{function.name}' gives no result")
        return frame.result


def _hash(state: Array) -> Array:
    """The PCG hash that Warp's documentation names as its generator."""
    state = state.astype(np.uint32)
    mixed = state * np.uint32(747796405) + np.uint32(2891336453)
    shift = (mixed >> np.uint32(28)) + np.uint32(4)
    word = ((mixed >> shift) ^ mixed) * np.uint32(277803737)
    result: Array = (word >> np.uint32(22)) ^ word
    return result


def _real(state: Array, limits: list[Array]) -> tuple[Type, Array]:
    unit = (state >> np.uint32(8)).astype(np.float32) * np.float32(2.0**-24)
    if limits:
        low, high = limits
        unit = (high - low) * unit + low
    return REAL, unit


def _integer(state: Array, limits: list[Array]) -> tuple[Type, Array]:
    low, high = (limit.astype(np.int32) for limit in limits)
    span = (high - low).astype(np.uint32)
    return INT, (state % span).astype(np.int32) + low


_DRAWS: dict[str, Callable[[Array, list[Array]], tuple[Type, Array]]] = {
    "randf": _real,
    "randi": _integer,
}
_ATOMICS = {"add": np.add, "sub": np.subtract, "min": np.minimum, "max": np.maximum}
_STATEMENTS: dict[type, Callable[..., None]] = {
    tree.Assign: _Run.assign,
    tree.Store: _Run.store,
    tree.Atomic: _Run.atomic,
    tree.If: _Run.choose,
    tree.For: _Run.count,
    tree.While: _Run.repeat,
    tree.Break: _Run.leave,
    tree.Continue: _Run.skip,
    tree.Return: _Run.finish,
    tree.Draw: _Run.draw,
    tree.NewStruct: _Run.new_struct,
    tree.TileStore: _Run.tile_store,
}
