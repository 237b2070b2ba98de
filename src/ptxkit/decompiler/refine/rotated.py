"""Loops that ask first, where a compiler asks whether there is a turn, and then after each one.

What is computed from what the loop leaves is inside of that question, then, and a number without
a turn. Nothing here is trusted: who takes a change compiles it and compares the PTX.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from ptxkit.cuda import nodes as n
from ptxkit.decompiler.lift.rewrite import Body, rebuilt_lists


def asking_first(function: n.Function) -> Iterator[n.Function]:
    """The function with ``while`` for such loops, and what follows them behind.

    >>> from ptxkit.cuda import print_function, read
    >>> kernel = read('''(kernel k (params (param (ptr float) x) (param int n))
    ...     (let int c 0)
    ...     (if (>= n 1) (then
    ...         (let int i 0)
    ...         (do (&& (< ([] x i) 4.0f) (< i n)) (+= i 1))
    ...         (= c (* i 255))))
    ...     (= ([] x 0) c))''')
    >>> for made in asking_first(kernel):
    ...     print(print_function(made), end="")
    __global__ void k(float *x, int n) {
        int i = 0;
        while (x[i] < 4.0f && i < n) i++;
        int c = i * 255;
        x[0] = c;
    }
    """
    if function.body is not None:
        made = replace(function, body=_asking(function.body))
        if made != function:
            yield made


def _asking(body: Body) -> Body:
    made = [rebuilt_lists(statement, _asking) for statement in body]
    for place, statement in enumerate(made):
        match statement:
            case n.If(then=(*setup, n.DoWhile() as loop), otherwise=()) if _are_plain(setup):
                made[place : place + 1] = [*setup, n.While(loop.condition, loop.body, loop.unroll)]
            case n.If(
                then=(*setup, n.DoWhile() as loop, n.Assign(n.Name(name=name), value, "=")),
                otherwise=(),
            ) if _are_plain(setup):
                first = next((k for k in range(place) if _begins(made[k], name)), None)
                if first is None:
                    continue
                declared = made[first]
                assert isinstance(declared, n.Declare)
                again = n.While(loop.condition, loop.body, loop.unroll)
                made[place : place + 1] = [*setup, again, replace(declared, value=value)]
                del made[first]
            case _:
                continue
        return _asking(tuple(made))
    return tuple(made)


def _are_plain(setup: list[n.Statement]) -> bool:
    return all(isinstance(s, n.Declare | n.Assign) for s in setup)


def _begins(statement: n.Statement, name: str) -> bool:
    """Whether it declares a variable as a number."""
    match statement:
        case n.Declare(name=own, value=n.Literal()):
            return own == name
    return False
