"""Loops that compute their counter anew at the beginning of every turn.

Compilers turn ``for (s = n / 2; s > 32; s /= 2)`` into a loop over twice the counter:
``do { s = n / 2; ...; n = s; } while (n > 65)``.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from dataclasses import replace
from typing import Any

from ptxkit.cuda import nodes as n
from ptxkit.decompiler.lift.rewrite import bottom_up, rebuilt_lists, written

Body = tuple[n.Statement, ...]


def halving_counters(function: n.Function, take: Callable[[], bool]) -> n.Function:
    """A function with such loops over the counter itself.

    >>> from ptxkit.cuda import print_function, read
    >>> kernel = read('''(kernel k (params (param (ptr float) x))
    ...     (let uint m blockDim.x)
    ...     (while (>= m 66) (let uint s (/ m 2)) (= ([] x s) 0.0f) (= m s)))''')
    >>> print(print_function(halving_counters(kernel, lambda: True)), end="")
    __global__ void k(float *x) {
        for (unsigned int s = blockDim.x / 2; s > 32; s /= 2) x[s] = 0.0f;
    }
    """
    uses = Counter(p.name for s in function.body or () for p in s.walk() if isinstance(p, n.Name))

    def halving(body: Body) -> Body:
        made: list[n.Statement] = []
        for statement in body:
            one = rebuilt_lists(statement, halving)
            found = _halving(one) if isinstance(one, n.While) else None
            if found is not None and take():
                loop, twice = found
                inside = sum(p == n.Name(twice) for p in one.walk())
                match made[-1:], loop.start:
                    case [n.Declare(name=name, value=n.Node() as value)], n.Declare() as start if (
                        name == twice and uses[name] == inside
                    ):
                        made.pop()
                        assert start.value is not None
                        first = bottom_up(start.value, _instead(twice, value))
                        loop = replace(loop, start=replace(start, value=first))
                made.append(loop)
                continue
            made.append(one)
        return tuple(made)

    return replace(function, body=halving(function.body or ()))


def _halving(loop: n.While) -> tuple[n.For, str] | None:
    """A loop over half of what it was over, and what that was."""
    match loop.condition, loop.body:
        case (
            n.Binary(">" | ">=" as operator, n.Name(name=twice), n.Literal(value=int() as bound)),
            (
                n.Declare(
                    name=half, space="", value=n.Binary("/" | ">>" as by, left, factor)
                ) as first,
                *rest,
                n.Assign(n.Name(name=again), n.Name(name=last), "="),
            ),
        ) if again == twice and last == half and left == n.Name(twice):
            pass
        case _:
            return None
    if not isinstance(factor, n.Literal) or factor.value != (2 if by == "/" else 1):
        return None
    least = bound + (operator == ">")
    if least % 2 or least < 2:
        return None
    for statement in rest:
        if twice in statement.names() or half in written(statement):
            return None
        if any(isinstance(p, n.Continue | n.Goto | n.Label) for p in statement.walk()):
            return None
    condition = n.Binary(">", n.Name(half), n.integer(least // 2 - 1))
    step = n.Assign(n.Name(half), factor, f"{by}=")
    return n.For(first, condition, step, tuple(rest), loop.unroll), twice


def _instead(name: str, value: n.Expression) -> Callable[[Any], Any]:
    return lambda node: value if node == n.Name(name) else node
