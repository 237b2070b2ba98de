"""Places in a tree of sums: ``left = step * (2 * i + 1) - 1``, ``right = step * (2 * i + 2) - 1``.

A compiler takes the 1 out of both, and the second from the first. Nothing here is trusted: who
takes a change compiles it and compares the PTX.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from functools import partial
from typing import Any

from ptxkit.cuda import nodes as n
from ptxkit.cuda.types import INT
from ptxkit.decompiler.lift.rewrite import rebuilt
from ptxkit.decompiler.refine.places import NewNames
from ptxkit.decompiler.refine.rows import single_values

_ONE = n.integer(1)
_STRICT = {"<=": "<", ">": ">="}


def in_a_tree(function: n.Function) -> Iterator[n.Function]:
    """The function with such places as people compute them.

    >>> from ptxkit.cuda import print_function, read
    >>> kernel = read('''(kernel k (params (param (ptr int) x) (param int i) (param int step))
    ...     (let int a (* (| (<< i 1) 1) step))
    ...     (let int b (+ a step))
    ...     (if (<= b 32) (then (= ([] x (- b 1)) ([] x (- a 1))))))''')
    >>> for made in in_a_tree(kernel):
    ...     print(print_function(made), end="")
    __global__ void k(int *x, int i, int step) {
        int a = (i * 2 + 1) * step - 1;
        int b = (i * 2 + 2) * step - 1;
        if (b < 32) x[b] = x[a];
    }
    """
    function = _with_names(function)
    places: dict[str, n.Expression] = {}
    known = single_values(function)
    for name, value in known.items():
        match value:
            case n.Binary("*", left, right):
                for odd, step in ((left, right), (right, left)):
                    if (number := _half(odd)) is not None:
                        places[name] = _place(number, 1, step)
    for name, value in known.items():
        match value:
            case n.Binary("+", n.Name(name=other), step) if other in places:
                match known[other]:
                    case n.Binary("*", left, right) if step in (left, right):
                        number = _half(right if step == left else left)
                        if number is not None:
                            places[name] = _place(number, 2, step)
    if places:
        yield rebuilt(function, partial(_changed, places))


def _with_names(function: n.Function) -> n.Function:
    """The function with names for what such places are of: a thread's number, as an ``int``."""
    body: list[n.Statement] = []
    names = NewNames(function)
    for statement in function.body or ():
        match statement:
            case n.Declare(type=type, value=n.Binary("*", odd, step)) if type == INT:
                number = _half(odd)
                if isinstance(number, n.Binary):
                    own = n.Name(names.take("i"))
                    body.append(n.Declare(INT, own.name, number))
                    twice = n.Binary("*", own, n.integer(2))
                    value = n.Binary("*", n.Binary("+", twice, _ONE), step)
                    statement = replace(statement, value=value)
        body.append(statement)
    return replace(function, body=tuple(body)) if function.body else function


def _half(odd: n.Expression) -> n.Expression | None:
    """What an odd number is two times of, and one more."""
    match odd:
        case n.Binary("|" | "+", n.Binary("<<", number, n.Literal(value=1)), n.Literal(value=1)):
            return number
        case n.Binary("|" | "+", n.Binary("*", number, n.Literal(value=2)), n.Literal(value=1)):
            return number
    return None


def _place(number: n.Expression, by: int, step: n.Expression) -> n.Expression:
    twice = n.Binary("+", n.Binary("*", number, n.integer(2)), n.integer(by))
    return n.Binary("-", n.Binary("*", twice, step), _ONE)


def _changed(places: dict[str, n.Expression], node: Any) -> Any:
    """A tree in which some variables hold one less."""
    match node:
        case n.Declare(name=name) if name in places:
            return n.Declare(node.type, name, places[name])
        case n.Binary("-", n.Name(name=name) as own, n.Literal(value=1)) if name in places:
            return own
        case n.Binary("<=" | ">" as operator, n.Name(name=name) as own, limit) if name in places:
            return n.Binary(_STRICT[operator], own, _changed(places, limit))
        case n.Name(name=name) if name in places:
            return n.Binary("+", node, _ONE)
    return rebuilt(node, partial(_changed, places))
