"""Typed expressions: what a tier allows, drawn at random.

Every expression is defined for every input: divisors are kept from zero, shift counts
inside the width, and signed numbers small enough not to overflow.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from ptxkit.cuda import nodes as n
from ptxkit.cuda.literals import rounded
from ptxkit.cuda.types import (
    BOOL,
    DOUBLE,
    FLOAT,
    HALF,
    INT,
    LONG_LONG,
    SCALARS,
    UINT,
    UNSIGNED_LONG_LONG,
    Scalar,
)
from ptxkit.synth.streams import Stream

# Functions by what they do to numbers; each exists for float and, without the f, double.
SMOOTH = ("sinf", "cosf", "tanhf", "expf", "sqrtf", "logf", "atanf", "exp2f", "log2f", "rsqrtf",
          "tanf", "sinhf", "coshf", "cbrtf", "erff", "log1pf", "expm1f", "log10f")  # fmt: skip
EXACT = ("fabsf", "floorf", "ceilf", "truncf", "rintf")
PAIRS = ("fminf", "fmaxf", "powf", "fmodf", "hypotf", "atan2f", "copysignf", "fdimf")
# Functions that are only defined above zero get an argument that is.
POSITIVE = frozenset(("sqrtf", "logf", "log2f", "rsqrtf", "log10f", "log1pf"))
STEEP = frozenset(("expf", "exp2f", "sinhf", "coshf", "expm1f", "tanf"))

COMPARISONS = ("<", "<=", ">", ">=", "==", "!=")
INTEGERS = (INT, UINT, LONG_LONG, UNSIGNED_LONG_LONG)
SMALL_INTEGERS = tuple(SCALARS[w] for w in ("char", "uchar", "short", "ushort"))
ALL_TYPES = (FLOAT, DOUBLE, HALF, *INTEGERS, *SMALL_INTEGERS)


_IDLE = ("*", "/", "%")  # with 1


def _not_one(operand: n.Expression) -> n.Expression:
    if isinstance(operand, n.Literal) and operand.value == 1:
        return n.Literal(3.0 if operand.type.is_float else 3, operand.type)
    return operand


def is_constant(node: n.Expression) -> bool:
    """Whether a compiler computes it beforehand."""
    return not node.names()


@dataclass
class Palette:
    """What an expression may be made of."""

    draw: Stream
    leaves: dict[Scalar, list[n.Expression]]
    """Expressions to read from, by type."""
    math: float = 0.0
    """How often a function is called."""
    ternary: float = 0.0
    """How often ``?:`` is used."""
    bitwise: float = 0.0
    """How often integers are combined bit by bit."""
    casts: float = 0.0
    """How often a value of another type is converted."""
    literals: float = 0.25
    functions: tuple[str, ...] = field(default=())
    """Device functions of one float argument that may be called."""

    def expression(self, type: Scalar, depth: int) -> n.Expression:
        """An expression of a type, at most so deep."""
        draw = self.draw
        if depth <= 0:
            return self.leaf(type)
        if draw.chance(self.casts):
            cast = self._cast(type, depth)
            if cast is not None:
                return cast
        if draw.chance(self.ternary):
            condition, then = self.condition(depth - 1), self.expression(type, depth - 1)
            return n.Conditional(condition, then, self.partner(type, depth - 1, then))
        if type.is_float:
            if type != HALF and draw.chance(self.math):
                return self._call(type, depth)
            return self._float_operator(type, depth)
        return self._integer_operator(type, depth)

    def leaf(self, type: Scalar) -> n.Expression:
        """Something to read, or a literal."""
        known = self.leaves.get(type, [])
        if known and not self.draw.chance(self.literals):
            return self.draw.choice(known)
        others = self._of_other_types(type)
        if not known and others and self.draw.chance(0.6):
            return self._converted(type, *self.draw.choice(others))
        return self.literal(type)

    def literal(self, type: Scalar) -> n.Literal:
        """A number as people write them: few digits."""
        draw = self.draw
        if type == BOOL:
            return n.Literal(draw.chance(0.5), BOOL)
        if type.is_float:
            scale = draw.choice((2, 4, 10, 100))
            return n.Literal(rounded(draw.between(1, 4 * scale) / scale, type), type)
        wide = type if type.bits >= 32 else INT
        return n.Literal(draw.between(1, 16), wide)

    def condition(self, depth: int) -> n.Expression:
        """Something that is true or false."""
        draw = self.draw
        if depth > 1 and draw.chance(0.25):
            operator = draw.choice(("&&", "||"))
            return n.Binary(operator, self.condition(depth - 1), self.condition(depth - 1))
        if draw.chance(0.08):
            return n.Unary("!", self.condition(depth - 1))
        type = draw.choice([t for t in self.leaves if self.leaves[t]] or [FLOAT])
        # Equality of floats is decided by the last bit: nothing to build a sample on.
        operators = COMPARISONS[:4] if type.is_float else COMPARISONS
        left = self.expression(type, min(depth - 1, 1))
        return n.Binary(draw.choice(operators), left, self.partner(type, 0, left))

    def partner(self, type: Scalar, depth: int, other: n.Expression) -> n.Expression:
        """A second operand: not one that makes the operator pointless beside the first."""
        for _ in range(4):
            found = self.expression(type, depth)
            if found != other and not (is_constant(found) and is_constant(other)):
                return found
        return self.literal(type) if not is_constant(other) else self.read(type)

    def read(self, type: Scalar) -> n.Expression:
        """Something that is not known before the kernel runs."""
        known = self.leaves.get(type, [])
        if known:
            return self.draw.choice(known)
        others = self._of_other_types(type)
        return self._converted(type, *self.draw.choice(others)) if others else self.literal(type)

    def reading(self, type: Scalar, depth: int) -> n.Expression:
        """An expression that is no constant."""
        found = self.expression(type, depth)
        return self.read(type) if is_constant(found) else found

    def using(self, type: Scalar, depth: int, wanted: Sequence[n.Expression]) -> n.Expression:
        """An expression with at least one of those in it."""
        for _ in range(3):
            found = self.expression(type, depth)
            if any(part in wanted for part in found.walk()):
                return found
        other = self.draw.choice(wanted)
        if depth <= 0:
            return other
        return n.Binary(self.draw.choice("+-"), other, self.partner(type, depth - 1, other))

    def operator(self, sign: str, left: n.Expression, right: n.Expression) -> n.Expression:
        """An operator; not one that does nothing, as ``x * 1`` would be."""
        if sign in _IDLE:
            left, right = (_not_one(left), _not_one(right)) if sign == "*" else (left, _not_one(right))  # noqa: E501  # fmt: skip
        return n.Binary(sign, left, right)

    # ---- one kind each -------------------------------------------------------------------

    def _split(self, depth: int) -> tuple[int, int]:
        """Depths of two operands: one of them may be shallow."""
        other = self.draw.between(0, depth - 1)
        return (depth - 1, other) if self.draw.chance(0.5) else (other, depth - 1)

    def _float_operator(self, type: Scalar, depth: int) -> n.Expression:
        draw = self.draw
        operator = draw.weighted({"+": 30, "-": 30, "*": 35, "/": 8, "neg": 5})
        if operator == "neg":
            operand = self.expression(type, depth - 1)
            if not isinstance(operand, n.Unary | n.Literal):
                return n.Unary("-", operand)
            operator = "-"
        one, two = self._split(depth)
        left = self.expression(type, one)
        right = self.partner(type, two, left)
        if operator == "/" and type != HALF and not isinstance(right, n.Literal):
            right = n.Binary("+", self._absolute(type, right), self.literal(type))
        return self.operator(operator, left, right)

    def _absolute(self, type: Scalar, operand: n.Expression) -> n.Expression:
        return n.Call("fabs" if type == DOUBLE else "fabsf", (operand,))

    def _call(self, type: Scalar, depth: int) -> n.Expression:
        draw = self.draw
        if self.functions and type == FLOAT and draw.chance(0.6):
            return n.Call(draw.choice(self.functions), (self.expression(FLOAT, depth - 1),))
        suffix = slice(None, -1) if type == DOUBLE else slice(None)
        if draw.chance(0.2):
            name = draw.choice(PAIRS)
            one, two = self._split(depth)
            left = self.expression(type, one)
            right = self.partner(type, two, left)
            if name == "powf":
                left, right = self._absolute(type, left), self.literal(type)
            elif name == "fmodf":
                right = n.Binary("+", self._absolute(type, right), self.literal(type))
            return n.Call(name[suffix], (left, right))
        name = draw.choice(SMOOTH if draw.chance(0.75) else EXACT)
        operand = self.expression(type, depth - 1)
        if is_constant(operand):
            operand = self.read(type)
        if name in POSITIVE:
            operand = n.Binary("+", self._absolute(type, operand), self.literal(type))
        elif name in STEEP:
            # Keeps results inside the range of floats.
            operand = n.Call("sin" if type == DOUBLE else "sinf", (operand,)) \
                if depth > 1 and draw.chance(0.5) else self.read(type)  # fmt: skip
        return n.Call(name[suffix], (operand,))

    def _integer_operator(self, type: Scalar, depth: int) -> n.Expression:
        draw = self.draw
        one, two = self._split(depth)
        if draw.chance(self.bitwise):
            kind = draw.choice(("&", "|", "^", "<<", ">>", "~"))
            left = self.expression(type, one)
            if is_constant(left):
                left = self.read(type)
            if kind == "~":
                return n.Unary("~", left)
            if kind == "<<" and type.signed:
                kind = ">>"
            if kind in ("<<", ">>"):
                return n.Binary(kind, left, n.Literal(draw.between(1, 7), INT))
            return n.Binary(kind, left, self.partner(type, two, left))
        operator = draw.weighted({"+": 30, "-": 30, "*": 20, "/": 5, "%": 5, "min": 4, "max": 4})
        left = self.expression(type, one)
        if operator in ("/", "%"):
            if is_constant(left):
                left = self.read(type)
            return self.operator(operator, left, self.literal(type))
        if operator == "*" and type.signed:
            # Products of products overflow, which C++ does not define for signed numbers.
            return self.operator(operator, self.read(type), self.literal(type))
        right = self.partner(type, two, left)
        if operator in ("min", "max"):
            if type.bits < 32:
                return n.Binary("-", left, right)
            return n.Call(operator, (left, right))
        return self.operator(operator, left, right)

    def _cast(self, type: Scalar, depth: int) -> n.Expression | None:
        others = [t for t in self.leaves if t != type and self.leaves[t]]
        if not others:
            return None
        other = self.draw.choice(others)
        return self._converted(type, other, self.expression(other, depth - 1))

    def _of_other_types(self, type: Scalar) -> list[tuple[Scalar, n.Expression]]:
        return [(t, leaf) for t, found in self.leaves.items() if t != type for leaf in found]

    def _converted(self, type: Scalar, source: Scalar, value: n.Expression) -> n.Expression:
        """A conversion that C++ defines: floats become integers only inside their range."""
        if source.is_float and not type.is_float:
            if type.bits < 32:
                return n.Cast(type, n.Cast(INT, value))
            if not type.signed:
                value = self._absolute(source, value)
        return n.Cast(type, value)
