"""Textures and surfaces: their objects by their types, and fetches of one number as such."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Container
from itertools import count
from typing import Any

from ptxkit.cuda import nodes as n
from ptxkit.cuda.types import FLOAT, INT, LONG_LONG, UINT, UNSIGNED_LONG_LONG, Scalar, Struct, Type
from ptxkit.decompiler.lift.rewrite import bottom_up

Body = tuple[n.Statement, ...]
_FETCH = re.compile(r"(tex\w+)<(float|int|uint)4>")
_WORDS = {"cudaTextureObject_t": "tex", "cudaSurfaceObject_t": "surf"}
_NAMELESS = re.compile(r"[anp]\d+")
_NUMBERS: dict[str, Scalar] = {"float": FLOAT, "int": INT, "uint": UINT}


def with_single_fetches(body: Body, types: dict[str, Type]) -> Body:
    """``tex2D<float>(...)`` for a vector of which only the first number is used."""
    fetched: dict[str, str] = {}
    uses: Counter[str] = Counter()
    firsts: Counter[str] = Counter()
    for statement in body:
        for node in statement.walk():
            match node:
                case n.Assign(n.Name(name=name), n.Call(function=function), "=") if (
                    found := _FETCH.fullmatch(function)
                ):
                    fetched[name] = found[2] if name not in fetched else ""
                    uses[name] -= 1  # as the target
                case n.Member(n.Name(name=name), "x"):
                    firsts[name] += 1
            if isinstance(node, n.Name):
                uses[node.name] += 1
    single = {name: _NUMBERS[kind] for name, kind in fetched.items()
              if kind and uses[name] == firsts[name]}  # fmt: skip
    if not single:
        return body
    types.update(single)

    def change(node: Any) -> Any:
        match node:
            case n.Member(n.Name(name=name), "x") if name in single:
                return n.Name(name)
            case n.Assign(n.Name(name=name) as target, n.Call() as call) if name in single:
                found = _FETCH.fullmatch(call.function)
                assert found is not None
                word = single[name].spelling
                return n.Assign(target, n.Call(f"{found[1]}<{word}>", call.arguments))
        return node

    return tuple(bottom_up(statement, change) for statement in body)


def typed_objects(
    parameters: tuple[n.Parameter, ...], body: Body, taken: Container[str]
) -> tuple[tuple[n.Parameter, ...], Body]:
    """Parameters that only textures, or only surfaces, are reached by, as that.

    They have names that say so, if nobody gave them others and those are not ``taken``.
    """
    numbers = {p.name for p in parameters if p.type in (UNSIGNED_LONG_LONG, LONG_LONG)}
    if not numbers:
        return parameters, body
    uses: Counter[str] = Counter()
    kinds: dict[str, Counter[str]] = {name: Counter() for name in numbers}
    for statement in body:
        for node in statement.walk():
            if isinstance(node, n.Name) and node.name in numbers:
                uses[node.name] += 1
            elif isinstance(node, n.Call):
                found = _object(node)
                if found is not None and found[0] in numbers:
                    kinds[found[0]][found[1]] += 1
    made: list[n.Parameter] = []
    names: dict[str, str] = {}
    for one in parameters:
        kind = next((k for k, times in kinds.get(one.name, Counter()).items()
                     if times == uses[one.name]), "")  # fmt: skip
        if not kind:
            made.append(one)
            continue
        wishes = (f"{_WORDS[kind]}{number or ''}" for number in count())
        wish = next(w for w in wishes if w not in taken and w not in names.values())
        names[one.name] = wish if _NAMELESS.fullmatch(one.name) else one.name
        made.append(n.Parameter(Struct(kind), names[one.name], one.const))
    if all(old == new for old, new in names.items()):
        return tuple(made), body

    def change(node: Any) -> Any:
        return n.Name(names[node.name]) if isinstance(node, n.Name) and node.name in names else node

    return tuple(made), tuple(bottom_up(statement, change) for statement in body)


def _object(call: n.Call) -> tuple[str, str] | None:
    """The variable that a call takes for an object, and the type of that."""
    place, kind = 0, "cudaTextureObject_t"
    if call.function.startswith("surf"):
        place, kind = int("write" in call.function), "cudaSurfaceObject_t"
    elif not call.function.startswith("tex"):
        return None
    argument = call.arguments[place] if place < len(call.arguments) else None
    return (argument.name, kind) if isinstance(argument, n.Name) else None
