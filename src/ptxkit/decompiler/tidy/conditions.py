"""Conditions that are asked twice, denied twice, or one inside of the other."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import replace

from ptxkit.cuda import nodes as n
from ptxkit.cuda.types import BOOL, Scalar, Type
from ptxkit.decompiler.lift.conditions import negate
from ptxkit.decompiler.lift.rewrite import bottom_up, rebuilt_lists, written
from ptxkit.decompiler.tidy.conversions import sure_types, type_of

Body = tuple[n.Statement, ...]

_BUILTIN = frozenset(("threadIdx", "blockIdx", "blockDim", "gridDim"))
_ORDERS = frozenset(("<", ">", "<=", ">="))
_LOGIC = frozenset(("&&", "||"))
_COMPARISONS = frozenset(("<", ">", "<=", ">=", "==", "!=", *_LOGIC))


def plain_conditions(function: n.Function, take: Callable[[], bool]) -> n.Function:
    """A function with each condition said once, and the last turn named as such.

    >>> from ptxkit.cuda import print_function, read
    >>> kernel = read('''(kernel k (params (param (ptr float) x) (param int n))
    ...     (if (! (>= n 3)) (then (if (|| (== n 1) (! (!= n 1))) (then (= ([] x n) 0.0f))))))''')
    >>> print(print_function(plain_conditions(kernel, lambda: True)), end="")
    __global__ void k(float *x, int n) {
        if (n < 3 && n == 1) x[n] = 0.0f;
    }
    """
    body = function.body or ()
    uses = Counter(p.name for s in body for p in s.walk() if isinstance(p, n.Name))
    sets = Counter(name for s in body for name in written(s))

    def asked(inner: Body) -> Body:
        """Statements with what is only asked for by the next one, there."""
        made: list[n.Statement] = []
        for statement in inner:
            one = rebuilt_lists(statement, asked)
            while isinstance(one, n.If) and made:
                match made[-1]:
                    case n.Declare(name=name, space="", value=n.Node() as value) if (
                        uses[name] == sets[name] == 1
                        and name in one.condition.names()
                        and _is_read(value)
                        and take()
                    ):
                        made.pop()
                        one = replace(one, condition=_with(one.condition, name, value))
                    case _:
                        break
            made.append(one)
        return tuple(made)

    types = sure_types(function)
    body = tuple(bottom_up(s, lambda node: _plain(node, types, take)) for s in asked(body))
    return replace(function, body=_affirmed(body, take))


def _affirmed(body: Body, take: Callable[[], bool]) -> Body:
    """Statements with conditions that are only ever denied set to the contrary."""
    uses = Counter(p.name for s in body for p in s.walk() if isinstance(p, n.Name))
    sets = Counter(name for s in body for name in written(s))
    denied = Counter(
        p.operand.name for s in body for p in s.walk()
        if isinstance(p, n.Unary) and p.operator == "!" and isinstance(p.operand, n.Name)
    )  # fmt: skip
    found: set[str] = set()
    for statement in body:
        for node in statement.walk():
            match node:
                case n.Declare(type=type, name=name, value=n.Unary("!")) if (
                    type == BOOL and sets[name] == 1 and uses[name] == denied[name] and take()
                ):
                    found.add(name)

    def change(node: n.Node) -> n.Node:
        match node:
            case n.Declare(name=name, value=n.Unary("!", value)) if name in found:
                return replace(node, value=value)
            case n.Unary("!", n.Name(name=name) as own) if name in found:
                return own
        return node

    return tuple(bottom_up(s, change) for s in body) if found else body


def _is_read(value: n.Expression) -> bool:
    """Whether something is short enough to be asked for where it is read."""
    if isinstance(value, n.Index | n.Member):
        return sum(isinstance(p, n.Index) for p in value.walk()) <= 1
    return _is_condition(value)


def _with(node: n.Expression, name: str, value: n.Expression) -> n.Expression:
    made: n.Expression = bottom_up(node, lambda part: value if part == n.Name(name) else part)
    return made


def _plain(node: n.Node, types: Mapping[str, Type], take: Callable[[], bool]) -> n.Node:
    match node:
        case n.Unary("!", n.Binary(operator, left, right) as asked) if (
            operator in _ORDERS and _is_whole(left, types) and _is_whole(right, types) and take()
        ):
            return negate(asked)
        case n.Unary("!", n.Binary("==" | "!=" as operator, left, right)) if take():
            return n.Binary("!=" if operator == "==" else "==", left, right)  # NaN is no exception
        case n.Unary("!", n.Unary("!", operand)) if _is_condition(operand) and take():
            return operand
        case n.Binary(operator, left, right) if operator in _LOGIC and left == right and take():
            return left
        case n.If(outer, (n.If(inner, then, ()),), ()) if take():
            return n.If(n.Binary("&&", outer, inner), then)
        case n.If(condition=n.Unary("!", n.Unary("!", condition))) if take():
            return replace(node, condition=condition)
        case n.For(condition=n.Binary("<", n.Name() as left, n.Binary("+", end, last))) if (
            isinstance(last, n.Literal) and last.value == 1 and _is_whole(end, types) and take()
        ):
            return replace(node, condition=n.Binary("<=", left, end))
    return node


def _is_whole(node: n.Expression, types: Mapping[str, Type]) -> bool:
    """Whether something is surely a whole number: of others one may be none."""
    if not node.names() <= types.keys() | _BUILTIN:
        return False
    type = type_of(node, types)
    return isinstance(type, Scalar) and type.is_integer


def _is_condition(node: n.Expression) -> bool:
    return (isinstance(node, n.Binary) and node.operator in _COMPARISONS) or (
        isinstance(node, n.Unary) and node.operator == "!"
    )
