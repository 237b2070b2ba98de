"""One loop that asks in every turn, where there are two, of which one is done.

A compiler asks a question whose answer stays the same before the loop, and has a loop for each
answer. Nothing here is trusted: who takes a change compiles it and compares the PTX.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from functools import partial
from typing import Any

from ptxkit.cuda import nodes as n
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
    """
    if function.body is not None:
        made = replace(function, body=_inside(function.body))
        if made != function:
            yield made


def _inside(body: Body) -> Body:
    made: list[n.Statement] = []
    for statement in body:
        statement = rebuilt_lists(statement, _inside)
        match statement:
            case n.If(condition, (*before, n.For() as one), (*other, n.For() as two)):
                loop = _one_loop(condition, one, two)
                if loop is not None and before == other:
                    made += (*before, loop)
                    continue
        made.append(statement)
    return tuple(made)


def _one_loop(condition: n.Expression, one: n.For, two: n.For) -> n.For | None:
    """Two loops that count alike as one; None where they do not."""
    match one.start, two.start:
        case n.Declare(name=name), n.Declare(name=other):
            two = bottom_up(two, partial(_renamed, old=other, new=name))
    if (one.start, one.condition, one.step) != (two.start, two.condition, two.step):
        return None
    return replace(one, body=(n.If(condition, one.body, two.body),))


def _renamed(node: Any, old: str, new: str) -> Any:
    match node:
        case n.Name(name=name) | n.Declare(name=name) if name == old:
            return replace(node, name=new)
    return node
