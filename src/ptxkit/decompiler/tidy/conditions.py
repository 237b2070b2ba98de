"""Conditions that are asked twice, denied twice, or one inside of the other."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import partial, reduce

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
            while isinstance(one, n.If) and (place := _before_numbers(made)) >= 0:
                match made[place]:
                    case n.Declare(name=name, space="", value=n.Node() as value) if (
                        uses[name] == sets[name] == 1
                        and name in one.condition.names()
                        and _is_read(value)
                        and take()
                    ):
                        del made[place]
                        one = replace(one, condition=_with(one.condition, name, value))
                    case _:
                        break
            made.append(one)
        return tuple(made)

    types = sure_types(function)
    body = tuple(bottom_up(s, lambda node: _plain(node, types, take)) for s in asked(body))
    return replace(function, body=_affirmed(body, take))


def _before_numbers(made: list[n.Statement]) -> int:
    """The last statement that does more than to declare what begins with a number."""
    place = len(made) - 1
    while place >= 0:
        match made[place]:
            case n.Declare(space="", value=n.Literal()):
                place -= 1
            case _:
                break
    return place


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
        case n.Unary("!", n.Binary("||", left, right)) if (
            _is_whole_question(left, types) and _is_whole_question(right, types) and take()
        ):
            return n.Binary("&&", negate(left), negate(right))
        case n.Binary(operator, left, n.Binary(again, middle, right)) if (
            operator == again and operator in _LOGIC and take()
        ):
            return n.Binary(operator, n.Binary(operator, left, middle), right)
        case n.Binary("<" | ">=" as operator, n.Binary("|") as both, n.Literal(value=0)) if (
            parts := _signed_parts(both, types)
        ) and take():
            return _signs_apart(operator, parts)
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


def _is_whole_question(node: n.Expression, types: Mapping[str, Type]) -> bool:
    """Whether something compares whole numbers, of which there is a contrary."""
    match node:
        case n.Binary(operator, left, right) if operator in _LOGIC:
            return _is_whole_question(left, types) and _is_whole_question(right, types)
        case n.Binary(operator, left, right) if operator in _ORDERS | {"==", "!="}:
            return _is_whole(left, types) and _is_whole(right, types)
    return False


def _signed_parts(node: n.Expression, types: Mapping[str, Type]) -> list[n.Expression]:
    """What is put together by bits, if all of it may be less than 0; none if not."""
    match node:
        case n.Binary("|", left, right):
            both = _signed_parts(left, types), _signed_parts(right, types)
            return [*both[0], *both[1]] if all(both) else []
    type = type_of(node, types) if _is_whole(node, types) else None
    return [node] if isinstance(type, Scalar) and type.signed else []


def _signs_apart(operator: str, parts: list[n.Expression]) -> n.Expression:
    """``(a | b) < 0`` as ``a < 0 || b < 0``, and ``(a | b) >= 0`` as ``a >= 0 && b >= 0``.

    >>> from ptxkit.cuda import print_expression
    >>> print_expression(_signs_apart(">=", [n.Name("a"), n.Name("b"), n.Name("c")]))
    'a >= 0 && b >= 0 && c >= 0'
    """
    asked = [n.Binary(operator, part, n.integer(0)) for part in parts]
    return reduce(partial(n.Binary, "||" if operator == "<" else "&&"), asked)


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
