"""Conversions that C++ makes by itself, and sums with negative numbers."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace

from ptxkit.cuda import nodes as n
from ptxkit.cuda.infer import infer
from ptxkit.cuda.types import INT, UINT, Scalar, Type
from ptxkit.decompiler.lift.rewrite import bottom_up

_CONVERTING = frozenset("+ - * / % & | ^ < > <= >= == !=".split())
_WHOLE = (INT, UINT)
#: Operations of which no bit depends on signs.
_SIGNLESS = frozenset("+ - * & | ^".split())


def implicit_conversions(function: n.Function, take: Callable[[], bool]) -> n.Function:
    """A function without conversions that C++ makes by itself.

    >>> from ptxkit.cuda import print_function
    >>> from ptxkit.cuda.types import LONG_LONG, VOID, Pointer
    >>> i, m, x = map(n.Name, ("i", "m", "x"))
    >>> body = (n.Declare(INT, "j", n.Binary("+", n.Cast(UINT, m), n.integer(-1))),
    ...         n.Declare(LONG_LONG, "i", n.Name("j")),
    ...         n.If(n.Binary("<", i, n.Cast(LONG_LONG, m)), (n.Assign(x, i),)))
    >>> parameters = n.Parameter(Pointer(INT), "x"), n.Parameter(INT, "m")
    >>> made = implicit_conversions(n.Function("k", parameters, body, VOID, True), lambda: True)
    >>> print(print_function(made).strip())
    __global__ void k(int *x, int m) {
        int j = m - 1;
        long long i = j;
        if (i < m) x = i;
    }
    """
    sure = sure_types(function)
    body = tuple(
        bottom_up(s, lambda node: _implicit(node, sure, take)) for s in function.body or ()
    )
    return replace(function, body=body)


def sure_types(function: n.Function) -> dict[str, Type]:
    """The types of variables that have one alone."""
    types: dict[str, Type | None] = {p.name: p.type for p in function.parameters}
    for node in function.walk():
        if isinstance(node, n.Declare):
            known = types.get(node.name, node.type)
            types[node.name] = node.type if known == node.type else None
    return {name: type for name, type in types.items() if type is not None}


def _implicit(node: n.Node, types: Mapping[str, Type], take: Callable[[], bool]) -> n.Node:
    match node:
        case n.Binary(operator, left, right) if operator in _CONVERTING:
            if _is_widened(right, types) and type_of(left, types) == _cast(right) and take():
                return n.Binary(operator, left, right.operand)  # type: ignore[union-attr]
            if _is_widened(left, types) and type_of(right, types) == _cast(left) and take():
                return n.Binary(operator, left.operand, right)  # type: ignore[union-attr]
    match node:
        case n.Declare(type=type, space="", value=n.Binary() as total) if type in _WHOLE:
            bare = _signless(total, types)
            if bare != total and take():
                return replace(node, value=bare)
        case n.Assign(n.Name(name=name), n.Binary() as total, "=") if types.get(name) in _WHOLE:
            bare = _signless(total, types)
            if bare != total and take():
                return replace(node, value=bare)
    match node:
        case n.Binary("+" | "-" as operator, left, n.Literal(value=int() as value) as number) if (
            value < 0 and take()
        ):
            other = "-" if operator == "+" else "+"
            return n.Binary(other, left, replace(number, value=-value))
    return node


def _signless(node: n.Expression, types: Mapping[str, Type]) -> n.Expression:
    """A sum of 32 bits without conversions that change nothing but signs, where no bit shows it."""
    match node:
        case n.Binary(operator, left, right) if operator in _SIGNLESS and type_of(node, types) in (
            INT,
            UINT,
        ):
            return n.Binary(operator, _signless(left, types), _signless(right, types))
        case n.Cast(type=Scalar(kind="int", bits=32), operand=operand) if (
            type_of(operand, types) in _WHOLE
        ):
            return _signless(operand, types)
    return node


def _is_widened(node: n.Expression, types: Mapping[str, Type]) -> bool:
    """Whether it is a number of 32 bits, converted to one of 64."""
    match node:
        case n.Cast(type=Scalar(kind="int", bits=64), operand=operand):
            return type_of(operand, types) in _WHOLE
    return False


def _cast(node: n.Expression) -> Type | None:
    return node.type if isinstance(node, n.Cast) else None


def type_of(node: n.Expression, types: Mapping[str, Type]) -> Type | None:
    """The type of an expression; None for what is not known here."""
    try:
        return infer(node, types)
    except (KeyError, AttributeError, AssertionError, TypeError):
        return None
