"""Whole numbers and predicates as expressions of C++."""

from __future__ import annotations

from collections.abc import Sequence

from ptxkit.cuda import nodes as n
from ptxkit.cuda.types import (
    BOOL,
    INT,
    LONG_LONG,
    SCALARS,
    Pointer,
    Scalar,
    Type,
    common,
    promoted,
)
from ptxkit.decompiler.lift.context import Intrinsic
from ptxkit.decompiler.lift.conversions import (
    SIGNED,
    UNSIGNED,
    Expr,
    bits_of,
)
from ptxkit.decompiler.lift.sums import Sum, sum_of
from ptxkit.decompiler.lift.values import Value
from ptxkit.decompiler.lift.writing import Writing

_OPERATORS = {
    "add": "+", "sub": "-", "mul": "*", "and": "&", "or": "|", "xor": "^", "div": "/", "rem": "%",
    "eq": "==", "ne": "!=", "lt": "<", "le": "<=", "gt": ">", "ge": ">=",
}  # fmt: skip
_LOGIC = {"and": "&&", "or": "||", "xor": "!="}
#: Types that hold all of 64 bits.
_WHOLE = frozenset(("longlong", "ulonglong"))


class WholeNumbers(Writing):
    """Writes operations on whole numbers."""

    __slots__ = ()

    def _arithmetic(self, value: Value, hint: Type | None) -> Expr:
        one, two = value.args
        if value.width == 1:
            operator = _LOGIC[value.op]
            return Expr(n.Binary(operator, self.condition(one), self.condition(two)), BOOL)
        if value.op in ("add", "sub") and (apart := self._apart(value)) is not None:
            return apart
        hint = hint if isinstance(hint, Scalar) and hint.is_integer else None
        left = self.number(one, hint)
        right = self.number(two, left.type if two.op == "const" else hint)
        if one.op == "const" and two.op != "const":
            left = self.number(one, right.type)
        return self._joined(value, _OPERATORS[value.op], left, right)

    def _joined(self, value: Value, operator: str, left: Expr, right: Expr) -> Expr:
        width = value.width
        left, right = self._wide_enough(left, right, width)
        left, right = self._cut(left, width), self._cut(right, width)
        assert isinstance(left.type, Scalar)
        assert isinstance(right.type, Scalar)
        type = common(left.type, right.type)
        node: n.Expression = n.Binary(operator, left.node, right.node)
        less = _less(right.node, width) if operator in ("+", "-") else None
        if less is not None:
            node = n.Binary("-" if operator == "+" else "+", left.node, less)
        if self.careful and type.signed and operator in "+-*" and width >= 32:
            want = UNSIGNED[width]
            whole = n.Binary(operator, n.Cast(want, left.node), right.node)
            return Expr(whole, want)
        if width >= 32:
            return Expr(node, type)
        # What both leave 0 stays 0.
        return Expr(node, type, operator in "&|^" and all(_fits(x, width) for x in (left, right)))

    def _wide_enough(self, left: Expr, right: Expr, width: int) -> tuple[Expr, Expr]:
        """Operands of which the result has all the bits it needs."""
        # A number is written as int: it widens nothing.
        wide = bits_of(right.type) >= width and not isinstance(right.node, n.Literal)
        if left.inner is not None and right.inner is None and wide:
            left = left.inner
        elif right.inner is not None and bits_of(left.type) >= width:
            right = right.inner if not isinstance(left.node, n.Literal) else right
        return left, right

    def _cut(self, made: Expr, width: int) -> Expr:
        """Wide expressions of narrow values are cut before they are computed with."""
        if made.exact or bits_of(made.type) <= max(width, 32):
            return made
        want = SIGNED[max(width, 32)]
        return Expr(n.Cast(want, made.node), want)

    def _not(self, value: Value, hint: Type | None) -> Expr:
        if value.width == 1:
            return Expr(n.Unary("!", self.condition(value.args[0])), BOOL)
        made = self.number(value.args[0], hint)
        assert isinstance(made.type, Scalar)
        return Expr(n.Unary("~", made.node), promoted(made.type), exact=value.width >= 32)

    def _neg(self, value: Value, hint: Type | None) -> Expr:
        made = self.number(value.args[0], hint)
        assert isinstance(made.type, Scalar)
        return Expr(n.Unary("-", made.node), promoted(made.type), exact=value.width >= 32)

    def _shift_left(self, value: Value, hint: Type | None) -> Expr:
        if value.args[0].op == "const" and value.width == 64:
            # A short number would be shifted as an int.
            whole = hint if isinstance(hint, Scalar) and hint.word in _WHOLE else LONG_LONG
            number = self.literal(value.args[0], whole)
            return Expr(n.Binary("<<", number, self._count(value.args[1])), whole)
        made = self.number(value.args[0], hint)
        type = made.type if isinstance(made.type, Scalar) else INT
        node = made.node
        if type.bits < value.width and value.width > 32:
            node, type = n.Cast(LONG_LONG, node), LONG_LONG
        shifted = n.Binary("<<", node, self._count(value.args[1]))
        return Expr(shifted, promoted(type), exact=value.width >= 32)

    def _count(self, value: Value) -> n.Expression:
        if value.op == "const":
            return n.Literal(value.data, INT)
        made = self.number(value)
        return made.inner.node if made.inner is not None else made.node

    def _shift_right(self, value: Value, hint: Type | None) -> Expr:
        sign = value.op[-1]
        made = self.signed(value.args[0], sign)
        assert isinstance(made.type, Scalar)
        return Expr(n.Binary(">>", made.node, self._count(value.args[1])), promoted(made.type))

    def _divided(self, value: Value, hint: Type | None) -> Expr:
        name, _, sign = value.op.partition(".")
        if self.exact and value.args[1].op != "const" and value.width >= 32:
            # Of `a - a / b * b` a compiler makes `a % b`, which differs where b is 0.
            type_name = f"{sign}{value.width}"
            assembly = f"{name}.{type_name} %0, %1, %2;"
            call = Intrinsic(f"{name}_{type_name}", (type_name, type_name), type_name, assembly)
            return self.intrinsic(call, value.args)
        left, right = (self.signed(a, sign) for a in value.args)
        assert isinstance(left.type, Scalar)
        assert isinstance(right.type, Scalar)
        type = common(left.type, right.type)
        return Expr(n.Binary(_OPERATORS[name], left.node, right.node), type)

    def _compared(self, value: Value, hint: Type | None) -> Expr:
        name, _, sign = value.op.partition(".")
        if not sign:
            return self._equal(value)
        pointers = self._pointers(value.args) if sign == "u" else None
        if pointers is not None:
            return Expr(n.Binary(_OPERATORS[name], *pointers), BOOL)
        left, right = (self.signed(a, sign) for a in value.args)
        return Expr(n.Binary(_OPERATORS[name], left.node, right.node), BOOL)

    def _equal(self, value: Value) -> Expr:
        operator = _OPERATORS[value.op]
        one, two = value.args
        if one.width == 1:
            return Expr(n.Binary(operator, self.condition(one), self.condition(two)), BOOL)
        left = self.natural(one)
        if isinstance(left.type, Pointer):
            if two.op == "const" and two.data == 0:
                return Expr(n.Binary(operator, left.node, n.Name("nullptr")), BOOL)
            other = self.natural(two)
            if other.type == left.type:
                return Expr(n.Binary(operator, left.node, other.node), BOOL)
        pointers = self._pointers(value.args)
        if pointers is not None:
            return Expr(n.Binary(operator, *pointers), BOOL)
        left = self.number(one)
        if left.type == BOOL and two.op == "const" and two.data == 0:
            return left if value.op == "ne" else Expr(n.Unary("!", left.node), BOOL)
        right = self.number(two, left.type)
        if not left.exact or not right.exact or _signs_differ(left, right, one.width):
            left, right = self.signed(one, "u"), self.signed(two, "u")
        else:
            left, right = self._wide_enough(left, right, one.width)
        return Expr(n.Binary(operator, left.node, right.node), BOOL)

    def _pointers(self, pair: Sequence[Value]) -> tuple[n.Expression, n.Expression] | None:
        """Two addresses as pointers to one type, as people compare them."""
        if self.careful or self.places is None or any(a.width != 64 for a in pair):
            return None
        bases = [self.kinds.base(a) for a in pair]
        if any(base is None or base.op not in ("var", "load") for base in bases):
            return None
        types = [self.natural(base).type for base in bases if base is not None]
        one, two = (t.target if isinstance(t, Pointer) else None for t in types)
        if one is None or one != two:
            return None
        left, right = (self.places.pointer(a, Pointer(one)) for a in pair)
        whole = not isinstance(left, n.Cast) and not isinstance(right, n.Cast)
        return (left, right) if whole else None

    def _apart(self, value: Value) -> Expr | None:
        """How many bytes two addresses are apart, as people write it."""
        if self.careful or self.places is None or value.width != 64:
            return None
        total = sum_of(value)
        found = {k: t for t, k in total.terms.items() if t.op == "var" and self._points(t)}
        if found.keys() != {1, -1}:
            return None
        ends = total.without(found[1]).without(found[-1]), Sum()
        bases = found[1], found[-1]
        left, right = (self.places.offset(b, e) for b, e in zip(bases, ends, strict=True))
        if isinstance(left, n.Cast):
            return None  # that many bytes are no elements
        left, right = (n.Cast(Pointer(SCALARS["char"]), node) for node in (left, right))
        return Expr(n.Binary("-", left, right), LONG_LONG)

    def _points(self, value: Value) -> bool:
        return isinstance(self.types[value.data.variable], Pointer)

    def _extreme(self, value: Value, hint: Type | None) -> Expr:
        name, _, sign = value.op.partition(".")
        if value.width == 64:
            # There is one for two operands of a type, none for two types.
            want = (SIGNED if sign == "s" else UNSIGNED)[64]
            both = tuple(self._exactly(a, want) for a in value.args)
            return Expr(n.Call(name, both), want)
        left, right = (self.signed(a, sign) for a in value.args)
        assert isinstance(left.type, Scalar)
        assert isinstance(right.type, Scalar)
        type = common(left.type, right.type)
        return Expr(n.Call(name, (left.node, right.node)), type)

    def _exactly(self, value: Value, want: Scalar) -> n.Expression:
        """An argument for an overloaded function, to which ``long`` is not ``long long``."""
        if value.op in ("const", "select"):
            return self.typed(value, want)
        made = self.natural(value, want)
        node = self.converted(made, value.width, want)
        return n.Cast(want, node) if node is made.node and made.type != want else node

    def _high(self, value: Value, hint: Type | None) -> Expr:
        sign = value.op[-1]
        name = {("s", 32): "__mulhi", ("u", 32): "__umulhi", ("s", 64): "__mul64hi",
                ("u", 64): "__umul64hi"}[(sign, value.width)]  # fmt: skip
        type = (SIGNED if sign == "s" else UNSIGNED)[value.width]
        arguments = tuple(self.assigned(a, type) for a in value.args)
        return Expr(n.Call(name, arguments), type)

    def _extended(self, value: Value, hint: Type | None) -> Expr:
        source = value.args[0]
        sign = "s" if value.op == "sext" else "u"
        made = self.natural(source)
        if made.type != BOOL:  # which is 0 or 1 with any sign
            made = self.signed(source, sign)
        if source.width == 1 and sign == "s":
            chosen = n.Conditional(made.node, n.Literal(-1, INT), n.Literal(0, INT))
            made = Expr(chosen, INT)
            source_width = 32
        else:
            source_width = source.width
        if value.width <= 32 and source_width < 32:
            # Promoted by itself where it is used; its type says which bits come above.
            return made
        if value.width <= source_width:
            return made
        want = (SIGNED if sign == "s" else UNSIGNED)[value.width]
        if isinstance(made.node, n.Literal):
            return Expr(n.Literal(made.node.value, want), want)
        if isinstance(hint, Scalar) and hint.is_integer and hint.bits == value.width:
            want = hint
        return Expr(n.Cast(want, made.node), want, inner=made)

    def _truncated(self, value: Value, hint: Type | None) -> Expr:
        made = self.number(value.args[0])
        if value.width == 1:
            return Expr(n.Binary("&", made.node, n.Literal(1, INT)), INT, exact=False)
        if bits_of(made.type) == value.width:
            return made
        return Expr(made.node, made.type, exact=False)


#: Numbers of so few below 0 are differences where there is no sign; others are hashes and masks.
_FEW = 1 << 16


def _less(node: n.Expression, width: int) -> n.Literal | None:
    """A number that is added, as one to subtract, if that is how people would write it."""
    if not isinstance(node, n.Literal) or isinstance(node.value, float):
        return None
    number = int(node.value)
    if node.type.signed:
        return n.Literal(-number, node.type) if -(1 << 31) < number < 0 else None
    below = (1 << width) - number
    return n.Literal(below, INT) if width >= 32 and 0 < below <= _FEW else None


def _fits(made: Expr, width: int) -> bool:
    """Whether a number is not negative, and has no more bits than a value of a width."""
    if isinstance(made.node, n.Literal):
        return 0 <= made.node.value < 1 << width
    whole = made.exact and isinstance(made.type, Scalar) and not made.type.signed
    return whole and bits_of(made.type) <= width


def _signs_differ(left: Expr, right: Expr, width: int) -> bool:
    """Whether C++ would bring two narrow numbers of the same bits to different ones."""
    if width >= 32 or isinstance(left.node, n.Literal) or isinstance(right.node, n.Literal):
        return False
    one, two = left.type, right.type
    return isinstance(one, Scalar) and isinstance(two, Scalar) and one.signed != two.signed
