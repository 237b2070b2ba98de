"""Products as people write them, where the lifter says that each of them is rounded.

``__fmul_rn`` keeps a compiler from making one operation of a product and a sum. Often it would make
none of them anyway: it does so with sums, and with differences only here and there. Nothing here is
trusted: who takes a change compiles it and compares the PTX.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from ptxkit.cuda import nodes as n
from ptxkit.decompiler.lift.rewrite import bottom_up

_PRODUCTS = frozenset(("__fmul_rn", "__dmul_rn"))
_SUMS = frozenset(("fmaf", "fma"))


def with_plain_products(function: n.Function) -> Iterator[n.Function]:
    """The function with ``*`` for all products; and with ``a * b + c`` for ``fmaf``, too.

    >>> from ptxkit.cuda import print_function, read
    >>> kernel = read('''(kernel k (params (param (ptr float) x) (param float a))
    ...     (= ([] x 0) (- (call fmaf a a (call __fmul_rn a 3.0f)) (call __fmul_rn a 2.0f))))''')
    >>> for made in with_plain_products(kernel):
    ...     print(print_function(made).splitlines()[1])
        x[0] = fmaf(a, a, a * 3.0f) - a * 2.0f;
        x[0] = a * a + a * 3.0f - a * 2.0f;
    """
    made = bottom_up(function, _plain)
    if made != function:
        yield made
    open_sums = bottom_up(made, _open)
    if open_sums != made:
        yield open_sums


def _plain(node: Any) -> Any:
    match node:
        case n.Call(function, (left, right)) if function in _PRODUCTS:
            return n.Binary("*", left, right)
    return node


def _open(node: Any) -> Any:
    match node:
        case n.Call(function, (left, right, more)) if function in _SUMS:
            return n.Binary("+", n.Binary("*", left, right), more)
    return node
