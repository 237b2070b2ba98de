"""One loop that asks in every turn, where there are two, of which one is done.

A compiler asks a question whose answer stays the same before the loop, and has a loop for each
answer. Nothing here is trusted: who takes a change compiles it and compares the PTX.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from functools import partial
from typing import Any

from ptxkit.cuda import nodes as n
from ptxkit.cuda.types import DOUBLE, FLOAT, INT
from ptxkit.decompiler.lift.rewrite import Body, bottom_up, rebuilt_lists


def asked_inside(function: n.Function) -> Iterator[n.Function]:
    """The function with the question inside of one loop.

    >>> from ptxkit.cuda import print_function, read
    >>> kernel = read('''(kernel k (params (param (ptr int) x) (param int a) (param int n))
    ...     (if (!= a 0)
    ...         (then (for (let int i 0) (< i n) (+= i 1) (= ([] x i) 1)))
    ...         (else (for (let int j 0) (< j n) (+= j 1) (= ([] x j) 2)))))''')
    >>> for made in asked_inside(kernel):
    ...     print(print_function(made), end="")
    __global__ void k(int *x, int a, int n) {
        for (int i = 0; i < n; i++) {
            if (a != 0) {
                x[i] = 1;
            } else {
                x[i] = 2;
            }
        }
    }
    >>> weighted = read('''(kernel k (params (param (ptr float) x) (param (ptr float) w))
    ...     (if (!= w nullptr)
    ...         (then (for (let int i 0) (< i 9) (+= i 1)
    ...                    (let float f ([] w i)) (*= ([] x i) f) (+= ([] x 9) f)))
    ...         (else (for (let int j 0) (< j 9) (+= j 1)
    ...                    (*= ([] x j) 1.0f) (+= ([] x 9) 1.0f)))))''')
    >>> print(print_function(next(asked_inside(weighted))), end="")
    __global__ void k(float *x, float *w) {
        for (int i = 0; i < 9; i++) {
            float f = w != nullptr ? w[i] : 1.0f;
            x[i] *= f;
            x[9] += f;
        }
    }
    """
    if function.body is not None:
        for join in (_value_asked, _turn_asked):
            made = replace(function, body=_inside(function.body, join))
            if made != function:
                yield made


_Join = Callable[[n.Expression, Body, Body], Body | None]
"""Makes one turn of what is done where the answer is yes, and where it is no."""


def _inside(body: Body, join: _Join) -> Body:
    made: list[n.Statement] = []
    for statement in body:
        statement = rebuilt_lists(statement, partial(_inside, join=join))
        match statement:
            case n.If(condition, (*before, n.For()) as one, (*_, n.For()) as two):
                first = one[-1]
                *other, second = _named_alike(one, two)
                assert isinstance(first, n.For) and isinstance(second, n.For)
                same = replace(first, body=()) == replace(second, body=()) and before == other
                turn = join(condition, first.body, second.body) if same else None
                if turn is not None:
                    made += (*before, replace(first, body=turn))
                    continue
        made.append(statement)
    return tuple(made)


def _turn_asked(condition: n.Expression, one: Body, two: Body) -> Body:
    """What a turn does is asked for."""
    return (n.If(condition, one, two),)


def _value_asked(condition: n.Expression, one: Body, two: Body) -> Body | None:
    """A value is asked for that is a number in one of both: ``w != nullptr ? w[i] : 1.0f``.

    A compiler leaves out what a 1 is multiplied by, and what a 0 is added to.
    """
    numbers = {p for s in two for p in s.walk() if isinstance(p, n.Literal)}
    whole = n.Block(one)
    for part in whole.walk():
        match part:
            case n.Declare(name=name, value=n.Index() as value):
                pass
            case _:
                continue
        for number in (*numbers, *_NEUTRAL):
            left = bottom_up(_without_declared(whole, name), partial(_with, name, number))
            if left.body == two:
                asked = replace(part, value=n.Conditional(condition, value, number))
                changed: n.Block = bottom_up(whole, partial(_instead, part, asked))
                return changed.body
    return None


_NEUTRAL = (n.Literal(1.0, FLOAT), n.Literal(1.0, DOUBLE), n.Literal(1, INT))


def _without_declared(block: n.Block, name: str) -> n.Block:
    """A block without the declaration of a name, wherever in it that is."""

    def without(body: Body) -> Body:
        kept = (s for s in body if not (isinstance(s, n.Declare) and s.name == name))
        return tuple(rebuilt_lists(s, without) for s in kept)

    return replace(block, body=without(block.body))


def _instead(old: n.Statement, new: n.Statement, node: Any) -> Any:
    return new if node == old else node


def _with(name: str, number: n.Literal, node: Any) -> Any:
    """A number instead of a name, and what a compiler makes of it."""
    match node:
        case n.Name(name=own) if own == name:
            return number
        case n.Binary("*", left, right) if number in (left, right) and number.value == 1:
            return right if left == number else left
    return node


def _named_alike(one: Body, two: Body) -> Body:
    """The second of two bodies, with the names of the first for what it declares in its order."""
    names = [[p.name for s in body for p in s.walk() if isinstance(p, n.Declare)]
             for body in (one, two)]  # fmt: skip
    types = [[p.type for s in body for p in s.walk() if isinstance(p, n.Declare)]
             for body in (one, two)]  # fmt: skip
    pairs: dict[str, str] = {}
    place = 0
    for name, type in zip(names[1], types[1], strict=True):
        # What the second has no part in is left out there.
        while place < len(names[0]) and types[0][place] != type:
            place += 1
        if place < len(names[0]):
            pairs[name] = names[0][place]
            place += 1
    return tuple(bottom_up(s, partial(_renamed, names=pairs)) for s in two)


def _renamed(node: Any, names: Mapping[str, str]) -> Any:
    match node:
        case n.Name(name=name) | n.Declare(name=name) if name in names:
            return replace(node, name=names[name])
    return node
