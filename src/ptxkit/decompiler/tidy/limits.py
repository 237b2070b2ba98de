"""Two limits that a compiler asks for at once: ``threadIdx.x - 1 <= 5`` is between 1 and 6."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

from ptxkit.cuda import nodes as n
from ptxkit.cuda.types import UINT
from ptxkit.decompiler.lift.rewrite import bottom_up, written

_BUILTIN = frozenset("threadIdx blockIdx".split())


def both_limits(function: n.Function, take: Callable[[], bool]) -> n.Function:
    """A function that asks for the least number, and for the most.

    >>> from ptxkit.cuda import print_function, read
    >>> kernel = read('''(kernel k (params (param (ptr float) x))
    ...     (let uint t (- threadIdx.x 1))
    ...     (if (<= t 5) (then (= ([] x t) 0.0f))))''')
    >>> print(print_function(both_limits(kernel, lambda: True)), end="")
    __global__ void k(float *x) {
        unsigned int t = threadIdx.x - 1;
        if (threadIdx.x >= 1 && threadIdx.x < 7) x[t] = 0.0f;
    }
    """
    body = function.body or ()
    sets = Counter(name for s in body for name in written(s))
    values = {
        p.name: p.value
        for s in body
        for p in s.walk()
        if isinstance(p, n.Declare)
        and p.type == UINT
        and isinstance(p.value, n.Binary)
        and sets[p.name] == 1
    }

    both: list[n.Binary] = []

    def change(node: Any) -> Any:
        match node:
            case n.Binary(
                "<=" | "<" | ">" | ">=" as operator, left, n.Literal(value=int() as most)
            ):
                found = _beyond(left, values)
                if found is not None and take():
                    index, least = found
                    inside = operator in ("<=", "<")
                    end = least + most + (operator in ("<=", ">"))
                    limits = n.Binary(
                        "&&" if inside else "||",
                        n.Binary(">=" if inside else "<", index, n.integer(least)),
                        n.Binary("<" if inside else ">=", index, n.integer(end)),
                    )
                    both.append(limits)
                    return limits
            case n.Binary(joined, left, n.Binary(operator, first, second) as limits) if (
                joined == operator and any(one is limits for one in both)
            ):
                return n.Binary(joined, n.Binary(joined, left, first), second)  # one after another
        return node

    return replace(function, body=tuple(bottom_up(s, change) for s in body))


def _beyond(
    node: n.Expression, values: Mapping[str, n.Expression]
) -> tuple[n.Expression, int] | None:
    """The index of a thread that a number is taken from, and that number."""
    match values.get(node.name, node) if isinstance(node, n.Name) else node:
        case n.Binary("-", n.Member(n.Name(name=base)) as index, n.Literal(value=int() as least)):
            return (index, least) if base in _BUILTIN and least > 0 else None
    return None
