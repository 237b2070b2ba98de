"""E3: two kernels leave the same bits behind, for every launch that was tried.

The original decides what a launch is worth: one that makes it fault, or run too long, says
nothing and is left out. Everything a kernel leaves behind is compared: all memory with its guard
zones, the module's variables, surfaces, what it printed, and how often threads waited at
barriers, fenced or updated atomically. Instructions that never ran are not covered by such a
comparison; they must then be the same in both, or nothing is claimed.
"""

from __future__ import annotations

import contextlib
import io
import math
import time
from collections import Counter
from dataclasses import dataclass, field, replace
from itertools import chain
from typing import Any

import numpy as np

from ptxkit.decompiler.verify.coverage import Coverage
from ptxkit.decompiler.verify.dialect import Dialect, product
from ptxkit.decompiler.verify.gpu import LAUNCHES, OnGpu
from ptxkit.decompiler.verify.inputs import (
    InputMaker,
    Inputs,
    Trial,
    block_shapes,
    large_trials,
    marked_trials,
    trials,
)
from ptxkit.decompiler.verify.ordering import Order, order_of, weaker
from ptxkit.decompiler.verify.search import Search
from ptxkit.decompiler.verify.unreached import ground
from ptxkit.decompiler.verify.usage import Usage, stored_bytes, usage_of
from ptxkit.errors import PtxkitError, UnknownNameError
from ptxkit.run import CpuModule, RunReport, SimulationError, load
from ptxkit.run.layout import variable_size
from ptxkit.syntax import Instruction, Module
from ptxkit.syntax.scopes import Scopes

#: Where kernels can be run.
DEVICES = ("cpu", "cuda")
#: Launches that must say something, and launches to try at most.
WANTED, MOST = 40, 240
_STEPS = 100_000
#: A candidate may take so many times as many steps: another order of blocks is no difference.
_SLOWER = 10
#: Seconds of computing after which half of the launches that are wanted will do: not those of a
#: clock, so that a busy machine claims no more than a quiet one.
_BUDGET = 5.0
#: And after which no more are tried: where most say nothing, as many more will not either.
_LONGEST = 30.0
#: Seconds of computing for the search of launches that reach more, and how many in vain end it.
_SEARCH, _VAIN = 6.0, 1000
#: A second search for the same kernel takes that part of the time of the first.
_AGAIN = 0.25
#: What all sizes are multiples of, one after another, where accesses are misaligned otherwise.
_MULTIPLES = (1, 4, 16)
#: After so many faults a shape of blocks is not tried again.
_FAULTS = 2
#: Seconds on a clock for a launch of the original, and of the candidate after it: a busy machine
#: must not make one of them fail alone.
_SECONDS, _PATIENT = 1.0, 10.0

#: Shapes of blocks that also run under the sanitizer, and the events that ask for it. Few threads
#: leave other parts of shared memory unwritten than many do.
_SANITIZED = 12
_TOGETHER = frozenset(("barriers", "shuffles", "votes"))

#: Launches that also run with their last blocks and warps first.
_TURNED = 6

#: Launches for which the memory that the original touches is looked for, if it is this quick.
_BOUNDED, _QUICK = 10, 0.02

#: What a launch is called that depends on the order in which threads run.
_RACE = "race"
#: Bytes that a race is taken for as a whole.
_NEAR = 64
#: How a kernel ends itself.
_STOPS = frozenset(("assert", "trap"))

#: What must happen equally often, whatever it is called.
_COUNTED = {
    "bar": "barriers", "barrier": "barriers", "membar": "fences", "fence": "fences",
    "atom": "atomics", "red": "atomics", "shfl": "shuffles", "vote": "votes", "match": "votes",
    "redux": "votes", "trap": "traps", "nanosleep": "sleeps",
}  # fmt: skip
#: Stores that no other thread sees.
_PRIVATE = frozenset((".param", ".local", ".param::func", ".param::entry"))


@dataclass(frozen=True, slots=True)
class Execution:
    """What was tried, and how it ended."""

    equal: bool
    reason: str
    """Why it is not claimed that they are equal; empty where it is."""
    tried: tuple[Trial, ...] = ()
    """The launches that said something."""
    skipped: int = 0
    """Launches on which the original faulted or ran too long."""
    coverage: float = 0.0
    """The share of the original's instructions that ran at least once."""
    different: bool = False
    """Whether a difference was seen, not only too little tried."""
    ground: str = ""
    """What the claim stands on where not all code ran: a row of the table in `unreached`."""
    one_sided: tuple[int, ...] = ()
    """Lines of the original's branches that went the same way in all launches."""
    on_gpu: int = 0
    """How many of the launches were equal on a GPU, too."""
    skip_reasons: Counter[str] = field(default_factory=Counter)
    unordered: bool = False
    """Whether the original alone leaves other bits behind when its last blocks run first."""


@dataclass(slots=True)
class _Outcome:
    """What one run left behind."""

    memory: list[bytes]
    variables: dict[str, bytes]
    surfaces: list[bytes]
    output: str
    events: Counter[str]
    loads: int
    stored: int
    """Bytes written to memory that others see, as often as they are."""
    orders: Counter[Order]
    products: tuple[int, int]
    """How often numbers were multiplied with all bits of the result, and with half of them."""
    report: RunReport


class Comparison:
    """Two kernels side by side on the simulator."""

    def __init__(
        self,
        original: Module,
        candidate: Module,
        kernel: str,
        other: str,
        known: list[Trial] | None = None,
    ) -> None:
        self.names = kernel, other
        self.known = known
        """Launches that reached something with other candidates; new ones are put there, too."""
        self.loaded: tuple[CpuModule, CpuModule] = (load(original, "cpu"), load(candidate, "cpu"))
        self.kernels = self.loaded[0][kernel], self.loaded[1][other]
        self.usage: Usage = usage_of(original, original[kernel])
        theirs = usage_of(candidate, candidate[other])
        self.usage.constants |= theirs.constants
        self.usage.thresholds |= theirs.thresholds
        self.variables = _variables(original, self.usage)
        self.uninitialised = _variables(original, self.usage, initialised=False)
        self.maker = InputMaker(self.kernels[0].parameters, self.usage, self.uninitialised)
        self.tried: list[Trial] = []
        self.search = Search(self.usage, block_shapes(self.usage, self.kernels[0].rules))
        self.sanitized: set[tuple[int, int, int]] = set()
        self.other_loads = False
        """Whether the two read memory more or less often than each other."""
        self.skipped: Counter[str] = Counter()
        self.late = False
        """Whether it took too long to try as many launches as are wanted."""
        self.multiple = self.misaligned = 0
        """Which of the multiples sizes are; launches that were misaligned before that."""
        self.turned = self.unordered = 0
        self._initial: dict[tuple[int, str], Any] = {}
        self.coverage = (
            Coverage.of(original, original[kernel]),
            Coverage.of(candidate, candidate[other]),
        )
        self.load_sites = [sum(map(_loads, c.instructions())) for c in self.coverage]
        self.dialects = [
            Dialect.of(covered.instructions(), Scopes(module))
            for covered, module in zip(self.coverage, (original, candidate), strict=True)
        ]

    def run(self, wanted: int = WANTED, most: int = MOST) -> Execution:
        """Compare on as many launches as are wanted, more where some code has not run yet."""
        mismatch = self._signature()
        if mismatch:
            return Execution(False, mismatch, different=True)
        rules = self.kernels[0].rules
        faults: Counter[Any] = Counter()
        end = time.process_time() + _BUDGET
        several = len(block_shapes(self.usage, rules)) > 1
        for trial in trials(self.usage, rules, most):
            enough = len(self.tried) >= wanted
            if enough and len(self.tried) >= self._patience() * wanted:
                break
            if len(self.tried) >= wanted // 2 and time.process_time() > end:
                break
            if time.process_time() > end - _BUDGET + _LONGEST:
                self.late = True
                break
            if several and faults[trial.block] >= _FAULTS:
                # It is not made for such blocks: what is left of the trial with one that it takes.
                good = list(dict.fromkeys(t.block for t in self.tried))
                if good and trial.block not in good:
                    trial = replace(trial, block=good[trial.number % len(good)])
                elif not good:
                    continue
            outcome = self._trial(self._aligned(trial))
            faults[trial.block] += outcome in ("bounds", "misaligned")
            if outcome == "misaligned" and self._realign():
                faults.clear()
            if isinstance(outcome, Execution):
                return outcome
        found = self._search()
        if found is not None:
            return found
        end = time.process_time() + _BUDGET / 4
        for trial in self.tried[:_BOUNDED]:
            if time.process_time() > end:
                break
            outside = self._outside(trial)
            if outside is not None:
                return outside
        blocks = list(dict.fromkeys(t.block for t in self.tried))
        if blocks and not any(t.cooperative or t.cluster for t in self.tried):
            for trial in large_trials(self.usage, rules, blocks):
                outcome = self._trial(trial)
                if isinstance(outcome, Execution):
                    return outcome
            for group in marked_trials(self.usage, rules, blocks):
                for trial in group:
                    outcome = self._trial(trial)
                    if isinstance(outcome, Execution):
                        return outcome
                    if outcome != "tried":
                        break
        return self._verdict(wanted)

    def _search(self) -> Execution | None:
        """Look for launches that run what none has run; how it ended where they differ."""
        known = list(self.known or ())
        part = _AGAIN if known else 1.0
        end = time.process_time() + part * _SEARCH
        vain = 0
        # What another candidate for the same kernel was compared on, then what is new.
        for trial in chain(known, self.search.launches()):
            if self._all_reached() or vain > part * _VAIN or time.process_time() > end:
                break
            if vain > part * _VAIN / 8 and all(covered.complete for covered in self.coverage):
                break  # what is left are branches that go one way, as many do
            reached = len(self.search.pool)
            outcome = self._trial(self._aligned(trial))
            if isinstance(outcome, Execution):
                return outcome
            vain = vain + 1 if len(self.search.pool) == reached else 0
        if self.known is not None:
            self.known += [trial for trial in self.search.pool if trial not in known]
        return None

    def _all_reached(self) -> bool:
        return all(c.complete and not c.one_sided() for c in self.coverage)

    def _aligned(self, trial: Trial) -> Trial:
        """The trial with sizes that are multiples of what accesses seem to need."""
        by = _MULTIPLES[self.multiple]
        return replace(trial, sizes=tuple(-(-size // by) * by for size in trial.sizes))

    def _realign(self) -> bool:
        """Ask for sizes that are larger multiples, if most launches were misaligned so far."""
        count = self.skipped["misaligned"] - self.misaligned
        if count < 2 * _FAULTS or len(self.tried) > count or self.multiple + 1 == len(_MULTIPLES):
            return False
        self.misaligned += count
        self.multiple += 1
        return True

    def _trial(self, trial: Trial) -> Execution | str:
        """One launch of both: how it ended where they differ, else whether it said something."""
        inputs = self.maker.make(trial)
        try:
            first = self._outcome(0, trial, inputs)
        except PtxkitError as error:
            self.skipped[_kind(error)] += 1
            if isinstance(error, SimulationError) and error.kind in _STOPS:
                return self._stopped(trial, inputs, error)
            return {"out-of-bounds": "bounds"}.get(_kind(error), _kind(error))
        try:
            second = self._outcome(1, trial, inputs, seconds=_PATIENT)
        except PtxkitError as error:
            alone = f"with {trial}, the candidate alone fails: {_first_line(error)}"
            return self._done(False, alone, different=True)
        why = self._difference(first, second, inputs)
        if why is not None and self._depends_on_order(trial, inputs, first, second):
            self.skipped[_RACE] += 1
            return _RACE
        if why is None and _TOGETHER & first.events.keys() and self._is_new(trial):
            why = self._races(trial, inputs)
        if why is None and self.turned < _TURNED and _warps(trial) > 1:
            why = self._turned(trial, inputs, first)
        if why is not None:
            return self._done(False, f"with {trial}, {why}", different=True)
        why = self._doubt(first, second)
        if why is not None:
            return self._done(False, f"with {trial}, nothing differed, but {why}")
        self.tried.append(trial)
        self.other_loads |= first.loads != second.loads
        new = [
            covered.add(one.report)
            for covered, one in zip(self.coverage, (first, second), strict=True)
        ]
        if any(new):
            self.search.add(trial)
        self.search.last = trial
        return "tried"

    def _stopped(self, trial: Trial, inputs: Inputs, first: SimulationError) -> Execution | str:
        """The original stopped itself: the candidate must, too, and is then not compared."""
        try:
            self._outcome(1, trial, inputs, seconds=_PATIENT)
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
        why = f"with {trial}, the original alone stops: {_first_line(first)}"
        return self._done(False, why, different=True)

    def _is_new(self, trial: Trial) -> bool:
        """Whether no launch with such a block ran under the sanitizer, and some still may."""
        if trial.block in self.sanitized or len(self.sanitized) >= _SANITIZED:
            return False
        self.sanitized.add(trial.block)
        return True

    def _turned(self, trial: Trial, inputs: Inputs, first: _Outcome) -> str | None:
        """Run both with the last blocks and warps first; notice whether that changes anything."""
        self.turned += 1
        try:
            original = self._outcome(0, trial, inputs, descending=True)
        except PtxkitError:
            self.unordered += 1
            return None
        self.unordered += bool(self._difference(first, original, inputs))
        try:
            candidate = self._outcome(1, trial, inputs, seconds=_PATIENT, descending=True)
        except PtxkitError as error:
            return f"the last blocks first, the candidate alone fails: {_first_line(error)}"
        why = self._difference(original, candidate, inputs)
        held = {name: self._before(name, inputs) for name in original.variables}
        if why is None or self._is_order(original, candidate, first, held):
            return None
        return f"the last blocks first, {why}"

    def _outside(self, trial: Trial) -> Execution | None:
        """Run the candidate with no more memory than the original touches."""
        inputs = self.maker.make(trial)
        start = time.process_time()
        self._outcome(0, trial, inputs)
        if time.process_time() - start > _QUICK:
            return None
        windows = [slice(0, arena.whole.size) for arena in inputs.arenas]
        for place, arena in enumerate(inputs.arenas):
            windows[place] = self._window(trial, inputs, place, arena.start)
        memory = [a.whole[w] for a, w in zip(inputs.arenas, windows, strict=True)]
        try:
            self._outcome(0, trial, inputs, memory=memory)
            self._outcome(1, trial, inputs, memory=memory)
        except PtxkitError as error:
            why = f"with {trial}, the candidate touches more memory: {_first_line(error)}"
            return self._done(False, why, different=True)
        return None

    def _window(self, trial: Trial, inputs: Inputs, place: int, start: int) -> slice:
        """The part of an arena, in words, that the original touches."""

        def runs(window: slice) -> bool:
            memory = [a.whole for a in inputs.arenas]
            memory[place] = memory[place][window]
            try:
                self._outcome(0, trial, inputs, memory=memory)
            except PtxkitError:
                return False
            return True

        size = inputs.arenas[place].whole.size
        if not runs(slice(start, size)):
            # It reaches below its pointer: how far is not looked for.
            return slice(0, size)
        least, most = start, size
        while (middle := (least + most) // 8 * 4) > least:
            if runs(slice(start, middle)):
                most = middle
            else:
                least = middle
        return slice(start, most)

    def _verdict(self, wanted: int) -> Execution:
        if len(self.tried) < (wanted // 2 if self.late else min(wanted, 4)):
            reasons = ", ".join(f"{n} times {k}" for k, n in self.skipped.most_common(3))
            why = f"only {len(self.tried)} launches said something ({reasons or 'none was made'})"
            if self.late:
                why += f" in {_LONGEST:.0f} seconds of computing"
            return self._done(False, why)
        if not self.coverage[0].wrote:
            return self._done(False, "no launch wrote anything")
        found = ground(*self.coverage)
        foreign = self.dialects[0].foreign(self.dialects[1])
        if found.name and foreign:
            why = f"nothing differed, but it {foreign}, as the original does not"
            return self._done(False, why)
        return self._done(bool(found.name), found.reason, ground=found.name)

    def _done(
        self, equal: bool, reason: str, different: bool = False, ground: str = ""
    ) -> Execution:
        return Execution(
            equal,
            reason,
            tuple(self.tried),
            self.skipped.total(),
            self.coverage[0].share,
            different,
            ground,
            tuple(branch.line for branch in self.coverage[0].one_sided()),
            0,
            self.skipped,
            self.unordered > 0,
        )

    def on_gpu(self, found: Execution) -> Execution:
        """Repeat launches that were equal on the GPU."""
        modules = self.loaded[0].module, self.loaded[1].module
        gpu = OnGpu(
            modules, self.names, self.kernels[0].parameters, self.usage, self.variables,
            self.uninitialised,
        )  # fmt: skip
        step = max(1, len(found.tried) // LAUNCHES)
        count = 0
        try:
            for trial in found.tried[::step]:
                why = gpu.difference(trial)
                if why:
                    reason = f"on the GPU with {trial}, {why}"
                    return replace(found, equal=False, reason=reason, different=True)
                count += why is None
        finally:
            gpu.close()
        if not count:
            return replace(
                found, equal=False, reason="on the GPU the original does not agree with itself"
            )
        return replace(found, on_gpu=count)

    def _patience(self) -> int:
        """How many times the launches that are wanted are worth trying."""
        if self.other_loads or not all(coverage.complete for coverage in self.coverage):
            return 4
        if self.dialects[0].signs != self.dialects[1].signs:
            return 3  # only few numbers tell signed from unsigned, or less from not greater
        return 2 if any(coverage.one_sided() for coverage in self.coverage) else 1

    # ---- before anything runs --------------------------------------------------------------

    def _signature(self) -> str:
        """Why the two cannot be launched alike."""
        first, second = ([(i.offset, i.size) for i in k.parameters] for k in self.kernels)
        if first != second:
            return f"the parameters differ: {len(first)} of sizes {[s for _, s in first]}, " \
                   f"against {len(second)} of {[s for _, s in second]}"  # fmt: skip
        rules, theirs = (kernel.rules for kernel in self.kernels)
        # Every launch that the original takes must be one that the candidate takes.
        most = math.prod(rules.required_block or (rules.most_threads or 1024,))
        if (theirs.required_block or rules.required_block) != rules.required_block or (
            theirs.most_threads is not None and most > theirs.most_threads
        ):
            return "the launch bounds differ"
        if theirs.required_cluster != rules.required_cluster:
            return "the sizes of clusters differ"
        # A host finds such a variable by its name, and may change it between launches.
        known = {d.name for v in self.loaded[1].module.variables for d in v.declarators}
        for variable in self.loaded[0].module.variables:
            for one in variable.declarators if variable.linkage else ():
                if one.name in self.variables and one.name not in known:
                    return f"the variable '{one.name}' is missing"
        return ""

    # ---- one run ---------------------------------------------------------------------------

    def _outcome(
        self,
        side: int,
        trial: Trial,
        inputs: Inputs,
        memory: list[Any] | None = None,
        seconds: float = _SECONDS,
        **options: Any,
    ) -> _Outcome:
        loaded, kernel = self.loaded[side], self.kernels[side]
        for arena in inputs.arenas:
            arena.restore()
        textures = [s.array.copy() for s in inputs.surfaces]
        held = self._set_variables(loaded, inputs)
        launcher = kernel[trial.grid, trial.block, trial.shared]
        if trial.cluster or trial.cooperative:
            launcher = launcher.with_options(
                cluster=(trial.cluster, 1, 1) if trial.cluster else None,
                cooperative=trial.cooperative,
            )
        # In another order the lanes of a warp go apart, and each takes its own steps.
        slower = _SLOWER * 4 if options.get("descending") else _SLOWER if side else 1
        printed = io.StringIO()
        with contextlib.redirect_stdout(printed):
            report = launcher(
                *inputs.arguments, memory=memory or inputs.memory, threads=1,
                step_limit=_STEPS * (1 + trial.cooperative) * slower,
                time_limit=seconds, count=True, **options,
            )  # fmt: skip
        surfaces = [s.array.tobytes() for s in inputs.surfaces]
        for surface, before in zip(inputs.surfaces, textures, strict=True):
            if surface.writable:
                surface.array[...] = before
        events: Counter[str] = Counter()
        orders: Counter[Order] = Counter()
        loads = stored = wide = narrow = 0
        for node, count in report.counts:
            order = order_of(node) if count else None
            if order is not None:
                orders[order] += count
            if node.name in ("mul", "mad"):
                kind = product(node)
                wide += count * (kind == "wide")
                narrow += count * (kind == "narrow")
            if node.name in _COUNTED:
                events[_COUNTED[node.name]] += count
            elif _loads(node):
                loads += count
            elif node.name == "st" and not _PRIVATE.intersection(node.modifiers):
                stored += count * stored_bytes(node)
        return _Outcome(
            [arena.whole.tobytes() for arena in inputs.arenas],
            {name: loaded.variable(name).tobytes() for name in held},
            surfaces,
            report.output,
            +events,
            loads,
            stored,
            orders,
            (wide, narrow),
            report,
        )

    def _set_variables(self, loaded: CpuModule, inputs: Inputs) -> list[str]:
        """Give every variable of the module its value again; their names."""
        known = {d.name for v in loaded.module.variables for d in v.declarators}
        names = [name for name in self.variables if name in known]
        for name in names:
            array = loaded.variable(name)
            start = self._initial.setdefault((id(loaded), name), array.copy())
            value = inputs.variables.get(name, start)
            if value.size == array.size:
                array[:] = value
        return names

    def _before(self, name: str, inputs: Inputs) -> bytes:
        """What a variable of the original held at the start."""
        start = self._initial[(id(self.loaded[0]), name)]
        return bytes(inputs.variables.get(name, start).tobytes())

    def _races(self, trial: Trial, inputs: Inputs) -> str | None:
        """What a sanitizer finds in the candidate and not in the original."""
        found = []
        for side in (0, 1):
            try:
                report = self._outcome(
                    side, trial, inputs, seconds=_PATIENT if side else _SECONDS, sanitize="report"
                ).report
            except PtxkitError as error:
                if side == 0:
                    return None
                return f"under the sanitizer the candidate fails: {_first_line(error)}"
            found.append({f.kind for f in report.findings if f.severity != "note"})
        new = sorted(found[1] - found[0])
        return f"the candidate alone has a {new[0]}" if new else None

    # ---- comparing -------------------------------------------------------------------------

    def _difference(self, first: _Outcome, second: _Outcome, inputs: Inputs) -> str | None:
        for arena, a, b in zip(inputs.arenas, first.memory, second.memory, strict=True):
            if a != b:
                return _where(arena, a, b)
        for name, data in first.variables.items():
            if second.variables.get(name) != data and (
                name in second.variables or data != self._before(name, inputs)
            ):
                return f"the variable '{name}' differs"
        for a, b in zip(first.surfaces, second.surfaces, strict=True):
            if a != b:
                return "a surface differs"
        if first.output != second.output:
            return f"what is printed differs: {second.output[:60]!r} for {first.output[:60]!r}"
        for what in {**first.events, **second.events}:
            if first.events[what] != second.events[what]:
                return f"there are {second.events[what]:,} {what} for {first.events[what]:,}"
        return None

    def _depends_on_order(
        self, trial: Trial, inputs: Inputs, first: _Outcome, second: _Outcome
    ) -> bool:
        """Whether all that differs is what the original leaves otherwise in another order, too.

        Who writes last where several threads write, or reads before another has written, is up to
        the order in which they run: such a launch says nothing.
        """
        try:
            again = self._outcome(0, trial, inputs, seconds=_PATIENT, descending=True)
        except PtxkitError:
            return False
        held = {name: self._before(name, inputs) for name in first.variables}
        return self._is_order(first, second, again, held)

    def _is_order(
        self, first: _Outcome, second: _Outcome, again: _Outcome, held: dict[str, bytes]
    ) -> bool:
        """Whether the second differs only where the first does so in another order, too.

        ``held`` are the variables at the start: one that a candidate does not have stays so.
        """
        pairs = [(first.output.encode(), second.output.encode(), again.output.encode())]
        for what in ("memory", "surfaces"):
            outcomes = (getattr(one, what) for one in (first, second, again))
            pairs += list(zip(*outcomes, strict=True))
        for name, data in first.variables.items():
            pairs.append((data, second.variables.get(name, held[name]), again.variables[name]))
        counted = [(first.events[w], second.events[w], again.events[w]) for w in second.events]
        return all(a == b or a != c for a, b, c in counted) and all(map(_settled, pairs))

    def _doubt(self, first: _Outcome, second: _Outcome) -> str | None:
        """Why they may differ though they did not in a launch."""
        less = weaker(first.orders, second.orders)
        if less:
            return less
        if second.products[0] < first.products[0] and second.products[1] > first.products[1]:
            # Indices that would overflow are beyond all memory that there is to try them with.
            return "it multiplies in 32 bits what the original does in 64"
        if second.stored > first.stored:
            # What is written twice is the same only as long as nobody reads it in between.
            return f"it writes {second.stored:,} bytes for {first.stored:,}"
        if second.loads > first.loads and self.load_sites[0] == self.load_sites[1]:
            # As many loads are written down, but a loop takes a turn more, or a guard is gone.
            return f"it loads {second.loads:,} times for {first.loads:,}"
        return None


def _settled(outcomes: tuple[bytes, bytes, bytes]) -> bool:
    """Whether the second differs from the first only where the third does, too, or near that.

    Numbers that depend on the order are the same in two orders by chance now and then.
    """
    first, second, again = (np.frombuffer(one, np.uint8) for one in outcomes)
    if not len(first) == len(second) == len(again):
        return outcomes[0] == outcomes[1] or outcomes[0] != outcomes[2]
    wrong, unsettled = (np.unique(np.nonzero(first != o)[0] // _NEAR) for o in (second, again))
    return bool(np.isin(wrong, unsettled).all())


def _where(arena: Any, a: bytes, b: bytes) -> str:
    place = int(np.nonzero(np.frombuffer(a, np.uint8) != np.frombuffer(b, np.uint8))[0][0])
    offset = place - arena.start
    word = slice(place - place % 4, place - place % 4 + 4)
    return (
        f"the memory of '{arena.origin}' differs at byte {offset}: "
        f"{b[word][::-1].hex()} instead of {a[word][::-1].hex()}"
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


def _warps(trial: Trial) -> int:
    return math.prod(trial.grid) * -(-math.prod(trial.block) // 32)


def _loads(node: Instruction) -> bool:
    return node.name == "ld" and ".global" in node.modifiers


def _kind(error: PtxkitError) -> str:
    return error.kind if isinstance(error, SimulationError) else _first_line(error)


def _said(error: SimulationError) -> str:
    """What an assertion says, without the name of the kernel."""
    return error.diagnostic.message.rpartition(" (in '")[0]


def _first_line(error: Exception) -> str:
    return str(error).partition("\n")[0]


def seen_to_differ(
    original: Module, candidate: Module, kernel: str, other: str | None = None, launches: int = 16
) -> str:
    """What a few launches show to be different; nothing where they show nothing, or cannot run.

    A proof is only as good as its rules: what it says must not be contradicted by a run.
    """
    try:
        comparison = Comparison(original, candidate, kernel, other or kernel)
        for trial in trials(comparison.usage, comparison.kernels[0].rules, launches):
            found = comparison._trial(trial)
            if isinstance(found, Execution) and found.different:
                return found.reason
    except PtxkitError:
        return ""
    return ""


def same_execution(
    original: Module,
    candidate: Module,
    kernel: str,
    other: str | None = None,
    *,
    wanted: int = WANTED,
    most: int = MOST,
    device: str = "cpu",
    known: list[Trial] | None = None,
) -> Execution:
    """Run two kernels on the same inputs and compare what they leave behind, bit for bit.

    The simulator runs them; with ``device="cuda"`` a GPU runs some of the launches, too. A list of
    ``known`` launches, empty at first, spares looking for them again with other candidates.

    >>> import ptxkit
    >>> text = '''.version 8.0
    ... .target sm_80
    ... .address_size 64
    ... .visible .entry k(.param .u64 .ptr x) {
    ...     .reg .b32 %r<3>;
    ...     .reg .b64 %rd<4>;
    ...     ld.param.u64 %rd1, [x];
    ...     mov.u32 %r1, %tid.x;
    ...     mul.wide.u32 %rd2, %r1, 4;
    ...     add.u64 %rd3, %rd1, %rd2;
    ...     ld.global.u32 %r2, [%rd3];
    ...     add.u32 %r2, %r2, 7;
    ...     st.global.u32 [%rd3], %r2;
    ...     ret;
    ... }'''
    >>> m, wrong = ptxkit.parse(text), ptxkit.parse(text.replace("7;", "8;"))
    >>> same_execution(m, m, "k").equal
    True
    >>> same_execution(m, wrong, "k").reason
    "with small numbers, ... the memory of 'x' differs at byte 0: ..."
    """
    if device not in DEVICES:
        raise UnknownNameError("device", device, DEVICES)
    try:
        comparison = Comparison(original, candidate, kernel, other or kernel, known)
    except PtxkitError as error:
        return Execution(False, f"the simulator cannot run it: {_first_line(error)}")
    found = comparison.run(wanted, most)
    return comparison.on_gpu(found) if device == "cuda" and found.equal else found
