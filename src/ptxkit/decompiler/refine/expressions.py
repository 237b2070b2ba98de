"""Other ways to write an expression: what may change the order in which it is computed.

Nothing here is trusted: who takes a change compiles it and compares the PTX.
"""

from __future__ import annotations

from collections.abc import Iterator

from ptxkit.cuda import nodes as n

_COMMUTE = frozenset("+ * & | ^ == != && ||".split())
_MIRRORED = {"<": ">", ">": "<", "<=": ">=", ">=": "<="}
_SUMS = frozenset("+-")
_ASSOCIATE = frozenset("+ * & | ^ && ||".split())
_EITHER = frozenset("min max fminf fmaxf fmin fmax umin umax".split())
_FUSED = frozenset(("fmaf", "fma"))


def other_expressions(node: n.Node) -> Iterator[tuple[str, n.Expression]]:
    """Other ways to write one expression, each with the name of its kind.

    >>> a, b, c = map(n.Name, "abc")
    >>> from ptxkit.cuda import print_expression
    >>> [print_expression(e) for _, e in other_expressions(n.Binary("+", n.Binary("-", a, b), c))]
    ['c + (a - b)', 'a + c - b', 'a - (b - c)']
    """
    match node:
        case n.Binary(operator=operator, left=left, right=right):
            if operator in _COMMUTE:
                yield "swap", n.Binary(operator, right, left)
            elif operator in _MIRRORED:
                yield "swap", n.Binary(_MIRRORED[operator], right, left)
            yield from _regrouped(operator, left, right)
            yield from _undone(operator, left, right)
        case n.Call(function=function, arguments=(one, two)) if function in _EITHER:
            yield "swap", n.Call(function, (two, one))
        case n.Call(function=function, arguments=(one, two, three)) if function in _FUSED:
            product = n.Binary("*", one, two)
            yield "fuse", n.Binary("+", product, three)
            yield "swap", n.Call(function, (two, one, three))


def _regrouped(
    operator: str, left: n.Expression, right: n.Expression
) -> Iterator[tuple[str, n.Expression]]:
    match left:
        case n.Binary(operator=inner, left=a, right=b) if {inner, operator} <= _SUMS:
            yield "group", n.Binary(inner, n.Binary(operator, a, right), b)
            yield "group", n.Binary(inner, a, n.Binary("+" if inner == operator else "-", b, right))
        case n.Binary(operator=inner, left=a, right=b) if inner == operator in _ASSOCIATE:
            yield "group", n.Binary(operator, n.Binary(operator, a, right), b)
            yield "group", n.Binary(operator, a, n.Binary(operator, b, right))
    match right:
        case n.Binary(operator=inner, left=a, right=b) if {inner, operator} <= _SUMS:
            after = "+" if inner == operator else "-"
            yield "group", n.Binary(after, n.Binary(operator, left, a), b)
        case n.Binary(operator=inner, left=a, right=b) if inner == operator in _ASSOCIATE:
            yield "group", n.Binary(operator, n.Binary(operator, left, a), b)


def _undone(
    operator: str, left: n.Expression, right: n.Expression
) -> Iterator[tuple[str, n.Expression]]:
    """What compilers make one of: factors taken out of sums, remainders from quotients."""
    match operator, left, right:
        case "*", n.Binary(operator="+" | "-" as inner, left=a, right=b), _:
            yield "spread", n.Binary(inner, n.Binary("*", a, right), n.Binary("*", b, right))
        case "-", _, n.Binary(operator="*", left=_, right=divisor):
            yield "remainder", n.Binary("%", left, divisor)
