"""Comparisons of floating-point numbers that cannot all come out as they are said to.

No number is at least 4 and less than 0.75, and none that compares at all is not a number. What
compilers know of that they leave out of the code.
"""

from __future__ import annotations

import struct
from bisect import bisect_left
from collections.abc import Iterable
from math import isinf, isnan

from ptxkit.decompiler.verify.dataflow.bounds import bounds as whole_bounds
from ptxkit.decompiler.verify.dataflow.terms import Term, Terms

#: For which outcomes a comparison holds.
_LESS, _GREATER, _EQUAL, _UNORDERED = 1, 2, 4, 8
_HOLDS = {
    "lt": _LESS, "le": _LESS | _EQUAL, "eq": _EQUAL, "equ": _EQUAL | _UNORDERED,
    "num": _LESS | _EQUAL | _GREATER,
}  # fmt: skip
_ALL = _LESS | _GREATER | _EQUAL | _UNORDERED
_FORMS = {"f16": ("<H", "<e"), "f32": ("<I", "<f"), "f64": ("<Q", "<d")}


def contradict(terms: Terms, facts: Iterable[tuple[Term, bool]]) -> bool:
    """Whether no numbers are as some comparisons say.

    >>> t = Terms()
    >>> x, four, one = t.make("x"), t.constant(32, 0x40800000), t.constant(32, 0x3F800000)
    >>> above = t.make("compare", "le", "f32", four, x)
    >>> below = t.make("compare", "lt", "f32", x, one)
    >>> contradict(t, [(above, True), (below, True)])
    True
    >>> contradict(t, [(above, True), (below, False)]), contradict(t, [(above, False)])
    (False, False)
    """
    pairs: dict[tuple[str, Term, Term], int] = {}
    for asked, holds in facts:
        row = terms.rows[asked]
        if row[0] != "compare":
            continue
        _, name, sort, first, second = row
        outcomes = _HOLDS[name] if holds else _ALL & ~_HOLDS[name]
        if first > second:
            first, second, outcomes = second, first, _turned(outcomes)
        known = pairs.get((sort, first, second), _ALL)
        pairs[sort, first, second] = known & outcomes
    bounds: dict[tuple[str, Term], list[tuple[float, int]]] = {}
    for sort, term in {(sort, term) for sort, *both in pairs for term in both}:
        ends = real_bounds(terms, sort, term)
        if ends is not None:
            low, high = (ends[0], _GREATER | _EQUAL), (ends[1], _LESS | _EQUAL)
            bounds[sort, term] = [low, high]
    for (sort, first, second), outcomes in pairs.items():
        if first == second:
            outcomes &= _EQUAL | _UNORDERED
        if not outcomes:
            return True
        # Who compares to anything is a number, and compares to 0; who does not to himself is none.
        if not outcomes & _UNORDERED:
            for term in (first, second):
                bounds.setdefault((sort, term), []).append((0.0, _ALL & ~_UNORDERED))
        elif first == second and outcomes == _UNORDERED:
            bounds.setdefault((sort, first), []).append((0.0, _UNORDERED))
        for term, other, seen in ((first, second, outcomes), (second, first, _turned(outcomes))):
            number = _number(terms, sort, other)
            if number is not None:
                bounds.setdefault((sort, term), []).append((number, seen))
    return any(
        not _possible(limits, _number(terms, sort, term)) for (sort, term), limits in bounds.items()
    )


#: More than what rounding may add to or take from a bound.
_SLACK = 2.0**-20
#: Integers below that are numbers of any format here.
_EXACT = 1 << 24
_LEAST = {"f32": 2.0**-100, "f64": 2.0**-900}


def real_bounds(terms: Terms, sort: str, term: Term) -> tuple[float, float] | None:
    """Numbers that a term of a floating-point type lies between, as none of it can be NaN.

    >>> t = Terms()
    >>> x = t.operation("cvt.rn.f32.u32", 0, [t.make("x")])
    >>> real_bounds(t, "f32", x)[0]
    0.0
    >>> half = t.constant(32, 0x3F000000)
    >>> 0.49 < real_bounds(t, "f32", t.operation("fma.rn.f32", 0, [x, half, half]))[0] < 0.5
    True
    """
    if (term, sort) not in terms.reals:
        terms.reals[term, sort] = _real_bounds(terms, sort, term)
    return terms.reals[term, sort]


def _real_bounds(terms: Terms, sort: str, term: Term) -> tuple[float, float] | None:
    number = _number(terms, sort, term)
    if number is not None:
        return None if isnan(number) or isinf(number) else (number, number)
    row = terms.rows[term]
    if row[0] != "op" or sort not in _LEAST:
        return None
    if row[1] in (f"cvt.rn.{sort}.u32", f"cvt.rn.{sort}.u16", f"cvt.rn.{sort}.u64"):
        # As large as that or less, and rounded: what is in between is, too.
        width = int(row[1][-2:])
        most = whole_bounds(terms, row[3], width, False)[1]
        return 0.0, float(most) if most < _EXACT else 2.0**width
    if row[1] not in (f"fma.rn.{sort}", f"mul.{sort}", f"add.{sort}", f"mul.rn.{sort}"):
        return None
    ends = [real_bounds(terms, sort, value) for value in row[3:]]
    known = [one for one in ends if one is not None]
    if len(known) < len(ends) or any(one[0] < 0.0 for one in known):
        return None
    low, high = (
        known[0][end] + known[1][end]
        if row[1].startswith("add")
        else known[0][end] * known[1][end] + (known[2][end] if len(known) > 2 else 0.0)
        for end in (0, 1)
    )
    if high > 2.0**60 or 0.0 < low < _LEAST[sort]:
        return None  # what is so small or large may be rounded to nothing, or beyond all numbers
    return low * (1 - _SLACK), high * (1 + _SLACK)


def decided(terms: Terms, name: str, sort: str, first: Term, second: Term) -> bool | None:
    """How a comparison comes out, where it is known between which numbers both are.

    >>> t = Terms()
    >>> byte = t.operation("cvt.rn.f32.u32", 0, [t.extend(False, 8, 32, t.make("x"))])
    >>> most, less = t.constant(32, 0x437F0000), t.constant(32, 0x437E0000)
    >>> [decided(t, "lt", "f32", one, byte) for one in (most, less)]
    [False, None]
    """
    if name not in ("lt", "le") or sort not in _LEAST:
        return None
    ends = [real_bounds(terms, sort, one) for one in (first, second)]
    if ends[0] is None or ends[1] is None:
        return None
    (low, high), (least, most) = ends[0], ends[1]
    if high < least or (name == "le" and high == least):
        return True
    return False if low > most or (name == "lt" and low == most) else None


def bits_between(terms: Terms, sort: str, term: Term) -> tuple[int, int] | None:
    """The same for the bits of a number, which are in the same order if it has no sign."""
    found = real_bounds(terms, sort, term)
    if found is None or found[0] < 0.0:
        return None
    whole, real = _FORMS[sort]
    low, high = (struct.unpack(whole, struct.pack(real, one))[0] for one in found)
    # Packed to the nearest: one more or less is as safe as the slack.
    return max(0, low - 1), high + 1


def _turned(outcomes: int) -> int:
    """The outcomes seen from the other side."""
    return outcomes & ~3 | (outcomes & _LESS) << 1 | (outcomes & _GREATER) >> 1


def _number(terms: Terms, sort: str, term: Term) -> float | None:
    bits = terms.constant_of(term)
    if bits is None:
        return None
    whole, real = _FORMS[sort]
    size = struct.calcsize(whole)
    number: float = struct.unpack(real, struct.pack(whole, bits & ((1 << 8 * size) - 1)))[0]
    return number


def _possible(limits: list[tuple[float, int]], value: float | None) -> bool:
    """Whether there is a number that compares to others as said; ``value`` where it is known.

    Between two of them, and beyond, there may be some: it does not matter which.
    """
    known = [number for number, _ in limits] + ([] if value is None else [value])
    marks = sorted({number for number in known if not isnan(number)})
    places: Iterable[int | None] = (None, *range(2 * len(marks) + 1))
    if value is not None:
        places = (None if isnan(value) else 2 * bisect_left(marks, value) + 1,)
    return any(
        all(outcomes & _outcome(place, number, marks) for number, outcomes in limits)
        for place in places
    )


def _outcome(place: int | None, number: float, marks: list[float]) -> int:
    """How what is at a place compares to a number: at it, between two, or none at all."""
    if place is None or isnan(number):
        return _UNORDERED
    other = 2 * bisect_left(marks, number) + 1
    return _EQUAL if place == other else _LESS if place < other else _GREATER
