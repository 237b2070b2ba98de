"""Comparisons of whole numbers that cannot all come out as they are said to.

Where ``x + 4 < n`` holds and nothing overflows, ``x < n - 5`` is ``x + 5 < n``: a compiler that
knows the first asks whichever it likes. Each comparison says how far two numbers are apart at
least. Sums of such distances along a circle must not be negative.

A sum of a number and a constant is as far from it as the constant says, if it does not wrap; so
much is first taken from the form of terms, then from what the comparisons themselves say.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from ptxkit.decompiler.verify.dataflow.bounds import as_signed, bounds
from ptxkit.decompiler.verify.dataflow.terms import Term, Terms

#: Comparisons to look at, at most.
_MOST = 48
#: Rounds in which more is known of what does not wrap.
_ROUNDS = 6

Fact = tuple[Term, bool]
_Number = tuple[int, Term, bool]
"""The bits of a term, and whether they have a sign."""


def contradict(terms: Terms, facts: Iterable[Fact]) -> bool:
    """Whether no whole numbers are as some comparisons say.

    >>> t = Terms()
    >>> x, n = t.operation("shr.u64", 0, [t.make("x"), t.constant(32, 3)]), t.make("n")
    >>> def less(a, b): return t.make("lt", False, 64, a, b)
    >>> def plus(a, number): return t.add(64, a, t.constant(64, number))
    >>> known = less(plus(x, 4), n), True
    >>> contradict(t, [known, (less(plus(x, 5), n), True), (less(x, plus(n, -5)), False)])
    True
    >>> contradict(t, [(less(plus(x, 5), n), False), (less(x, plus(n, -5)), True)])
    False

    What is less than 1 is not above 7 when 7 is added, wherever that wraps:

    >>> def signed(a, number): return t.make("lt", True, 64, a, t.constant(64, number))
    >>> contradict(t, [(signed(plus(n, 7), 8), False), (signed(n, 1), True)])
    True
    >>> contradict(t, [(signed(plus(n, 7), 8), False), (signed(n, 2), True)])
    False
    """
    told = _connected(terms, facts)
    return bool(told) and _Circles(terms, told).are_broken()


def _connected(terms: Terms, facts: Iterable[Fact]) -> list[Fact]:
    """The comparisons that have something in common with another one."""
    made: list[tuple[Fact, tuple[Term, ...]]] = []
    count: dict[Term, int] = {}
    for fact in facts:
        row = terms.rows[fact[0]]
        if row[0] not in ("lt", "eq"):
            continue
        width, sides = (row[2], row[3:]) if row[0] == "lt" else (row[1], row[2:])
        cores = {core for side in sides for core in _cores(terms, width, side, row[0] == "eq")}
        for core in cores:
            count[core] = count.get(core, 0) + 1
        made.append((fact, tuple(cores)))
    found = [fact for fact, cores in made if any(count[core] > 1 for core in cores)]
    orders = sum(terms.rows[asked][0] == "lt" for asked, _ in found)
    return found[:_MOST] if orders > 1 else []


def _cores(terms: Terms, width: int, term: Term, apart: bool) -> tuple[Term, ...]:
    """What a number is made of beside a constant, before it got more bits."""
    if apart:
        return tuple(one for atom in terms.parts(width, term)[1]
                     for one in _cores(terms, width, atom, False))  # fmt: skip
    core = _without_constant(terms, width, term)
    row = terms.rows[core]
    if row[0] in ("signed", "unsigned") and row[2] == width:
        return _cores(terms, row[1], row[3], False)
    return () if terms.constant_of(core) is not None else (core,)


def _without_constant(terms: Terms, width: int, term: Term) -> Term:
    constant, parts = terms.parts(width, term)
    if not constant or not parts:
        return term
    return terms.add(width, term, terms.constant(width, -constant))


class _Circles:
    """Numbers, and how far they are apart at most."""

    def __init__(self, terms: Terms, facts: Sequence[Fact]) -> None:
        self.terms = terms
        self.places: dict[_Number, int] = {}
        self.least: list[int] = []
        self.most: list[int] = []
        self.apart: dict[tuple[int, int], int] = {}
        """For two places, how much the first is above the second at most."""
        self.open: list[tuple[int, _Number, _Number, int]] = []
        """Numbers that are so much more than others, modulo their width, if they do not wrap."""
        self.unequal: list[tuple[int, int]] = []
        self.impossible = False
        """Whether some number would have to be more than another by what no sum with it is."""
        for asked, holds in facts:
            row = terms.rows[asked]
            if row[0] == "lt":
                first, second = (self._place((row[2], one, bool(row[1]))) for one in row[3:])
                if holds:
                    self._note(first, second, -1)
                else:
                    self._note(second, first, 0)
            else:
                self._equal(row[1], row[2], holds)

    def are_broken(self) -> bool:
        """Whether some circle is."""
        for _ in range(_ROUNDS):
            if self._settle():
                return True
            news = self._closed()
            if self.impossible:
                return True
            if not news and not self._sharpened():
                return False
        return False

    # ---- what is where -----------------------------------------------------------------------

    def _place(self, number: _Number) -> int:
        found = self.places.get(number)
        if found is not None:
            return found
        width, term, signed = number
        found = self.places[number] = len(self.least)
        low, high = bounds(self.terms, term, width, signed)
        self.least.append(low)
        self.most.append(high)
        self._relate(found, number)
        return found

    def _relate(self, place: int, number: _Number) -> None:
        """Note what else a number is."""
        width, term, signed = number
        if self.terms.constant_of(term) is not None:
            return
        # The same bits, with a sign and without.
        self._place((width, term, not signed))
        if signed:
            self.open.append((place, number, (width, term, False), 0))
        constant = self.terms.parts(width, term)[0]
        core = _without_constant(self.terms, width, term)
        row = self.terms.rows[term]
        if core != term:
            self._place((width, core, signed))
            self.open.append((place, number, (width, core, signed), constant))
        elif row[0] == ("signed" if signed else "unsigned") and row[2] == width:
            # What got more bits is the same number as before.
            self._same(place, self._place((row[1], row[3], signed)), 0)

    def _note(self, first: int, second: int, most: int) -> bool:
        """That one number is above another by so much at most; whether that is news."""
        known = self.apart.get((first, second))
        if known is not None and known <= most:
            return False
        self.apart[first, second] = most
        return True

    def _same(self, first: int, second: int, more: int) -> None:
        self._note(first, second, more)
        self._note(second, first, -more)

    def _equal(self, width: int, difference: Term, holds: bool) -> None:
        """What it says that a difference is 0, or is not."""
        constant, parts = self.terms.parts(width, difference)
        signs = {as_signed(width, factor): atom for atom, factor in parts.items()}
        if len(parts) == 1 and set(signs) <= {1, -1}:
            ((sign, first),) = signs.items()
            second = self.terms.constant(width, -constant * sign)
        elif len(parts) == 2 and set(signs) == {1, -1}:
            first = signs[1]
            second = self.terms.add(width, signs[-1], self.terms.constant(width, -constant))
        else:
            return
        for signed in (False, True):
            places = [self._place((width, one, signed)) for one in (first, second)]
            if holds:
                self._same(places[0], places[1], 0)
            else:
                self.unequal.append((places[0], places[1]))

    # ---- what follows ------------------------------------------------------------------------

    def _settle(self) -> bool:
        """Find between which numbers each lies; whether there are none for some."""
        least, most = self.least, self.most
        for _ in range(len(least) + 1):
            changed = False
            for (first, second), by in self.apart.items():
                if most[second] + by < most[first]:
                    most[first] = most[second] + by
                    changed = True
                if least[first] - by > least[second]:
                    least[second] = least[first] - by
                    changed = True
            if any(low > high for low, high in zip(least, most, strict=True)):
                return True
            if not changed:
                return False
        return True  # round a circle they become ever less

    def _closed(self) -> bool:
        """Relate numbers of which it is known by now whether they wrap; whether there are any."""
        left = []
        for place, number, other, constant in self.open:
            behind = self.places[other]
            fitting = self._wrapped(number[0], place, behind, constant)
            self.impossible |= not fitting
            if len(fitting) == 1:
                self._same(place, behind, fitting[0])
            else:
                left.append((place, number, other, constant))
        found = len(left) < len(self.open)
        self.open = left
        return found

    def _wrapped(self, width: int, place: int, behind: int, constant: int) -> list[int]:
        """How much more one number may be than another: wrapped either way, or not at all."""
        return [
            more
            for more in (constant - (1 << width), constant, constant + (1 << width))
            if self.least[behind] + more <= self.most[place]
            and self.least[place] <= self.most[behind] + more
        ]

    def _sharpened(self) -> bool:
        """What is not above a number, and is not that, is below it; whether there is any such."""
        found = False
        for pair in self.unequal:
            for first, second in (pair, pair[::-1]):
                if self.apart.get((first, second)) == 0:
                    found |= self._note(first, second, -1)
                if self.least[first] == self.most[first] == self.most[second]:
                    self.most[second] -= 1
                    found = True
                if self.least[first] == self.most[first] == self.least[second]:
                    self.least[second] += 1
                    found = True
        return found
