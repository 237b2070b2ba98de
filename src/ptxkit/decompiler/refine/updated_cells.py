"""Sums that are kept in memory while they grow: ``s[t] += s[t + d]``.

A compiler knows what it stored, and adds to the variable that it stored; but which of the two
numbers comes first in a sum is as the text has it, where both are read from memory. Nothing here is
trusted: who takes a change compiles it and compares the PTX.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from functools import partial
from itertools import pairwise
from typing import Any

from ptxkit.cuda import nodes as n
from ptxkit.decompiler.lift.rewrite import bottom_up, rebuilt_lists, written
from ptxkit.decompiler.refine.moves import Body


def in_cells(function: n.Function) -> Iterator[n.Function]:
    """The function with variables that are stored each time they change as what they are stored in.

    >>> from ptxkit.cuda import print_function, read
    >>> kernel = read('''(kernel k (params (param (ptr int) x) (param (ptr int) y))
    ...     (shared (array int 64) s)
    ...     (let int v ([] x 0))
    ...     (= ([] s threadIdx.x) v)
    ...     (for (let int d 16) (> d 0) (>>= d 1)
    ...       (if (< threadIdx.x d) (then
    ...         (+= v ([] s (+ threadIdx.x d))) (= ([] s threadIdx.x) v))))
    ...     (= ([] y 0) (- v 1)))''')
    >>> print(print_function(next(in_cells(kernel))), end="")
    __global__ void k(int *x, int *y) {
        __shared__ int s[64];
        int v = x[0];
        s[threadIdx.x] = v;
        for (int d = 16; d > 0; d >>= 1) {
            if (threadIdx.x < d) s[threadIdx.x] += s[threadIdx.x + d];
        }
        y[0] = s[threadIdx.x] - 1;
    }
    """
    made = _all(function.body or ())
    if made != function.body:
        yield replace(function, body=made)


_Begun = tuple[tuple[n.Index, n.Expression], ...]
"""Cells that were set to a number, and to which."""


def _all(body: Body, begun: _Begun = ()) -> Body:
    made: list[n.Statement] = []
    for statement in body:
        made.append(rebuilt_lists(statement, partial(_all, begun=begun)))
        match statement:
            case n.Assign(n.Index() as cell, n.Literal() as number, "="):
                begun = (*begun, (cell, number))
    body = tuple(made)
    for place, statement in enumerate(body):
        rest = body[place + 1 :]
        match statement:
            case n.Assign(n.Index() as cell, n.Name(name=name), "="):
                if _moves_along(rest, name, cell):
                    return (*body[: place + 1], *_all(_in_cell(rest, n.Name(name), cell), begun))
            case n.Declare(name=name, value=n.Literal() as number):
                # The cell holds that number already.
                for cell, first in begun:
                    if first == number and _moves_along(rest, name, cell):
                        rest = _in_cell(rest, n.Name(name), cell)
                        return _all((*body[:place], *rest), begun)
    return body


def _moves_along(rest: Body, name: str, cell: n.Index) -> bool:
    """Whether a variable changes, and each time is stored in the cell at once."""
    changes = sum(name == one for statement in rest for one in written(statement))
    if not changes or name in cell.names():
        return False
    if any(not cell.names().isdisjoint(written(statement)) for statement in rest):
        return False
    own = n.Name(name)
    return changes == sum(_changes_both(list_, own, cell) for list_ in _lists(rest))


def _lists(body: Body) -> Iterator[Body]:
    yield body
    for statement in body:
        for part in statement.walk():
            match part:
                case n.If(then=then, otherwise=otherwise):
                    yield then
                    yield otherwise
                case n.For(body=inner) | n.While(body=inner) | n.DoWhile(body=inner):
                    yield inner


def _changes_both(body: Body, own: n.Name, cell: n.Index) -> int:
    """How often a variable is set and stored right behind that."""
    return sum(
        isinstance(one, n.Assign) and one.target == own and other == n.Assign(cell, own)
        for one, other in pairwise(body)
    )


def _in_cell(rest: Body, own: n.Name, cell: n.Index) -> Body:
    def change(node: Any) -> Any:
        return cell if node == own else node

    def without_copies(body: Body) -> Body:
        kept = tuple(s for s in body if s != n.Assign(cell, own))
        return tuple(rebuilt_lists(s, without_copies) for s in kept)

    return tuple(bottom_up(s, change) for s in without_copies(rest))
