"""Sets of numbers of some bits, as ranges of those without a sign: ``(first, last)``, in order."""

from __future__ import annotations

from collections.abc import Iterator

Numbers = tuple[tuple[int, int], ...]

_ORDER = {"<": (-1, 0), "<=": (-1, 1), ">": (1, 0), ">=": (1, 1)}


def equal(number: int, bits: int) -> Numbers:
    """One number."""
    own = number % (1 << bits)
    return ((own, own),)


def without(numbers: Numbers, bits: int) -> Numbers:
    """All others.

    >>> without(((0, 3), (5, 5)), 3)
    ((4, 4), (6, 7))
    """
    made: list[tuple[int, int]] = []
    at = 0
    for low, high in sorted(numbers):
        if at < low:
            made.append((at, low - 1))
        at = high + 1
    if at < 1 << bits:
        made.append((at, (1 << bits) - 1))
    return tuple(made)


def among(one: Numbers, two: Numbers) -> Numbers:
    """Those in both.

    >>> among(((0, 3), (5, 9)), ((2, 6),))
    ((2, 3), (5, 6))
    """
    return tuple(
        sorted((max(a, c), min(b, d)) for a, b in one for c, d in two if max(a, c) <= min(b, d))
    )


def beyond(operator: str, number: int, bits: int, *, signed: bool) -> Numbers | None:
    """The numbers for which a comparison with one holds; None for what is no comparison.

    >>> beyond(">", 1, 3, signed=True), beyond("<", 1, 3, signed=True)
    (((2, 3),), ((0, 0), (4, 7)))
    """
    if operator == "==":
        return equal(number, bits)
    if operator == "!=":
        return without(equal(number, bits), bits)
    if operator not in _ORDER:
        return None
    whole = 1 << bits
    least = -(whole >> 1) if signed else 0
    most = least + whole - 1
    at = number if signed else number % whole
    side, itself = _ORDER[operator]
    low, high = (least, at - 1 + itself) if side < 0 else (at + 1 - itself, most)
    return ranged(max(low, least), min(high, most), bits)


def ranged(low: int, high: int, bits: int) -> Numbers:
    """The numbers from one to another one, some of them perhaps below 0."""
    if low > high:
        return ()
    whole = 1 << bits
    if low < 0 <= high:
        return ((0, high), (low + whole, whole - 1))
    return ((low % whole, high % whole),)


def moved(numbers: Numbers, offset: int, bits: int) -> Numbers:
    """All of them with an offset added, around the end.

    >>> moved(((0, 1),), 7, 3)
    ((0, 0), (7, 7))
    """
    whole = 1 << bits
    made: list[tuple[int, int]] = []
    for low, high in numbers:
        first, last = (low + offset) % whole, (high + offset) % whole
        if high - low + 1 >= whole:
            return ((0, whole - 1),)
        made += [(first, last)] if first <= last else [(0, last), (first, whole - 1)]
    return tuple(sorted(made))


def count(numbers: Numbers) -> int:
    """How many there are."""
    return sum(high - low + 1 for low, high in numbers)


def members(numbers: Numbers) -> Iterator[int]:
    """Each of them."""
    for low, high in numbers:
        yield from range(low, high + 1)
