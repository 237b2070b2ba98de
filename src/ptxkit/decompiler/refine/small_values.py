"""Small numbers where they are used: ``x[(i + 3) & (size - 1)]``, however often.

A compiler computes ``size - 1`` once, and where depends on whether it had a name. Nothing here is
trusted: who takes a change compiles it and compares the PTX.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from typing import Any

from ptxkit.cuda import nodes as n
from ptxkit.decompiler.lift.rewrite import rebuilt, without_declared
from ptxkit.decompiler.refine.rows import single_values

#: How many are tried one by one.
_FEW = 3


def small_in_place(function: n.Function) -> Iterator[n.Function]:
    """The function without the names of such numbers: of all of them, and of each.

    >>> from ptxkit.cuda import print_function, read
    >>> kernel = read('''(kernel k (params (param (ptr int) x) (param int size))
    ...     (let int last (- size 1))
    ...     (= ([] x (& threadIdx.x last)) last))''')
    >>> for made in small_in_place(kernel):
    ...     print(print_function(made), end="")
    __global__ void k(int *x, int size) {
        x[threadIdx.x & (size - 1)] = size - 1;
    }
    """
    small = {name: value for name, value in single_values(function).items() if _is_small(value)}
    for names in dict.fromkeys((tuple(small), *((name,) for name in list(small)[:_FEW]))):
        if names:
            values = {name: small[name] for name in names}
            yield without_declared(rebuilt(function, partial(_in_place, values)), names)


def _is_small(value: n.Expression) -> bool:
    match value:
        case n.Binary("+" | "-" | "<<", n.Name(), n.Literal()):
            return True
    return False


def _in_place(values: dict[str, n.Expression], node: Any) -> Any:
    if isinstance(node, n.Name) and node.name in values:
        return _in_place(values, values[node.name])
    return rebuilt(node, partial(_in_place, values))
