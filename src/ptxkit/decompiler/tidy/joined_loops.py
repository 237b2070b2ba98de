"""Loops that count alike, one behind the other, as one loop that does what both do.

A compiler that unrolled a loop leaves its copies in turns; rolled up, what they do to one variable
and what they do to another are found by themselves, and are two loops.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import replace
from typing import Any

from ptxkit.cuda import nodes as n
from ptxkit.decompiler.lift.rewrite import bottom_up, rebuilt_lists

Body = tuple[n.Statement, ...]
_OTHERS = (n.Evaluate, n.Break, n.Continue, n.Goto, n.Label, n.Return, n.Asm, n.Switch)


def joined_loops(function: n.Function, take: Callable[[], bool]) -> n.Function:
    """A function that counts once for both.

    >>> from ptxkit.cuda import print_function, read
    >>> kernel = read('''(kernel k (params (param (ptr float) x) (param (ptr float) y))
    ...     (let float a 0.0f) (for (let int i 0) (< i 8) (+= i 1) (+= a ([] x i)))
    ...     (let float b 0.0f) (for (let int j 0) (< j 8) (+= j 1) (+= b ([] y j)))
    ...     (= ([] x 0) a) (= ([] y 0) b))''')
    >>> print(print_function(joined_loops(kernel, lambda: True)), end="")
    __global__ void k(float *x, float *y) {
        float a = 0.0f;
        float b = 0.0f;
        for (int i = 0; i < 8; i++) {
            a += x[i];
            b += y[i];
        }
        x[0] = a;
        y[0] = b;
    }
    """

    def joined(body: Body) -> Body:
        made: list[n.Statement] = []
        for statement in body:
            made.append(rebuilt_lists(statement, joined))
            both = _with_last(made)
            if both is not None and take():
                made = both
        return tuple(made)

    return replace(function, body=joined(function.body or ()))


def _with_last(body: list[n.Statement]) -> list[n.Statement] | None:
    """Statements with the last of them, a loop, put into the loop before it."""
    place = len(body) - 2
    while place >= 0 and isinstance(body[place], n.Declare):
        place -= 1
    one, two = (body[place], body[-1]) if place >= 0 else (None, None)
    match one, two:
        case (
            n.For(start=n.Declare(name=first), body=own, unroll=None),
            n.For(start=n.Declare(name=second), body=other, unroll=None),
        ):
            pass
        case _:
            return None
    assert isinstance(one, n.For) and isinstance(two, n.For)
    between = body[place + 1 : -1]
    renamed = bottom_up(replace(two, body=()), _renamed(second, first))
    if renamed != replace(one, body=()) or _others((*own, *other, *between)):
        return None
    moved = tuple(bottom_up(statement, _renamed(second, first)) for statement in other)
    # What both do to the element of a turn, the second one still does after the first one.
    loops = n.Block(own), n.Block(moved)
    beside = [bottom_up(loop, _without_own(first)).body for loop in loops]
    arrays = {name for loop in loops for name in loop.names()} - _names((*beside[0], *beside[1]))
    alone = [_changed(loop.body) - arrays for loop in loops]
    if alone[0] & _names(moved) or alone[1] & _names(own) or not _apart(own, between):
        return None
    if _declared(own) & _names(other):
        return None
    return [*body[:place], *between, replace(one, body=(*own, *moved))]


def _apart(one: Iterable[n.Statement], other: Iterable[n.Statement]) -> bool:
    """Whether neither changes what the other one names: variables, or where pointers lead."""
    return _changed(one).isdisjoint(_names(other)) and _changed(other).isdisjoint(_names(one))


def _without_own(counter: str) -> Callable[[Any], Any]:
    """What leaves out the element of a turn, ``a[i]``."""

    def without(node: Any) -> Any:
        match node:
            case n.Index(n.Name(), n.Name(name=index)) if index == counter:
                return n.integer(0)
        return node

    return without


def _changed(body: Iterable[n.Statement]) -> set[str]:
    found: set[str] = set()
    for statement in body:
        for part in statement.walk():
            target = part.target if isinstance(part, n.Assign) else None
            while isinstance(target, n.Index):
                target = target.base
            found |= target.names() if target is not None else set()
    return found


def _names(body: Iterable[n.Statement]) -> set[str]:
    return {name for s in body for name in s.names()}


def _declared(body: Iterable[n.Statement]) -> set[str]:
    return {p.name for s in body for p in s.walk() if isinstance(p, n.Declare)}


def _others(body: Iterable[n.Statement]) -> bool:
    """Whether more is done than variables and memory are set."""
    return any(isinstance(p, _OTHERS) for s in body for p in s.walk())


def _renamed(old: str, new: str) -> Callable[[Any], Any]:
    def renamed(node: Any) -> Any:
        named = isinstance(node, n.Name | n.Declare) and node.name == old
        return replace(node, name=new) if named else node

    return renamed
