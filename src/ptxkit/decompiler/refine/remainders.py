"""Remainders by the quotient that is there already, as many write them: ``x - y * width``.

A compiler that divides once and multiplies was not asked for a remainder. Nothing here is trusted:
who takes a change compiles it and compares the PTX.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from ptxkit.cuda import nodes as n
from ptxkit.decompiler.lift.rewrite import bottom_up
from ptxkit.decompiler.refine.places import nodes_in


def by_quotients(function: n.Function) -> Iterator[n.Function]:
    """The function without remainders of what it has the quotient of.

    >>> from ptxkit.cuda import print_function, read
    >>> kernel = read('''(kernel k (params (param (ptr int) x) (param int i) (param int w))
    ...     (let int y (/ i w))
    ...     (= ([] x y) (% i w)))''')
    >>> for other in by_quotients(kernel):
    ...     print(print_function(other), end="")
    __global__ void k(int *x, int i, int w) {
        int y = i / w;
        x[y] = i - y * w;
    }
    """
    quotients: dict[tuple[n.Expression, n.Expression], str] = {}
    for _, node in nodes_in(function):
        match node:
            case n.Declare(name=name, value=n.Binary("/", whole, divisor), space=""):
                quotients[whole, divisor] = name

    def change(node: Any) -> Any:
        match node:
            case n.Binary("%", whole, divisor) if (whole, divisor) in quotients:
                quotient = n.Name(quotients[whole, divisor])
                return n.Binary("-", whole, n.Binary("*", quotient, divisor))
        return node

    made: n.Function = bottom_up(function, change) if quotients else function
    if made != function:
        yield made
