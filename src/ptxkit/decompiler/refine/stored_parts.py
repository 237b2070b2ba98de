"""Vectors in memory that are changed part by part: ``s[t].x += s[j].x; s[t].y += s[j].y;``.

That is what an operator for vectors is, which people write for themselves. A compiler stores all
parts together at the end; but it adds in the order of the text, and reads as late as that says.
Nothing here is trusted: who takes a change compiles it and compares the PTX.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

from ptxkit.cuda import nodes as n
from ptxkit.decompiler.lift.rewrite import bottom_up, rebuilt_lists, written
from ptxkit.decompiler.refine.expressions import COMMUTE
from ptxkit.decompiler.refine.moves import Body
from ptxkit.decompiler.refine.naming import in_parts

_PARTS = "xyzw"
_OPERATORS = COMMUTE | {"-", "/"}


def part_by_part(function: n.Function) -> Iterator[n.Function]:
    """The function with parts of vectors stored one by one, and then with them also read so.

    >>> from ptxkit.cuda import print_function, read
    >>> kernel = read('''(kernel k (params (param (ptr float2) x) (param (ptr float2) y))
    ...     (let float2 v ([] x threadIdx.x))
    ...     (let float2 w ([] y 0))
    ...     (let float f (+ (. v x) (. w x)))
    ...     (let float g (+ (. v y) (. w y)))
    ...     (= ([] y 0) (call make_float2 f g))
    ...     (if (> f 0.0f) (then (= ([] x 0) (call make_float2 0.0f 1.0f)))))''')
    >>> print(print_function(list(part_by_part(kernel))[1]), end="")
    __global__ void k(float2 *x, float2 *y) {
        y[0].x += x[threadIdx.x].x;
        y[0].y += x[threadIdx.x].y;
        if (y[0].x > 0.0f) {
            x[0].x = 0.0f;
            x[0].y = 1.0f;
        }
    }
    """
    made = _split(function.body or ())
    if made == function.body:
        return
    yield replace(function, body=tuple(bottom_up(s, _updated) for s in made))
    for _, body in in_parts(replace(function, body=made)):
        yield replace(function, body=tuple(bottom_up(s, _updated) for s in body))


def _split(body: Body) -> Body:
    body = tuple(rebuilt_lists(statement, _split) for statement in body)
    place = 0
    while place < len(body):
        match body[place]:
            case n.Assign(n.Index() as cell, n.Call(name, arguments), "=") if name.startswith(
                "make_"
            ) and 2 <= len(arguments) <= len(_PARTS):
                before, stores, after = _stored(body, place, cell, arguments)
                body = (*before, *stores, *after)
                place = len(before) + len(stores)
            case _:
                place += 1
    return body


def _stored(
    body: Body, place: int, cell: n.Index, values: tuple[n.Expression, ...]
) -> tuple[Body, Body, Body]:
    """What is in front of a store, its parts, and what is behind it.

    A variable that is a part and nothing else is read there afterwards.
    """
    before, after = body[:place], body[place + 1 :]
    moves = not cell.names().isdisjoint(name for s in after for name in written(s))
    stores: list[n.Statement] = []
    for letter, value in zip(_PARTS, values, strict=False):
        part = n.Member(cell, letter)
        declared = None if moves else _only_for(value, before, after, values)
        if declared is not None:
            before = tuple(s for s in before if s is not declared)
            after = tuple(_with(s, value, part) for s in after)
            assert declared.value is not None
            value = declared.value
        stores.append(n.Assign(part, value))
    return before, tuple(stores), after


def _only_for(
    value: n.Expression, before: Body, after: Body, values: tuple[n.Expression, ...]
) -> n.Declare | None:
    """The declaration of a variable that is read only in a store and behind it."""
    if not isinstance(value, n.Name) or values.count(value) > 1:
        return None
    name = value.name
    users = [s for s in before if name in s.names() or name in written(s)]
    if len(users) != 1 or any(name in written(s) for s in after):
        return None
    only = users[0]
    return only if isinstance(only, n.Declare) and only.value is not None else None


def _with(statement: n.Statement, old: n.Expression, new: n.Expression) -> Any:
    return bottom_up(statement, lambda node: new if node == old else node)


def _updated(node: Any) -> Any:
    match node:
        case n.Assign(n.Member(n.Index()) as part, n.Binary(operator, left, right), "="):
            if left == part and operator in _OPERATORS:
                return n.Assign(part, right, f"{operator}=")
            if right == part and operator in COMMUTE:
                return n.Assign(part, left, f"{operator}=")
    return node
