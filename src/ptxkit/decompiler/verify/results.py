"""Instructions of two programs that compute the same number, from the same numbers, in other steps.

A mask of one program may stand behind a shift, in the other one before it: neither has an
instruction like that of the other. But what both make of the numbers that they begin with is the
same, whatever these are.
"""

from __future__ import annotations

from collections.abc import Sequence

from ptxkit.decompiler.verify.choices import Left
from ptxkit.decompiler.verify.dataflow.decode import PURE, Register
from ptxkit.decompiler.verify.dataflow.integers import INTEGERS
from ptxkit.decompiler.verify.dataflow.terms import GiveUpError, Term
from ptxkit.decompiler.verify.openings import BEFORE, DEPTH, Place
from ptxkit.decompiler.verify.sides import Sides
from ptxkit.isa.types import SCALAR_TYPES

_MOST = 64
#: Of 64 bits that values set, those that must be: what held one number only may be anything.
_SOME = 2


class Results(Sides):
    """Sides of instructions that may also be told by all that they are made of."""

    _expanding = False

    def results(self) -> set[Term]:
        """What those instructions make that may be the same as others."""
        made = {self.result(place) for place in (*self.open, *self.offered)}
        return {one for one in made if one is not None}

    def result(self, place: Place) -> Term | None:
        """What an instruction makes of numbers that were seen; None where some were not enough."""
        step = self.step(place)
        alone = step.guard is None and len(step.targets) == 1 and place.operand is None
        if not alone or step.name not in PURE or step.type not in INTEGERS:
            return None
        self._left, self._asking, self._expanding = DEPTH, set(), True
        try:
            made = self._whole(place, step)
        except GiveUpError:
            return None
        finally:
            self._expanding = False
        if step.name == "setp":
            return self.terms.make("compares", *sorted((made, self._not(made))))
        target = step.targets[0]
        width = 0 if target is None else SCALAR_TYPES[target[1]].width
        if not 1 < width <= _MOST:
            return None
        return self.terms.extend(False, width, _MOST, made) if width < _MOST else made

    def _read(self, number: int, held: dict[Register, Term], register: Register) -> Term:
        if not self._expanding or self._type(register) == "pred":
            return super()._read(number, held, register)
        assert self._here is not None
        makers = self.made_at.get(register, [])
        if len(makers) == 1 and self._left > 0 and self._is_function(self.step(makers[0])):
            self._left -= 1
            try:
                return self._whole(makers[0], self.step(makers[0]))
            finally:
                self._left += 1
        key = self._key(self._here), BEFORE
        total, spread = self.seen.values.get(key, {}).get(register, (0, 0))
        if spread.bit_count() < _SOME:
            raise GiveUpError("a register that held one number, or was not seen")
        return self.terms.make("held", total)


def without_results(sides: Sequence[Results], left: Sequence[Left]) -> list[Left]:
    """Those of some instructions whose results the other program does not compute."""
    made = [one.results() for one in sides] if left else []
    return [
        (theirs, place)
        for theirs, place in left
        if (own := sides[theirs].result(place)) is None or own not in made[not theirs]
    ]
