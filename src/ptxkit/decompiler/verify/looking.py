"""Launches of two kernels once more, to look at what registers hold and at what threads do."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from functools import partial
from itertools import islice
from typing import TYPE_CHECKING

from ptxkit.decompiler.verify.aliases import Touched
from ptxkit.decompiler.verify.choices import ByValue, Together, unmatched
from ptxkit.decompiler.verify.coverage import Coverage
from ptxkit.decompiler.verify.dataflow.accesses import accesses
from ptxkit.decompiler.verify.dataflow.terms import GiveUpError, Terms
from ptxkit.decompiler.verify.fences import misordered, ordered, stretches
from ptxkit.decompiler.verify.forced import used_otherwise
from ptxkit.decompiler.verify.openings import NEAR
from ptxkit.decompiler.verify.ordering import order_of
from ptxkit.decompiler.verify.outcome import PATIENT
from ptxkit.decompiler.verify.region import Region
from ptxkit.decompiler.verify.results import Results, without_results
from ptxkit.decompiler.verify.sides import Sides
from ptxkit.decompiler.verify.trials import Trial
from ptxkit.decompiler.verify.unset import with_junk
from ptxkit.decompiler.verify.variables import Variables
from ptxkit.decompiler.verify.widening import Widened, resigned
from ptxkit.errors import PtxkitError
from ptxkit.run.watch import TraceRequest
from ptxkit.syntax import Instruction, Module

if TYPE_CHECKING:
    from ptxkit.decompiler.verify.pair import Pair

#: Launches that are looked at for what registers hold, at most and at least, and what they cost.
_LOOKED, _ENOUGH, _LOOKING = 400, 8, 8.0
#: Launches that are looked at for what instructions choose from, at most, and what they cost.
_COMPARED, _COMPARING = 48, 4.0
#: What launches cost at most in which registers begin with junk.
_JUNK = 1.0
#: Fewer of these say nothing.
_FEWEST = 3
_TERMS = 1_000_000
#: Launches in which threads are followed, more of them where none has come to all that orders
#: memory, and what is kept of each.
_FOLLOWED, _FOLLOWED_MOST, _RECORDS = 3, 32, 50_000
#: Launches beside each of those that reached something.
_AROUND = 16

_Watched = Region | Sides | Together | Widened


class Looking:
    """What is seen of two kernels in launches that said something."""

    def __init__(self, pair: Pair) -> None:
        self.pair = pair
        self.part = 1.0
        """How much of the usual is spent on code that has not run."""
        self._sides: list[Results] = []
        """What has a side that never came, as it was last looked at."""

    def look(self, original: Region, candidate: Region) -> bool:
        """Launch both again, and note what registers hold at the ends of blocks."""
        cost = _LOOKING * self.part
        return self._look((original, candidate), self._worth_a_look(), cost) >= _ENOUGH

    def _look(
        self,
        programs: Sequence[_Watched],
        trials: Iterable[Trial],
        cost: float,
    ) -> int:
        """Launch both again, and note what registers hold in some places; how often it worked."""
        looks = [(one, tuple(zip(*one.points(), strict=True)) or ((), ())) for one in programs]
        end = self.pair.cost + cost
        sides = zip(self.pair.sides, looks, strict=True)
        each = sum(side.each_run(points) for side, (_, (_, points)) in sides)
        count = 0
        for trial in islice(trials, _LOOKED):
            if self.pair.cost > end:
                break
            if self.pair.sizes.get(trial, 0) * each > cost / _FEWEST:
                continue  # smaller ones show as much in less time
            inputs = self.pair.maker.make(trial)
            try:
                found = [
                    self.pair.outcome(side, trial, inputs, seconds=PATIENT, points=points)
                    for side, (_, (_, points)) in enumerate(looks)
                ]
            except PtxkitError:
                continue  # other numbers than those that were compared before
            for (program, (keys, points)), one in zip(looks, found, strict=True):
                program.seen.add(keys, points, one.report.digests)
            count += 1
        return count

    def unmatched(self) -> list[tuple[bool, Instruction]]:
        """Instructions of which no launch has shown a side, and that only one of the two has."""
        try:
            return self._unmatched()
        except (GiveUpError, RecursionError):  # it is too hard to tell
            return [
                (bool(theirs), one)
                for theirs, covered in enumerate(self.pair.coverage)
                for one in _hiding(covered)
            ]

    def used_otherwise(self) -> str:
        """What the candidate does otherwise with a side of an instruction that never came."""
        if not self._sides:
            return ""
        found = used_otherwise(self.pair, self._sides, self._to_compare())
        if found is None:
            return ""
        one = found.instruction
        return (
            f"'{one.opcode}' in line {one.line} of the original always took the same side, and the "
            f"two differ if it takes the other: {found.why}"
        )

    def reads_junk(self) -> str:
        """What the candidate leaves otherwise where registers and local memory begin with junk."""
        original, candidate = (
            with_junk(covered, side.module)
            for covered, side in zip(self.pair.coverage, self.pair.sides, strict=True)
        )
        if candidate is None:
            return ""
        mine, theirs = (side.module for side in self.pair.sides)
        if original is not None and self._compared_with(original, theirs):
            return ""  # nobody knows what is right there
        why = self._compared_with(mine, candidate)
        return f"it reads registers that nobody has set, or local memory: {why}" if why else ""

    def _compared_with(self, first: Module, second: Module) -> str:
        """How another two differ in launches in which these do not, if they do."""
        again = self.pair.forced(first, second)
        for trial in self._to_compare():
            why = again.compared(trial)
            if why:
                return f"with {trial}, {why}"
            if again.cost > _JUNK:
                break
        return ""

    def resigned(self) -> str:
        """What the candidate takes as signed that the original does not, or the other way."""
        if not self.pair.other_signs:
            return ""
        both = [Widened(side.widenings.values()) for side in self.pair.sides]
        for one, covered in zip(both, self.pair.coverage, strict=True):
            one.found = [o for o in one.found if o.instruction.span[0] in covered.ran]
        self._look(both, self._to_compare(), _COMPARING)
        return resigned(*both)

    def _to_compare(self) -> list[Trial]:
        """Launches that said something, first those that reached something."""
        said = set(self.pair.tried)
        reached = [trial for trial in self.pair.search.pool if trial in said]
        others = [trial for trial in self.pair.tried if trial not in reached]
        return [*reversed(reached), *others][:_COMPARED]

    def _unmatched(self) -> list[tuple[bool, Instruction]]:
        terms = Terms(_TERMS, budget=self.pair.budget)
        variables = Variables(self.pair.sides[0].module, self.pair.sides[1].module)
        ways = accesses(*(covered.instructions() for covered in self.pair.coverage))
        sides = [
            Results(covered, terms, partial(variables.known, number), access)
            for number, (covered, access) in enumerate(zip(self.pair.coverage, ways, strict=True))
        ]
        self._sides = sides
        if not any(one.open or one.never for one in sides):
            return []
        trials = self._to_compare()
        if self._look(sides, trials, _COMPARING) < _FEWEST:
            raise GiveUpError("launches that take too long to look at them")
        left = without_results(sides, unmatched(*sides))
        if left:
            by_value = ByValue(sides, left)
            self._look(by_value.both, trials, _COMPARING)
            left = by_value.still_left()
        return [(theirs, sides[theirs].instruction(place)) for theirs, place in left]

    def _worth_a_look(self) -> Iterator[Trial]:
        """Launches that reached something, those beside them, and the others."""
        said = set(self.pair.tried)
        reached = [trial for trial in self.pair.search.pool if trial in said]
        yield from reached
        for _ in range(_AROUND):
            for trial in reversed(reached):
                yield self.pair.search.beside(trial)
        # Those of the search, at the end, reach more than the usual ones.
        yield from (trial for trial in reversed(self.pair.tried) if trial not in reached)

    # ---- what is ordered ---------------------------------------------------------------------

    def misordered(self) -> str:
        """What some threads do on the other side of a fence in the candidate."""
        if not any(ordered(covered.instructions()) for covered in self.pair.coverage):
            return ""
        said = set(self.pair.tried)
        pool = [t for t in self.pair.search.pool if t in said and not t.shares]
        others = [t for t in self.pair.tried if not t.shares and t not in pool]
        trials = [*reversed(pool), *others][:_FOLLOWED_MOST]
        if self.pair.unordered:
            # What a thread does may depend on who was there before: one by itself has nobody.
            trials = [
                replace(t, grid=(1, 1, 1), block=(1, 1, 1))
                for t in trials
                if not (t.cluster or t.cooperative or self.pair.rules.required_block)
            ]
        covered = self.pair.coverage[0]
        wanted = {
            one.span[0]
            for one in covered.instructions()
            if one.span[0] in covered.ran and order_of(one) is not None
        }
        for number, trial in enumerate(trials):
            if number >= _FOLLOWED and not wanted:
                break
            last = [tuple(n - 1 for n in shape) for shape in (trial.block, trial.grid)]
            for thread, block in (((0, 0, 0), (0, 0, 0)), (last[0], last[1])):
                why = self._misordered(trial, thread, block, wanted)
                if why:
                    return f"with {trial}, {why}"
        return ""

    def touched(self, trial: Trial) -> list[Touched]:
        """What memory the first thread of a launch of the original touches, in order."""
        inputs = self.pair.maker.make(trial)
        request = TraceRequest.of((0, 0, 0), (0, 0, 0), limit=_RECORDS, last=False)
        try:
            run = self.pair.outcome(0, trial, inputs, seconds=PATIENT, trace=request)
        except PtxkitError:
            return []
        found: dict[Touched, None] = {}
        for record in run.report.trace or ():
            for access in record.accesses if record.active and record.instruction else ():
                for arena in inputs.arenas if access.space == "global" else ():
                    if 0 <= access.address - arena.base < arena.whole.size:
                        found[arena.origin, access.address - arena.address, access.write] = None
        return list(found)

    def _misordered(
        self, trial: Trial, thread: tuple[int, ...], block: tuple[int, ...], wanted: set[int]
    ) -> str:
        """The same of one thread of a launch; what it runs is no more ``wanted``."""
        inputs = self.pair.maker.make(trial)
        memory = [range(a.base, a.base + a.whole.size) for a in inputs.arenas]
        request = TraceRequest.of(thread, block, limit=_RECORDS, last=False)
        try:
            traces = [
                self.pair.outcome(side, trial, inputs, seconds=PATIENT, trace=request).report.trace
                for side in (0, 1)
            ]
        except PtxkitError:
            return ""
        first, second = traces
        if first is None or second is None or first.left_out or second.left_out:
            return ""
        wanted -= {one.instruction.span[0] for one in first if one.instruction and one.active}
        return misordered(stretches(first, memory), stretches(second, memory))


def _hiding(covered: Coverage) -> Iterator[Instruction]:
    """Instructions with a side that never came, but for comparisons that were only far off."""
    hidden = covered.hiding()
    branches = {one.span[0] for one in covered.one_sided()}
    for one in covered.instructions():
        sides = hidden.get(one.span[0], 0)
        if sides & ~(NEAR if one.name == "setp" else 0) or one.span[0] in branches:
            yield one
