"""Numbers without their signs, however they are computed."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ptxkit.decompiler.verify.dataflow.bounds import bounds

if TYPE_CHECKING:
    from ptxkit.decompiler.verify.dataflow.terms import Term, Terms


def absolute(terms: Terms, width: int, a: Term) -> Term:
    """A number without its sign; the least of all stays as it is.

    >>> from ptxkit.decompiler.verify.dataflow.terms import Terms
    >>> t = Terms()
    >>> x, y = t.make("symbol", "x"), t.make("symbol", "y")
    >>> absolute(t, 32, t.add(32, x, y, -1)) == absolute(t, 32, t.add(32, y, x, -1))
    True
    """
    low, high = bounds(terms, a, width, True)
    opposite = terms.scale(width, a, -1)
    if low >= 0 or high <= 0:
        return a if low >= 0 else opposite
    return terms.make("op", f"abs.s{width}", 0, min(a, opposite))


def without_sign(terms: Terms, asked: Term, yes: Term, no: Term) -> Term | None:
    """``asked ? yes : no``, if it is a number without its sign, or the opposite of that.

    >>> from ptxkit.decompiler.verify.dataflow.terms import Terms
    >>> t = Terms()
    >>> x, y = t.make("symbol", "x"), t.make("symbol", "y")
    >>> negative, _ = t.less(True, 32, x, t.constant(32, 0))
    >>> without_sign(t, negative, t.scale(32, x, -1), x) == absolute(t, 32, x)
    True
    >>> without_sign(t, negative, x, y) is None
    True
    """
    row = terms.rows[asked]
    if row[0] != "lt" or not row[1] or terms.constant_of(row[4]) not in (0, 1):
        return None
    width, number = row[2], row[3]
    if number not in (yes, no) or terms.scale(width, number, -1) not in (yes, no) or yes == no:
        return None
    made = absolute(terms, width, number)
    return made if no == number else terms.scale(width, made, -1)
