"""Values of literals and constant expressions, as PTX defines them.

Integers are 64 bits wide, signed unless a literal ends in ``U`` or is too large for a
signed number; an operation with one unsigned side is unsigned.
"""

from __future__ import annotations

import operator
import struct
from collections.abc import Callable
from typing import TYPE_CHECKING

from ptxkit.errors import UsageError

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


def _divide(a: int | float, b: int | float) -> int | float:
    if isinstance(a, float) or isinstance(b, float):
        return a / b if b else float("nan")
    if b == 0:
        raise UsageError("a constant expression divides by zero")
    quotient = abs(a) // abs(b)
    return quotient if (a < 0) == (b < 0) else -quotient


def _remainder(a: int, b: int) -> int:
    return a - b * int(_divide(a, b))


_Operation = Callable[..., int | float]
_OPERATIONS: dict[str, tuple[int, _Operation]] = {
    "||": (1, lambda a, b: int(bool(a) or bool(b))),
    "&&": (2, lambda a, b: int(bool(a) and bool(b))),
    "|": (3, operator.or_),
    "^": (4, operator.xor),
    "&": (5, operator.and_),
    "==": (6, lambda a, b: int(a == b)),
    "!=": (6, lambda a, b: int(a != b)),
    "<": (7, lambda a, b: int(a < b)),
    "<=": (7, lambda a, b: int(a <= b)),
    ">": (7, lambda a, b: int(a > b)),
    ">=": (7, lambda a, b: int(a >= b)),
    "<<": (8, lambda a, b: a << min(b, 64) if b >= 0 else 0),
    ">>": (8, lambda a, b: a >> min(b, 64) if b >= 0 else 0),
    "+": (9, operator.add),
    "-": (9, operator.sub),
    "*": (10, operator.mul),
    "/": (10, _divide),
    "%": (10, _remainder),
}


class _NotConstant(Exception):
    """Raised inside when a name stands in the expression."""


def evaluate(node: Node) -> int | float | None:
    """The value of a constant operand; None where it names a symbol."""
    try:
        return _evaluate(node).number
    except _NotConstant:
        return None
    except TypeError:  # an integer operator between floats
        return None


def _evaluate(node: Node) -> _Value:
    kind = node.kind
    if kind == "Integer":
        value = integer_value(node.text)
        return _Value(value, node.text.endswith("U") or value >> 63 != 0)
    if kind == "Float":
        return _Value(float_value(node.text))
    if kind == "Parenthesized":
        return _evaluate(node.children[0])
    if kind == "Unary":
        return _unary(node)
    if kind == "Expression":
        values = [_evaluate(child) for child in node.children]
        operators = [text for _, text, _, _ in node.tokens(own=True)]
        return _Climber(values, operators).ternary()
    if kind == "Name" and node.text == "WARP_SZ":
        return _Value(32)
    raise _NotConstant


def _unary(node: Node) -> _Value:
    symbol = "".join(text for _, text, _, _ in node.tokens(own=True))
    value = _evaluate(node.children[0])
    if symbol == "!":
        return _Value(int(not value.number))
    if symbol == "-":
        return _Value(-value.number, value.unsigned)
    if symbol == "+":
        return value
    if isinstance(value.number, float):
        return _Value(int(value.number), symbol == "(.u64)")
    if symbol == "~":
        return _Value(~value.number, value.unsigned)
    return _Value(value.number, symbol == "(.u64)")


class _Climber:
    """Precedence climbing over the flat list of values and operators."""

    def __init__(self, values: list[_Value], operators: list[str]) -> None:
        self._values = values
        self._operators = operators
        self._at = 0

    def _peek(self) -> str:
        return self._operators[self._at] if self._at < len(self._operators) else ""

    def ternary(self) -> _Value:
        condition = self._binary(1)
        if self._peek() != "?":
            return condition
        self._at += 1
        yes = self.ternary()
        self._at += 1
        no = self.ternary()
        return yes if condition.number else no

    def _binary(self, least: int) -> _Value:
        left = self._values[self._at]
        while self._peek() in _OPERATIONS and _OPERATIONS[self._peek()][0] >= least:
            symbol = self._peek()
            precedence, operation = _OPERATIONS[symbol]
            self._at += 1
            right = self._binary(precedence + 1)
            unsigned = left.unsigned or right.unsigned
            if symbol in ("<<", ">>"):
                unsigned = left.unsigned
            a, b = _Value(left.number, unsigned), _Value(right.number, unsigned)
            compares = precedence in (1, 2, 6, 7)
            left = _Value(operation(a.number, b.number), unsigned and not compares)
        return left
