"""Squares in the products that they are in: ``b * heads * n * n + h * n * n``.

A compiler multiplies ``n * n`` once for all products that have it, whatever the order in which the
source has their factors. Nothing here is trusted: who takes a change compiles it and compares the
PTX.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from functools import partial, reduce
from typing import Any

from ptxkit.cuda import nodes as n
from ptxkit.decompiler.lift.rewrite import rebuilt, without_declared
from ptxkit.decompiler.refine.expressions import factors
from ptxkit.decompiler.refine.places import nodes_in
from ptxkit.decompiler.refine.rows import single_values


def squares_in_place(function: n.Function) -> Iterator[n.Function]:
    """The function with squares that have a name as the last factors of what they are in.

    >>> from ptxkit.cuda import print_function, read
    >>> kernel = read('''(kernel k (params (param (ptr int) x) (param int n) (param int m))
    ...     (let int s (* n n))
    ...     (= ([] x (* s m)) ([] x (+ m (* 3 (* s threadIdx.x))))))''')
    >>> for made in squares_in_place(kernel):
    ...     print(print_function(made), end="")
    __global__ void k(int *x, int n, int m) {
        x[m * n * n] = x[m + 3 * threadIdx.x * n * n];
    }
    """
    squares = {
        name: value.left
        for name, value in single_values(function).items()
        if isinstance(value, n.Binary) and value.operator == "*" and value.left == value.right
        and isinstance(value.left, n.Name)
    }  # fmt: skip
    if not squares:
        return
    made = rebuilt(function, partial(_written_out, squares))
    used = Counter(p.name for _, p in nodes_in(made) if isinstance(p, n.Name))
    yield without_declared(made, {name for name in squares if not used[name]})


def _written_out(squares: Mapping[str, n.Expression], node: Any) -> Any:
    """A tree whose products have squares written out."""
    if not isinstance(node, n.Binary) or node.operator != "*":
        return rebuilt(node, partial(_written_out, squares))
    rest: list[n.Expression] = []
    roots: list[n.Expression] = []
    for factor in factors("*", node):
        if isinstance(factor, n.Name) and factor.name in squares:
            roots += [squares[factor.name]] * 2
        else:
            rest.append(_written_out(squares, factor))
    return reduce(lambda a, b: n.Binary("*", a, b), [*rest, *roots]) if roots else node
