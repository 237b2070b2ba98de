"""Comparisons of floating-point numbers that cannot all come out as they are said to.

No number is at least 4 and less than 0.75, and none that compares at all is not a number. What
compilers know of that they leave out of the code.
"""

from __future__ import annotations

import struct
from bisect import bisect_left
from collections.abc import Iterable
from math import isnan

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
