"""How values become expressions: what the writers of all operations share.

A value is bits; its expression has a type. An expression may be wider than its value
(sums of 16 bits are computed in ``int``): then only the low bits are right, and whoever
needs the value itself casts. Where C++ converts by itself nothing is written.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from ptxkit.cuda import nodes as n
from ptxkit.cuda.types import (
    BOOL,
    DOUBLE,
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
)
from ptxkit.decompiler.lift.algebra import make
from ptxkit.decompiler.lift.context import Intrinsic, Lift
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
from ptxkit.decompiler.lift.truths import truth_of
from ptxkit.decompiler.lift.values import Value, Variable, whole_vector

if TYPE_CHECKING:
    from ptxkit.decompiler.lift.places import Places

#: Functions that take numbers without a sign, and have no other form: a number needs no suffix.
_ONE_FORM = ("__barrier", "__shfl", "__syncwarp", "__nanosleep")


@dataclass(slots=True)
class Writing(Conversions):
    """The state of writing one function, and the ways to ask for a value."""

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
    open_sums: bool = False
    """Write sums and products as operators, whatever is rounded once."""
    converts: set[str] = field(default_factory=set)
    """Reinterpretations that CUDA has no function for."""
    texts: Texts | None = None
    """Texts that stood in the source, where functions of CUDA may get some."""
    structs: dict[Variable, Struct] = field(default_factory=dict)

    def natural(self, value: Value, hint: Type | None = None) -> Expr:
        """A value as the expression that comes by itself."""
        raise NotImplementedError

    def typed(self, value: Value, want: Type) -> n.Expression:
        """A value as an expression of just this type."""
        if isinstance(want, Pointer):
            assert self.places is not None
            return self.places.pointer(value, want)
        if value.op == "const" and isinstance(want, Scalar):
            return self.literal(value, want)
        if want == BOOL and value.width > 1 and (truth := truth_of(value)) is not None:
            return self.condition(truth)
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

    def number(self, value: Value, hint: Type | None = None) -> Expr:
        """A value as a whole number, of whichever sign."""
        if value.op == "const":
            want = hint if isinstance(hint, Scalar) and hint.bits == value.width else None
            chosen = want if want is not None and want.is_integer else SIGNED.get(value.width, INT)
            node = self.short(value, chosen) if want is not None else self.literal(value, chosen)
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
            return Expr(self.short(value, want), want if want.bits >= 32 else INT)
        return Expr(self.typed(value, want), want)

    def short(self, value: Value, want: Scalar) -> n.Expression:
        """A number next to an operand of the type: C++ brings a small one to it by itself."""
        made = self.literal(value, want)
        if isinstance(made, n.Literal) and want.is_integer and want.bits >= 32:
            number = int(made.value)
            if 0 <= number < 1 << 31 or (want.signed and -(1 << 31) < number < 0):
                return n.Literal(number, INT)
        return made

    # ---- functions of CUDA, and those of one instruction ------------------------------------

    def intrinsic(self, call: Intrinsic, args: tuple[Value, ...]) -> Expr:
        if call.header:
            self.headers.add(call.header)
        name = call.name
        if call.assembly:
            name = self._helper(call)
        wants: list[Type] = []
        arguments: list[n.Expression] = []
        packed = {self._plain(one) for one in args[: call.packs] if one.width == 32}
        for place, (argument, type) in enumerate(zip(args, call.takes, strict=True)):
            want = C_TYPES[type]
            argument = _without_mask(argument) if place < call.packs else argument
            if type in ("b32", "b64") and not call.assembly:
                alike = place >= call.packs or len(packed) == 1
                want = self._plain(argument) if alike else UINT
            wants.append(want)
            if argument.op == "const" and type == "u32" and name.startswith(_ONE_FORM):
                arguments.append(self.short(argument, UINT))
                continue
            exact = name.startswith(("__shfl", "__match", "__reduce", "__dp", "abs", "llabs"))
            arguments.append((self.typed if exact else self.assigned)(argument, want))
        gives = C_TYPES[call.gives] if call.gives else SCALARS["void"]
        if call.gives in ("b32", "b64") and not call.assembly:
            gives = wants[1]
        if call.packs:
            element = wants[0]
            assert isinstance(element, Scalar)
            arguments[: call.packs] = [self._packed(element, args, arguments[: call.packs])]
        arguments += map(n.Name, call.ends)
        return Expr(n.Call(name, tuple(arguments)), gives)

    def _packed(
        self, element: Scalar, args: Sequence[Value], parts: Sequence[n.Expression]
    ) -> n.Expression:
        """A vector of some parts; a variable that is that vector already."""
        name = f"{element.word}{len(parts)}"
        whole = whole_vector([_without_mask(one) for one in args[: len(parts)]])
        if whole is not None and self.types[whole] == VECTORS[name]:
            return n.Name(whole.name)
        return n.Call(f"make_{name}", tuple(parts))

    def _plain(self, value: Value) -> Type:
        """The type of bits that are passed on: float or a number."""
        made = self.natural(value, None)
        wide = value.width == 64
        some = (DOUBLE, LONG_LONG, UNSIGNED_LONG_LONG) if wide else (FLOAT, INT, UINT)
        if made.type in some and made.exact:
            return made.type
        return UNSIGNED_LONG_LONG if wide else UINT

    def _helper(self, call: Intrinsic) -> str:
        name, number = call.name, 1
        while name in self.helpers and self.helpers[name] != call:
            number += 1
            name = f"{call.name}_{number}"
        self.helpers[name] = call
        return name


def _without_mask(value: Value) -> Value:
    """Some bits of a number, without a mask that leaves all of these."""
    inner = value.args[0] if value.op == "trunc" else None
    if inner is None or inner.op != "and" or inner.args[1].op != "const":
        return value
    all_bits = (1 << value.width) - 1
    kept = inner.args[1].data & all_bits == all_bits
    return make("trunc", value.width, inner.args[0]) if kept else value
