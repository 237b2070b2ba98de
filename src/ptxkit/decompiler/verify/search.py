"""Launches that reach more code: those that reached some, changed a little.

A flag must be 0 while a size is that of a whole tile, a loop needs a second turn: launches that are
made without looking back miss what is behind several such conditions. Here every launch that
reached something new is where further ones start from.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any

import numpy as np

from ptxkit.decompiler.verify.trials import MIXED, Exchange, Trial
from ptxkit.decompiler.verify.usage import Usage
from ptxkit.decompiler.verify.values import KINDS
from ptxkit.run.layout import scalar_bytes
from ptxkit.run.shape import Dimensions

#: Numbers that sizes and flags often are.
_USUAL = (0, 1, 2, 3, 4, 5, 7, 8, 16, 31, 32, 33, 64, 100, 128, 256, 512, 1000, 1024, 2048, 4096)
#: What is so small is a flag more often than a size.
_FLAGS = frozenset(("u8", "s8", "b8", "pred"))
#: Larger ones that code compares with are no sizes of memory that there is.
_MOST = 20_000
#: But numbers of 64 bits may be no sizes, and go beyond what 32 can hold.
_WIDEST = 1 << 40
_BLOCKS = (1, 2, 3, 5, 8, 13)
#: Launches of which sizes are changed one by one.
_SWEPT = 6
#: Sizes that are nothing, or nearly.
_SMALL = (-1, 0, 1, 2, 3)
#: The number of the first launch, which none of the others has.
_FIRST = 10_000


class Search:
    """Starts from launches that reached new code, and changes them at random.

    >>> search = Search(Usage(), [(32, 1, 1)])
    >>> start = Trial(0, "small", (1, 1, 1), (32, 1, 1), (7, 9))
    >>> search.add(start)
    >>> next(search.launches()) != start
    True
    """

    def __init__(self, usage: Usage, blocks: list[Dimensions]) -> None:
        self.blocks = blocks
        self.axes = 1 + ("%ctaid.y" in usage.special) + ("%ctaid.z" in usage.special)
        near = {c + d for c in usage.constants for d in (-1, 0, 1) if 0 <= c + d <= _MOST}
        far = {c + d for c in usage.constants for d in (-1, 0, 1) if _MOST < c < _WIDEST}
        self.far = sorted(far)
        self.wide = {
            place for place, o in enumerate(usage.sizes) if scalar_bytes(usage.type(o)) == 8
        }
        self.optional = usage.optional
        self.aligned = [(one, scalar_bytes(usage.element(one))) for one in usage.aligned]
        self.near = sorted(near - {0, 1}) or [1]
        self.edges = sorted(near.union(_SMALL), key=lambda number: (number not in _SMALL, number))
        """Where code may turn: what it compares with, and where sizes are nothing at all."""
        self.flags = {
            place for place, origin in enumerate(usage.sizes) if usage.type(origin) in _FLAGS
        }
        self.pool: list[Trial] = []
        self.last: Trial | None = None
        """The last one that ran: from there it goes on at random."""
        self._beside = 100 * _FIRST
        self._generator = np.random.default_rng(_FIRST)

    def add(self, trial: Trial) -> None:
        """Start from this one, too."""
        self.pool.append(trial)

    def launches(self) -> Iterator[Trial]:
        """Launches to try, as long as somebody asks for them."""
        number = _FIRST
        while self.pool:
            number += 1
            way = self._generator.random()
            if way < 0.6 and self.last is not None:
                trial = self.last
            elif way < 0.8:
                # The later ones reached what is hard to reach.
                trial = self.pool[-1 - self._below(min(4, len(self.pool)))]
            else:
                trial = self._one_of(self.pool)
            for _ in range(1 + self._below(4)):
                trial = self._changed(trial, number)
            yield trial

    def swept(self, aligned: Callable[[Trial], Trial]) -> Iterator[Trial]:
        """The last launches that reached something, each size at the numbers that code asks for.

        The other sizes are those that accesses need.
        """
        for trial in map(aligned, reversed(self.pool[-_SWEPT:])):
            for place in range(len(trial.sizes)):
                for number in self.edges:
                    sizes = (*trial.sizes[:place], number, *trial.sizes[place + 1 :])
                    yield replace(trial, sizes=sizes)

    def beside(self, trial: Trial) -> Trial:
        """A launch with one thing otherwise, which is likely to reach the same."""
        self._beside += 1
        return self._changed(trial, self._beside)

    def _below(self, bound: int) -> int:
        return int(self._generator.integers(0, bound))

    def _one_of(self, values: Any) -> Any:
        return values[self._below(len(values))]

    def _changed(self, trial: Trial, number: int) -> Trial:
        """The trial with one thing otherwise: most often a size."""
        what = self._generator.random()
        if trial.sizes and what < 0.6:
            return replace(trial, sizes=self._resized(trial))
        if what < 0.75:
            mixed = self._generator.random() < 0.4
            kind = MIXED if mixed else self._one_of(KINDS)
            return replace(trial, number=number, kind=kind)
        if self.optional and what < 0.8:
            return replace(trial, instead=self._exchanged(trial))
        if self.aligned and what < 0.82:
            return replace(trial, instead=self._moved(trial))
        if what < 0.85 and not (trial.cluster or trial.cooperative):
            extents = [self._one_of(_BLOCKS) if axis < self.axes else 1 for axis in range(3)]
            return replace(trial, grid=(extents[0], min(3, extents[1]), min(3, extents[2])))
        if what < 0.95:
            return replace(trial, block=self._one_of(self.blocks))
        return replace(trial, ascending=not trial.ascending, cleared=not trial.cleared)

    def _exchanged(self, trial: Trial) -> frozenset[Exchange]:
        """One pointer less that is as usual, or one more."""
        one = self._one_of(self.optional)
        others = frozenset(pair for pair in trial.instead if pair.pointer != one)
        if len(others) < len(trial.instead):
            return others
        return others | {Exchange(one, self._one_of((None, *self.optional)))}

    def _moved(self, trial: Trial) -> frozenset[Exchange]:
        """One pointer to its second element, where no vector lies; or to the first again."""
        one, width = self._one_of(self.aligned)
        others = frozenset(pair for pair in trial.instead if pair.pointer != one)
        return others if len(others) < len(trial.instead) else others | {Exchange(one, one, width)}

    def _resized(self, trial: Trial) -> tuple[int, ...]:
        sizes = list(trial.sizes)
        place = self._below(len(sizes))
        way = self._generator.random()
        threads = int(np.prod(trial.block))
        if way < 0.15 or place in self.flags:
            sizes[place] = self._one_of((0, 1))
        elif way < 0.5:
            sizes[place] = self._one_of(self.near if way < 0.35 else _USUAL)
        elif way < 0.65:
            sizes[place] += self._one_of((-1, 1))
        elif way < 0.7:
            sizes[place] = self._one_of(sizes)
        elif way < 0.8:
            # Behind another one, as an end is behind a beginning.
            sizes[place] = self._one_of(sizes) + self._one_of((1, 5, 70, 300))
        elif way < 0.85 and place in self.wide and self.far:
            sizes[place] = self._one_of(self.far)
            behind = sorted(self.wide - {place})
            if behind and way < 0.84:
                sizes[self._one_of(behind)] = sizes[place] + self._one_of((1, 5, 70, 300))
        elif way < 0.9:
            sizes[place] = threads * (1 + self._below(8)) + self._one_of((-1, 0, 0, 1))
        elif way < 0.95:
            # Some whole tiles and a part of one.
            sizes[place] = self._below(2 * self._one_of(self.near) + 2)
        else:
            sizes[place] *= self._one_of((2, 4, 16, -1))
        most = [_WIDEST if place in self.wide else _MOST for place in range(len(sizes))]
        return tuple(max(-m, min(m, size)) for m, size in zip(most, sizes, strict=True))
