"""Types of C++, and the bits of an expression as another one of them."""

from __future__ import annotations

from dataclasses import dataclass

from ptxkit.cuda import nodes as n
from ptxkit.cuda.literals import from_bits
from ptxkit.cuda.types import (
    BFLOAT16,
    BOOL,
    DOUBLE,
    FLOAT,
    HALF,
    INT,
    LONG_LONG,
    SCALARS,
    UINT,
    UNSIGNED_LONG_LONG,
    VECTORS,
    Pointer,
    Scalar,
    Type,
    Vector,
)
from ptxkit.decompiler.lift.context import NotLiftedError
from ptxkit.decompiler.lift.values import Value, const

INT128 = Scalar("int128", "unsigned __int128", "int", 128, False, 6)
HALF2, BFLOAT162 = VECTORS["half2"], VECTORS["bfloat162"]
C_TYPES: dict[str, Type] = {
    "pred": BOOL, "s8": SCALARS["schar"], "u8": SCALARS["uchar"], "b8": SCALARS["uchar"],
    "s16": SCALARS["short"], "u16": SCALARS["ushort"], "b16": SCALARS["ushort"],
    "s32": INT, "u32": UINT, "b32": UINT, "s64": LONG_LONG, "u64": UNSIGNED_LONG_LONG,
    "b64": UNSIGNED_LONG_LONG, "f32": FLOAT, "f64": DOUBLE, "f16": HALF, "bf16": BFLOAT16,
    "f16x2": HALF2, "bf16x2": BFLOAT162,
    "b128": INT128,
}  # fmt: skip
SIGNED: dict[int, Scalar] = {8: SCALARS["schar"], 16: SCALARS["short"], 32: INT, 64: LONG_LONG}
UNSIGNED: dict[int, Scalar] = {
    8: SCALARS["uchar"], 16: SCALARS["ushort"], 32: UINT, 64: UNSIGNED_LONG_LONG, 128: INT128,
}  # fmt: skip
_REINTERPRET: dict[tuple[Type, Type], str] = {
    (FLOAT, INT): "__float_as_int", (FLOAT, UINT): "__float_as_uint",
    (INT, FLOAT): "__int_as_float", (UINT, FLOAT): "__uint_as_float",
    (DOUBLE, LONG_LONG): "__double_as_longlong", (LONG_LONG, DOUBLE): "__longlong_as_double",
    (HALF, SCALARS["ushort"]): "__half_as_ushort", (SCALARS["ushort"], HALF): "__ushort_as_half",
    (HALF, SCALARS["short"]): "__half_as_short", (SCALARS["short"], HALF): "__short_as_half",
    (BFLOAT16, SCALARS["ushort"]): "__bfloat16_as_ushort",
    (SCALARS["ushort"], BFLOAT16): "__ushort_as_bfloat16",
    (BFLOAT16, SCALARS["short"]): "__bfloat16_as_short",
    (SCALARS["short"], BFLOAT16): "__short_as_bfloat16",
    (HALF2, UINT): "half2_as_uint", (UINT, HALF2): "uint_as_half2",
    (BFLOAT162, UINT): "bfloat162_as_uint", (UINT, BFLOAT162): "uint_as_bfloat162",
}  # fmt: skip


@dataclass(slots=True)
class Expr:
    """An expression and its type.

    ``exact``: it has the value of the bits (else only the low ones are right).
    ``inner``: for a cast that C++ would do by itself next to a wide operand: without it.
    """

    node: n.Expression
    type: Type
    exact: bool = True
    inner: Expr | None = None


def _sign(type: Type) -> bool | None:
    return type.signed if isinstance(type, Scalar) else None


def is_int(type: Type) -> bool:
    """Whether a type is a whole number."""
    return isinstance(type, Scalar) and type.is_integer


def bits_of(type: Type) -> int:
    """The bits of a scalar, pointer or vector."""
    if isinstance(type, Pointer):
        return 64
    if isinstance(type, Scalar):
        return type.bits
    if isinstance(type, Vector):
        return type.size * 8
    return 0


class Conversions:
    """What writes literals and conversions; ``converts`` gets those CUDA has no function for."""

    __slots__ = ()

    converts: set[str]

    def literal(self, value: Value, want: Scalar) -> n.Expression:
        """A number of a type."""
        bits: int = value.data
        if want == BOOL:
            return n.Literal(bool(bits), BOOL)
        if want.is_float:
            return from_bits(bits & ((1 << want.bits) - 1), want)
        if want.bits == 128:
            return n.Cast(want, n.Literal(bits, UNSIGNED_LONG_LONG))
        bits &= (1 << want.bits) - 1
        if want.signed and bits >> (want.bits - 1):
            bits -= 1 << want.bits
        if want.bits < 32:
            return n.Literal(bits, INT)
        return n.Literal(bits, want)

    def converted(self, made: Expr, width: int, want: Type) -> n.Expression:
        """The bits of an expression as another type."""
        have, node = made.type, made.node
        if have == want and made.exact:
            return node
        if want == BOOL:
            return node if have == BOOL else n.Binary("!=", node, n.Literal(0, INT))
        if is_int(have) and is_int(want):
            assert isinstance(want, Scalar)
            if isinstance(node, n.Literal) and not isinstance(node.value, float):
                return self.literal(const(int(node.value), max(want.bits, 8)), want)
            if made.exact and bits_of(have) < bits_of(want) == 32 and want == INT:
                return node  # promoted by itself
            if made.exact and bits_of(have) == want.bits and _sign(have) == want.signed:
                return node  # long and long long
            kept = self._whole(made, width)
            return kept if isinstance(kept, n.Cast) and kept.type == want else n.Cast(want, kept)
        if isinstance(have, Pointer):
            if isinstance(want, Pointer):
                return n.Cast(want, node)
            whole = Expr(n.Cast(UNSIGNED_LONG_LONG, node), UNSIGNED_LONG_LONG)
            return self.converted(whole, 64, want)
        if isinstance(want, Pointer):
            number = node if is_int(have) else self.converted(made, width, UNSIGNED_LONG_LONG)
            return n.Cast(want, number)
        return self._reinterpreted(made, width, want)

    def _whole(self, made: Expr, width: int) -> n.Expression:
        """An expression with the bits above a narrow value cut away."""
        if made.exact or width not in UNSIGNED or width >= bits_of(made.type):
            return made.node
        return n.Cast(UNSIGNED[width], made.node)

    def _reinterpreted(self, made: Expr, width: int, want: Type) -> n.Expression:
        """Between floating point, halves and numbers."""
        have, node = made.type, made.node
        if is_int(have) and bits_of(have) != bits_of(want):
            bits = bits_of(want)
            if bits not in UNSIGNED:
                raise NotLiftedError(f"{have.spelling} as {want.spelling}")
            return self._reinterpreted(
                Expr(n.Cast(UNSIGNED[bits], self._whole(made, width)), UNSIGNED[bits]), bits, want
            )
        name = _REINTERPRET.get((have, want))
        if name is not None:
            if not name.startswith("__"):
                self.converts.add(name)
            return n.Call(name, (node,))
        if is_int(want) and bits_of(want) != bits_of(have):
            # A float's bits as a wider or narrower number.
            same = UNSIGNED[bits_of(have)]
            inner = self._reinterpreted(made, bits_of(have), same)
            return self.converted(Expr(inner, same), bits_of(have), want)
        for middle in (SIGNED.get(bits_of(have)), UNSIGNED.get(bits_of(have))):
            if middle is None or middle in (have, want):
                continue
            first = self._step(node, have, middle)
            last = first and self._step(first, middle, want)
            if last:
                return last
        raise NotLiftedError(f"the bits of {have.spelling} as {want.spelling}")

    def _step(self, node: n.Expression, have: Type, want: Type) -> n.Expression | None:
        if have == want:
            return node
        if is_int(have) and is_int(want):
            return n.Cast(want, node)
        name = _REINTERPRET.get((have, want))
        if name is None:
            if not is_int(have) and not is_int(want):
                # Floating point of two kinds: by way of a number.
                middle = UNSIGNED[bits_of(have)]
                one = self._step(node, have, middle)
                return one and self._step(one, middle, want)
            sign = SIGNED[bits_of(have)]
            for other in (sign, UNSIGNED[bits_of(have)]):
                if other in (have, want):
                    continue
                if is_int(have) and (other, want) in _REINTERPRET:
                    return self._step(n.Cast(other, node), other, want)
                if is_int(want) and (have, other) in _REINTERPRET:
                    one = self._step(node, have, other)
                    return one and n.Cast(want, one)
            return None
        if not name.startswith("__"):
            self.converts.add(name)
        return n.Call(name, (node,))
