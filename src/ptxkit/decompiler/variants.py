"""Which of the lifter's forms of a function to take.

Several spellings of one function mean the same. One that compiles to the PTX it came from is
the best guess at what was written: it costs a compilation each to find it. Where there is none,
forms are proved, the readable ones first. What takes too long is left out, and said.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from itertools import chain, islice
from math import inf

from ptxkit.decompiler.budget import UNLIMITED, Budget
from ptxkit.decompiler.engines import Candidate, SymbolicEngine
from ptxkit.decompiler.lift.flags import Flags
from ptxkit.decompiler.metrics import reading_cost
from ptxkit.decompiler.refine.distance import Code
from ptxkit.decompiler.refine.search import EFFORT, Search
from ptxkit.decompiler.verify import Verdict
from ptxkit.decompiler.verify.certificates import (
    PROOF,
    WEAKEST,
    Compiled,
    certify,
    compiled,
    paired,
)
from ptxkit.decompiler.verify.execution import Execution, seen_to_differ
from ptxkit.decompiler.verify.identity import same_ptx
from ptxkit.decompiler.verify.trials import Experience
from ptxkit.syntax import Module

#: Longer functions take long to compile: of these fewer forms are tried for identical PTX.
_LONG, _FEW = 2000, 3
#: The shares of all time after which no other form is compiled to find identical PTX, and for
#: changes to those: compilers take more than twice as long for twice the code. Where there is
#: little time, changes get more of it, up to the seconds that are enough for most.
_SEARCH, _REFINING, _REFINING_MOST, _ENOUGH = 0.25, 0.2, 0.35, 5.0
#: Instructions of functions that are proved before they are run.
_HARD_TO_RUN = 400
#: The share of all time that a proof of a long function may take before that is run; and of each of
#: several that are tried.
_BRIEF, _BRIEFEST = 0.1, 0.05
#: The share of all time in which forms that read well may be proved before one is run: a proof
#: takes less time than launches, or comes to its end soon.
_PROVING = 0.15
#: The share of all time that the first run leaves to the forms that are easy to prove: what runs
#: for long without an answer seldom comes to one.
_SAVED = 0.2
#: Of the time that a proof could take now, what it had before when it is not tried once more.
_NO_LESS = 0.7
#: What takes so many times as long to read as the first waits until that was run.
_ALIKE = 1.2
#: And what has as many instructions, but for this share of them, is likely to be the same.
_ALIKE_LONG = 0.005
#: Forms that are proved though the search for identical PTX did not get to them.
_READABLE = 2


@dataclass(frozen=True, slots=True)
class _Tried:
    """A form and what the compiler made of it."""

    candidate: Candidate
    made: Compiled
    partner: str
    thorough: bool = False
    """Whether it is there to be proved, not to be run."""
    brief: bool = False
    """Whether others come after it that are proved more often."""
    longer: bool = False
    """Whether a proof was cut short, and may take more time now."""
    saving: bool = False
    """Whether its run must leave time for what comes after it."""


def best_form(
    module: Module,
    name: str,
    arch: str,
    flags: Flags | None = None,
    effort: int = EFFORT,
    known: Experience | None = None,
    budget: Budget = UNLIMITED,
) -> tuple[Candidate, Verdict]:
    """The lifted form of a function with the strongest certificate, and the most readable.

    ``flags`` is what it is compiled with; None for what the module shows. Where no form is the
    same PTX, changes to those that come near are tried: ``effort`` is how many instructions may
    be compiled for that. What launches show is put into ``known``. When the time of the ``budget``
    is over, it is the best until then, and its verdict says so.

    >>> import ptxkit
    >>> m = ptxkit.compile_cuda("__global__ void k(int *x) { x[threadIdx.x] += 1; }", arch="sm_90")
    >>> best_form(m, "_Z1kPi", "sm_90")[1].level
    'E1'
    """
    function = module[name]
    separate = not function.is_entry
    tried: list[_Tried] = []
    searching = budget.part(_SEARCH)
    forms = SymbolicEngine().forms(module, function, flags)
    for candidate in forms:
        one = _compiled(module, name, candidate, arch, separate)
        if one.made.module is not None and same_ptx(module, one.made.module, name, one.partner):
            return candidate, Verdict(True, same_ptx=True)
        tried.append(one)
        if len(function.instructions) > _LONG and len(tried) >= _FEW and not candidate.careful:
            break
        if searching.over:
            break
    refining = max(_REFINING, min(_REFINING_MOST, _ENOUGH / max(budget.seconds, 1)))
    refined = _refined(module, name, tried, arch, effort, separate, budget.part(refining))
    if refined is not None:
        return refined, Verdict(True, same_ptx=True)
    exact = SymbolicEngine().exact_forms(module, function, flags)
    left = chain(islice(forms, max(0, _READABLE - len(tried))), exact)
    provable = SymbolicEngine().provable_forms(module, function, flags)
    known = Experience() if known is None else known
    return _Proving(module, name, arch, separate, known, budget, tried, provable, left).run()


@dataclass(slots=True)
class _Proving:
    """Proves and runs the forms of a function of which none is the same PTX."""

    module: Module
    name: str
    arch: str
    separate: bool
    known: Experience
    budget: Budget
    tried: list[_Tried]
    """What was compiled already."""
    provable: Iterator[Candidate]
    left: Iterator[Candidate]
    """What reads worst, and is nearest to the original."""
    written: list[_Tried] = field(default_factory=list)
    cut_short: list[_Tried] = field(default_factory=list)
    refuted: dict[str, tuple[str, ...]] = field(default_factory=dict)
    stopped: dict[str, tuple[float, tuple[str, ...]]] = field(default_factory=dict)
    """After how many seconds a proof was stopped, and what there was to say of it."""
    done: set[tuple[str, bool, bool]] = field(default_factory=set)
    seen: dict[str, str] = field(default_factory=dict)
    execute: bool = True

    def run(self) -> tuple[Candidate, Verdict]:
        """The best of them, and what can be said of it."""
        best: tuple[tuple[int, bool, float], Candidate, Verdict] | None = None
        for one, only_proof in self._in_order():
            verdict = self._verdict(one, only_proof)
            if verdict is None:
                continue
            # What was not proved is still better than what was seen to differ.
            wrong = verdict.execution is not None and verdict.execution.different
            rank = verdict.rank, not wrong, -self._cost(one)
            if best is None or rank > best[0]:
                best = rank, one.candidate, verdict
            if best[2].equivalent:
                break
            if self.budget.over:
                why = f"no other form was tried: {self.budget.reason}"
                return best[1], replace(best[2], reasons=(*best[2].reasons, why))
        assert best is not None
        return best[1], best[2]

    @property
    def _long(self) -> bool:
        return len(self.module[self.name].instructions) > _HARD_TO_RUN

    def _in_order(self) -> Iterator[tuple[_Tried, bool]]:
        """The forms in the order in which they are looked at, and whether they are only proved."""
        proving = self.budget.part(_PROVING)
        most = _ALIKE * self._cost(self.tried[0])
        for place, one in enumerate(self.tried):
            alike = not one.candidate.unrolled and self._cost(one) <= most
            if not proving.over and (self._long or place < _READABLE or alike):
                yield one, True
        # A long form of which almost the same was made is proved in pieces at once.
        near = (
            t for t in self.tried if self._long and self._as_long(t) and not t.candidate.careful
        )
        yield from ((replace(one, thorough=True), True) for one in islice(near, 1))
        # Readable, then careful; those between were for the same PTX alone.
        careful = (t for t in self.tried[_READABLE:] if t.candidate.careful)
        likely = [*self.tried[:_READABLE], *careful]
        # Long functions are seldom covered by launches, and running them takes long: proofs come
        # first, but only those that are quick.
        if not self._long:
            yield replace(likely[0], saving=True), False
        for one in self._as_written():
            yield replace(one, thorough=True), False
        yield likely[0], False
        # What keeps most of the original comes last, is proved most often, and runs as it does.
        yield from ((one, False) for one in self.written[-1:])
        # Of a long function that of nearly as many instructions is proved soonest, if at all.
        again = self.cut_short[::-1]
        if self._long:
            again.sort(key=self._longer_by)
        yield from ((replace(one, longer=True, brief=False), False) for one in again)
        yield from ((one, False) for one in likely[1:])
        # What a compiler left as it was is nearest to the original in a run, too.
        yield from ((one, False) for one in self.written)
        yield from ((self._compiled(candidate), False) for candidate in self.left)

    def _as_written(self) -> Iterator[_Tried]:
        """The forms that can be proved without running them, as they are looked at.

        Of a long function that of which a compiler makes most nearly as many instructions as there
        were comes first: it is proved soon, if at all. What has twice as many is followed for long.
        """
        for candidate in self._in_time(self.provable):
            self.written.append(self._compiled(candidate))
            if not self._long:
                yield self.written[-1]
        if self._long:
            # The others get more time later, if that was too little.
            for place, one in enumerate(sorted(self.written, key=self._longer_by)):
                yield replace(one, brief=place > 0)

    def _longer_by(self, one: _Tried) -> float:
        """How many instructions more or less a compiler makes of a form than there were."""
        if one.made.module is None or one.partner not in one.made.module:
            return inf
        length = len(self.module[self.name].instructions)
        return abs(len(one.made.module[one.partner].instructions) - length)

    def _as_long(self, one: _Tried) -> bool:
        """Whether a compiler makes as many instructions of a form as there were."""
        return self._longer_by(one) <= _ALIKE_LONG * len(self.module[self.name].instructions)

    def _in_time(self, forms: Iterator[Candidate]) -> Iterator[Candidate]:
        """Forms, as long as there is time to lift another one."""
        while not self.budget.over and (candidate := next(forms, None)) is not None:
            yield candidate

    def _cost(self, one: _Tried) -> float:
        return reading_cost(one.candidate.tree, self.name)

    def _compiled(self, candidate: Candidate) -> _Tried:
        return _compiled(self.module, self.name, candidate, self.arch, self.separate)

    def _verdict(self, one: _Tried, only_proof: bool) -> Verdict | None:
        """What can be said of a form; None where nothing is that was not said before."""
        # Forms that a compiler makes the same of are all proved, or none is.
        text = one.made.module.emit() if one.made.module is not None else one.made.error
        followed = (text, True, False) in self.done or (text in self.refuted and not one.thorough)
        key = text, one.thorough, one.longer
        if key in self.done or (followed and (only_proof or not self.execute) and not one.longer):
            return None
        if not only_proof:
            self.done.add(key)
        if one.thorough and self.execute and (wrong := self._seen(one, text)):
            # A few launches take less time than a proof, of what is no candidate for one.
            return Verdict(
                True, execution=Execution(False, wrong, different=True), reasons=(wrong,)
            )
        share = _BRIEF if self._long else PROOF
        part = share if one.thorough and not one.longer else PROOF
        if (only_proof and not one.thorough) or one.brief:
            part = _BRIEFEST if self._long else _BRIEF
        before = self.budget.left
        budget = self._budget(one)
        seconds, told = self.stopped.get(text, (0.0, ()))
        # A proof that had no less time before ends where it ended then.
        again = one.thorough or one.longer or seconds < _NO_LESS * budget.part(part).seconds
        prove = one.longer or (again and not followed)
        verdict = self._certified(one, part, budget, prove=prove, brief=only_proof)
        if (
            one.thorough
            and part < PROOF
            and before - self.budget.left >= part * self.budget.seconds
        ):
            self.cut_short.append(one)
        if only_proof and not verdict.equivalent:
            # What had not enough time gets more of it later.
            if not any("stopped after" in reason for reason in verdict.reasons):
                self.refuted[text] = verdict.reasons
            elif not one.thorough:
                self.stopped[text] = budget.part(part).seconds, verdict.reasons
            return None
        if (followed and text in self.refuted) or not again:
            # What was found before is what there is to say of a proof.
            later = (r for r in verdict.reasons if not r.startswith("E2:"))
            verdict = replace(verdict, reasons=(*self.refuted.get(text, told), *later))
        # What is wrong with the original itself is so for all of its forms.
        self.execute &= verdict.execution is None or not verdict.execution.hopeless
        return verdict

    def _seen(self, one: _Tried, text: str) -> str:
        """What a few launches of a form show to be different, if they do."""
        if text not in self.seen:
            differs = ""
            entry = self.module[self.name].is_entry
            if one.made.module is not None and entry and not self.budget.over:
                made, brief = one.made.module, self.budget.part(_BRIEFEST)
                differs = seen_to_differ(self.module, made, self.name, one.partner, budget=brief)
            self.seen[text] = f"E3: {differs}" if differs else ""
        return self.seen[text]

    def _budget(self, one: _Tried) -> Budget:
        """The time for one form, which may have to leave some for what comes after it."""
        if one.saving and 0 < self.budget.seconds < inf:
            return self.budget.part(max(0.0, self.budget.left / self.budget.seconds - _SAVED))
        return self.budget

    def _certified(
        self, one: _Tried, share: float, budget: Budget, *, prove: bool, brief: bool
    ) -> Verdict:
        if one.made.module is None:
            return Verdict(reasons=(f"E0: {one.made.error}",))
        return certify(
            self.module, one.made.module, self.name, one.partner, known=self.known,
            thorough=one.thorough, budget=budget, prove=prove, execute=self.execute,
            share=share, least="E2" if brief else WEAKEST,
        )  # fmt: skip


def _refined(
    module: Module,
    name: str,
    tried: list[_Tried],
    arch: str,
    effort: int,
    separate: bool,
    budget: Budget,
) -> Candidate | None:
    """A form that small changes made the same PTX."""
    original = Code.in_module(module.emit()).get(name)
    if original is None or effort <= 0:
        return None
    forms = [
        (one.candidate.tree, code)
        for one in tried
        if one.made.module is not None
        and (code := Code.in_module(one.made.module.emit()).get(one.partner)) is not None
    ]
    tree = Search(original, name, arch, effort, separate, budget).run(forms)
    if tree is None:
        return None
    candidate = replace(tried[0].candidate, tree=tree)
    one = _compiled(module, name, candidate, arch, separate)
    same = one.made.module is not None and same_ptx(module, one.made.module, name, one.partner)
    return candidate if same else None


def _compiled(module: Module, name: str, candidate: Candidate, arch: str, separate: bool) -> _Tried:
    made = compiled(candidate.tree, arch, separate=separate)
    partner = paired(module, made.module).get(name, name) if made.module is not None else name
    return _Tried(candidate, made, partner)
