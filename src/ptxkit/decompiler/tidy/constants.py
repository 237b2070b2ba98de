"""Constants that have a name for one use."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from dataclasses import replace
from typing import Any

from ptxkit.cuda import nodes as n
from ptxkit.decompiler.lift.half_pairs import with_half_pairs
from ptxkit.decompiler.lift.rewrite import bottom_up, without_declared, written


def named_once(function: n.Function, take: Callable[[], bool]) -> n.Function:
    """A function with numbers, converted to halves for one use, at that use.

    >>> from ptxkit.cuda import print_function, read
    >>> kernel = read('''(kernel k (params (param (ptr half2) x))
    ...     (let half h (call __float2half_rn 0.5f))
    ...     (= ([] x 0) (call __hmul2 ([] x 1) (call __half2half2 h))))''')
    >>> print(print_function(named_once(kernel, lambda: True)), end="")
    __global__ void k(__half2 *x) {
        x[0] = __hmul2(x[1], __float2half2_rn(0.5f));
    }
    """
    body = function.body or ()
    uses = Counter(p.name for s in body for p in s.walk() if isinstance(p, n.Name))
    sets = Counter(name for s in body for name in written(s))
    found: dict[str, n.Expression] = {}
    for statement in body:
        for node in statement.walk():
            match node:
                case n.Declare(
                    name=name, space="", value=n.Call(arguments=(n.Literal(),)) as value
                ) if uses[name] == sets[name] == 1 and take():
                    found[name] = value

    def change(node: Any) -> Any:
        return found.get(node.name, node) if isinstance(node, n.Name) else node

    made: n.Function = bottom_up(without_declared(function, found), change) if found else function
    inner = made.body or ()
    paired = with_half_pairs(inner)
    return replace(made, body=paired) if paired != inner and take() else made
