"""Shifts, masks and words put together of others, in one form with sums and products.

A word of two halves is the lower one plus the upper one times 65,536; its upper half is the word
shifted right, however a compiler gets at it.

>>> from ptxkit.decompiler.verify.dataflow.terms import Terms
>>> t = Terms()
>>> a, b = t.make("symbol", "a"), t.make("symbol", "b")
>>> word = packed(t, 16, [a, b])
>>> part(t, 32, word, 0, 2) == a, part(t, 32, word, 1, 2) == b
(True, True)
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from ptxkit.decompiler.verify.dataflow.bounds import (
    as_signed,
    bounds,
    possible_bits,
    unbounded_sum,
)
from ptxkit.decompiler.verify.dataflow.signs import absolute

if TYPE_CHECKING:
    from ptxkit.decompiler.verify.dataflow.terms import Term, Terms

_WIDTHS = (8, 16, 32)
_WORD = 32
#: In how many bits some of the lowest ones are told.
_NARROWER = (16, 32)
_ABSOLUTE = {f"abs.s{width}": width for width in (16, 32, 64)}
#: Types of instructions for which bits are only bits, and how many.
_UNSIGNED = {f"{kind}{width}": width for kind in "bu" for width in (16, 32, 64)}
_SIGNED = {f"shr.s{width}": width for width in (16, 32, 64)}


def shifted_right(terms: Terms, width: int, a: Term, by: int) -> Term:
    """``a >> by`` of a number without a sign."""
    from ptxkit.decompiler.verify.dataflow.quotients import (
        added_quotient,
        shifted_quotient,
        wide_quotient,
    )

    known = terms.constant_of(a)
    if known is not None or by >= width or not bounds(terms, a, width, False)[1] >> by:
        return terms.constant(width, (known or 0) >> by)
    if by == 0:
        return a
    row = terms.rows[a]
    if row[0] == "unsigned" and row[2] == width:
        return terms.extend(False, row[1], width, shifted_right(terms, row[1], row[3], by))
    if row[0] == "sum" and row[1] == width:
        upper = _upper(terms, row[1], row[2], row[3], by)
        if upper is None:
            upper = wide_quotient(terms, width, row, by) or added_quotient(terms, width, row, by)
        if upper is not None:
            return upper
    opcode = f"shr.u{width}"
    if row[0] == "op" and row[1] == opcode:
        before = terms.constant_of(row[4])
        if before is not None:
            return shifted_right(terms, width, row[3], before + by)
    if row[0] == "op" and row[1] == f"shr.s{width}" and by == width - 1:
        return shifted_right(terms, width, row[3], by)  # it keeps the sign
    if row[0] == "op" and row[1] == f"and.b{width}" and len(row) == 5:
        # A mask is put around a shift.
        for mask, other in zip(map(terms.constant_of, row[3:]), row[4:2:-1], strict=True):
            if mask is not None:
                return masked(terms, width, shifted_right(terms, width, other, by), mask >> by)
    apart = _shifted_apart(terms, width, row, by)
    if apart is not None:
        return apart
    quotient = shifted_quotient(terms, width, row, by)
    if quotient is not None:
        return quotient
    return terms.operation(opcode, 0, (a, terms.constant(32, by)))


def _shifted_apart(terms: Terms, width: int, row: tuple[Any, ...], by: int) -> Term | None:
    """Bits of two numbers put together and then shifted, as those that are left put together.

    A compiler turns only bits that are not shifted out, or all of them: nobody sees the others.

    >>> from ptxkit.decompiler.verify.dataflow.terms import Terms
    >>> t = Terms()
    >>> x, y = t.make("symbol", "x"), t.make("symbol", "y")
    >>> def shifted(bits):
    ...     turned = exclusive(t, 32, (x, t.constant(32, bits)))
    ...     return shifted_right(t, 32, bitwise(t, "and.b32", (turned, y)), 5)
    >>> shifted(0xFFFFFFFF) == shifted(0xFFFFFFE0), shifted(0xFFFFFFFF) == shifted(0xFFFFFFC0)
    (True, False)
    """
    all_bits = (1 << width) - 1
    if row[0] == "sum" and row[2] == all_bits and len(row[3]) == 1 and row[3][0][1] == all_bits:
        # All bits are turned.
        upper = shifted_right(terms, width, row[3][0][0], by)
        return terms.add(width, terms.constant(width, all_bits >> by), upper, -1)
    name = row[1].partition(".")[0] if row[0] == "op" else ""
    if name not in ("and", "xor") or row[1] != f"{name}.b{width}":
        return None
    return bitwise(terms, row[1], [shifted_right(terms, width, one, by) for one in row[3:]])


def shifted_signed(terms: Terms, width: int, a: Term, by: int) -> Term:
    """``a >> by`` of a number with a sign.

    >>> from ptxkit.decompiler.verify.dataflow.terms import Terms
    >>> t = Terms()
    >>> low, high = t.make("symbol", "low"), t.make("symbol", "high")
    >>> upper = shifted_signed(t, 64, packed(t, 32, [low, high]), 35)
    >>> upper == t.extend(True, 32, 64, shifted_signed(t, 32, high, 3))
    True
    """
    by = min(by, width - 1)
    known = terms.constant_of(a)
    if known is not None:
        return terms.constant(width, as_signed(width, known) >> by)
    if not by:
        return a
    if bounds(terms, a, width, True)[0] >= 0:
        return shifted_right(terms, width, a, by)
    row = terms.rows[a]
    opcode = f"shr.s{width}"
    if row[0] == "op" and row[1] == opcode:
        before = terms.constant_of(row[4])
        if before is not None:
            return shifted_signed(terms, width, row[3], before + by)
    if row[0] == "signed" and row[2] == width:
        return terms.extend(True, row[1], width, shifted_signed(terms, row[1], row[3], by))
    if row[0] == "sum" and row[1] == width:
        for low in (width - narrow for narrow in _WIDTHS if 0 < width - narrow <= by):
            upper = _upper_half(terms, width, row, low)
            if upper is not None:
                return shifted_signed(terms, width, upper, by - low)
    if width - by in _WIDTHS:
        upper = terms.truncate(width, width - by, shifted_right(terms, width, a, by))
        return terms.extend(True, width - by, width, upper)
    return terms.operation(opcode, 0, (a, terms.constant(32, by)))


def shifted_with_sign(terms: Terms, row: tuple[Any, ...]) -> Term | None:
    """Of low bits of a number shifted right: a number shifted with its sign that has the same."""
    _, width, narrow, a = row
    inside = terms.rows[a]
    by = terms.constant_of(inside[4]) if inside[:2] == ("op", f"shr.u{width}") else None
    if by is None or by + narrow >= width:  # all that is left of it has its sign
        return None
    return shifted_signed(terms, width, inside[3], by)


def _upper_half(terms: Terms, width: int, row: tuple[Any, ...], by: int) -> Term | None:
    """The upper bits of a sum of multiples, and of less than what they are multiples of."""
    rest = row[2] % (1 << by)
    low = tuple((atom, factor) for atom, factor in row[3] if factor % (1 << by))
    least, most = unbounded_sum(terms, ("sum", width, rest, low), False)
    if least < 0 or most >= 1 << by:
        return None
    made = terms.constant(width, row[2] >> by)
    for atom, factor in row[3]:
        if not factor % (1 << by):
            made = terms.add(width, made, terms.scale(width, atom, factor >> by))
    narrow = width - by
    return terms.extend(True, narrow, width, terms.truncate(width, narrow, made))


def divided(terms: Terms, width: int, a: Term, by: int) -> Term:
    """``a / by`` of numbers without a sign; the divisor is not zero."""
    if not by & by - 1:
        return shifted_right(terms, width, a, by.bit_length() - 1)
    known = terms.constant_of(a)
    if known is not None or bounds(terms, a, width, False)[1] < by:
        return terms.constant(width, (known or 0) // by)
    row = terms.rows[a]
    before = terms.constant_of(row[4]) if row[0] == "op" and len(row) == 5 else None
    if before:
        # Divided twice is divided by the product.
        shifted = row[1] == f"shr.u{width}" and before < width
        once = 1 << before if shifted else before if row[1] == f"div.u{width}" else 0
        if once and once * by < 1 << width:
            return divided(terms, width, row[3], once * by)
    return terms.operation(f"div.u{width}", 0, (a, terms.constant(width, by)))


def divided_signed(terms: Terms, width: int, a: Term, by: int) -> Term:
    """``a / by`` of numbers with a sign, towards zero; the divisor is a power of two.

    >>> from ptxkit.decompiler.verify.dataflow.terms import Terms
    >>> t = Terms()
    >>> x = t.make("symbol", "x")
    >>> sign = shifted_signed(t, 32, x, 31)
    >>> rounded = t.add(32, x, shifted_right(t, 32, sign, 29))
    >>> divided_signed(t, 32, x, 8) == shifted_signed(t, 32, rounded, 3)
    True
    """
    bits = by.bit_length() - 1
    if not bits:
        return a
    # What is less than zero is rounded up.
    sign = shifted_signed(terms, width, a, width - 1)
    rounded = terms.add(width, a, shifted_right(terms, width, sign, width - bits))
    return shifted_signed(terms, width, rounded, bits)


def _upper(
    terms: Terms, width: int, constant: int, parts: Sequence[tuple[Term, int]], by: int
) -> Term | None:
    """The upper bits of a sum of multiples of two to the ``by``, and of less than that."""
    low = [(atom, factor) for atom, factor in parts if factor % (1 << by)]
    high = [(atom, factor) for atom, factor in parts if not factor % (1 << by)]
    rest = constant % (1 << by)
    least, most = unbounded_sum(terms, ("sum", width, rest, tuple(low)), False)
    if low and not (least >= 0 and most < 1 << by):
        return None
    left = unbounded_sum(terms, ("sum", width, constant - rest, tuple(high)), False)
    if not (left[0] >= 0 and left[1] < 1 << width):
        return None
    if any(number >> width - 1 for number in (constant, *(factor for _, factor in high))):
        return None  # a negative one, whose upper bits are not those of a shift
    made = terms.constant(width, constant >> by)
    for atom, factor in high:
        made = terms.add(width, made, terms.scale(width, atom, factor >> by))
    return made


def masked(terms: Terms, width: int, a: Term, mask: int) -> Term:
    """``a & mask``."""
    known = terms.constant_of(a)
    # Bits that are never set need no mask.
    mask &= (1 << bounds(terms, a, width, False)[1].bit_length()) - 1
    if known is not None or not mask:
        return terms.constant(width, (known or 0) & mask)
    plain = mask & (mask + 1) == 0
    if plain:
        a = _before_cut(terms, width, _lowered(terms, width, a, mask + 1), mask.bit_length())
    if plain and bounds(terms, a, width, False)[1] <= mask:
        return a
    row = terms.rows[a]
    if row[0] == "unsigned" and row[2] == width:
        inside = masked(terms, row[1], row[3], mask & (1 << row[1]) - 1)
        return terms.extend(False, row[1], width, inside)
    low = _shift(terms, width, a)
    least = _least_part(terms, width, a, mask) if plain and not low else None
    if least is not None:
        return terms.add(width, masked(terms, width, terms.add(width, a, least, -1), mask), least)
    if low and row[0] == "sum":
        # Bits that were moved up can be masked where they were before.
        made = terms.constant(width, as_signed(width, row[2]) >> low)
        for atom, factor in row[3]:
            by = as_signed(width, factor) >> low
            made = terms.add(width, made, terms.scale(width, atom, by))
        return terms.scale(width, masked(terms, width, made, mask >> low), 1 << low)
    end = (mask & -mask).bit_length() - 1
    if end and not (mask >> end) & (mask >> end) + 1:
        # Bits in a row are those of what is shifted, however they are cut out.
        upper = masked(terms, width, shifted_right(terms, width, a, end), mask >> end)
        return terms.scale(width, upper, 1 << end)
    if plain and mask.bit_length() in _WIDTHS:
        narrow = mask.bit_length()
        return terms.extend(False, narrow, width, terms.truncate(width, narrow, a))
    narrow = next((few for few in _NARROWER if mask.bit_length() < few < width), 0)
    if plain and narrow:
        # The lowest bits are the same in however many bits they are computed.
        low_bits = masked(terms, narrow, terms.truncate(width, narrow, a), mask)
        return terms.extend(False, narrow, width, low_bits)
    return terms.operation(f"and.b{width}", 0, (a, terms.constant(width, mask)))


def _least_part(terms: Terms, width: int, a: Term, mask: int) -> Term | None:
    """What a sum adds to a multiple of some power of two, and is less, if a mask keeps all of it.

    >>> from ptxkit.decompiler.verify.dataflow.terms import Terms
    >>> t = Terms()
    >>> x, y = t.make("symbol", "x"), masked(t, 32, t.make("symbol", "y"), 1)
    >>> twice = t.add(32, t.scale(32, x, 2), y)
    >>> masked(t, 32, twice, 3) == t.add(32, t.scale(32, masked(t, 32, x, 1), 2), y)
    True
    """
    from ptxkit.decompiler.verify.dataflow.fields import below

    least = below(terms, width, terms.rows[a])
    if least is None or not mask >> _shift(terms, width, terms.add(width, a, least, -1)):
        return None
    return least


def _before_cut(terms: Terms, width: int, a: Term, bits: int) -> Term:
    """Some of the lowest bits of a number that was cut and then shifted, as one that is cut last.

    >>> from ptxkit.decompiler.verify.dataflow.terms import Terms
    >>> t = Terms()
    >>> x = t.make("symbol", "x")
    >>> word = shifted_right(t, 32, t.truncate(64, 32, x), 8)
    >>> whole = t.truncate(64, 32, shifted_right(t, 64, x, 8))
    >>> [masked(t, 32, word, mask) == masked(t, 32, whole, mask) for mask in (0xFFFFFF, 0x1FFFFFF)]
    [True, False]
    """
    row = terms.rows[a]
    by = terms.constant_of(row[4]) if row[:2] == ("op", f"shr.u{width}") else None
    inside = terms.rows[row[3]] if by is not None else row
    if by is None or inside[0] != "truncate" or inside[2] != width or bits + by > width:
        return a
    return terms.truncate(inside[1], width, shifted_right(terms, inside[1], inside[3], by))


def _lowered(terms: Terms, width: int, a: Term, room: int) -> Term:
    """A sum without what makes no difference to its lowest bits."""
    constant, parts = terms.parts(width, a)
    made = terms.constant(width, constant % room)
    for atom, factor in parts.items():
        if factor % room:
            less = _lowered_field(terms, width, atom, room)
            by = factor % room
            by -= room if 2 * by > room else 0
            made = terms.add(width, made, terms.scale(width, less, by))
    return made


def _lowered_field(terms: Terms, width: int, a: Term, room: int) -> Term:
    """The same of bits that were taken out of a sum.

    >>> from ptxkit.decompiler.verify.dataflow.terms import Terms
    >>> t = Terms()
    >>> x, y = t.make("symbol", "x"), t.make("symbol", "y")
    >>> down = [shifted_right(t, 32, t.add(32, x, t.scale(32, y, by)), 8) for by in (2048, 1024)]
    >>> [masked(t, 32, one, 7) == masked(t, 32, shifted_right(t, 32, x, 8), 7) for one in down]
    [True, False]
    """
    row = terms.rows[a]
    if row[:2] == ("op", f"and.b{width}"):
        mask, of = terms.constant_of(row[4]), row[3]
        if mask is None:
            mask, of = terms.constant_of(row[3]), row[4]
        if mask is not None and mask & room - 1 == room - 1:
            return _lowered(terms, width, of, room)  # they are all kept
    wide, inside = width, row
    if row[0] == "truncate" and row[2] == width:
        wide, inside = row[1], terms.rows[row[3]]
    by = terms.constant_of(inside[4]) if inside[:2] == ("op", f"shr.u{wide}") else None
    if by is None or by >= wide or room << by >= 1 << wide:
        return a
    less = _lowered(terms, wide, inside[3], room << by)
    if less == inside[3]:
        return a
    made = shifted_right(terms, wide, less, by)
    return made if wide == width else terms.truncate(wide, width, made)


def _shift(terms: Terms, width: int, a: Term) -> int:
    """How many of the lowest bits of a sum are zeros in any case, all of it being a multiple."""
    row = terms.rows[a]
    if row[0] != "sum" or row[1] != width:
        return 0
    numbers: list[int] = [row[2], *(factor for _, factor in row[3])]
    shifts = [(n & -n).bit_length() - 1 for n in numbers if n]
    return min(shifts, default=0)


def _moved_down(terms: Terms, width: int, a: Term, by: int) -> Term:
    """A sum that is this one when it is moved up; its highest bits are any."""
    constant, parts = terms.parts(width, a)
    made = terms.constant(width, _with_sign(constant, width) >> by)
    for atom, factor in parts.items():
        moved = _with_sign(factor, width) >> by
        made = terms.add(width, made, terms.scale(width, atom, moved))
    return made


def _with_sign(number: int, width: int) -> int:
    number %= 1 << width
    return number - (1 << width) if number >> (width - 1) else number


def united(terms: Terms, width: int, a: Term, b: Term) -> Term:
    """``a | b``."""
    made = as_sum(terms, width, a, b)
    return terms.operation(f"or.b{width}", 0, (a, b)) if made is None else made


def as_sum(terms: Terms, width: int, a: Term, b: Term) -> Term | None:
    """``a | b``, where it is a sum."""
    for low, high in ((a, b), (b, a)):
        # Without a bit in common it is a sum.
        bits = bounds(terms, low, width, False)[1].bit_length()
        if bits < width and _is_multiple(terms, width, high, 1 << bits):
            return terms.add(width, low, high)
    if not possible_bits(terms, a, width) & possible_bits(terms, b, width):
        return terms.add(width, a, b)
    for one, other in ((a, b), (b, a)):
        number = terms.constant_of(one)
        clear = 0 if number is None else (1 << width) - 1 & ~number
        if number and clear and not clear & clear + 1:
            # The highest bits are set, whatever they were: a sum, too.
            return terms.add(width, masked(terms, width, other, clear), one)
    return None


def exclusive(terms: Terms, width: int, values: Sequence[Term]) -> Term:
    """``a ^ b ^ c``, in any order; what is there twice is gone.

    >>> from ptxkit.decompiler.verify.dataflow.terms import Terms
    >>> t = Terms()
    >>> x = t.make("symbol", "x")
    >>> up = exclusive(t, 32, (t.scale(32, x, 8), t.constant(32, 24)))
    >>> up == t.scale(32, exclusive(t, 32, (x, t.constant(32, 3))), 8)
    True
    >>> up == t.scale(32, exclusive(t, 32, (x, t.constant(32, 2))), 8)
    False
    """
    opcode = f"xor.b{width}"
    left: set[Term] = set()
    constant = 0
    pending = list(values)
    while pending:
        value = pending.pop()
        known, row = terms.constant_of(value), terms.rows[value]
        if known is not None:
            constant ^= known
        elif row[:2] == ("op", opcode):
            pending += row[3:]
        else:
            left ^= {value}
    if constant == (1 << width) - 1 and len(left) == 1:
        return terms.add(width, terms.constant(width, -1), left.pop(), -1)
    parts = sorted(left)
    below = bounds(terms, parts[0], width, False)[1] if len(parts) == 1 else 1 << width
    if not constant & constant + 1 and below <= constant:
        # All bits that may be set are turned.
        return terms.add(width, terms.constant(width, constant), parts[0], -1)
    shifts = [_shift(terms, width, part) for part in parts]
    if constant:
        shifts.append((constant & -constant).bit_length() - 1)
    by: int = min(shifts, default=0)
    if parts and by:
        # Bits that were moved up are the same bits when they are moved up afterwards.
        down = [_moved_down(terms, width, part, by) for part in parts]
        down.append(terms.constant(width, constant >> by))
        return terms.scale(width, exclusive(terms, width, down), 1 << by)
    if constant or not parts:
        parts.append(terms.constant(width, constant))
    return parts[0] if len(parts) == 1 else terms.make("op", opcode, 0, *parts)


def bitwise(terms: Terms, opcode: str, values: Sequence[Term]) -> Term | None:
    """The result of an instruction of this file; None for others."""
    name, _, type = opcode.partition(".")
    if opcode in _ABSOLUTE:
        return absolute(terms, _ABSOLUTE[opcode], values[0])
    if opcode in _SIGNED:
        by = terms.constant_of(values[1])
        return None if by is None else shifted_signed(terms, _SIGNED[opcode], values[0], by)
    if name in ("min", "max") and type[0] in "us" and type[1:].isdigit():
        return extreme(terms, name == "min", type, values)
    if name not in ("and", "or", "xor", "shr", "div") or type not in _UNSIGNED:
        return None
    width = _UNSIGNED[type]
    if name == "div":
        by = terms.constant_of(values[1])
        return divided(terms, width, values[0], by) if by else None
    if name == "xor":
        return exclusive(terms, width, values)
    if name == "or":
        return united(terms, width, *values)
    numbers = [terms.constant_of(value) for value in values]
    if name == "shr":
        by = numbers[1]
        return None if by is None else shifted_right(terms, width, values[0], by)
    for other, mask in zip(reversed(values), numbers, strict=True):
        if mask is not None:
            return masked(terms, width, other, mask)
    if width > _WORD and any(bounds(terms, one, width, False)[1] >> _WORD == 0 for one in values):
        # No upper bits are left of either.
        low = [terms.truncate(width, _WORD, one) for one in values]
        return terms.extend(False, _WORD, width, terms.operation(f"and.b{_WORD}", 0, low))
    return terms.operation(opcode, 0, _in_common(terms, width, values))


def _in_common(terms: Terms, width: int, values: Sequence[Term]) -> Sequence[Term]:
    """Two numbers without what makes no difference to the bits that may be set in both.

    >>> from ptxkit.decompiler.verify.dataflow.terms import Terms
    >>> t = Terms()
    >>> x, y = t.make("symbol", "x"), masked(t, 32, t.make("symbol", "y"), 7)
    >>> less = t.add(32, x, t.constant(32, 80))
    >>> [bitwise(t, "and.b32", (one, y)) == bitwise(t, "and.b32", (x, y)) for one in (less, y)]
    [True, False]

    Once one of them has upper bits, the other must keep to its own:

    >>> a, b = (masked(t, 32, t.make("symbol", name), 1) for name in "ab")
    >>> five, minus = ([t.scale(32, one, by) for one in (a, b)] for by in (5, -3))
    >>> bitwise(t, "and.b32", five) == bitwise(t, "and.b32", minus)
    False
    """
    made = list(values)
    first = values[0] > values[1]  # the same one in both orders
    for place, other in ((first, not first), (not first, first)):
        # The room of what the other one is by now: what was changed may be larger than before.
        room = 1 << bounds(terms, made[other], width, False)[1].bit_length()
        if room < 1 << width:
            made[place] = _turned(terms, width, _lowered(terms, width, made[place], room), room)
    return made


def _turned(terms: Terms, width: int, a: Term, room: int) -> Term:
    """A number of which all lowest bits are turned, with all of its bits turned.

    >>> from ptxkit.decompiler.verify.dataflow.terms import Terms
    >>> t = Terms()
    >>> x = t.make("symbol", "x")
    >>> made = [exclusive(t, 32, (x, t.constant(32, bits))) for bits in (0xFFFFFFFF, 0xF7, 0xF5)]
    >>> [_turned(t, 32, one, 8) == made[0] for one in made]
    [True, True, False]
    """
    row = terms.rows[a]
    inside: Term | None = None
    if row[0] == "sum" and row[2] == room - 1 and len(row[3]) == 1:
        inside = row[3][0][0] if row[3][0][1] == (1 << width) - 1 else None
    elif row[:2] == ("op", f"xor.b{width}"):
        known = terms.constant_of(row[-1])
        if known is not None and known & room - 1 == room - 1:
            inside = exclusive(terms, width, row[3:-1])
    return a if inside is None else terms.add(width, terms.constant(width, -1), inside, -1)


def extreme(terms: Terms, least: bool, type: str, values: Sequence[Term]) -> Term | None:
    """The smaller or larger of two numbers, where it is known which one that is.

    >>> from ptxkit.decompiler.verify.dataflow.terms import Terms
    >>> t = Terms()
    >>> few, many = (masked(t, 32, t.make("symbol", "x"), mask) for mask in (3, 7))
    >>> bitwise(t, "min.u32", (few, t.constant(32, 3))) == few
    True
    >>> bitwise(t, "min.u32", (many, t.constant(32, 3))) is None
    True
    """
    width, signed = int(type[1:]), type[0] == "s"
    for one, other in (values, tuple(reversed(values))):
        if bounds(terms, one, width, signed)[1] <= bounds(terms, other, width, signed)[0]:
            return one if least else other
    return None


def _is_multiple(terms: Terms, width: int, a: Term, of: int) -> bool:
    row = terms.rows[a]
    if of == 1:
        return True
    if row[0] != "sum" or row[1] != width:
        return False
    return row[2] % of == 0 and all(factor % of == 0 for _, factor in row[3])


def packed(terms: Terms, width: int, values: Sequence[Term]) -> Term:
    """A word of several smaller ones, the lowest first."""
    whole = width * len(values)
    made = terms.constant(whole, 0)
    for place, value in enumerate(values):
        wide = terms.extend(False, width, whole, value)
        made = terms.add(whole, made, terms.scale(whole, wide, 1 << width * place))
    return made


def part(terms: Terms, width: int, word: Term, place: int, count: int) -> Term:
    """One of several parts of a word."""
    narrow = width // count
    return terms.truncate(width, narrow, shifted_right(terms, width, word, place * narrow))
