"""Products that are quotients: what compilers divide by a number that they know with.

The upper half of a product with a number is a quotient, if it is shifted right; where the number
has one bit more than there is room for, what was multiplied is added again. Each compiler, and each
GPU that it compiles for, has its own way: here they are one.

>>> from ptxkit.decompiler.verify.dataflow.bits import divided, shifted_right
>>> from ptxkit.decompiler.verify.dataflow.terms import Terms
>>> t = Terms()
>>> x = t.make("symbol", "x")
>>> upper = t.operation("mul.hi.u32", 0, [x, t.constant(32, 613566757)])
>>> half = shifted_right(t, 32, t.add(32, x, upper, -1), 1)
>>> seventh = divided(t, 32, x, 7)
>>> shifted_right(t, 32, t.add(32, half, upper), 2) == seventh
True
>>> wide = t.extend(False, 32, 64, x)
>>> t.operation("mul.hi.u64", 0, [wide, t.constant(64, 2635249153387078803)]) == t.extend(
...     False, 32, 64, seventh)
True
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from ptxkit.decompiler.verify.dataflow.bits import divided
from ptxkit.decompiler.verify.dataflow.bounds import bounds

if TYPE_CHECKING:
    from ptxkit.decompiler.verify.dataflow.terms import Term, Terms

_UPPER = {f"mul.hi.u{width}": width for width in (16, 32, 64)}


def shifted_quotient(terms: Terms, width: int, row: tuple[Any, ...], by: int) -> Term | None:
    """What a compiler computes a quotient with: the upper half of a product, shifted right."""
    if row[0] != "op" or len(row) != 5:
        return None
    numbers = [terms.constant_of(value) for value in row[3:]]
    if row[1] == f"div.u{width}" and numbers[1] and numbers[1] << by < 1 << width:
        return divided(terms, width, row[3], numbers[1] << by)
    if row[1] != f"mul.hi.u{width}":
        return None
    for number, other in zip(numbers, reversed(row[3:]), strict=True):
        quotient = _quotient(terms, width, other, number, width + by) if number else None
        if quotient is not None:
            return quotient
    return None


def wide_quotient(terms: Terms, width: int, row: tuple[Any, ...], by: int) -> Term | None:
    """The same with all of the product, where there is room for it."""
    if row[2] or len(row[3]) != 1:
        return None
    ((atom, factor),) = row[3]
    if bounds(terms, atom, width, False)[1] * factor >> width:
        return None
    return _quotient(terms, width, atom, factor, by)


def _quotient(terms: Terms, width: int, a: Term, number: int, by: int) -> Term | None:
    """``a * number >> by`` as a quotient of ``a``."""
    most = bounds(terms, a, width, False)[1]
    divisor = _divisor(number, by, most)
    if divisor is None:
        return None
    return terms.constant(width, 0) if divisor > most else divided(terms, width, a, divisor)


def added_quotient(terms: Terms, width: int, row: tuple[Any, ...], by: int) -> Term | None:
    """The same where a number is too large by one bit: half of what is missing is added."""
    if row[2] or len(row[3]) != 2 or any(factor != 1 for _, factor in row[3]):
        return None
    for (upper, _), (half, _) in (row[3], row[3][::-1]):
        inside, few = terms.rows[half], width
        if inside[0] == "unsigned" and inside[2] == width:
            inside, few = terms.rows[inside[3]], inside[1]
        if inside[:2] != ("op", f"shr.u{few}") or terms.constant_of(inside[4]) != 1:
            continue
        part = terms.truncate(width, few, upper) if few < width else upper
        if few < width and terms.extend(False, few, width, part) != upper:
            continue
        # Half of what is left of a number without that part of it.
        a = terms.add(few, inside[3], part)
        number, bits = _upper_part(terms, few, part, a) or (1, 0)
        if number >> bits:
            continue
        quotient = _quotient(terms, few, a, number + (1 << bits), bits + by + 1)
        if quotient is not None:
            return terms.extend(False, few, width, quotient) if few < width else quotient
    return None


def part_of(terms: Terms, width: int, upper: Term, a: Term) -> bool:
    """Whether a number is so many parts of another one, rounded down: none is left to be owed.

    >>> from ptxkit.decompiler.verify.dataflow.terms import Terms
    >>> t = Terms()
    >>> x = t.make("symbol", "x")
    >>> upper = t.operation("mul.hi.u32", 0, [x, t.constant(32, 613566757)])
    >>> part_of(t, 32, upper, x), part_of(t, 32, x, upper)
    (True, False)
    """
    found = _upper_part(terms, width, upper, a)
    return found is not None and found[0] >> found[1] == 0


def _upper_part(terms: Terms, width: int, upper: Term, a: Term) -> tuple[int, int] | None:
    """By which number another one is multiplied, and how many bits are cut off then."""
    row, other = terms.rows[upper], terms.rows[a]
    if row[0] == other[0] == "unsigned" and row[1:3] == other[1:3] and row[2] == width:
        return _upper_part(terms, row[1], row[3], other[3])
    if row[:4] == ("op", f"div.u{width}", 0, a):
        divisor = terms.constant_of(row[4])
        return (-(-(1 << 2 * width) // divisor), 2 * width) if divisor else None
    if row[0] == "op" and row[1] == f"mul.hi.u{width}" and a in row[3:]:
        number = terms.constant_of(row[4] if row[3] == a else row[3])
        return None if number is None else (number, width)
    wide, inside = width, row
    if row[0] == "truncate" and row[2] == width:
        wide, inside = row[1], terms.rows[row[3]]
    by = terms.constant_of(inside[4]) if inside[:2] == ("op", f"shr.u{wide}") else None
    if by is None:
        return None
    constant, parts = terms.parts(wide, inside[3])
    if constant or len(parts) != 1:
        return None
    ((atom, number),) = parts.items()
    same = terms.extend(False, width, wide, a) if wide > width else a
    fits = bounds(terms, a, width, False)[1] * number >> wide == 0
    return (number, by) if atom == same and fits else None


def upper_quotient(terms: Terms, opcode: str, values: Sequence[Term]) -> Term | None:
    """The upper half of a product, where it is a quotient as it is."""
    width = _UPPER[opcode]
    for number, other in zip(map(terms.constant_of, values), reversed(values), strict=True):
        quotient = _quotient(terms, width, other, number, width) if number else None
        if quotient is not None:
            return quotient
    return None


def narrow_quotient(terms: Terms, opcode: str, values: Sequence[Term]) -> Term | None:
    """The quotient of a number that has fewer bits, in as many as that has."""
    by, row = terms.constant_of(values[1]), terms.rows[values[0]]
    if not by or row[0] != "unsigned" or f"div.u{row[2]}" != opcode:
        return None
    return terms.extend(False, row[1], row[2], divided(terms, row[1], row[3], by))


def _divisor(number: int, by: int, most: int) -> int | None:
    """By what a product with a number is a quotient, if it is shifted right.

    The other factor is no more than ``most``.

    >>> _divisor(0xCCCCCCCD, 35, 2**32 - 1), _divisor(0xCCCCCCCC, 35, 2**32 - 1)
    (10, None)
    >>> _divisor(41, 12, 255), _divisor(41, 12, 2**10)
    (100, None)
    """
    whole = 1 << by
    divisor = -(-whole // number)
    # What is too much in the product adds up to less than one (Granlund and Montgomery).
    return divisor if (number * divisor - whole) * most < whole else None
