"""Questions the other way round: ``if (a == b) ... else ...``, as people ask.

A compiler puts the branches into an order of its own; what is read off that asks for the opposite
as often as not. Nothing here is trusted: who takes a change compiles it and compares the PTX.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from ptxkit.cuda import nodes as n
from ptxkit.decompiler.lift.rewrite import bottom_up


def asked_plainly(function: n.Function) -> Iterator[n.Function]:
    """The function with ``==`` wherever one asks ``!=`` and does something in either case.

    >>> from ptxkit.cuda import print_function, read
    >>> kernel = read('''(kernel k (params (param (ptr int) x) (param int a))
    ...     (if (!= a 0) (then (if (!= a 1) (then (= ([] x 2) a)) (else (= ([] x 1) a))))
    ...                  (else (= ([] x 0) a))))''')
    >>> for made in asked_plainly(kernel):
    ...     print(print_function(made), end="")
    __global__ void k(int *x, int a) {
        if (a == 0) {
            x[0] = a;
        } else if (a == 1) {
            x[1] = a;
        } else {
            x[2] = a;
        }
    }
    """
    made = bottom_up(function, _turned)
    if made != function:
        yield made


def _turned(node: Any) -> Any:
    match node:
        case n.If(n.Binary("!=", left, right), then, otherwise) if otherwise:
            return n.If(n.Binary("==", left, right), otherwise, then)
        case n.If(n.Unary("!", condition), then, otherwise) if otherwise:
            return n.If(condition, otherwise, then)
    return node
