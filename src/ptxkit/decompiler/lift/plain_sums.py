"""Sums that nothing is added to, and differences that are compared with nothing.

Both are left where a loop was put together again that began at 0.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping
from typing import Any

from ptxkit.cuda import nodes as n
from ptxkit.cuda.types import Scalar, Type
from ptxkit.decompiler.lift.rewrite import Body, bottom_up, rebuilt_lists, written
from ptxkit.decompiler.lift.terms import differences, sums, taken_apart
from ptxkit.decompiler.lift.wide_variables import type_of

_EQUAL = frozenset(("==", "!="))


def with_plain_sums(body: Body, types: Mapping[str, Type]) -> Body:
    """``0 - a - b + k != 0``, where ``c`` is ``a + b``, as ``k != c``.

    >>> from ptxkit.cuda import print_expression
    >>> from ptxkit.cuda.types import INT
    >>> a, b, k, c, zero = *map(n.Name, "abkc"), n.integer(0)
    >>> sum = n.Binary("+", n.Binary("-", n.Binary("-", zero, a), b), k)
    >>> first = n.Declare(INT, "c", n.Binary("+", a, b))
    >>> asked = n.If(n.Binary("!=", sum, zero), (n.Return(),))
    >>> *_, made = with_plain_sums((first, asked), dict.fromkeys("abkc", INT))
    >>> print_expression(made.condition)
    'k != c'
    """
    changed = Counter(name for statement in body for name in written(statement))

    def plain(node: Any) -> Any:
        match node:
            case n.Binary(operator="<<" | "*", left=n.Literal(value=0) as zero):
                if _is_integer(node, types):
                    return zero
            case n.Binary(operator="+" | "-", right=n.Literal(value=0), left=left):
                if _is_integer(left, types):
                    return left
            case n.Binary(operator="+", left=n.Literal(value=0), right=right):
                if _is_integer(right, types):
                    return right
            case n.Binary(operator=operator, left=left, right=n.Literal(value=0)) if (
                operator in _EQUAL and _is_integer(left, types)
            ):
                return _apart(operator, left) or node
        return node

    made = tuple(bottom_up(statement, plain) for statement in body)
    return _named(made, lambda one: _is_value(one, changed, types))


def _is_value(declared: n.Declare, changed: Counter[str], types: Mapping[str, Type]) -> bool:
    """Whether a variable is, wherever it is known, the sum that it was declared with."""
    own, value = declared.type, declared.value
    assert value is not None
    found = type_of(value, types)
    if not isinstance(own, Scalar) or not isinstance(found, Scalar) or own.bits != found.bits:
        return False
    return own.is_integer and all(changed[one] <= 1 for one in (declared.name, *value.names()))


def _is_integer(node: n.Expression, types: Mapping[str, Type]) -> bool:
    found = type_of(node, types)
    return isinstance(found, Scalar) and found.is_integer


def _apart(operator: str, node: n.Expression) -> n.Expression | None:
    """Two sums that are equal where their difference is nothing."""
    terms = [(term, k) for term, k in taken_apart(node, (sums, differences)) if not _is_zero(term)]
    added = [term for term, times in terms if times > 0]
    taken = [term for term, times in terms if times < 0]
    if not added or not taken or any(isinstance(term, n.Literal) for term in added + taken):
        return None
    return n.Binary(operator, _sum(added), _sum(taken))


def _is_zero(node: n.Expression) -> bool:
    return isinstance(node, n.Literal) and node.value == 0


def _sum(terms: list[n.Expression]) -> n.Expression:
    made = terms[0]
    for term in terms[1:]:
        made = n.Binary("+", made, term)
    return made


def _named(body: Body, is_value: Callable[[n.Declare], bool]) -> Body:
    """What is compared with a sum that has a name, compared with that."""
    known: dict[n.Expression, n.Name] = {}
    made: list[n.Statement] = []
    for statement in body:
        if known:
            statement = bottom_up(statement, _by_name(known))
        made.append(rebuilt_lists(statement, lambda inner: _named(inner, is_value)))
        match statement:
            case n.Declare(name=name, value=n.Binary(operator="+") as value) if is_value(statement):
                known[value] = n.Name(name)
    return tuple(made)


def _by_name(known: dict[n.Expression, n.Name]) -> Any:
    def change(node: Any) -> Any:
        match node:
            case n.Binary(operator=operator, left=left, right=right) if (
                operator in _EQUAL and right in known
            ):
                return n.Binary(operator, left, known[right])
        return node

    return change
