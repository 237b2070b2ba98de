"""What instructions that compute with integers mean, for terms: sums, products, bits.

Each rule takes the operands in the order of the instruction, and gives the result in the one form
that all instructions with this meaning have; None where the instruction is one like any other.

>>> import ptxkit
>>> from ptxkit.decompiler.verify.dataflow.decode import Decoder
>>> from ptxkit.decompiler.verify.dataflow.terms import Terms
>>> from ptxkit.syntax.scopes import Scopes
>>> m = ptxkit.parse(".func f() { .reg .b32 %r<4>; shl.b32 %r2, %r1, 3; mul.lo.s32 %r3, %r1, 8; }")
>>> decoder = Decoder(m["f"], Scopes(m), {}, lambda name: (name,))
>>> shift, product = map(decoder.step, m["f"].instructions)
>>> t = Terms()
>>> x = t.make("symbol", "x")
>>> meaning(t, shift, [x, t.constant(32, 3)]) == meaning(t, product, [x, t.constant(32, 8)])
True
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from ptxkit.decompiler.verify.dataflow.bits import (
    bitwise,
    divided,
    divided_signed,
    masked,
    shifted_right,
    shifted_signed,
)
from ptxkit.decompiler.verify.dataflow.bounds import bounds
from ptxkit.decompiler.verify.dataflow.conversions import TRUNCATIONS, truncated
from ptxkit.decompiler.verify.dataflow.decode import Step
from ptxkit.decompiler.verify.dataflow.short_words import in_a_word
from ptxkit.decompiler.verify.dataflow.terms import Term, Terms
from ptxkit.isa.types import SCALAR_TYPES

INTEGERS = frozenset(("u16", "s16", "b16", "u32", "s32", "b32", "u64", "s64", "b64"))
Values = Sequence[Term]


def meaning(terms: Terms, step: Step, values: Values) -> Term | None:
    """What an instruction with one target makes of its operands, where that is known here."""
    rule = _RULES.get(step.name)
    known = rule is not None and (step.type in INTEGERS or step.name in ("cvt", "cvta"))
    if rule is None or not known or step.modifiers & _OTHERWISE or len(step.targets) != 1:
        return None
    short = in_a_word(terms, step, values, rule)
    return rule(terms, step, SCALAR_TYPES[step.type].width, values) if short is None else short


#: With these, instructions do something else.
_OTHERWISE = frozenset((".cc", ".sat", ".hi"))


def _add(terms: Terms, step: Step, width: int, values: Values) -> Term:
    return terms.add(width, values[0], values[1], 1 if step.name == "add" else -1)


def _multiply(terms: Terms, step: Step, width: int, values: Values) -> Term:
    a, b, *more = values
    if ".wide" in step.modifiers:
        signed = step.type.startswith("s")
        a, b = (terms.extend(signed, width, 2 * width, one) for one in (a, b))
        width *= 2
    product = terms.multiply(width, a, b)
    return terms.add(width, product, more[0]) if more else product


def _shl(terms: Terms, step: Step, width: int, values: Values) -> Term | None:
    by = terms.constant_of(values[1])
    return None if by is None or by >= width else terms.scale(width, values[0], 1 << by)


def _shr(terms: Terms, step: Step, width: int, values: Values) -> Term | None:
    by = terms.constant_of(values[1])
    if by is None or by >= width:
        return None
    shift = shifted_signed if step.type.startswith("s") else shifted_right
    return shift(terms, width, values[0], by)


def _negate(terms: Terms, step: Step, width: int, values: Values) -> Term:
    return terms.scale(width, values[0], -1)


def _not(terms: Terms, step: Step, width: int, values: Values) -> Term:
    return terms.add(width, terms.constant(width, -1), values[0], -1)


def _bitwise(terms: Terms, step: Step, width: int, values: Values) -> Term | None:
    return bitwise(terms, f"{step.name}.b{width}", values)


def _divide(terms: Terms, step: Step, width: int, values: Values) -> Term | None:
    by = terms.constant_of(values[1])
    if not by:
        return None
    if not step.type.startswith("s"):
        return divided(terms, width, values[0], by)
    power = by < 1 << width - 1 and not by & by - 1
    return divided_signed(terms, width, values[0], by) if power else None


def _remainder(terms: Terms, step: Step, width: int, values: Values) -> Term | None:
    """What a division leaves, as what compilers make of one by a number that they know."""
    a, by = values[0], terms.constant_of(values[1])
    if not by:
        return None
    signed = step.type.startswith("s")
    if signed and bounds(terms, a, width, True)[0] >= 0 and by < 1 << width - 1:
        signed = False
    if not signed and not by & by - 1:
        return masked(terms, width, a, by - 1)
    quotient = _divide(terms, step, width, values) if signed else divided(terms, width, a, by)
    if quotient is None:
        return None
    return terms.add(width, a, terms.scale(width, quotient, by), -1)


def _extreme(terms: Terms, step: Step, width: int, values: Values) -> Term | None:
    if step.opcode != f"{step.name}.{step.type}":
        return None
    made = bitwise(terms, step.opcode, values)
    return terms.operation(step.opcode, 0, values) if made is None else made


def _absolute(terms: Terms, step: Step, width: int, values: Values) -> Term | None:
    return bitwise(terms, step.opcode, values)


def _field(terms: Terms, operands: Values, width: int) -> tuple[int, int] | None:
    """Where a field of bits begins and how many it has, if it lies inside of a number."""
    start, length = map(terms.constant_of, operands)
    if start is None or length is None or (width == 64 and start | length >= 256):
        return None  # of 64 bits all of these numbers counts
    place, bits = start & 255, length & 255
    return (place, bits) if bits and place + bits <= width else None


def _bfe(terms: Terms, step: Step, width: int, values: Values) -> Term | None:
    found = _field(terms, values[1:], width)
    if found is None:
        return None
    place, bits = found
    if step.type.startswith("s"):
        upper = terms.scale(width, values[0], 1 << width - place - bits)
        return shifted_signed(terms, width, upper, width - bits)
    return masked(terms, width, shifted_right(terms, width, values[0], place), (1 << bits) - 1)


def _bfi(terms: Terms, step: Step, width: int, values: Values) -> Term | None:
    """Some bits of a number in the place of those of another one."""
    found = _field(terms, values[2:], width)
    if found is None:
        return None
    place, bits = found
    mask = (1 << bits) - 1
    kept = masked(terms, width, values[1], ((1 << width) - 1) & ~(mask << place))
    moved = terms.scale(width, masked(terms, width, values[0], mask), 1 << place)
    return terms.add(width, kept, moved)


def _prmt(terms: Terms, step: Step, width: int, values: Values) -> Term | None:
    """Bytes of two words."""
    chosen = terms.constant_of(values[2])
    if chosen is None or step.opcode != "prmt.b32":
        return None
    places = [chosen >> 4 * k & 15 for k in range(4)]
    if any(place > 7 for place in places):
        return None  # a sign
    made, k = terms.constant(32, 0), 0
    while k < 4:
        first, count = places[k], 1
        while k + count < 4 and places[k + count] == first + count != 4:
            count += 1
        moved = shifted_right(terms, 32, values[first // 4], 8 * (first % 4))
        field = masked(terms, 32, moved, (1 << 8 * count) - 1)
        made = terms.add(32, made, terms.scale(32, field, 1 << 8 * k))
        k += count
    return made


def _shf(terms: Terms, step: Step, width: int, values: Values) -> Term | None:
    """A word out of two, side by side."""
    by = terms.constant_of(values[2])
    if by is None or step.type != "b32" or by >= 32:
        return None
    low, high = values[:2]
    up = by if ".l" in step.modifiers else 32 - by
    return terms.add(32, terms.scale(32, high, 1 << up), shifted_right(terms, 32, low, 32 - up))


def _convert(terms: Terms, step: Step, width: int, values: Values) -> Term | None:
    register = step.targets[0]
    if step.opcode in TRUNCATIONS and register is not None:
        return _truncate(terms, step.opcode, SCALAR_TYPES[register[1]].width, values[0])
    if len(step.types) != 2 or not set(step.types) <= INTEGERS | {"u8", "s8"} or register is None:
        return None
    to = SCALAR_TYPES[step.types[0]].width
    if SCALAR_TYPES[register[1]].width != to:
        return None
    if to < width:
        return terms.truncate(width, to, values[0])
    signed = step.types[1].startswith("s")
    return terms.extend(signed, width, to, values[0]) if to > width else values[0]


def _truncate(terms: Terms, opcode: str, width: int, value: Term) -> Term | None:
    number = terms.constant_of(value)
    made = None if number is None else truncated(opcode, number)
    # A register of more bits than the integer has would be filled up.
    return None if made is None or width != TRUNCATIONS[opcode][1] else terms.constant(width, made)


def _same(terms: Terms, step: Step, width: int, values: Values) -> Term | None:
    # Global addresses are the same numbers as generic ones.
    return values[0] if ".global" in step.modifiers else None


_RULES: dict[str, Callable[[Terms, Step, int, Values], Term | None]] = {
    "add": _add, "sub": _add, "mul": _multiply, "mad": _multiply, "shl": _shl, "shr": _shr,
    "neg": _negate, "not": _not, "and": _bitwise, "or": _bitwise, "xor": _bitwise,
    "div": _divide, "rem": _remainder, "min": _extreme, "max": _extreme, "bfe": _bfe, "bfi": _bfi,
    "prmt": _prmt, "shf": _shf, "cvt": _convert, "cvta": _same, "abs": _absolute,
}  # fmt: skip
#: The instructions that have a meaning here.
KNOWN = frozenset(_RULES)
