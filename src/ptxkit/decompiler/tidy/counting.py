"""Loops that count to nothing, down or up from below, and do not ask how far they are."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

from ptxkit.cuda import nodes as n
from ptxkit.cuda.types import Scalar
from ptxkit.decompiler.lift.rewrite import rebuilt_lists, written
from ptxkit.decompiler.tidy.loops import stepping

Body = tuple[n.Statement, ...]


def counting_up(function: n.Function, take: Callable[[], bool]) -> n.Function:
    """A function with such loops counting up from 0: others can then be indices by the counter.

    >>> from ptxkit.cuda import print_function, read
    >>> kernel = read('''(kernel k (params (param (ptr float) x) (param int n))
    ...     (let int i (+ n 1)) (let (ptr float) p x)
    ...     (while (!= i 0) (= (deref p) 0.0f) (+= p 2) (-= i 1)))''')
    >>> print(print_function(counting_up(kernel, lambda: True)), end="")
    __global__ void k(float *x, int n) {
        float *p = x;
        for (int i = 0; i < n + 1; i++) {
            *p = 0.0f;
            p += 2;
        }
    }
    """

    def counted(body: Body) -> Body:
        made: list[n.Statement] = []
        for place, statement in enumerate(body):
            one: Any = rebuilt_lists(statement, counted)
            loop = stepping(one) if isinstance(one, n.While) else one
            if isinstance(loop, n.For):
                name, up = _counter(loop)
                start = _start(made, name, [*body[place + 1 :]]) if name else None
                count = _count(made[start], up) if start is not None else None
                if start is not None and count is not None and take():
                    one = _upwards(loop, made.pop(start), count)
            made.append(one)
        return tuple(made)

    return replace(function, body=counted(function.body or ()))


def _counter(loop: n.For) -> tuple[str, bool]:
    """What a loop counts to 0, if nothing else in it does anything with that, and whether up."""
    match loop.start, loop.condition, loop.step:
        case (
            None,
            n.Binary("!=" | ">", n.Name(name=name), n.Literal(value=0)) as asked,
            n.Assign(n.Name(name=moved), n.Literal(value=1 | -1 as by), "-=" | "+=" as operator),
        ) if name == moved and not any(name in s.names() for s in loop.body):
            up = (by == 1) == (operator == "+=")
            if not up or asked.operator == "!=":
                return name, up
    return "", False


def _count(start: n.Statement, up: bool) -> n.Expression | None:
    """How many turns a loop has that counts to 0."""
    match start:
        case n.Declare(value=n.Unary("-", value)) if up:
            return value
        case n.Declare(value=n.Node() as value) if not up:
            return value
    return None


def _start(before: list[n.Statement], name: str, after: list[n.Statement]) -> int | None:
    """The place of what declares a counter that nobody else needs."""
    for place in range(len(before) - 1, -1, -1):
        match before[place]:
            case n.Declare(type=Scalar(), name=declared, space="", value=n.Node() as value) if (
                declared == name
            ):
                later = before[place + 1 :]
                changed = {x for s in later for x in written(s)}
                if any(name in s.names() for s in (*later, *after)) or changed & value.names():
                    return None
                return place
        if name in before[place].names():
            return None
    return None


def _upwards(loop: n.For, start: Any, count: n.Expression) -> n.For:
    counter = n.Name(start.name)
    return replace(
        loop,
        start=replace(start, value=n.integer(0)),
        condition=n.Binary("<", counter, count),
        step=n.Assign(counter, n.integer(1), "+="),
    )
