"""Values as terms in one form: equal terms are the same number.

Integer arithmetic is kept as sums of products with constants, modulo two to the width, so that
``a + 4 * b`` is one term however a compiler computes it. Everything else is an instruction
applied to terms.

>>> t = Terms()
>>> x, y = t.make("symbol", "x"), t.make("symbol", "y")
>>> t.add(32, t.scale(32, x, 4), y) == t.add(32, y, t.add(32, x, t.scale(32, x, 3)))
True
>>> t.add(32, x, t.constant(32, -1)) == t.add(32, x, t.constant(32, 2**32 - 1))
True
"""

from __future__ import annotations

from typing import Any

Term = int


class GiveUpError(Exception):
    """A proof would take too long, or is about something the prover does not know."""


class Terms:
    """All terms of a proof; both sides share them."""

    def __init__(self, limit: int = 200_000) -> None:
        self._numbers: dict[tuple[Any, ...], Term] = {}
        self.rows: list[tuple[Any, ...]] = []
        self._limit = limit

    def make(self, *row: Any) -> Term:
        """The term of a row: a word, and what it is applied to."""
        found = self._numbers.get(row)
        if found is None:
            if len(self.rows) > self._limit:
                raise GiveUpError("too many terms")
            found = self._numbers[row] = len(self.rows)
            self.rows.append(row)
        return found

    def constant(self, width: int, value: int) -> Term:
        """A number of some bits."""
        return self.make("sum", width, value & ((1 << width) - 1), ())

    def constant_of(self, term: Term) -> int | None:
        """The number that a term is, if it is one."""
        row = self.rows[term]
        return int(row[2]) if row[0] == "sum" and not row[3] else None

    # ---- sums of products ------------------------------------------------------------------

    def _parts(self, width: int, term: Term) -> tuple[int, dict[Term, int]]:
        row = self.rows[term]
        if row[0] == "sum" and row[1] == width:
            return row[2], dict(row[3])
        return 0, {term: 1}

    def _sum(self, width: int, constant: int, parts: dict[Term, int]) -> Term:
        mask = (1 << width) - 1
        left = {atom: factor & mask for atom, factor in parts.items() if factor & mask}
        constant &= mask
        if not constant and len(left) == 1:
            ((atom, factor),) = left.items()
            if factor == 1:
                return atom
        return self.make("sum", width, constant, tuple(sorted(left.items())))

    def add(self, width: int, a: Term, b: Term, sign: int = 1) -> Term:
        """``a + b``, or ``a - b`` with ``sign=-1``."""
        constant, parts = self._parts(width, a)
        more, others = self._parts(width, b)
        for atom, factor in others.items():
            parts[atom] = parts.get(atom, 0) + sign * factor
        return self._sum(width, constant + sign * more, parts)

    def scale(self, width: int, a: Term, by: int) -> Term:
        """``a * by``."""
        constant, parts = self._parts(width, a)
        return self._sum(width, constant * by, {atom: f * by for atom, f in parts.items()})

    def multiply(self, width: int, a: Term, b: Term) -> Term:
        """``a * b``."""
        for one, other in ((a, b), (b, a)):
            known = self.constant_of(one)
            if known is not None:
                return self.scale(width, other, known)
        return self.make("multiply", width, *sorted((a, b)))

    def extend(self, signed: bool, narrow: int, wide: int, a: Term) -> Term:
        """A number with more bits."""
        known = self.constant_of(a)
        if known is not None:
            if signed and known >> (narrow - 1):
                known -= 1 << narrow
            return self.constant(wide, known)
        return self.make("signed" if signed else "unsigned", narrow, wide, a)

    def truncate(self, wide: int, narrow: int, a: Term) -> Term:
        """The low bits of a number."""
        constant, parts = self._parts(wide, a)
        result = self.constant(narrow, constant)
        for atom, factor in parts.items():
            row = self.rows[atom]
            if row[0] in ("signed", "unsigned") and row[1] == narrow and row[2] == wide:
                small = row[3]
            elif row[0] == "multiply" and row[1] == wide:
                small = self.multiply(
                    narrow, self.truncate(wide, narrow, row[2]), self.truncate(wide, narrow, row[3])
                )
            else:
                small = self.make("truncate", wide, narrow, atom)
            result = self.add(narrow, result, self.scale(narrow, small, factor))
        return result
