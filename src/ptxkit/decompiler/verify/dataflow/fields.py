"""Parts of sums that are bits of one number: what is left of them when they are moved up.

A factor that is a multiple of a power of two moves the upper bits of a number out, so it does not
matter what they were: ``(x >> 29 & ~7) * 4`` and ``(x >> 32) * 32`` are the same. And bits that
were taken apart are the number again when they are put together.

>>> from ptxkit.decompiler.verify.dataflow.bits import masked, shifted_right
>>> from ptxkit.decompiler.verify.dataflow.terms import Terms
>>> t = Terms()
>>> x = t.make("symbol", "x")
>>> cut = masked(t, 32, x, 0x0FFFFFFF)
>>> t.scale(32, cut, 16) == t.scale(32, x, 16), t.scale(32, cut, 8) == t.scale(32, x, 8)
(True, False)
>>> t.add(32, masked(t, 32, x, 7), t.scale(32, shifted_right(t, 32, x, 3), 8)) == x
True
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ptxkit.decompiler.verify.dataflow.bits import masked, shifted_right, shifted_signed
from ptxkit.decompiler.verify.dataflow.bounds import as_signed, unbounded_sum

if TYPE_CHECKING:
    from ptxkit.decompiler.verify.dataflow.terms import Term, Terms


def zeros(number: int) -> int:
    """How many of the lowest bits of a number are zeros.

    >>> zeros(40), zeros(7)
    (3, 0)
    """
    return (number & -number).bit_length() - 1


def below(terms: Terms, width: int, row: tuple[Any, ...]) -> Term | None:
    """What a sum adds to a multiple of some power of two, and is less than that; None for nothing.

    No bit above changes by it: ``2 * x + 1`` never leaves the numbers that ``2 * x`` is in.

    >>> from ptxkit.decompiler.verify.dataflow.terms import Terms
    >>> t = Terms()
    >>> x, y = t.make("symbol", "x"), masked(t, 32, t.make("symbol", "y"), 7)
    >>> [below(t, 32, t.rows[t.add(32, t.scale(32, x, by), y)]) == y for by in (16, 8, 4)]
    [True, True, False]
    """
    if row[0] != "sum" or row[1] != width or not row[3]:
        return None
    places = [(zeros(factor), atom, factor) for atom, factor in row[3]]
    for bits in sorted({place for place, _, _ in places} - {0}):
        room = 1 << bits
        low = tuple((atom, factor) for place, atom, factor in places if place < bits)
        constant = row[2] % room
        least, most = unbounded_sum(terms, ("sum", width, constant, low), False)
        if (low or constant) and least >= 0 and most < room:
            made = terms.constant(width, constant)
            for atom, factor in low:
                made = terms.add(width, made, terms.scale(width, atom, factor))
            return made
    return None


def low_bits(terms: Terms, width: int, atom: Term, bits: int) -> Term | None:
    """A simpler term with the same lowest bits; None where there is none."""
    row = terms.rows[atom]
    if row[0] in ("signed", "unsigned") and row[2] == width and bits <= row[1]:
        inside = terms.rows[row[3]]
        if inside[0] == "truncate" and inside[1:3] == (width, row[1]):
            return int(inside[3])
    if row[0] != "op" or len(row) != 5:
        return None
    by = terms.constant_of(row[4])
    if row[1] == f"and.b{width}":
        return _unmasked(terms, width, row[3:], bits)
    if by is None or bits > width - by:
        return None
    # None of the bits that the shift brought in is left.
    if row[1] == f"shr.s{width}":
        return shifted_right(terms, width, row[3], by)
    inside = terms.rows[row[3]]
    with_sign = inside[0] == "signed" or (
        inside[:2] == ("op", f"shr.s{width}") and terms.constant_of(inside[4]) is not None
    )
    if row[1] == f"shr.u{width}" and with_sign:
        return shifted_signed(terms, width, row[3], by)
    return _apart(terms, width, inside, by) if row[1] == f"shr.u{width}" else None


def _apart(terms: Terms, width: int, row: tuple[Any, ...], by: int) -> Term | None:
    """A sum shifted right as what is no multiple of two to the ``by`` is, and the rest beside it.

    They have the same lowest bits: ``x + 4`` without its two lowest is ``x`` without them, and 4.
    """
    room = 1 << by
    if row[:2] != ("sum", width) or not by:
        return None
    multiples = [(atom, factor) for atom, factor in row[3] if not factor % room]
    whole = as_signed(width, row[2]) >> by
    if not multiples and not whole:
        return None
    left = terms.constant(width, row[2] % room)
    for atom, factor in row[3]:
        if factor % room:
            left = terms.add(width, left, terms.scale(width, atom, factor))
    made = terms.add(width, shifted_right(terms, width, left, by), terms.constant(width, whole))
    for atom, factor in multiples:
        made = terms.add(width, made, terms.scale(width, atom, as_signed(width, factor) >> by))
    return made


def _unmasked(terms: Terms, width: int, values: tuple[Term, ...], bits: int) -> Term | None:
    wanted = (1 << bits) - 1
    for mask, other in zip(map(terms.constant_of, values), reversed(values), strict=True):
        if mask is None:
            continue
        if mask & wanted == wanted:
            return other
        if mask & ~wanted:
            return masked(terms, width, other, mask & wanted)
    return None


def rejoined(
    terms: Terms, width: int, parts: dict[Term, int]
) -> tuple[tuple[Term, Term], Term, int] | None:
    """Two parts of a sum that are bits of one number, what they are together, and how often.

    The lower and the upper bits are the number. Of a number without its upper bits, the lower ones
    are left; it may be there more often than that. Without its lower bits, it is the upper ones.

    >>> from ptxkit.decompiler.verify.dataflow.terms import Terms
    >>> t = Terms()
    >>> x = t.make("symbol", "x")
    >>> upper = t.scale(32, shifted_right(t, 32, x, 3), 8)
    >>> t.add(32, t.scale(32, x, 2), upper, -1) == t.add(32, x, masked(t, 32, x, 7))
    True
    >>> t.add(32, x, masked(t, 32, x, 7), -1) == upper
    True
    """
    for atom in parts:
        found = lowest(terms, width, atom)
        if found is None:
            continue
        whole, bits = found
        upper = shifted_right(terms, width, whole, bits)
        if upper in parts and not (parts[upper] - (parts[atom] << bits)) % (1 << width):
            return (atom, upper), whole, parts[atom]
        if whole in parts and not (parts[whole] + parts[atom]) % (1 << width):
            return (whole, atom), terms.scale(width, upper, 1 << bits), parts[whole]
    for atom in parts:
        row = terms.rows[atom]
        if row[0] != "op" or row[1] != f"shr.u{width}" or row[3] not in parts:
            continue
        by = terms.constant_of(row[4])
        if by is None or by >= width:
            continue
        there = parts[row[3]]
        times, rest = divmod(-as_signed(width, parts[atom]), 1 << by)
        fits = not rest and 0 < times <= as_signed(width, there)
        if not fits and not (parts[atom] + (there << by)) % (1 << width):
            times, fits = there, True
        if fits:
            return (row[3], atom), masked(terms, width, row[3], (1 << by) - 1), times
    return None


def lowest(terms: Terms, width: int, atom: Term) -> tuple[Term, int] | None:
    """The number of which an atom is the lowest bits, and how many."""
    row = terms.rows[atom]
    narrow = width
    if row[0] == "unsigned" and row[2] == width:
        atom, narrow = row[3], row[1]
        row = terms.rows[atom]
    bits = narrow
    if row[0] == "op" and row[1] == f"and.b{narrow}" and len(row) == 5:
        masks = [terms.constant_of(value) for value in row[3:]]
        place = next((k for k, mask in enumerate(masks) if mask and not mask & (mask + 1)), None)
        if place is None:
            return None
        bits = (masks[place] or 0).bit_length()
        row = terms.rows[row[4 - place]] if narrow < width else row
        atom = terms.rows[atom][4 - place]
    if narrow < width:
        return (int(row[3]), bits) if row[0] == "truncate" and row[1:3] == (width, narrow) else None
    return (atom, bits) if bits < width else None
