"""Constants that have a name for one use."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from dataclasses import replace
from typing import Any

from ptxkit.cuda import nodes as n
from ptxkit.decompiler.lift.half_pairs import with_half_pairs
from ptxkit.decompiler.lift.rewrite import bottom_up, rebuilt_lists, written

Body = tuple[n.Statement, ...]


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

    def without(inner: Body) -> Body:
        kept = (s for s in inner if not (isinstance(s, n.Declare) and s.name in found))
        return tuple(rebuilt_lists(s, without) for s in kept)

    made = tuple(bottom_up(s, change) for s in without(body)) if found else body
    paired = with_half_pairs(made)
    return replace(function, body=paired if paired != made and take() else made)
