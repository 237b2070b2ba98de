"""Values as expressions of C++: which operation is written by what."""

from __future__ import annotations

from collections.abc import Callable

from ptxkit.cuda import nodes as n
from ptxkit.cuda.types import (
    BOOL,
    INT,
    UINT,
    Scalar,
    Type,
    Vector,
)
from ptxkit.decompiler.lift.context import NotLiftedError
from ptxkit.decompiler.lift.conversions import (
    SIGNED,
    Expr,
    bits_of,
    is_int,
)
from ptxkit.decompiler.lift.floating_point import FloatingPoint
from ptxkit.decompiler.lift.function_calls import Calls
from ptxkit.decompiler.lift.values import Value
from ptxkit.decompiler.lift.whole_numbers import WholeNumbers


class Emitter(WholeNumbers, FloatingPoint, Calls):
    """Writes the values of one function."""

    __slots__ = ()

    def natural(self, value: Value, hint: Type | None = None) -> Expr:
        """A value as the expression that comes by itself."""
        op = value.op
        writer = _WRITERS.get(op)
        if writer is None:
            writer = _WRITERS.get(op.partition(".")[0])
        if writer is None:
            raise NotLiftedError(f"the operation {op}")
        return writer(self, value, hint)

    def _const(self, value: Value, hint: Type | None) -> Expr:
        if value.width == 1:
            return Expr(n.Literal(bool(value.data), BOOL), BOOL)
        if isinstance(hint, Scalar) and hint.is_float and hint.bits == value.width:
            return Expr(self.literal(value, hint), hint)
        return self.number(value, hint)

    def _var(self, value: Value, hint: Type | None) -> Expr:
        variable = value.data.variable
        return Expr(n.Name(variable.name), self.types[variable])

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
    "ftwice": Emitter._twice,
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
