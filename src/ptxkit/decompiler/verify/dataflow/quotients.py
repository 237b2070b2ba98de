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
    if divisor > most:
        return terms.constant(width, 0)
    row = terms.rows[a]
    if row[0] == "unsigned" and row[2] == width:
        return terms.extend(False, row[1], width, divided(terms, row[1], row[3], divisor))
    return divided(terms, width, a, divisor)


def added_quotient(terms: Terms, width: int, row: tuple[Any, ...], by: int) -> Term | None:
    """The same where a number is too large by one bit: half of what is missing is added."""
    if row[2] or len(row[3]) != 2 or any(factor != 1 for _, factor in row[3]):
        return None
    minus = (1 << width) - 1
    for (upper, _), (half, _) in (row[3], row[3][::-1]):
        inside = terms.rows[half]
        if inside[:2] != ("op", f"shr.u{width}") or terms.constant_of(inside[4]) != 1:
            continue
        constant, parts = terms.parts(width, inside[3])
        others = [atom for atom, factor in parts.items() if factor == 1]
        if constant or len(others) != 1 or parts != {others[0]: 1, upper: minus}:
            continue
        number = _number_of_upper(terms, width, upper, others[0])
        most = bounds(terms, others[0], width, False)[1]
        divisor = _divisor(number + (1 << width), width + by + 1, most) if number else None
        if divisor is not None:
            return divided(terms, width, others[0], divisor)
    return None


def _number_of_upper(terms: Terms, width: int, upper: Term, a: Term) -> int | None:
    """The number of which the product with another one has this upper half."""
    row = terms.rows[upper]
    if row[0] == "op" and row[1] == f"mul.hi.u{width}" and a in row[3:]:
        return terms.constant_of(row[4] if row[3] == a else row[3])
    if row[0] != "truncate" or row[2] != width:
        return None
    wide, inside = row[1], terms.rows[row[3]]
    if inside[:2] != ("op", f"shr.u{wide}") or terms.constant_of(inside[4]) != width:
        return None
    constant, parts = terms.parts(wide, inside[3])
    ((atom, number),) = parts.items() if len(parts) == 1 and not constant else ((0, 0),)
    fits = terms.rows[atom] == ("unsigned", width, wide, a) and number >> width == 0
    return number if fits else None


def upper_quotient(terms: Terms, opcode: str, values: Sequence[Term]) -> Term | None:
    """The upper half of a product, where it is a quotient as it is."""
    width = _UPPER[opcode]
    for number, other in zip(map(terms.constant_of, values), reversed(values), strict=True):
        quotient = _quotient(terms, width, other, number, width) if number else None
        if quotient is not None:
            return quotient
    return None


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
