"""Conditions that are asked twice, denied twice, or one inside of the other."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from ptxkit.cuda import nodes as n
from ptxkit.decompiler.lift.rewrite import bottom_up

_LOGIC = frozenset(("&&", "||"))
_COMPARISONS = frozenset(("<", ">", "<=", ">=", "==", "!=", *_LOGIC))


def plain_conditions(function: n.Function, take: Callable[[], bool]) -> n.Function:
    """A function with each condition said once.

    >>> from ptxkit.cuda import print_function, read
    >>> kernel = read('''(kernel k (params (param (ptr float) x) (param int n))
    ...     (if (! (! (< n 3))) (then (if (|| (== n 1) (== n 1)) (then (= ([] x n) 0.0f))))))''')
    >>> print(print_function(plain_conditions(kernel, lambda: True)), end="")
    __global__ void k(float *x, int n) {
        if (n < 3 && n == 1) x[n] = 0.0f;
    }
    """
    body = tuple(bottom_up(s, lambda node: _plain(node, take)) for s in function.body or ())
    return replace(function, body=body)


def _plain(node: n.Node, take: Callable[[], bool]) -> n.Node:
    match node:
        case n.Unary("!", n.Unary("!", operand)) if _is_condition(operand) and take():
            return operand
        case n.Binary(operator, left, right) if operator in _LOGIC and left == right and take():
            return left
        case n.If(outer, (n.If(inner, then, ()),), ()) if take():
            return n.If(n.Binary("&&", outer, inner), then)
        case n.If(condition=n.Unary("!", n.Unary("!", condition))) if take():
            return replace(node, condition=condition)
    return node


def _is_condition(node: n.Expression) -> bool:
    return (isinstance(node, n.Binary) and node.operator in _COMPARISONS) or (
        isinstance(node, n.Unary) and node.operator == "!"
    )
