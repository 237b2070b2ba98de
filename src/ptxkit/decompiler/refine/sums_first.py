"""Sums that are computed inside of an ``if`` and again behind it, computed once in front of both.

A compiler that needs a value on one way and behind it may compute it on each; and people who had it
in a variable have it in one. Nothing here is trusted: who takes a change compiles it and compares
the PTX.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import partial
from typing import Any

from ptxkit.cuda import nodes as n
from ptxkit.decompiler.lift.rewrite import Body, bottom_up, rebuilt, without_declared, written
from ptxkit.decompiler.refine.places import Edit, applied, bodies_in, nodes_in

#: So many of the statements in front of a variable are looked at.
_NEAR = 16
#: So many variables that a value is made of are declared in front with it.
_FEW = 4


def computed_once(function: n.Function) -> Iterator[n.Function]:
    """The function with a variable declared early that was computed before it already.

    >>> from ptxkit.cuda import print_function, read
    >>> kernel = read('''(kernel k (params (param (ptr float) x) (param float a) (param float b))
    ...     (if (> a b) (then (let float s (+ (+ a b) 1.0f)) (= ([] x 0) (* s s))))
    ...     (let float t (+ a b))
    ...     (let float u (+ t 1.0f))
    ...     (= ([] x 1) (* t u)))''')
    >>> print(print_function(next(computed_once(kernel))), end="")
    __global__ void k(float *x, float a, float b) {
        float t = a + b;
        float u = t + 1.0f;
        if (a > b) x[0] = u * u;
        x[1] = t * u;
    }
    """
    values = _computed(function)
    for path, body in bodies_in(function):
        for place, statement in enumerate(body):
            if not isinstance(statement, n.Declare) or statement.name not in values:
                continue
            for earlier in range(max(0, place - _NEAR), place):
                if isinstance(body[earlier], n.If):
                    made = _moved(body, earlier, place, values)
                    whole = made and applied(function, Edit("name", path, body, made, 0))
                    if whole:
                        yield whole
                        break


def _computed(function: n.Function) -> dict[str, n.Expression]:
    """What variables are that are set once, by computing alone."""
    nodes = [node for _, node in nodes_in(function)]
    changed = [name for s in function.body or () for name in written(s)]
    return {
        node.name: node.value
        for node in nodes
        if isinstance(node, n.Declare)
        and isinstance(node.value, n.Binary)
        and changed.count(node.name) == 1
        and not any(isinstance(p, n.Index | n.Call | n.Member) for p in node.value.walk())
        and all(changed.count(name) < 2 for name in node.value.names())
    }


def _moved(body: Body, earlier: int, place: int, values: Mapping[str, n.Expression]) -> Body | None:
    """Statements with one of them, and what it is made of, in front of an ``if`` that has it."""
    own = body[place]
    assert isinstance(own, n.Declare)
    wanted = _spelled_out(values[own.name], values)
    same = {
        part.name
        for part in body[earlier].walk()
        if isinstance(part, n.Declare)
        and part.name in values
        and part.type == own.type
        and _spelled_out(values[part.name], values) == wanted
    }
    if not same:
        return None
    needed = {own.name}
    for one in body[place - 1 : earlier : -1]:
        if isinstance(one, n.Declare) and any(
            one.name in values[name].names() for name in needed if name in values
        ):
            needed.add(one.name)
    if len(needed) > _FEW or not needed <= values.keys():
        return None
    first = [s for s in body[earlier : place + 1] if isinstance(s, n.Declare) and s.name in needed]
    rest = [s for s in body[earlier : place + 1] if s not in first]

    def change(node: Any) -> Any:
        return n.Name(own.name) if isinstance(node, n.Name) and node.name in same else node

    changed = (bottom_up(without_declared(rest[0], same), change), *rest[1:])
    return (*body[:earlier], *first, *changed, *body[place + 1 :])


def _spelled_out(value: n.Expression, values: Mapping[str, n.Expression]) -> n.Expression:
    if isinstance(value, n.Name) and value.name in values:
        return _spelled_out(values[value.name], values)
    made: n.Expression = rebuilt(value, partial(_spelled_out, values=values))
    return made
