"""Pairs of halves that are put together from both halves of one: the pair itself.

Nothing here is trusted: who takes a change compiles it and compares the PTX.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from ptxkit.cuda import nodes as n
from ptxkit.decompiler.lift.rewrite import bottom_up

#: What puts pairs together, and what takes them apart, the lower half first.
_TOGETHER = {
    "__halves2half2": ("__low2half", "__high2half"),
    "__halves2bfloat162": ("__low2bfloat16", "__high2bfloat16"),
}


def with_whole_pairs(function: n.Function) -> Iterator[n.Function]:
    """The function with the pair for its two halves.

    >>> from ptxkit.cuda import print_function, read
    >>> kernel = read('''(kernel k (params (param (ptr half2) x) (param half2 a))
    ...     (= ([] x 0) (call __hmul2 ([] x 0) (call __halves2half2 (. a x) (. a y)))))''')
    >>> for made in with_whole_pairs(kernel):
    ...     print(print_function(made).splitlines()[1])
        x[0] = __hmul2(x[0], a);
    """
    made = bottom_up(function, _whole)
    if made != function:
        yield made


def _whole(node: Any) -> Any:
    match node:
        case n.Call(function, (n.Member(one, "x"), n.Member(other, "y"))) if (
            function in _TOGETHER and one == other
        ):
            return one
        case n.Call(function, (n.Call(low, (one,)), n.Call(high, (other,)))) if (
            _TOGETHER.get(function) == (low, high) and one == other
        ):
            return one
    return node
