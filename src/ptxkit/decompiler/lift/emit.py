"""Values as expressions of C++.

A value is bits; its expression has a type. An expression may be wider than its value
(sums of 16 bits are computed in ``int``): then only the low bits are right, and whoever
needs the value itself casts. Where C++ converts by itself nothing is written.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from ptxkit.cuda import nodes as n
from ptxkit.cuda.printer import print_expression
from ptxkit.cuda.types import (
    BOOL,
    FLOAT,
    INT,
    LONG_LONG,
    SCALARS,
    UINT,
    UNSIGNED_LONG_LONG,
    VECTORS,
    Pointer,
    Scalar,
    Struct,
    Type,
    Vector,
    common,
    promoted,
)
from ptxkit.decompiler.lift.context import Intrinsic, Lift, NotLiftedError
from ptxkit.decompiler.lift.contraction import is_negative, swallowed
from ptxkit.decompiler.lift.conversions import (
    C_TYPES,
    SIGNED,
    UNSIGNED,
    Conversions,
    Expr,
    bits_of,
    is_int,
)
from ptxkit.decompiler.lift.kinds import Kinds
from ptxkit.decompiler.lift.printing import Texts
from ptxkit.decompiler.lift.values import Value, Variable

if TYPE_CHECKING:
    from ptxkit.decompiler.lift.places import Places

_OPERATORS = {
    "add": "+", "sub": "-", "mul": "*", "and": "&", "or": "|", "xor": "^",
    "div": "/", "rem": "%", "fadd": "+", "fsub": "-", "fmul": "*", "fdiv": "/",
    "eq": "==", "ne": "!=", "lt": "<", "le": "<=", "gt": ">", "ge": ">=",
    "feq": "==", "fne": "!=", "flt": "<", "fle": "<=", "fgt": ">", "fge": ">=",
}  # fmt: skip
#: Functions that take numbers without a sign, and have no other form: a number needs no suffix.
_ONE_FORM = ("__barrier", "__shfl", "__syncwarp", "__nanosleep")
_LOGIC = {"and": "&&", "or": "||", "xor": "!="}


@dataclass(slots=True)
class Emitter(Conversions):
    """Writes the values of one function."""

    lift: Lift
    kinds: Kinds
    types: dict[Variable, Type]
    places: Places | None = None
    helpers: dict[str, Intrinsic] = field(default_factory=dict)
    """Functions of one instruction that are used."""
    headers: set[str] = field(default_factory=set)
    products: set[Variable] = field(default_factory=set)
    """Variables that hold a product: a sum must not swallow another one next to it."""
    kept: set[Variable] = field(default_factory=set)
    """Those of them that are added to something, each rounded on its own."""
    careful: bool = False
    exact: bool = False
    """Write what keeps the order of operands, and divisions by 0, as PTX has them."""
    converts: set[str] = field(default_factory=set)
    """Reinterpretations that CUDA has no function for."""
    texts: Texts | None = None
    """Texts that stood in the source, where functions of CUDA may get some."""
    structs: dict[Variable, Struct] = field(default_factory=dict)

    # ---- entry points --------------------------------------------------------------------

    def typed(self, value: Value, want: Type) -> n.Expression:
        """A value as an expression of just this type."""
        if isinstance(want, Pointer):
            assert self.places is not None
            return self.places.pointer(value, want)
        if value.op == "const" and isinstance(want, Scalar):
            return self.literal(value, want)
        if value.op == "select":
            return n.Conditional(
                self.condition(value.args[0]),
                self.typed(value.args[1], want),
                self.typed(value.args[2], want),
            )
        made = self.natural(value, want)
        return self.converted(made, value.width, want)

    def assigned(self, value: Value, want: Type) -> n.Expression:
        """A value where C++ converts numbers by itself: assigned, passed, returned."""
        if not isinstance(want, Scalar) or not want.is_integer or want == BOOL:
            return self.typed(value, want)
        if value.op == "const":
            return self.literal(value, want)
        if value.op == "select":
            then, otherwise = (self._arm(v, want) for v in value.args[1:])
            return n.Conditional(self.condition(value.args[0]), then, otherwise)
        made = self.natural(value, want)
        if made.inner is not None and bits_of(made.type) == want.bits:
            made = made.inner
        if not is_int(made.type):
            return self.converted(made, value.width, want)
        if made.exact or bits_of(made.type) >= want.bits:
            return made.node
        return self.converted(made, value.width, want)

    def _arm(self, value: Value, want: Scalar) -> n.Expression:
        if value.op == "const":
            return self.literal(value, want)
        return self.typed(value, want)

    def condition(self, value: Value) -> n.Expression:
        """A predicate."""
        return self.typed(value, BOOL)

    # ---- operations ----------------------------------------------------------------------

    def natural(self, value: Value, hint: Type | None = None) -> Expr:
        """A value as the expression that comes by itself."""
        op = value.op
        writer = _WRITERS.get(op)
        if writer is None:
            writer = _WRITERS.get(op.partition(".")[0])
        if writer is None:
            raise NotLiftedError(f"the operation {op}")
        return writer(self, value, hint)

    def number(self, value: Value, hint: Type | None = None) -> Expr:
        """A value as a whole number, of whichever sign."""
        if value.op == "const":
            want = hint if isinstance(hint, Scalar) and hint.bits == value.width else None
            chosen = want if want is not None and want.is_integer else SIGNED.get(value.width, INT)
            node = self._short(value, chosen) if want is not None else self.literal(value, chosen)
            return Expr(node, chosen if chosen.bits >= 32 else INT)
        made = self.natural(value, hint)
        if not is_int(made.type):
            want = UNSIGNED_LONG_LONG if value.width == 64 else SIGNED[value.width]
            return Expr(self.converted(made, value.width, want), want)
        return made

    def signed(self, value: Value, sign: str) -> Expr:
        """A value as a number of a sign, exactly."""
        if value.width == 1:
            return Expr(self.condition(value), BOOL)
        want = (SIGNED if sign == "s" else UNSIGNED)[value.width]
        if value.op == "const":
            return Expr(self._short(value, want), want if want.bits >= 32 else INT)
        return Expr(self.typed(value, want), want)

    def _short(self, value: Value, want: Scalar) -> n.Expression:
        """A number next to an operand of the type: C++ brings a small one to it by itself."""
        made = self.literal(value, want)
        if isinstance(made, n.Literal) and want.is_integer and want.bits >= 32:
            number = int(made.value)
            if 0 <= number < 1 << 31 or (want.signed and -(1 << 31) < number < 0):
                return n.Literal(number, INT)
        return made

    def _const(self, value: Value, hint: Type | None) -> Expr:
        if value.width == 1:
            return Expr(n.Literal(bool(value.data), BOOL), BOOL)
        if isinstance(hint, Scalar) and hint.is_float and hint.bits == value.width:
            return Expr(self.literal(value, hint), hint)
        return self.number(value, hint)

    def _var(self, value: Value, hint: Type | None) -> Expr:
        variable = value.data.variable
        return Expr(n.Name(variable.name), self.types[variable])

    def _arithmetic(self, value: Value, hint: Type | None) -> Expr:
        one, two = value.args
        if value.width == 1:
            operator = _LOGIC[value.op]
            return Expr(n.Binary(operator, self.condition(one), self.condition(two)), BOOL)
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
        return Expr(node, type, exact=False)

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
            return self._intrinsic(call, value.args)
        left, right = (self.signed(a, sign) for a in value.args)
        assert isinstance(left.type, Scalar)
        assert isinstance(right.type, Scalar)
        type = common(left.type, right.type)
        return Expr(n.Binary(_OPERATORS[name], left.node, right.node), type)

    def _compared(self, value: Value, hint: Type | None) -> Expr:
        name, _, sign = value.op.partition(".")
        if not sign:
            return self._equal(value)
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
        left = self.number(one)
        right = self.number(two, left.type)
        if not left.exact or not right.exact or _signs_differ(left, right, one.width):
            left, right = self.signed(one, "u"), self.signed(two, "u")
        else:
            left, right = self._wide_enough(left, right, one.width)
        return Expr(n.Binary(operator, left.node, right.node), BOOL)

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

    def _select(self, value: Value, hint: Type | None) -> Expr:
        if hint is None or bits_of(hint) != value.width:
            arms = [self.natural(a) for a in value.args[1:] if a.op != "const"]
            if arms and not is_int(arms[0].type):
                hint = arms[0].type
            elif len(arms) > 1 and not is_int(arms[1].type):
                hint = arms[1].type
            else:
                first = arms[0].type if arms and arms[0].exact else None
                hint = first if bits_of(first or BOOL) == value.width else SIGNED[value.width]
        return Expr(self.typed(value, hint), hint)  # type: ignore[arg-type]

    # ---- floating point ------------------------------------------------------------------

    def _float(self, value: Value, hint: Type | None) -> Expr:
        type = C_TYPES[value.data[0]]
        left, right = (self.typed(a, type) for a in value.args)
        if self.exact and value.op != "fdiv":
            # Operators may be turned round: of two not-a-numbers the other one would be left.
            stem = "f" if type == FLOAT else "d"
            return Expr(n.Call(f"__{stem}{value.op[1:]}_rn", (left, right)), type)
        operator = _OPERATORS[value.op]
        for place in swallowed(value):
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
        return Expr(n.Unary("-", self.typed(value.args[0], type)), type)

    def _fused(self, value: Value, hint: Type | None) -> Expr:
        type = C_TYPES[value.data[0]]
        a, b, c = value.args
        name = "fmaf" if type == FLOAT else "fma"
        # The compiler contracts sums alone: `c - a * b` stays two instructions.
        negative = c.op == "fneg" or is_negative(a) or is_negative(b)
        if self.careful or self._is_product(c) or negative or a.op == "const":
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

    # ---- calls ---------------------------------------------------------------------------

    def _call(self, value: Value, hint: Type | None) -> Expr:
        return self._intrinsic(value.data, value.args)

    def _intrinsic(self, call: Intrinsic, args: tuple[Value, ...]) -> Expr:
        if call.header:
            self.headers.add(call.header)
        name = call.name
        if call.assembly:
            name = self._helper(call)
        wants: list[Type] = []
        arguments: list[n.Expression] = []
        for argument, type in zip(args, call.takes, strict=True):
            want = C_TYPES[type]
            if type == "b32" and not call.assembly:
                want = self._plain(argument)
            wants.append(want)
            if argument.op == "const" and type == "u32" and name.startswith(_ONE_FORM):
                arguments.append(self._short(argument, UINT))
                continue
            exact = name.startswith(("__shfl", "__match", "__reduce", "__dp", "abs", "llabs"))
            arguments.append((self.typed if exact else self.assigned)(argument, want))
        gives = C_TYPES[call.gives] if call.gives else SCALARS["void"]
        if call.gives == "b32" and not call.assembly:
            gives = wants[1]
        return Expr(n.Call(name, tuple(arguments)), gives)

    def _plain(self, value: Value) -> Type:
        """The type of bits that are passed on: float or a number."""
        made = self.natural(value, None)
        if made.type in (FLOAT, INT, UINT) and made.exact:
            return made.type
        return UINT

    def _helper(self, call: Intrinsic) -> str:
        name, number = call.name, 1
        while name in self.helpers and self.helpers[name] != call:
            number += 1
            name = f"{call.name}_{number}"
        self.helpers[name] = call
        return name

    def _collective(self, value: Value, hint: Type | None) -> Expr:
        return self._intrinsic(value.data[0], value.args)

    def _atomic(self, value: Value, hint: Type | None) -> Expr:
        assert self.places is not None
        name, access = value.data
        type = C_TYPES[access.type]
        if access.type == "b32":
            cell = self.kinds.accessed(value.args[0], 32, 1, count_it=False)
            chosen = self.kinds.type_of(cell, 32) if cell is not None else UINT
            type = chosen if chosen in (INT, UINT) else UINT
            if name.startswith("atomicExch") and chosen == FLOAT:
                type = FLOAT
        elif access.type == "u32" and name.startswith("atomicAdd"):
            # A sum is the same with a sign or without.
            cell = self.kinds.accessed(value.args[0], 32, 1, count_it=False)
            if cell is not None and self.kinds.type_of(cell, 32) == INT:
                type = INT
        address = self.places.pointer(value.args[0], Pointer(type), access.space, element=True)
        return Expr(n.Call(name, (address, *(self.typed(a, type) for a in value.args[1:]))), type)

    def _texture(self, value: Value, hint: Type | None) -> Expr:
        call = value.data[0]
        arguments = tuple(
            self.assigned(a, C_TYPES[t]) for a, t in zip(value.args, call.takes, strict=True)
        )
        type = VECTORS[{"f32": "float4", "s32": "int4", "u32": "uint4"}[call.gives]]
        return Expr(n.Call(call.name, arguments), type)

    def _passed(self, value: Value, want: Type) -> n.Expression:
        """An argument; a text that stood in the source as such."""
        text = None
        if self.texts is not None and want == Pointer(SCALARS["char"], const=True):
            text = self.texts.literal(value)
        return n.Name(text) if text is not None else self.assigned(value, want)

    def _printf(self, value: Value, hint: Type | None) -> Expr:
        text, parts, _ = value.data
        left = iter(value.args)
        arguments: list[n.Expression] = [n.Name(text)]
        for part in parts:
            if part.startswith('"'):
                arguments.append(n.Name(part))
            else:
                want = Pointer(SCALARS["char"], const=True) if part == "text" else C_TYPES[part]
                arguments.append(self.typed(next(left), want))
        return Expr(n.Call("printf", tuple(arguments)), INT)

    def _function(self, value: Value, hint: Type | None) -> Expr:
        how, callee, result, _ = value.data
        gives = self._result_type(result)
        if how == "direct":
            signature = self.lift.signatures.functions[callee]
            wants = [slot.c_type or C_TYPES[slot.type] for slot in signature.parameters]
            values = list(value.args)
            if len(values) > len(wants):
                raise NotLiftedError("a call with more arguments than parameters")
            if signature.results and signature.results[0].c_type is not None:
                gives = signature.results[0].c_type
            arguments = [self._passed(a, w) for a, w in zip(values, wants, strict=False)]
            return Expr(n.Call(signature.name, tuple(arguments)), gives)
        pointer, *values = value.args
        kinds = list(callee)
        if result is not None:
            kinds.pop(0)
        # A structure that is passed says itself what it is.
        wants = [
            C_TYPES[kind] if kind else self.natural(one).type
            for kind, one in zip(kinds, values, strict=True)
        ]
        head = f"{gives.spelling} (*)({', '.join(w.spelling for w in wants)})"
        target = self.typed(pointer, UNSIGNED_LONG_LONG)
        text = f"(({head}){print_expression(n.Cast(UNSIGNED_LONG_LONG, target))})"
        if isinstance(target, n.Name):
            text = f"(({head}){target.name})"
        arguments = [self.assigned(a, w) for a, w in zip(values, wants, strict=True)]
        return Expr(n.Call(text, tuple(arguments)), gives)

    def _result_type(self, result: Variable | None) -> Type:
        if result is None:
            return SCALARS["void"]
        if result.declared == "struct":
            return self.types[result]
        return C_TYPES[result.declared]

    def _whole_struct(self, value: Value, hint: Type | None) -> Expr:
        variable = value.data
        return Expr(n.Name(variable.name), self.types[variable])

    # ---- memory --------------------------------------------------------------------------

    def _load(self, value: Value, hint: Type | None) -> Expr:
        assert self.places is not None
        return self.places.loaded(value)

    def _component(self, value: Value, hint: Type | None) -> Expr:
        variable = value.args[0].data.variable
        type = self.types[variable]
        assert isinstance(type, Vector)
        return Expr(n.Member(n.Name(variable.name), "xyzw"[value.data]), type.element)

    def _builtin(self, value: Value, hint: Type | None) -> Expr:
        if value.data == "warpSize":
            return Expr(n.Name("warpSize"), INT)
        return Expr(n.builtin(value.data), UINT)

    def _address(self, value: Value, hint: Type | None) -> Expr:
        """A symbol, or an address of another space, as a number."""
        assert self.places is not None
        return self.places.number(value)


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


def _signs_differ(left: Expr, right: Expr, width: int) -> bool:
    """Whether C++ would bring two narrow numbers of the same bits to different ones."""
    if width >= 32 or isinstance(left.node, n.Literal) or isinstance(right.node, n.Literal):
        return False
    one, two = left.type, right.type
    return isinstance(one, Scalar) and isinstance(two, Scalar) and one.signed != two.signed


Writer = Callable[[Emitter, Value, Type | None], Expr]
_WRITERS: dict[str, Writer] = {
    "const": Emitter._const,
    "var": Emitter._var,
    **dict.fromkeys("add sub mul and or xor".split(), Emitter._arithmetic),
    "not": Emitter._not,
    "neg": Emitter._neg,
    "shl": Emitter._shift_left,
    "shr": Emitter._shift_right,
    **dict.fromkeys(("div", "rem"), Emitter._divided),
    **dict.fromkeys("eq ne lt le gt ge".split(), Emitter._compared),
    **dict.fromkeys(("min", "max"), Emitter._extreme),
    "mulhi": Emitter._high,
    **dict.fromkeys(("sext", "zext"), Emitter._extended),
    "trunc": Emitter._truncated,
    "select": Emitter._select,
    **dict.fromkeys("fadd fsub fmul fdiv".split(), Emitter._float),
    "fneg": Emitter._float_negated,
    "fma": Emitter._fused,
    **dict.fromkeys("feq fne flt fle fgt fge".split(), Emitter._float_compared),
    "cvt": Emitter._cvt,
    "call": Emitter._call,
    "collective": Emitter._collective,
    "atomic": Emitter._atomic,
    "texture": Emitter._texture,
    "function": Emitter._function,
    "printf": Emitter._printf,
    "whole": Emitter._whole_struct,
    "load": Emitter._load,
    "component": Emitter._component,
    "builtin": Emitter._builtin,
    **dict.fromkeys(("symbol", "slot", "generic", "specific"), Emitter._address),
}
