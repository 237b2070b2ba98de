"""Counters without a sign, as those have that are compared with a size that has none.

Nothing here is trusted: who takes a change compiles it and compares the PTX.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

from ptxkit.cuda import nodes as n
from ptxkit.cuda.types import INT, UINT
from ptxkit.decompiler.lift.rewrite import bottom_up


def without_signs(function: n.Function) -> Iterator[n.Function]:
    """The function with ``unsigned`` counters in all loops that count up.

    >>> from ptxkit.cuda import print_function, read
    >>> kernel = read('''(kernel k (params (param (ptr int) x) (param uint n))
    ...     (for (let int i 0) (< i n) (+= i 1) (= ([] x i) 1)))''')
    >>> for made in without_signs(kernel):
    ...     print(print_function(made), end="")
    __global__ void k(int *x, unsigned int n) {
        for (unsigned int i = 0; i < n; i++) x[i] = 1;
    }
    """
    made = bottom_up(function, _unsigned)
    if made != function:
        yield made


def _unsigned(node: Any) -> Any:
    match node:
        case n.For(start=n.Declare(type=type) as start, condition=n.Binary("<")) if type == INT:
            return replace(node, start=replace(start, type=UINT))
    return node
