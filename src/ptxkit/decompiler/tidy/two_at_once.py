"""Questions about two numbers that compilers ask at once: ``(a | b) >= 0``, ``(a | b) == 0``.

Bits that are united have a sign where one of them has, and are 0 where both are; people ask twice,
and in front of what else they ask about a number.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import reduce

from ptxkit.cuda import nodes as n
from ptxkit.cuda.types import INT
from ptxkit.decompiler.lift.rewrite import bottom_up

_ZERO = n.Literal(0, INT)
#: What such a question is made of: both answers, or one of them.
_JOINED = {">=": "&&", "==": "&&", "<": "||", "!=": "||"}


def two_at_once(function: n.Function, take: Callable[[], bool]) -> n.Function:
    """A function that asks for one number at a time.

    >>> from ptxkit.cuda import print_function, read
    >>> kernel = read('''(kernel k (params (param (ptr float) x) (param int a) (param int b))
    ...     (if (&& (&& (< a 9) (>= (| a b) 0)) (< b 8)) (then (= ([] x a) 0.0f))))''')
    >>> print(print_function(two_at_once(kernel, lambda: True)), end="")
    __global__ void k(float *x, int a, int b) {
        if (a >= 0 && a < 9 && b >= 0 && b < 8) x[a] = 0.0f;
    }
    """

    def change(node: n.Node) -> n.Node:
        match node:
            case n.If(condition=condition):
                made = _asked(condition)
                if made is not None and take():
                    return replace(node, condition=made)
        return node

    return replace(function, body=tuple(bottom_up(s, change) for s in function.body or ()))


def _asked(condition: n.Expression) -> n.Expression | None:
    """A condition with each number asked for alone; None where it is so already."""
    for operator in ("&&", "||"):
        terms = _terms(operator, condition)
        found = [(place, parts) for place, t in enumerate(terms) if (parts := _parts(operator, t))]
        if not found:
            continue
        place, parts = found[0]
        rest = [*terms[:place], *terms[place + 1 :]]
        for part in parts:
            at = next((k for k, term in enumerate(rest) if _is_about(term, part.left)), None)
            rest.insert(place if at is None else at, part)
            place += 1
        return reduce(lambda left, right: n.Binary(operator, left, right), rest)
    return None


def _terms(operator: str, condition: n.Expression) -> list[n.Expression]:
    match condition:
        case n.Binary(operator=own, left=left, right=right) if own == operator:
            return [*_terms(operator, left), *_terms(operator, right)]
    return [condition]


def _parts(operator: str, term: n.Expression) -> tuple[n.Binary, ...]:
    """The questions that one of two numbers is made of."""
    match term:
        case n.Binary(asks, n.Binary("|", left, right), n.Literal(value=0)):
            if _JOINED.get(asks) == operator:
                return tuple(n.Binary(asks, one, _ZERO) for one in (left, right))
    return ()


def _is_about(term: n.Expression, number: n.Expression) -> bool:
    return isinstance(term, n.Binary) and number in (term.left, term.right)
