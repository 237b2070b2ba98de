"""What was stored, read again where it is used: people write ``s[t] += x; if (s[t] > 0) ...``.

A compiler knows what it stored, and keeps the variable; but it adds and multiplies in the order
that the text has. Nothing here is trusted: who takes a change compiles it and compares the PTX.
"""

from __future__ import annotations

from collections.abc import Callable, Container, Iterator
from dataclasses import replace
from typing import Any

from ptxkit.cuda import nodes as n
from ptxkit.decompiler.lift.conditions import negate
from ptxkit.decompiler.lift.rewrite import bottom_up, rebuilt_lists, written
from ptxkit.decompiler.refine.expressions import COMMUTE
from ptxkit.decompiler.refine.moves import Body, Change

_Cell = n.Index | n.Unary
"""Where something is stored: ``x[i]`` or ``*x``."""


def through_memory(function: n.Function) -> Iterator[n.Function]:
    """The function with all that it stored read from there, as far as nobody may have changed it.

    >>> from ptxkit.cuda import print_function, read
    >>> kernel = read('''(kernel k (params (param (ptr float) x) (param (ptr float) y))
    ...     (let int i threadIdx.x)
    ...     (let float v ([] x i))
    ...     (= ([] y i) v)
    ...     (let float w (+ ([] x (+ i 1)) v))
    ...     (= ([] y i) w)
    ...     (if (> w 0.0f) (then (= ([] x i) w))))''')
    >>> print(print_function(next(through_memory(kernel))), end="")
    __global__ void k(float *x, float *y) {
        int i = threadIdx.x;
        y[i] = x[i];
        y[i] += x[i + 1];
        if (y[i] > 0.0f) x[i] = y[i];
    }
    >>> kernel = read('''(kernel k (params (param (ptr float) x) (param (ptr float) y))
    ...     (let int i threadIdx.x)
    ...     (let float v)
    ...     (if (> i 0) (then (= v ([] y 0))) (else (= v ([] x 0)) (= ([] y 0) v)))
    ...     (= ([] x i) (+ v 1.0f)))''')
    >>> print(print_function(next(through_memory(kernel))), end="")
    __global__ void k(float *x, float *y) {
        int i = threadIdx.x;
        if (i <= 0) y[0] = x[0];
        x[i] = y[0] + 1.0f;
    }
    """
    made = _all_stored(function.body or ())
    if made != function.body:
        yield replace(function, body=made)


def _all_stored(body: Body) -> Body:
    body = tuple(rebuilt_lists(statement, _all_stored) for statement in body)
    place = 0
    while place < len(body):
        found = next(_stored(body, place), None)
        if found is not None:
            start, end, made = found
            body = (*body[:start], *made, *body[end:])
            place = start
        place += 1
    return body


def stored(body: Body, at: Container[int]) -> Iterator[Change]:
    """One variable that was stored, read from there by all that follows, or by what comes next."""
    for place in range(len(body)):
        if place in at:
            for start, end, made in _stored(body, place):
                yield "memory", start, end, made


def _stored(body: Body, place: int) -> Iterator[tuple[int, int, Body]]:
    store = _last_store(body[place])
    if store is None:
        return
    name, cell = store
    last = place
    users: list[int] = []
    for later in range(place + 1, len(body)):
        statement = body[later]
        if _may_change(statement, name, cell):
            break
        last = later
        if name in statement.names():
            users.append(later)
        if isinstance(statement, n.Assign) and statement.target == cell:
            break
    if not users:
        return
    use = _instead(name, cell)
    for end in dict.fromkeys((last, users[0])):
        after = tuple(_read(s, use) for s in body[place + 1 : end + 1])
        left = any(name in s.names() for s in body[end + 1 :])
        start, first = place, body[place]
        match body[place - 1] if place and not left else None:
            case n.Declare(name=declared, value=value, space="") if declared == name:
                direct = _directly(first, name, cell, value)
                if direct is not None:
                    start, first = place - 1, direct
        yield start, end + 1, (first, *after)


def _last_store(statement: n.Statement) -> tuple[str, _Cell] | None:
    """The variable that a statement stores last, and where.

    Compilers that know what one branch of an ``if`` stored read it in the other one.
    """
    match statement:
        case n.Assign(n.Index() | n.Unary("*") as cell, n.Name(name=name), "="):
            return name, cell
        case n.If(then=(*_, one), otherwise=(*_, other)):
            found = _last_store(one) or _last_store(other)
            same = found is not None and all(
                found in (_last_store(last), _last_load(last)) for last in (one, other)
            )
            return found if same else None
    return None


def _last_load(statement: n.Statement) -> tuple[str, _Cell] | None:
    match statement:
        case n.Assign(n.Name(name=name), n.Index() | n.Unary("*") as cell, "="):
            return name, cell
    return None


def _directly(
    statement: n.Statement, name: str, cell: _Cell, value: n.Expression | None
) -> n.Statement | None:
    """A store of what a variable was set to, without that; in an ``if`` that of both branches."""
    match statement:
        case n.Assign() if value is not None:
            return _updated(cell, value)
        case n.If(condition, then, otherwise):
            one, other = _ends_directly(then, name, cell), _ends_directly(otherwise, name, cell)
            if one is None or other is None:
                return None
            if not one:
                condition, one, other = negate(condition, lambda _: False), other, one
            return n.If(condition, one, other)
    return None


def _ends_directly(body: Body, name: str, cell: _Cell) -> Body | None:
    """A branch that stores what a variable is set to last, or reads that, without the variable."""
    match body:
        case (*before, n.Assign(n.Name(name=own), value, "="), _) if own == name:
            return (*before, _updated(cell, value))
        case (*before, last) if _last_load(last) == (name, cell):
            return tuple(before)
    return None


def _updated(cell: _Cell, value: n.Expression) -> n.Assign:
    """What is stored: as a change of what is there, where it is one."""
    match value:
        case n.Binary(operator=operator, left=left, right=right):
            if left == cell:
                return n.Assign(cell, right, f"{operator}=")
            if right == cell and operator in COMMUTE:
                return n.Assign(cell, left, f"{operator}=")
    return n.Assign(cell, value)


def _may_change(statement: n.Statement, name: str, cell: _Cell) -> bool:
    """Whether what a variable and a cell hold may differ behind a statement."""
    if name in written(statement) or not cell.names().isdisjoint(written(statement)):
        return True
    for part in statement.walk():
        if isinstance(part, n.Evaluate | n.Asm | n.For | n.While | n.DoWhile):
            return True
        if isinstance(part, n.Assign) and part.target == cell and part is not statement:
            return True
    return False


def _instead(name: str, new: n.Expression) -> Callable[[Any], Any]:
    return lambda node: new if node == n.Name(name) else node


def _read(statement: n.Statement, use: Callable[[Any], Any]) -> n.Statement:
    made: n.Statement = bottom_up(statement, use)
    return made
