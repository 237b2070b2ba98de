"""Which instructions with a side that never came only one of two programs has."""

from __future__ import annotations

from collections.abc import Sequence

from ptxkit.decompiler.verify.openings import Place
from ptxkit.decompiler.verify.sides import Form, Sides
from ptxkit.run.watch import Digest, Point

Left = tuple[bool, Place]
"""Whether it is the second of two programs, and an instruction of it."""


def unmatched(original: Sides, candidate: Sides) -> list[Left]:
    """Instructions of one program that the other has none for."""
    mine, theirs = original.choices(), candidate.choices()
    known = mine.keys() | original.offers(), theirs.keys() | candidate.offers()
    return [(False, one) for key, one in mine.items() if key not in known[1]] + [
        (True, one) for key, one in theirs.items() if key not in known[0]
    ]


class Together:
    """What instructions of one program chose from, value by value, in one launch after another.

    Loops that are unrolled otherwise, or begin elsewhere, choose in other places, and more or less
    often; but a thread that chooses from some values in one program does so in the other.
    """

    def __init__(self, sides: Sides) -> None:
        self.sides = sides
        self.forms: dict[Place, Form] = {}
        self.launches: list[dict[Place, Digest]] = []

    @property
    def seen(self) -> Together:
        """Where to put what a launch shows."""
        return self

    def points(self) -> list[tuple[Place, Point]]:
        """The instructions to look at, and the numbers that they read."""
        return [
            (place, self.sides.point(place, form.leaves, together=True))
            for place, form in self.forms.items()
        ]

    def add(
        self, keys: Sequence[Place], points: Sequence[Point], digests: Sequence[Digest]
    ) -> None:
        """Take in what one launch has shown."""
        self.launches.append(dict(zip(keys, digests, strict=True)))


class ByValue:
    """Whether the other program makes the same choices from the same values elsewhere."""

    def __init__(self, sides: Sequence[Sides], left: Sequence[Left]) -> None:
        self.left = left
        self.both = [Together(one) for one in sides]
        forms = [dict(one.forms()) for one in sides]
        self._others: dict[Left, list[Place]] = {}
        for theirs, place in left:
            own = sides[theirs].form(place)
            beside = sides[not theirs]
            others = [
                q
                for q, form in forms[not theirs].items()
                if (form.shape == own.shape and _same_way(form, own))
                or (_asks(form, own) and beside.both_ways(q))
            ]
            self._others[theirs, place] = others
            if others:
                self.both[theirs].forms[place] = own
                self.both[not theirs].forms.update((q, forms[not theirs][q]) for q in others)

    def still_left(self) -> list[Left]:
        """Those that launches have not shown to have a counterpart."""
        return [one for one in self.left if not self._found(one)]

    def _found(self, one: Left) -> bool:
        theirs, place = one
        others = self._others[one]
        launches = list(
            zip(self.both[theirs].launches, self.both[not theirs].launches, strict=True)
        )
        if not others or not launches:
            return False
        spreads = [0] * len(self.both[theirs].forms[place].leaves)
        for mine, beside in launches:
            own = mine[place]
            known = [beside[other] for other in others]
            if own.full or not own.tuples <= frozenset().union(*(d.tuples for d in known)):
                return False
            spreads = [a | b for a, (_, b) in zip(spreads, own.values, strict=True)]
        # What held one number only may be anything, unless it can hold no other.
        fixed = self.both[theirs].forms[place].fixed
        return all(
            one or spread.bit_count() > 1 for one, spread in zip(fixed, spreads, strict=True)
        )


def _same_way(form: Form, own: Form) -> bool:
    """Whether nothing is known to be different where two branches never went."""
    return form.goes == own.goes or not (form.goes and own.goes)


def _asks(form: Form, decides: Form) -> bool:
    """Whether a branch asks what a predicate says that is put together with another one."""
    shapes = form.shape, decides.shape
    if not all(isinstance(one, tuple) for one in shapes):
        return False
    asked, decided = (tuple(one) for one in shapes if isinstance(one, tuple))
    return asked[0] == "asks" and decided[0] == "decides" and decided[1] in asked[1:]
