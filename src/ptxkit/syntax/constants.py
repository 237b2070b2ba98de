"""Values of literals and constant expressions, as ptxas computes them.

Integers are 64 bits wide, signed unless a literal ends in ``U`` or is too large for a
signed number. An operation with one unsigned side is unsigned; ``%`` and ``~`` always are.
Shifts count modulo 64. Integers and floats do not mix.
"""

from __future__ import annotations

import operator
import struct
from collections.abc import Callable
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ptxkit._native import Node

_MASK = (1 << 64) - 1


def integer_value(text: str) -> int:
    """The value of an integer literal.

    >>> integer_value("0x10U"), integer_value("010"), integer_value("0b10")
    (16, 8, 2)
    """
    digits = text.removesuffix("U")
    if len(digits) > 1 and digits[0] == "0" and digits[1].isdigit():
        return int(digits, 8)
    return int(digits, 0)


def float_value(text: str) -> float:
    """The value of a float literal.

    >>> float_value("0f3FC00000"), float_value("0dBFF0000000000000"), float_value("2.5e1")
    (1.5, -1.0, 25.0)
    """
    prefix = text[:2].lower()
    if prefix == "0f":
        return float(struct.unpack(">f", bytes.fromhex(text[2:]))[0])
    if prefix == "0d":
        return float(struct.unpack(">d", bytes.fromhex(text[2:]))[0])
    return float(text)


def evaluate(node: Node) -> int | float | None:
    """The value of a constant operand; None where it names a symbol or has no value.

    >>> import ptxkit
    >>> i = ptxkit.parse(".func f() { mov.b32 a, 7/2 - (1 << 3); }")["f"].instructions[0]
    >>> evaluate(i.operands[1])
    -5
    """
    if node.kind == "Integer":  # nearly all are
        return _literal("integer", node.text).number
    try:
        return _compute(node).number
    except (_NotConstantError, _NoValueError):
        return None


def why_no_value(node: Node) -> str | None:
    """Say why a constant expression has no value; None where it has one or names a symbol.

    >>> import ptxkit
    >>> i = ptxkit.parse(".func f() { mov.b32 a, 1/(3-3); }")["f"].instructions[0]
    >>> why_no_value(i.operands[1])
    'it divides by zero'
    """
    try:
        _compute(node)
    except _NotConstantError:
        return None
    except _NoValueError as error:
        return str(error)
    return None


class _NotConstantError(Exception):
    """A name stands in the expression."""


class _NoValueError(Exception):
    """The expression makes no sense; the message says why."""


class _Value:
    """A typed constant: an integer with its signedness, or a float."""

    __slots__ = ("number", "unsigned")

    def __init__(self, number: int | float, unsigned: bool = False) -> None:
        if isinstance(number, int):
            number &= _MASK
            if not unsigned and number >> 63:
                number -= 1 << 64
        self.number = number
        self.unsigned = unsigned

    @property
    def is_float(self) -> bool:
        return isinstance(self.number, float)


def _literal(kind: str, text: str) -> _Value:
    if kind == "float":
        return _Value(float_value(text))
    value = integer_value(text)
    return _Value(value, text.endswith("U") or value >> 63 != 0)


# -- operations ----------------------------------------------------------------------------


def _divide(a: int, b: int) -> int:
    quotient = abs(a) // abs(b)
    return quotient if (a < 0) == (b < 0) else -quotient


_Operation = Callable[[int, int], int]
#: How tightly each operator binds, and what it does with two integers of one signedness.
_BINARY: dict[str, tuple[int, _Operation]] = {
    "||": (1, lambda a, b: int(bool(a) or bool(b))),
    "&&": (2, lambda a, b: int(bool(a) and bool(b))),
    "|": (3, operator.or_),
    "^": (4, operator.xor),
    "&": (5, operator.and_),
    "==": (6, operator.eq),
    "!=": (6, operator.ne),
    "<": (7, operator.lt),
    "<=": (7, operator.le),
    ">": (7, operator.gt),
    ">=": (7, operator.ge),
    "<<": (8, lambda a, b: a << (b & 63)),
    ">>": (8, lambda a, b: a >> (b & 63)),
    "+": (9, operator.add),
    "-": (9, operator.sub),
    "*": (10, operator.mul),
    "/": (10, _divide),
    "%": (10, operator.mod),
}
_LOGICAL = frozenset("|| && == != < <= > >=".split())
_FLOAT = {
    "+": operator.add,
    "-": operator.sub,
    "*": operator.mul,
    "/": operator.truediv,
    **{symbol: _BINARY[symbol][1] for symbol in ("==", "!=", "<", "<=", ">", ">=")},
}
_UNARY, _TERNARY, _OPEN = 11, 0, -1  # how tightly these bind; nothing binds less than '('


def _apply_binary(symbol: str, left: _Value, right: _Value) -> _Value:
    if left.is_float != right.is_float:
        raise _NoValueError(f"'{symbol}' stands between an integer and a float")
    if symbol in ("/", "%") and right.number == 0:
        raise _NoValueError("it divides by zero")
    if left.is_float:
        if symbol not in _FLOAT:
            raise _NoValueError(f"'{symbol}' works on integers only")
        found = _FLOAT[symbol](left.number, right.number)
        return _Value(int(found) if symbol in _LOGICAL else float(found))
    unsigned = symbol == "%" or left.unsigned or right.unsigned
    if symbol in ("<<", ">>"):
        unsigned = left.unsigned
    a, b = _Value(left.number, unsigned).number, _Value(right.number, unsigned).number
    assert isinstance(a, int) and isinstance(b, int)
    return _Value(int(_BINARY[symbol][1](a, b)), unsigned and symbol not in _LOGICAL)


def _apply_unary(symbol: str, value: _Value) -> _Value:
    if symbol == "-":
        return _Value(-value.number, value.unsigned)
    if symbol == "+":
        return value
    if not isinstance(value.number, int):
        raise _NoValueError(f"'{symbol}' works on integers only")
    if symbol == "!":
        return _Value(int(value.number == 0))
    if symbol == "~":
        return _Value(~value.number, unsigned=True)
    return _Value(value.number, symbol == "(.u64)")


def _choose(condition: _Value, yes: _Value, no: _Value) -> _Value:
    if condition.is_float or yes.is_float or no.is_float:
        raise _NoValueError("'?' and ':' work on integers only")
    return yes if condition.number else no


# -- evaluation ------------------------------------------------------------------------------


def _compute(node: Node) -> _Value:
    """Evaluate the tokens of an expression with two stacks, so that nesting has no limit."""
    values: list[_Value] = []
    waiting: list[tuple[int, str]] = []  # operators whose right side is still to come

    def reduce(least: int) -> None:
        while waiting and waiting[-1][0] >= least:
            binding, symbol = waiting.pop()
            if binding == _UNARY:
                values.append(_apply_unary(symbol, values.pop()))
            elif binding == _TERNARY:
                no, yes = values.pop(), values.pop()
                values.append(_choose(values.pop(), yes, no))
            else:
                right = values.pop()
                values.append(_apply_binary(symbol, values.pop(), right))

    after_operand = False
    for kind, text, _, _ in node.tokens():
        if kind in ("integer", "float"):
            values.append(_literal(kind, text))
            after_operand = True
        elif text == "WARP_SZ":
            values.append(_Value(32))
            after_operand = True
        elif kind == "dotword":  # the type of a cast: the '(' before it is the operator
            waiting[-1] = (_UNARY, f"({text})")
        elif kind != "punctuation" or text in "[]{},":
            raise _NotConstantError
        elif text == "(":
            waiting.append((_OPEN, text))
        elif text == ")":
            if not after_operand:
                continue  # it ends the type of a cast
            reduce(_TERNARY)
            waiting.pop()
        elif text == "?":
            reduce(_TERNARY + 1)
            waiting.append((_OPEN, text))
            after_operand = False
        elif text == ":":
            reduce(_TERNARY)
            waiting[-1] = (_TERNARY, "?:")
            after_operand = False
        elif after_operand:
            reduce(_BINARY[text][0])
            waiting.append((_BINARY[text][0], text))
            after_operand = False
        else:
            waiting.append((_UNARY, text))
    reduce(_TERNARY)
    if len(values) != 1 or waiting:
        raise _NotConstantError
    return values[0]
