"""Two kernels side by side: one launch of both after another, and what they say together.

The original decides what a launch is worth: one that makes it fault, or run too long, says
nothing and is left out. So is one after which all that differs is what depends on the order of
the threads in the original, too.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable
from copy import copy
from dataclasses import dataclass, replace
from typing import Any

from ptxkit.decompiler.budget import UNLIMITED, Budget
from ptxkit.decompiler.verify.difference import (
    difference,
    doubt,
    explained,
    only_by_order,
    within,
)
from ptxkit.decompiler.verify.inputs import InputMaker, Inputs
from ptxkit.decompiler.verify.outcome import PATIENT, Outcome, Side
from ptxkit.decompiler.verify.pointers import Pointers
from ptxkit.decompiler.verify.promises import Through, accesses_through, only_through
from ptxkit.decompiler.verify.resources import needs, too_much
from ptxkit.decompiler.verify.search import Search
from ptxkit.decompiler.verify.tables import missing_table
from ptxkit.decompiler.verify.trials import Trial, block_shapes, roomier
from ptxkit.decompiler.verify.usage import Usage, usage_of
from ptxkit.decompiler.verify.variables import Variables, names_others
from ptxkit.errors import PtxkitError
from ptxkit.run import SimulationError
from ptxkit.run.layout import variable_size
from ptxkit.syntax import Module

#: Shapes of blocks that also run under the sanitizer, and the events that ask for it. Few threads
#: leave other parts of shared memory unwritten than many do.
_SANITIZED = 12
_TOGETHER = frozenset(("barriers", "shuffles", "votes"))
#: Launches that also run with their last blocks and warps first; and where the order was seen to
#: make a difference, since then it matters who comes first.
_TURNED, _UNORDERED = 6, 250
#: Launches for which the memory that the original touches is looked for cost no more than that.
_QUICK = 0.02
#: What a launch is called that said something, and one that depends on the order of threads.
TRIED, RACE = "tried", "race"
#: How a kernel ends itself.
_STOPS = frozenset(("assert", "trap"))


@dataclass(frozen=True, slots=True)
class Against:
    """What speaks against two kernels being equal."""

    reason: str
    seen: bool = True
    """Whether a difference was seen, not only feared."""


class Pair:
    """Two kernels that may be equal."""

    def __init__(
        self,
        original: Module,
        candidate: Module,
        kernel: str,
        other: str,
        budget: Budget = UNLIMITED,
    ) -> None:
        self.budget = budget
        self.sides = Side(original, kernel), Side(candidate, other, patient=True)
        ours = usage_of(original, original[kernel])
        theirs = usage_of(candidate, candidate[other])
        self.usage: Usage = replace(
            ours,
            constants=ours.constants | theirs.constants,
            thresholds=ours.thresholds | theirs.thresholds,
            offsets=ours.offsets | theirs.offsets,
        )
        places = [[item.name for item in side.kernel.parameters] for side in self.sides]
        mine, trusted = (_trusted(*one) for one in zip((ours, theirs), places, strict=True))
        self.trusts_more = bool(trusted - mine)
        """Whether it takes memory behind a pointer for constant which the original does not."""
        always = {place for place, access in accesses_through(ours, places[0]) if access.promised}
        for side, usage, own in zip(self.sides, (ours, theirs), places, strict=True):
            side.promised = only_through(always, usage, own)
        known, wide = (_widest(*one) for one in zip((ours, theirs), places, strict=True))
        self.wider = any(bytes > known.get(place, bytes) for place, bytes in wide.items())
        """Whether it takes more bytes at once, which must lie at a multiple of as many."""
        self.parameters = self.sides[0].kernel.parameters
        self.rules = self.sides[0].kernel.rules
        self.variables = _variables(original, self.usage)
        partners = Variables(original, candidate).partners
        self._names = (
            {name: name for name in self.variables},
            {name: partners[name] for name in self.variables if name in partners},
        )
        functions = ((f.name, f.name) for f in original.functions)
        self._partners = (*partners.items(), *functions)
        self._pointers = Pointers(self.sides, self._partners)
        self.uninitialised = _variables(original, self.usage, initialised=False)
        changed = _changed_by_hosts(original, self.variables)
        self.maker = InputMaker(self.parameters, self.usage, self.uninitialised, changed=changed)
        self._kept = _kept(candidate, theirs) - set(partners.values())
        self.search = Search(self.usage, block_shapes(self.usage, self.rules))
        self.coverage = self.sides[0].coverage, self.sides[1].coverage
        self.tried: list[Trial] = []
        """Launches that said something."""
        self.skipped: Counter[str] = Counter()
        """And why others did not."""
        self.other_loads = False
        """Whether the two read memory more or less often than each other."""
        self.other_signs = False
        """Whether numbers get more bits with their sign more or less often."""
        self.turned = self.unordered = 0
        self.sizes: dict[Trial, int] = {}
        """How many instructions warps of the original ran in launches that said something."""
        self.excused: list[int] = []
        """How many threads launches had that said nothing because these race."""
        self._sanitized: set[tuple[int, int, int]] = set()

    def signature(self) -> str:
        """Why the two cannot be launched alike."""
        kernels = [side.kernel for side in self.sides]
        first, second = ([(i.offset, i.size) for i in k.parameters] for k in kernels)
        if first != second:
            return f"the parameters differ: {len(first)} of sizes {[s for _, s in first]}, " \
                   f"against {len(second)} of {[s for _, s in second]}"  # fmt: skip
        rules, theirs = (kernel.rules for kernel in kernels)
        # Every launch that the original takes must be one that the candidate takes.
        most = math.prod(rules.required_block or (rules.most_threads or 1024,))
        if (theirs.required_block or rules.required_block) != rules.required_block or (
            theirs.most_threads is not None and most > theirs.most_threads
        ):
            return "the launch bounds differ"
        if theirs.required_cluster != rules.required_cluster:
            return "the sizes of clusters differ"
        more = too_much(*(needs(side.module, side.coverage.functions) for side in self.sides))
        if more:
            return more
        # A host finds such a variable by its name, and may change it between launches.
        for variable in self.sides[0].module.variables:
            for one in variable.declarators if variable.linkage else ():
                if one.name in self.variables and one.name not in self._names[1]:
                    return f"the variable '{one.name}' is missing"
        for name, other in self._names[1].items():
            # A host may use one that is managed as its own memory.
            attributes = [_attributes(side.module, which) for side, which in
                          zip(self.sides, (name, other), strict=True)]  # fmt: skip
            if attributes[0] != attributes[1]:
                return f"the variable '{name}' is declared otherwise"
        for name in sorted(self._kept):
            # One launch may leave something there for the next.
            return f"it writes to a variable '{name}' that the original does not have"
        return ""

    def missing_table(self) -> str:
        """A table of the original of which the candidate has no copy: few launches read it all."""
        return missing_table(self.sides, self.variables)

    def launch(self, trial: Trial, seconds: float | None = None) -> Against | str:
        """One launch of both: what speaks against them, else how it ended.

        The original takes no longer than some ``seconds``.
        """
        inputs = self.maker.make(trial)
        try:
            first = self.outcome(0, trial, inputs, seconds=seconds)
        except PtxkitError as error:
            self.skipped[_kind(error)] += 1
            if isinstance(error, SimulationError) and error.kind in _STOPS:
                return self._stopped(trial, inputs, error)
            return {"out-of-bounds": "bounds"}.get(_kind(error), _kind(error))
        try:
            second = self.outcome(1, trial, inputs)
        except PtxkitError as error:
            return Against(f"with {trial}, the candidate alone fails: {first_line(error)}")
        why = self._difference(first, second, inputs)
        if why is not None:
            second = self._pointers.translated(second, first)
            why = self._difference(first, second, inputs)
        if why is not None:
            order = self._depends_on_order(trial, inputs, first, second)
            if not order and self._raced_for(trial, inputs, first, second):
                order = True
            if order is False:
                # It is another number than threads leave in any order that was seen.
                self.skipped[RACE] += 1
                return Against(f"with {trial}, {why}, and the order does not explain it", False)
            if order:
                return self._raced(trial)
        if why is None and _TOGETHER & first.events.keys() and self._is_new(trial):
            why = self._races(trial, inputs)
        turned = _UNORDERED if self.unordered else _TURNED
        if why is None and self.turned < turned and _warps(trial) > 1:
            why = self._turned(trial, inputs, first)
        if why is not None:
            return Against(f"with {trial}, {why}")
        why = doubt(first, second, self.sides)
        if why is not None:
            return Against(f"with {trial}, nothing differed, but {why}", seen=False)
        self.tried.append(trial)
        self.sizes[trial] = first.report.warp_instructions
        self.other_loads |= first.loads != second.loads
        self.other_signs |= first.widened != second.widened
        new = [
            covered.add(one.report)
            for covered, one in zip(self.coverage, (first, second), strict=True)
        ]
        if any(new):
            self.search.add(trial)
        self.search.last = trial
        return TRIED

    def forced(self, original: Module, candidate: Module) -> Pair:
        """Others with the same parameters and variables in place of the two."""
        found = copy(self)
        names = [side.name for side in self.sides]
        found.sides = Side(original, names[0]), Side(candidate, names[1], patient=True)
        found._pointers = Pointers(found.sides, self._partners)
        return found

    def compared(self, trial: Trial) -> str | None:
        """How the two differ after a launch, if they do; None where it says nothing."""
        inputs = self.maker.make(trial)
        try:
            first = self.outcome(0, trial, inputs)
        except PtxkitError:
            return None
        try:
            second = self.outcome(1, trial, inputs)
        except PtxkitError as error:
            return f"the candidate alone fails: {first_line(error)}"
        why = self._difference(first, self._pointers.translated(second, first), inputs)
        if why is None:
            return ""
        depends = self._depends_on_order(trial, inputs, first, second) is not None
        return None if depends or self._raced_for(trial, inputs, first, second) else why

    def outcome(self, side: int, trial: Trial, inputs: Inputs, **options: Any) -> Outcome:
        """What a launch of one of the two leaves behind."""
        self.budget.check()
        most = max(1.0, self.budget.left)
        try:
            return self.sides[side].run(trial, inputs, self._names[side], most=most, **options)
        except PtxkitError:
            self.budget.check()  # it may have failed for want of time alone
            raise

    @property
    def cost(self) -> float:
        """What all launches until now cost: seconds, as they are on most machines."""
        return self.sides[0].cost + self.sides[1].cost

    def _difference(self, first: Outcome, second: Outcome, inputs: Inputs) -> str | None:
        return difference(first, second, inputs, self._held(inputs))

    def _held(self, inputs: Inputs) -> dict[str, bytes]:
        """What the variables of the original held at the start."""
        return {name: self.sides[0].before(name, inputs) for name in self.variables}

    def _stopped(self, trial: Trial, inputs: Inputs, first: SimulationError) -> Against | str:
        """The original stopped itself: the candidate must, too, and is then not compared."""
        try:
            self.outcome(1, trial, inputs)
        except SimulationError as second:
            if second.kind not in _STOPS:
                return first.kind
            # Which of several assertions is first depends on who runs first.
            if _said(first) == _said(second):
                new = [
                    covered.add_stop(one.counts)
                    for covered, one in zip(self.coverage, (first, second), strict=True)
                ]
                if any(new):
                    self.search.add(trial)
            return first.kind
        except PtxkitError:
            return first.kind
        return Against(f"with {trial}, the original alone stops: {first_line(first)}")

    def _is_new(self, trial: Trial) -> bool:
        """Whether no launch with such a block ran under the sanitizer, and some still may."""
        if trial.block in self._sanitized or len(self._sanitized) >= _SANITIZED:
            return False
        self._sanitized.add(trial.block)
        return True

    def _races(self, trial: Trial, inputs: Inputs) -> str | None:
        """What a sanitizer finds in the candidate and not in the original."""
        found = []
        for side in (0, 1):
            try:
                report = self.outcome(side, trial, inputs, sanitize="report").report
            except PtxkitError as error:
                if side == 0:
                    return None
                return f"under the sanitizer the candidate fails: {first_line(error)}"
            found.append({f.kind for f in report.findings if f.severity != "note"})
        new = sorted(found[1] - found[0])
        return f"the sanitizer finds in the candidate alone: {new[0]}" if new else None

    def _depends_on_order(
        self, trial: Trial, inputs: Inputs, first: Outcome, second: Outcome
    ) -> bool | None:
        """Whether all that differs is what the original leaves otherwise in another order, too.

        False where that is so, but the candidate left what neither order leaves.
        """
        try:
            again = self.outcome(0, trial, inputs, seconds=PATIENT, descending=True)
        except PtxkitError:
            return None
        if trial.shares:
            # Where threads work on each other's memory, all of it may depend on their order.
            return self._difference(first, again, inputs) is not None or None
        if not only_by_order(first, second, again, self._held(inputs)):
            return None
        return explained(first, second, again, self._held(inputs))

    def _turned(self, trial: Trial, inputs: Inputs, first: Outcome) -> str | None:
        """Run both with the last blocks and warps first; notice whether that changes anything."""
        self.turned += 1
        try:
            original = self.outcome(0, trial, inputs, descending=True)
        except PtxkitError:
            self.unordered += 1
            return None
        self.unordered += bool(self._difference(first, original, inputs))
        try:
            candidate = self.outcome(1, trial, inputs, descending=True)
        except PtxkitError as error:
            return f"the last blocks first, the candidate alone fails: {first_line(error)}"
        candidate = self._pointers.translated(candidate, original)
        why = self._difference(original, candidate, inputs)
        if why is None:
            return None
        outcomes = original, candidate, first, self._held(inputs)
        if only_by_order(*outcomes) and explained(*outcomes):
            return None
        return f"the last blocks first, {why}"

    def _raced(self, trial: Trial) -> Against | str:
        """A launch said nothing because of a race: one with more room for each thread may."""
        self.skipped[RACE] += 1
        if self.rules.required_cluster is None and not (trial.cluster or trial.cooperative):
            for other in roomier(trial):
                return self.launch(other)
        return RACE

    def _raced_for(self, trial: Trial, inputs: Inputs, first: Outcome, second: Outcome) -> bool:
        """Whether all that differs is memory that threads race for, in both alike.

        Nothing puts these threads in an order, so what they leave there means nothing.
        """
        try:
            found = [
                self.outcome(side, trial, inputs, seconds=PATIENT, conflicts=True)
                for side in (0, 1)
            ]
        except PtxkitError:
            return False
        mine, theirs = (one.report.conflicts for one in found)
        if mine is None or theirs is None or {b // 4 for b in mine} != {b // 4 for b in theirs}:
            return False
        if not within(first, second, inputs, mine) or not self._same_one_by_one(trial, inputs):
            return False
        self.excused.append(_threads(trial))
        return True

    def _same_one_by_one(self, trial: Trial, inputs: Inputs) -> bool:
        """Whether the two leave the same where one thread after another runs as far as it can.

        Then no thread comes in between, and it does not matter how far apart instructions are.
        """
        try:
            first, second = (
                self.outcome(side, trial, inputs, seconds=PATIENT, descending=True)
                for side in (0, 1)
            )
        except PtxkitError:
            return False
        return self._difference(first, self._pointers.translated(second, first), inputs) is None

    @property
    def always_raced(self) -> bool:
        """Whether nothing but fewer threads than those of any race was seen to do the same."""
        most = max(map(_threads, self.tried), default=0)
        return bool(self.excused) and most < min(self.excused)

    # ---- the memory that is touched --------------------------------------------------------

    def outside(self, trial: Trial) -> Against | None:
        """Run the candidate with no more memory than the original touches."""
        inputs = self.maker.make(trial)
        start = self.cost
        try:
            self.outcome(0, trial, inputs)
        except PtxkitError:
            return None  # it depends on where memory lies
        if self.cost - start > _QUICK:
            return None
        windows = [slice(0, arena.whole.size) for arena in inputs.arenas]
        for place, arena in enumerate(inputs.arenas):
            windows[place] = self._window(trial, inputs, place, arena.start)
        memory = [a.whole[w] for a, w in zip(inputs.arenas, windows, strict=True)]
        least = replace(trial, shared=self._least_shared(trial, inputs))
        try:
            self.outcome(0, least, inputs, memory=memory)
            self.outcome(1, least, inputs, memory=memory)
        except PtxkitError as error:
            return Against(f"with {trial}, the candidate touches more memory: {first_line(error)}")
        return None

    def _window(self, trial: Trial, inputs: Inputs, place: int, start: int) -> slice:
        """The part of an arena, in words, that the original touches."""

        def runs(window: slice) -> bool:
            memory = [a.whole for a in inputs.arenas]
            memory[place] = memory[place][window]
            try:
                self.outcome(0, trial, inputs, memory=memory)
            except PtxkitError:
                return False
            return True

        size = inputs.arenas[place].whole.size
        if not runs(slice(start, size)):
            # It reaches below its pointer: how far is not looked for.
            return slice(0, size)
        return slice(start, _least(start, size, lambda end: runs(slice(start, end))))

    def _least_shared(self, trial: Trial, inputs: Inputs) -> int:
        """The bytes of dynamic shared memory that the original needs."""

        def runs(shared: int) -> bool:
            try:
                self.outcome(0, replace(trial, shared=shared), inputs)
            except PtxkitError:
                return False
            return True

        return 0 if not trial.shared or runs(0) else _least(0, trial.shared, runs)


def _trusted(usage: Usage, parameters: list[str]) -> set[Through]:
    """The pointers behind which memory is loaded that nobody may change meanwhile."""
    return {place for place, access in accesses_through(usage, parameters) if access.constant}


def _widest(usage: Usage, parameters: list[str]) -> dict[Through, int]:
    """The most bytes that one access takes, by the pointer that it goes through."""
    return {place: access.widest for place, access in accesses_through(usage, parameters)}


def _threads(trial: Trial) -> int:
    """Those of a block, which are not alike as blocks may be."""
    return math.prod(trial.block)


def _least(least: int, most: int, runs: Callable[[int], bool]) -> int:
    """The least number of words between two, in bytes, that will do; the second does."""
    while (middle := (least + most) // 8 * 4) > least:
        if runs(middle):
            most = middle
        else:
            least = middle
    return most


def _attributes(module: Module, name: str) -> list[str]:
    """What is said of a variable beside its type."""
    return sorted(
        "".join(attribute.text.split())
        for variable in module.variables
        if any(one.name == name for one in variable.declarators)
        for attribute in variable.attributes
    )


def _variables(module: Module, usage: Usage, initialised: bool = True) -> dict[str, int]:
    """The variables in memory that are used, and their bytes; or those that nothing initialises."""
    found: dict[str, int] = {}
    for variable in module.variables:
        if variable.space not in ("global", "const") or variable.type in ("texref", "surfref"):
            continue
        for one in variable.declarators:
            if one.name in usage.variables and (initialised or one.initializer is None):
                found[one.name] = variable_size(variable, one)[0]
    return found


def _changed_by_hosts(module: Module, known: dict[str, int]) -> dict[str, int]:
    """Variables that begin with numbers, and in which a host that knows their names puts others."""
    return {
        one.name: known[one.name]
        for variable in module.variables
        for one in variable.declarators
        if variable.linkage and one.name in known and one.initializer is not None
        if not names_others(one.initializer)
    }


def _kept(module: Module, usage: Usage) -> set[str]:
    """The variables of a module that a kernel writes to."""
    written = {o.name for o, access in usage.accesses.items() if access.stored}
    return {
        one.name
        for variable in module.variables
        for one in variable.declarators
        if variable.space == "global" and one.name in written
    }


def _warps(trial: Trial) -> int:
    return math.prod(trial.grid) * -(-math.prod(trial.block) // 32)


def _kind(error: PtxkitError) -> str:
    return error.kind if isinstance(error, SimulationError) else first_line(error)


def _said(error: SimulationError) -> str:
    """What an assertion says, without the name of the kernel."""
    return error.diagnostic.message.rpartition(" (in '")[0]


def first_line(error: Exception) -> str:
    """What an error says in one line."""
    return str(error).partition("\n")[0]
