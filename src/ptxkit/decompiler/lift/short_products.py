"""Products of numbers of 24 bits, as older code asks for them: ``__mul24`` and ``__umul24``.

A compiler cuts both factors to 24 bits and multiplies them as any others; it does not cut what has
no more bits anyway, and shifts before it cuts. Each of these is an identity for every input.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from ptxkit.decompiler.lift.algebra import make
from ptxkit.decompiler.lift.context import Intrinsic
from ptxkit.decompiler.lift.values import Value, const, raw

_BITS, _MASK = 24, (1 << 24) - 1
MUL24 = Intrinsic("__mul24", ("s32", "s32"), "s32")
UMUL24 = Intrinsic("__umul24", ("u32", "u32"), "u32")
#: What has fewer bits than that on every GPU.
_SHORT = ("threadIdx.", "blockDim.")


@dataclass(frozen=True, slots=True)
class _Cut:
    """A number that was cut to 24 bits, and by how much it was shifted then."""

    whole: Value
    signed: bool
    shift: int = 0


def short_product(value: Value, peek: Callable[[Value], Value]) -> Value | None:
    """A product of numbers that were cut to 24 bits as what was written; None where it is none.

    ``peek`` looks through variables.
    """
    if value.op != "mul" or value.width != 32:
        return None
    one, two = (_cut(peek(factor), peek) for factor in value.args)
    if one is None and two is None:
        return None
    signed = (one or two).signed  # type: ignore[union-attr]
    one = one or _short(value.args[0], peek, signed)
    two = two or _short(value.args[1], peek, signed)
    if one is None or two is None or one.signed != two.signed:
        return None
    function = MUL24 if signed else UMUL24
    product = raw("call", 32, (one.whole, two.whole), function)
    shift = one.shift + two.shift
    return make("shl", 32, product, const(shift, 32)) if shift else product


def _cut(value: Value, peek: Callable[[Value], Value]) -> _Cut | None:
    if value.width != 32 or len(value.args) != 2 or value.args[1].op != "const":
        return None
    inner, number = peek(value.args[0]), value.args[1].data
    if value.op == "and":
        if number == _MASK:
            return _Cut(value.args[0], signed=False)
        if inner.op == "shl" and inner.args[1].op == "const":
            shift = inner.args[1].data
            if number == _MASK << shift & 0xFFFFFFFF:
                return _Cut(inner.args[0], False, shift)
    moved = inner.op == "shl" and inner.args[1].op == "const" and inner.args[1].data == number
    if value.op == "shr.s" and number == 32 - _BITS and moved:
        return _Cut(inner.args[0], signed=True)
    return None


def _short(value: Value, peek: Callable[[Value], Value], signed: bool) -> _Cut | None:
    found = peek(value)
    if found.op == "builtin" and str(found.data).startswith(_SHORT):
        return _Cut(value, signed)
    return None
