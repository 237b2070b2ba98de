"""Bugs in trees of CUDA C++: what a decompiler, or a person, gets wrong."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator
from dataclasses import fields, replace
from typing import Any

import numpy as np

from ptxkit.cuda import nodes as n
from ptxkit.cuda.types import DOUBLE, FLOAT, INT, SCALARS, Scalar

_OPERATORS = {
    "+": "-", "-": "+", "*": "+", "/": "*", "%": "/", "<": "<=", "<=": "<", ">": ">=", ">=": ">",
    "==": "!=", "!=": "==", "&&": "||", "||": "&&", "&": "|", "|": "^", "^": "&", "<<": ">>",
    ">>": "<<",
}  # fmt: skip
_CALLS = {
    "min": "max", "max": "min", "fminf": "fmaxf", "fmaxf": "fminf", "sinf": "cosf", "cosf": "sinf",
    "fmin": "fmax", "fmax": "fmin", "expf": "exp2f", "sqrtf": "rsqrtf", "fabsf": "floorf",
    "atomicAdd": "atomicMax", "atomicMax": "atomicMin", "atomicMin": "atomicMax",
    "__shfl_down_sync": "__shfl_up_sync", "__shfl_up_sync": "__shfl_down_sync",
    "__shfl_xor_sync": "__shfl_down_sync", "floorf": "ceilf", "ceilf": "floorf",
}  # fmt: skip
_NARROWER = {INT: SCALARS["short"], DOUBLE: FLOAT, SCALARS["uint"]: SCALARS["uchar"],
             SCALARS["longlong"]: INT, SCALARS["ulonglong"]: SCALARS["uint"]}  # fmt: skip

Change = Callable[[Any, random.Random], Any]


def _operator(node: n.Binary, _: random.Random) -> n.Node:
    return replace(node, operator=_OPERATORS[node.operator])


def _swapped(node: n.Binary, _: random.Random) -> n.Node:
    return replace(node, left=node.right, right=node.left)


def _off_by_one(node: n.Literal, draw: random.Random) -> n.Node:
    if node.type.is_float:
        return n.Literal(float(node.value) * draw.choice((-1.0, 1.5, 0.5)) + 0.25, node.type)
    return n.Literal(int(node.value) + draw.choice((1, -1)), node.type)


def _negated(node: n.If, _: random.Random) -> n.Node:
    return replace(node, condition=n.Unary("!", node.condition))


def _next_element(node: n.Index, draw: random.Random) -> n.Node:
    return replace(node, index=n.Binary(draw.choice("+-"), node.index, n.integer(1)))


def _other_call(node: n.Call, _: random.Random) -> n.Node:
    return replace(node, function=_CALLS[node.function])


def _without_else(node: n.If, _: random.Random) -> n.Node:
    return replace(node, otherwise=())


def _wrong_sign(node: n.Assign, _: random.Random) -> n.Node:
    return replace(node, value=n.Unary("-", node.value))


def _narrowed(node: n.Declare, _: random.Random) -> n.Node:
    return replace(node, type=_NARROWER[node.type])


def _truncated(node: n.Assign, draw: random.Random) -> n.Node:
    return replace(
        node, value=n.Cast(draw.choice((SCALARS["short"], SCALARS["uchar"])), node.value)
    )


def _other_axis(node: n.Member, _: random.Random) -> n.Node:
    return replace(node, field="y" if node.field == "x" else "x")


def _loop_bound(node: n.For, draw: random.Random) -> n.Node:
    condition = node.condition
    assert isinstance(condition, n.Binary)
    other = n.Binary(draw.choice("+-"), condition.right, n.integer(1))
    return replace(node, condition=replace(condition, right=other))


def _unsigned(node: n.Declare, _: random.Random) -> n.Node:
    return replace(node, type=SCALARS["uint"])


def _other_width(node: n.Call, _: random.Random) -> n.Node:
    """A shuffle among half as many lanes."""
    return replace(node, arguments=(*node.arguments[:3], n.integer(16)))


def _last_bit(node: n.Literal, _: random.Random) -> n.Node:
    kind = np.float32 if node.type == FLOAT else np.float64
    return n.Literal(float(np.nextafter(kind(node.value), kind(np.inf))), node.type)


#: What a bug is called, which nodes it can be put into, and how.
BUGS: tuple[tuple[str, Callable[[Any], bool], Change], ...] = (
    ("operator", lambda x: isinstance(x, n.Binary) and x.operator in _OPERATORS, _operator),
    ("operands swapped", lambda x: isinstance(x, n.Binary) and x.operator in "-/%<><<>>",
     _swapped),
    ("off by one", lambda x: isinstance(x, n.Literal) and x.type.kind != "bool", _off_by_one),
    ("guard flipped", lambda x: isinstance(x, n.If), _negated),
    ("wrong element", lambda x: isinstance(x, n.Index), _next_element),
    ("other function", lambda x: isinstance(x, n.Call) and x.function in _CALLS, _other_call),
    ("else dropped", lambda x: isinstance(x, n.If) and bool(x.otherwise), _without_else),
    ("sign", lambda x: isinstance(x, n.Assign) and x.operator == "=", _wrong_sign),
    ("narrowed", lambda x: isinstance(x, n.Declare) and isinstance(x.type, Scalar)
     and x.type in _NARROWER, _narrowed),
    ("truncated", lambda x: isinstance(x, n.Assign) and x.operator == "=", _truncated),
    ("loop bound", lambda x: isinstance(x, n.For) and isinstance(x.condition, n.Binary),
     _loop_bound),
    ("unsigned", lambda x: isinstance(x, n.Declare) and x.type == INT, _unsigned),
    ("shuffle width", lambda x: isinstance(x, n.Call) and x.function.startswith("__shfl")
     and len(x.arguments) >= 3, _other_width),
    ("last bit", lambda x: isinstance(x, n.Literal) and x.type in (FLOAT, DOUBLE), _last_bit),
    ("wrong axis", lambda x: isinstance(x, n.Member) and isinstance(x.base, n.Name)
     and x.base.name in ("threadIdx", "blockIdx", "blockDim"), _other_axis),
)  # fmt: skip


def places(node: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[tuple[Any, ...], n.Node]]:
    """Every node with the way to it."""
    if isinstance(node, tuple):
        for number, item in enumerate(node):
            yield from places(item, (*path, number))
    elif isinstance(node, n.Node):
        yield path, node
        for field in fields(node):  # type: ignore[arg-type]
            yield from places(getattr(node, field.name), (*path, field.name))


def changed(node: Any, path: tuple[Any, ...], new: Any) -> Any:
    """A tree with another node at a place; None takes a statement out of its list."""
    if not path:
        return new
    first, rest = path[0], path[1:]
    if isinstance(node, tuple):
        if not rest and new is None:
            return (*node[:first], *node[first + 1 :])
        return (*node[:first], changed(node[first], rest, new), *node[first + 1 :])
    return replace(node, **{first: changed(getattr(node, first), rest, new)})


def mutant(tree: n.CudaModule, draw: random.Random) -> tuple[str, n.CudaModule]:
    """A tree with one bug, and what it is."""
    every = list(places(tree))
    choices: list[tuple[str, tuple[Any, ...], Any]] = []
    for name, fits, change in BUGS:
        found = [(path, node) for path, node in every if fits(node)]
        if found:
            path, node = draw.choice(found)
            choices.append((name, path, change(node, draw)))
    stores = [p for p, x in every if isinstance(x, n.Assign) and isinstance(x.target, n.Index)]
    waits = [p for p, x in every if isinstance(x, n.Evaluate)
             and isinstance(x.expression, n.Call) and "sync" in x.expression.function]  # fmt: skip
    for name, paths in (("store dropped", stores), ("barrier dropped", waits)):
        removable = [p for p in paths if isinstance(p[-1], int)]
        if removable:
            choices.append((name, draw.choice(removable), None))
    name, path, new = draw.choice(choices)
    return name, changed(tree, path, new)
