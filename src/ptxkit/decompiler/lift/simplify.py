"""Expressions as people write them: needless casts and double negations gone."""

from __future__ import annotations

from collections.abc import Mapping

from ptxkit.cuda import nodes as n
from ptxkit.cuda.infer import infer
from ptxkit.cuda.types import BOOL, Scalar, Type, common
from ptxkit.decompiler.lift.conditions import negate
from ptxkit.decompiler.lift.rewrite import bottom_up, rebuilt

_NEUTRAL = frozenset(("+", "-", "*", "&", "|", "^"))


class Simplifier:
    """Simplifies expressions over variables of known types."""

    def __init__(self, types: Mapping[str, Type]) -> None:
        self.types = types

    def type(self, node: n.Expression) -> Type:
        """The type of an expression."""
        return infer(node, self.types)

    def is_float(self, node: n.Expression) -> bool:
        """Whether an expression is a floating-point number."""
        found = self.type(node)
        return isinstance(found, Scalar) and found.is_float

    def statement(self, node: n.Statement) -> n.Statement:
        """A statement with everything in it simplified."""
        node = bottom_up(node, self._node)
        return self._sinks(node)

    def expression(self, node: n.Expression) -> n.Expression:
        """An expression, simplified."""
        return bottom_up(node, self._node)  # type: ignore[no-any-return]

    def _node(self, node: n.Node) -> n.Node:
        match node:
            case n.Cast():
                return self._cast(node)
            case n.Unary(operator="!", operand=operand):
                return negate(operand, self.is_float)
            case n.Unary(operator="-", operand=n.Unary(operator="-", operand=inner)):
                return inner
            case n.Binary():
                return self._binary(node)
        return node

    def _cast(self, node: n.Cast) -> n.Expression:
        wanted, inner = node.type, node.operand
        have = self.type(inner)
        if have == wanted:
            return inner
        if not isinstance(wanted, Scalar) or not isinstance(have, Scalar):
            return node
        if (
            isinstance(inner, n.Literal)
            and have.is_integer
            and wanted.is_integer
            and wanted != BOOL
        ):
            value = int(inner.value) & ((1 << wanted.bits) - 1)
            if wanted.signed and value >> (wanted.bits - 1):
                value -= 1 << wanted.bits
            return n.Literal(value, wanted)
        if isinstance(inner, n.Cast) and isinstance(inner.type, Scalar):
            first = self.type(inner.operand)
            through = inner.type
            if (
                isinstance(first, Scalar)
                and first.is_integer and through.is_integer and wanted.is_integer
                and BOOL not in (first, through, wanted)
                and (through.bits >= wanted.bits or through.bits == first.bits == wanted.bits)
            ):  # fmt: skip
                return self._cast(n.Cast(wanted, inner.operand))
        return node

    def _binary(self, node: n.Binary) -> n.Expression:
        left, right = node.left, node.right
        if isinstance(right, n.Literal) and right.type.kind == "int" and right.type.signed:
            value = int(right.value)
            if node.operator == "+" and -(1 << 31) < value < 0:
                return n.Binary("-", left, n.Literal(-value, right.type))
            if node.operator == "-" and -(1 << 31) < value < 0:
                return n.Binary("+", left, n.Literal(-value, right.type))
        if (
            node.operator in ("+", "*", "&", "|")
            and isinstance(left, n.Literal)
            and not isinstance(right, n.Literal)
            and left.type.is_integer
        ):
            return self._binary(n.Binary(node.operator, right, left))
        if node.operator in ("==", "!=") and isinstance(right, n.Literal) and right.type == BOOL:
            same = bool(right.value) == (node.operator == "==")
            return left if same else negate(left, self.is_float)
        # One cast is enough to make both sides of a kind.
        if isinstance(right, n.Cast) and isinstance(right.type, Scalar):
            return self._without_right_cast(node, right)
        return node

    def _without_right_cast(self, node: n.Binary, right: n.Cast) -> n.Expression:
        have, inner = self.type(node.left), self.type(right.operand)
        wanted = right.type
        if (
            isinstance(have, Scalar) and isinstance(inner, Scalar) and isinstance(wanted, Scalar)
            and wanted == have and node.operator not in ("<<", ">>", "&&", "||", ",")
            and common(have, inner) == wanted and inner.is_integer and wanted.is_integer
        ):  # fmt: skip
            return n.Binary(node.operator, node.left, right.operand)
        return node

    # ---- sinks ---------------------------------------------------------------------------

    def _sinks(self, node: n.Statement) -> n.Statement:
        """Assignments keep only the low bits: signs inside do not matter there."""
        match node:
            case n.Assign(target=target, value=value, operator="="):
                wanted = self.type(target)
                if isinstance(wanted, Scalar) and wanted.kind == "int":
                    return n.Assign(target, self._bits(value, wanted.bits))
            case n.Declare(type=Scalar() as wanted, value=value) if value is not None:
                if wanted.kind == "int":
                    return n.Declare(wanted, node.name, self._bits(value, wanted.bits), node.space)
            case n.If() | n.While() | n.DoWhile() | n.For() | n.Block() | n.Switch() | n.Case():
                return rebuilt(
                    node, lambda p: self._sinks(p) if not isinstance(p, n.Expression) else p
                )
        return node

    def _bits(self, node: n.Expression, width: int) -> n.Expression:
        """An expression of which only the low bits count."""
        match node:
            case n.Cast(type=Scalar() as to, operand=operand) if to.kind == "int":
                have = self.type(operand)
                narrow = isinstance(have, Scalar) and have.kind == "int" and have.bits >= width
                if narrow and to.bits >= width:
                    return self._bits(operand, width)
            case n.Binary(operator=operator, left=left, right=right) if operator in _NEUTRAL:
                one, two = self._bits(left, width), self._bits(right, width)
                made = n.Binary(operator, one, two)
                have = self.type(made)
                if isinstance(have, Scalar) and have.kind == "int" and have.bits >= width:
                    return made
        return node
