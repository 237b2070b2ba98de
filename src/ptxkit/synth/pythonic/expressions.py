"""Typed expressions that every Python dialect for kernels can write, and numpy can evaluate.

Every expression is defined for every input and stays small: divisors and logarithms are kept from
zero, exponentials bounded, and what would grow is damped where it arises.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from ptxkit.synth.streams import Stream

Array = Any


@dataclass(frozen=True, slots=True)
class Name:
    """A value by its name."""

    text: str
    bound: float = 4.0
    """Its magnitude is at most that."""


@dataclass(frozen=True, slots=True)
class Number:
    """A literal."""

    value: float | int

    @property
    def bound(self) -> float:
        """Its magnitude."""
        return abs(self.value)


@dataclass(frozen=True, slots=True)
class Apply:
    """An operation on expressions."""

    operation: str
    arguments: tuple[Expression, ...]
    bound: float


Expression = Name | Number | Apply


@dataclass(frozen=True, slots=True)
class Operation:
    """How an operation is computed, and how large its result is at most."""

    compute: Callable[..., Array]
    bound: Callable[..., float]


_INFIX = {"add": "+", "sub": "-", "mul": "*", "div": "/", "and": "&", "or": "|", "xor": "^",
          "less": "<", "less_equal": "<=", "greater": ">", "greater_equal": ">="}  # fmt: skip
_BITS = ("and", "or", "xor")
_COMPARISONS = ("less", "less_equal", "greater", "greater_equal")

OPERATIONS: dict[str, Operation] = {
    "add": Operation(np.add, lambda a, b: a + b),
    "sub": Operation(np.subtract, lambda a, b: a + b),
    "mul": Operation(np.multiply, lambda a, b: a * b),
    "div": Operation(np.divide, lambda a, b: 4 * a),  # divisors are at least a quarter
    "neg": Operation(np.negative, lambda a: a),
    "abs": Operation(np.abs, lambda a: a),
    "min": Operation(np.minimum, max),
    "max": Operation(np.maximum, max),
    "sqrt": Operation(np.sqrt, lambda a: a**0.5),
    "exp": Operation(np.exp, lambda a: float(np.exp(min(a, 4.0)))),
    "log": Operation(np.log, lambda a: 8.0),
    "sin": Operation(np.sin, lambda a: 1.0),
    "cos": Operation(np.cos, lambda a: 1.0),
    "and": Operation(np.bitwise_and, lambda a, b: 2 * max(a, b) + 1),
    "or": Operation(np.bitwise_or, lambda a, b: 2 * max(a, b) + 1),
    "xor": Operation(np.bitwise_xor, lambda a, b: 2 * max(a, b) + 1),
    "less": Operation(np.less, lambda a, b: 1),
    "less_equal": Operation(np.less_equal, lambda a, b: 1),
    "greater": Operation(np.greater, lambda a, b: 1),
    "greater_equal": Operation(np.greater_equal, lambda a, b: 1),
    "where": Operation(np.where, lambda c, a, b: max(a, b)),
}
"""Every operation by its name."""

_MOST = {"f": 200.0, "i": 1e6}


def apply(operation: str, *arguments: Expression) -> Apply:
    """An operation with the bound of its result."""
    bound = OPERATIONS[operation].bound(*(argument.bound for argument in arguments))
    return Apply(operation, arguments, float(bound))


def evaluate(node: Expression, values: Mapping[str, Array]) -> Array:
    """The value of an expression, for all elements at once.

    >>> evaluate(apply("mul", Name("x"), Number(2.0)), {"x": np.array([1.0, 3.0])}).tolist()
    [2.0, 6.0]
    """
    match node:
        case Name():
            return values[node.text]
        case Number():
            return node.value
    return OPERATIONS[node.operation].compute(*(evaluate(a, values) for a in node.arguments))


def written(node: Expression, functions: Mapping[str, str]) -> str:
    """The expression as a program writes it; `functions` are what is no operator there.

    >>> written(apply("sqrt", apply("add", Name("x"), Number(1))), {"sqrt": "math.sqrt({})"})
    'math.sqrt(x + 1)'
    """
    text = _text(node, functions)
    return text[1:-1] if text.startswith("(") and _closes_at_the_end(text) else text


def _closes_at_the_end(text: str) -> bool:
    depth = 0
    for place, sign in enumerate(text):
        depth += (sign == "(") - (sign == ")")
        if depth == 0:
            return place == len(text) - 1
    return False


def _text(node: Expression, functions: Mapping[str, str]) -> str:
    match node:
        case Name():
            return node.text
        case Number():
            return repr(node.value)
    form = functions.get(node.operation)
    if form is not None:
        # Arguments between commas need no parentheses of their own.
        parts = (written(a, functions) for a in node.arguments)
        return form.format(*parts)
    inner = [_text(a, functions) for a in node.arguments]
    if node.operation == "neg":
        return f"(-{inner[0]})"
    return f"({inner[0]} {_INFIX[node.operation]} {inner[1]})"


@dataclass
class Palette:
    """What an expression may be made of."""

    draw: Stream
    leaves: list[Name]
    kind: str = "f"
    """``"f"`` or ``"i"``."""
    math: float = 0.0
    choice: float = 0.0
    bits: float = 0.0

    def number(self) -> Number:
        """A literal of few digits."""
        if self.kind == "i":
            return Number(self.draw.between(2, 16))
        scale = self.draw.choice((2, 4, 10))
        value = self.draw.between(1, 3 * scale) / scale
        return Number(1.25 if value == 1 else value)  # times one would be no operation

    def leaf(self) -> Expression:
        """Something to read, or a number."""
        return self.number() if self.draw.chance(0.25) else self.draw.choice(self.leaves)

    def condition(self) -> Apply:
        """A comparison."""
        left = self.draw.choice(self.leaves)
        if self.draw.chance(0.4):
            return apply(self.draw.choice(_COMPARISONS), left, self.number())
        other = self.expression(1)
        if other == left:
            other = self.number()
        return apply(self.draw.choice(_COMPARISONS), left, other)

    def expression(self, depth: int) -> Expression:
        """An expression at most so deep."""
        draw = self.draw
        if depth <= 0:
            return self.leaf()
        if draw.chance(self.choice):
            return apply("where", self.condition(), *self._pair(depth))
        if draw.chance(self.math):
            return self._function(depth)
        left, right = self._pair(depth)
        if draw.chance(self.bits):
            return apply(draw.choice(_BITS), left, right)
        sign = draw.weighted({"add": 30, "sub": 30, "mul": 30, "min": 5, "max": 5, "div": 6})
        if sign == "div":
            sign = "sub" if self.kind == "i" else "div"
        if sign == "div":
            right = apply("add", apply("abs", right), Number(draw.between(1, 8) / 4))
        if sign == "mul" and left.bound * right.bound > _MOST[self.kind]:
            sign = "sub"
        return apply(sign, left, right)

    def reading(self, depth: int) -> Expression:
        """An expression that reads at least one of the leaves."""
        found = self.expression(depth)
        if any(part in self.leaves for part in parts_of(found)):
            return found
        return apply("add", self.draw.choice(self.leaves), self.number())

    def _pair(self, depth: int) -> tuple[Expression, Expression]:
        other = self.draw.between(0, depth - 1)
        first, second = self.expression(depth - 1), self.expression(other)
        if first == second or (isinstance(first, Number) and isinstance(second, Number)):
            first = self.draw.choice(self.leaves)
            second = self.number() if first == second else second
        return (first, second) if self.draw.chance(0.5) else (second, first)

    def _function(self, depth: int) -> Expression:
        name = self.draw.choice(("sqrt", "exp", "log", "sin", "cos", "abs", "neg"))
        inner = self.expression(depth - 1)
        if isinstance(inner, Number):
            inner = self.draw.choice(self.leaves)
        if name in ("sqrt", "log"):
            inner = apply("add", apply("abs", inner), Number(self.draw.between(1, 8) / 4))
        elif name == "exp" and inner.bound > 4:
            inner = apply("sin", inner)
        return apply(name, inner)


def parts_of(node: Expression) -> list[Expression]:
    """The expression and everything in it."""
    found: list[Expression] = [node]
    if isinstance(node, Apply):
        for argument in node.arguments:
            found += parts_of(argument)
    return found
