"""What is of one type because it is copied, and where uses say that it is not.

A whole number may be stored into an array of floating-point numbers, and a vector may hold both:
such copies change how bits are taken.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence

from ptxkit.decompiler.lift.cells import Cell, is_number
from ptxkit.decompiler.lift.values import Value


def join_copies(copies: Sequence[tuple[Cell, Cell]]) -> None:
    """Make what is copied one, where it is not a number here and of floating point there.

    >>> one, two, three = Cell(), Cell(), Cell()
    >>> one.votes["f32"], two.votes["s"] = 1, 1
    >>> join_copies([(one, three), (two, three)])
    >>> one.find() is three.find(), one.find() is two.find()
    (True, False)
    """
    left: list[tuple[Cell, Cell]] = []
    for one, two in copies:
        kinds = is_number(one.find()), is_number(two.find())
        if kinds[0] is not None and kinds[0] == kinds[1]:
            one.join(two)
        else:
            left.append((one, two))
    for one, two in left:
        kinds = is_number(one.find()), is_number(two.find())
        if None in kinds or kinds[0] == kinds[1]:
            one.join(two)


def join_lanes(cells: Iterable[Cell]) -> None:
    """Make the parts of vectors elements of their array: those that are what most are."""
    for cell in dict.fromkeys(c.find() for c in cells):
        lanes = [key for key in cell.pointee if isinstance(key, tuple)]
        for width in dict.fromkeys(key[0] for key in lanes):
            parts = [cell.element(key) for key in lanes if key[0] == width]
            whole = cell.element(width)
            numbers = Counter(is_number(part) for part in (*parts, whole))
            most = numbers[True] > numbers[False]
            for part in parts:
                if is_number(part) in (None, most):
                    whole.join(part)


def halves_of(value: Value) -> tuple[Value, Value] | None:
    """The two halves that are put together to a pair."""
    for low, high in (value.args, value.args[::-1]):
        if low.op == "zext" and low.args[0].width == 16 and high.op == "shl":
            up, by = high.args
            if up.op == "zext" and up.args[0].width == 16 and by.op == "const" and by.data == 16:
                return low.args[0], up.args[0]
    return None
