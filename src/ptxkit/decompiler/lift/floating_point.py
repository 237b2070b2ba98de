"""Floating point as expressions of C++; the compiler contracts what PTX has contracted."""

from __future__ import annotations

from ptxkit.cuda import nodes as n
from ptxkit.cuda.types import (
    BOOL,
    DOUBLE,
    FLOAT,
    Type,
)
from ptxkit.decompiler.lift.contraction import is_negative, swallowed
from ptxkit.decompiler.lift.conversions import (
    C_TYPES,
    Expr,
)
from ptxkit.decompiler.lift.values import Value
from ptxkit.decompiler.lift.writing import Writing

_OPERATORS = {
    "fadd": "+", "fsub": "-", "fmul": "*", "fdiv": "/",
    "feq": "==", "fne": "!=", "flt": "<", "fle": "<=", "fgt": ">", "fge": ">=",
}  # fmt: skip
#: The bits of 1.0.
_ONE = 0x3FF0000000000000


class FloatingPoint(Writing):
    """Writes operations on floating point."""

    __slots__ = ()

    def _float(self, value: Value, hint: Type | None) -> Expr:
        type = C_TYPES[value.data[0]]
        left, right = (self.typed(a, type) for a in value.args)
        if self.exact and value.op != "fdiv" and not self.open_sums:
            # Operators may be turned round: of two not-a-numbers the other one would be left.
            stem = "f" if type == FLOAT else "d"
            return Expr(n.Call(f"__{stem}{value.op[1:]}_rn", (left, right)), type)
        operator = _OPERATORS[value.op]
        for place in swallowed(value) if self.lift.contracts and not self.open_sums else ():
            kept = self._kept(value.args[place], type)
            if kept is not None:
                left, right = (kept, right) if place == 0 else (left, kept)
        if (
            value.op == "fadd"
            and isinstance(right, n.Literal)
            and right.bits is None
            and isinstance(right.value, float)
            and right.value < 0
        ):
            return Expr(n.Binary("-", left, n.Literal(-right.value, right.type)), type)
        return Expr(n.Binary(operator, left, right), type)

    def _kept(self, value: Value, type: Type) -> n.Expression | None:
        """A product that the compiler must not contract with a sum."""
        if value.op == "fneg":
            inner = self._kept(value.args[0], type)
            return None if inner is None else n.Unary("-", inner)
        if value.op != "fmul":
            return None
        name = "__fmul_rn" if type == FLOAT else "__dmul_rn"
        return n.Call(name, tuple(self.typed(a, type) for a in value.args))

    def _float_negated(self, value: Value, hint: Type | None) -> Expr:
        type = C_TYPES[value.data[0]]
        inner = value.args[0]
        if type == DOUBLE and inner.op == "fdiv" and _is_one(inner.args[0]):
            # There is a reciprocal, and no division of -1. A compiler takes the sign out of a
            # product with one, but not out of a number.
            divisor = self.typed(inner.args[1], type)
            return Expr(n.Binary("/", n.Literal(-1.0, DOUBLE), divisor), type)
        return Expr(n.Unary("-", self.typed(inner, type)), type)

    def _twice(self, value: Value, hint: Type | None) -> Expr:
        type = C_TYPES[value.data[0]]
        two = n.Literal(2.0, FLOAT if type == FLOAT else DOUBLE)
        return Expr(n.Binary("*", two, self.typed(value.args[0], type)), type)

    def _fused(self, value: Value, hint: Type | None) -> Expr:
        type = C_TYPES[value.data[0]]
        a, b, c = value.args
        name = "fmaf" if type == FLOAT else "fma"
        # The compiler contracts sums alone: `c - a * b` stays two instructions.
        negative = c.op == "fneg" or is_negative(a) or is_negative(b)
        kept = not self.lift.contracts
        if kept or self.careful or self._is_product(c) or negative or a.op == "const":
            return Expr(n.Call(name, tuple(self.typed(v, type) for v in value.args)), type)
        product = n.Binary("*", self.typed(a, type), self.typed(b, type))
        addend = self.typed(c, type)
        if (
            isinstance(addend, n.Literal)
            and addend.bits is None
            and isinstance(addend.value, float)
            and addend.value < 0
        ):
            return Expr(n.Binary("-", product, n.Literal(-addend.value, addend.type)), type)
        if len(value.data) > 2:  # the addend was computed first
            return Expr(n.Binary("+", addend, product), type)
        return Expr(n.Binary("+", product, addend), type)

    def _is_product(self, value: Value) -> bool:
        if value.op == "fneg":
            return self._is_product(value.args[0])
        return value.op == "fmul" or (value.op == "var" and value.data.variable in self.products)

    def _float_compared(self, value: Value, hint: Type | None) -> Expr:
        type = C_TYPES[value.data[0]]
        left, right = (self.typed(a, type) for a in value.args)
        return Expr(n.Binary(_OPERATORS[value.op], left, right), BOOL)

    def _cvt(self, value: Value, hint: Type | None) -> Expr:
        target, source = (C_TYPES[t] for t in value.data)
        node = self.typed(value.args[0], source)
        return Expr(n.Cast(target, node), target)


def _is_one(value: Value) -> bool:
    return value.op == "const" and value.width == 64 and value.data == _ONE
