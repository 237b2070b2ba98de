"""E3: two kernels leave the same bits behind, for every launch that was tried.

The original decides what a launch is worth: one that makes it fault, or run too long, says
nothing and is left out. Everything a kernel leaves behind is compared: all memory with its guard
zones, the module's variables, surfaces, what it printed, and how often threads waited at
barriers, fenced or updated atomically. Instructions that never ran are not covered by such a
comparison; they must then be the same in both, or nothing is claimed.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from itertools import chain, islice
from typing import Any

from ptxkit.decompiler.budget import UNLIMITED, Budget, OverdueError
from ptxkit.decompiler.verify.aliases import aliased_trials, lone_trials, meeting_trials
from ptxkit.decompiler.verify.dead import dead_blocks
from ptxkit.decompiler.verify.dropped import leaves_out
from ptxkit.decompiler.verify.gpu import LAUNCHES, OnGpu
from ptxkit.decompiler.verify.looking import Looking
from ptxkit.decompiler.verify.outcome import Side
from ptxkit.decompiler.verify.pair import Against, Pair, first_line
from ptxkit.decompiler.verify.ranges import (
    deep_trials,
    ending_trials,
    extreme_trials,
    large_trials,
    marked_trials,
    missing_trials,
    wide_trials,
)
from ptxkit.decompiler.verify.trials import (
    Experience,
    Trial,
    alone,
    block_shapes,
    crowded,
    full,
    lonely,
    single,
    trials,
)
from ptxkit.decompiler.verify.unreached import Ground, ground
from ptxkit.decompiler.verify.unseen import fused_otherwise, hidden
from ptxkit.errors import PtxkitError, UnknownNameError
from ptxkit.syntax import Instruction, Module

#: Where kernels can be run.
DEVICES = ("cpu", "cuda")
#: Launches that must say something, and launches to try at most.
WANTED, MOST = 40, 240
#: What launches cost after which half of those that are wanted will do: seconds as they are on most
#: machines, see `outcome`, so that a busy or slow one claims what a quiet one does.
_BUDGET = 3.0
#: And after which no more are tried: where most say nothing, as many more will not either.
_LONGEST = 15.0
#: The same for the search of launches that reach more, and how many in vain end it.
_SEARCH, _VAIN = 3.0, 1000
#: The same for sizes where numbers end, and seconds for one such launch.
_EXTREME, _SHORT = 1.0, 0.1
#: The same for sides of instructions that only one of the two has.
_AIMED, _AIMED_VAIN, _AIMED_SWEPT = 5.0, 150, 600
#: A second search for the same kernel takes that part of the time of the first.
_AGAIN = 0.25
#: And that part of the launches that are looked at.
_LESS = 0.5
#: What all sizes are multiples of, one after another, where accesses are misaligned otherwise.
_MULTIPLES = (1, 4, 16)
#: After so many faults a shape of blocks is not tried again.
_FAULTS = 2
#: Launches from which larger ones start.
_STARTS = 3
#: What launches with memory that pointers share cost at most; as much do those of which the order
#: of threads matters.
_ALIASED = 1.5
#: Launches for which the memory that the original touches is looked for.
_BOUNDED = 10


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
    hopeless: bool = False
    """Whether nothing is claimed because of the original itself: no candidate will do better."""
    unordered: bool = False
    """Whether the original alone leaves other bits behind when its last blocks run first."""


class Comparison:
    """The launches that two kernels are compared on, and what comes of them."""

    def __init__(self, pair: Pair, known: Experience | None = None) -> None:
        self.pair = pair
        self.looking = Looking(pair)
        self.known = Experience() if known is None else known
        """Launches with other candidates; new ones are put there, too."""
        self.late = False
        """Whether it took too long to try as many launches as are wanted."""
        self.multiple = self.misaligned = 0
        """Which of the multiples sizes are; launches that were misaligned before that."""
        self.hidden: list[tuple[bool, Instruction]] = []
        """Instructions of which no launch has shown a side, and that only one of the two has."""
        self.last: Trial
        """The last launch."""
        self._found: tuple[tuple[int, ...], Ground] | None = None
        self.outside = 0
        """Launches that went beyond their memory before there was more of it."""

    def run(self, wanted: int = WANTED, most: int = MOST) -> Execution:
        """Compare on as many launches as are wanted, more where some code has not run yet."""
        mismatch = self.pair.signature()
        if mismatch:
            return Execution(False, mismatch, different=True)
        ways = (
            self._again(),
            self._usual(wanted, most),
            self._crowded(),
            self._search(),
            self._large(),
            self._extreme(),
            self._unreached(wanted),
            self._outside(),
            self._aliased(),
        )
        try:
            for against in chain.from_iterable(ways):
                if against.seen and self.last not in self.known.telling:
                    self.known.telling.append(self.last)
                return self._done(False, against.reason, against.seen)
            return self._verdict(wanted)
        except OverdueError as error:
            return self._done(False, f"{error}, and nothing differed until then")

    def _again(self) -> Iterator[Against]:
        """What told other candidates apart, or reached something with them, first.

        Where code of the original was not reached by any of that, and a candidate was refused for
        it, more seldom reaches it: one that does something else there is not run any further.
        """
        known = self.known
        for trial in (*reversed(known.telling), *known.reached):
            outcome = self._launch(trial)
            if isinstance(outcome, Against):
                yield outcome
        if not known.unreached or self.pair.coverage[0].complete:
            return
        self._find_dead()
        self.looking.part = _LESS
        if not self.pair.coverage[0].complete and not self._ground().name:
            yield Against(self._ground().reason, seen=False)

    def _launch(self, trial: Trial) -> Against | str:
        """One launch of both, with sizes that accesses seem to need."""
        self.last = self._aligned(trial)
        return self.pair.launch(self.last)

    def _unreached(self, wanted: int) -> Iterator[Against]:
        """What speaks against it in code that has not run: what follows seldom reaches more."""
        enough = len(self.pair.tried) >= self._least(wanted)
        if enough and not self._ground().name:
            self.known.unreached = True
            yield Against(self._ground().reason, seen=False)

    def _ground(self) -> Ground:
        """What can be said about code that has not run; the same until more of it has."""
        now = tuple(len(covered.ran) for covered in self.pair.coverage)
        if self._found is None or self._found[0] != now:
            found = ground(*self.pair.coverage, self.looking.look, self.pair.budget)
            self._found = now, found
        return self._found[1]

    def _least(self, wanted: int) -> int:
        """How many launches must say something."""
        return wanted // 2 if self.late else min(wanted, 4)

    def _find_dead(self) -> None:
        for side, covered in enumerate(self.pair.coverage):
            covered.dead = dead_blocks(covered, self.pair.budget, original=side == 0)

    def _usual(self, wanted: int, most: int) -> Iterator[Against]:
        """The launches that are tried with every kernel; what speaks against the candidate."""
        pair, tried = self.pair, self.pair.tried
        faults: Counter[Any] = Counter()
        end = self.pair.cost + _BUDGET
        several = len(block_shapes(pair.usage, pair.rules)) > 1
        for trial in trials(pair.usage, pair.rules, most):
            if len(tried) >= self._patience() * wanted:
                break
            if len(tried) >= wanted // 2 and self.pair.cost > end:
                break
            if self.pair.cost > end - _BUDGET + _LONGEST:
                self.late = True
                break
            if several and faults[trial.block] >= _FAULTS:
                # It is not made for such blocks: what is left of the trial with one that it takes.
                good = list(dict.fromkeys(t.block for t in tried))
                if good and trial.block not in good:
                    trial = replace(trial, block=good[trial.number % len(good)])
                elif not good:
                    continue
            outcome = self._launch(trial)
            if isinstance(outcome, Against):
                yield outcome
            faults[trial.block] += outcome in ("bounds", "misaligned")
            if (outcome == "misaligned" and self._realign()) or (
                outcome == "bounds" and self._enlarge()
            ):
                faults.clear()

    def _crowded(self) -> Iterator[Against]:
        """Launches of full blocks, of one, and where the order matters those of many threads."""
        pair = self.pair
        end = pair.cost + _ALIASED
        starts = [trial for trial in pair.tried if min(trial.sizes, default=1) > 0][-1:]
        more = chain(lonely(pair.rules, starts), crowded(pair.rules, starts))
        # Where launches take long there is no time for these.
        usual = () if self.late else tuple(pair.tried)
        few = chain(single(pair.usage, usual), full(usual), alone(starts))
        for trial in chain(few, more if pair.unordered else ()):
            if pair.cost > end:
                break
            outcome = self._launch(trial)
            if isinstance(outcome, Against):
                yield outcome

    def _patience(self) -> int:
        """How many times the launches that are wanted are worth trying."""
        coverage, sides = self.pair.coverage, self.pair.sides
        if self.pair.other_loads or not all(covered.complete for covered in coverage):
            return 4
        if sides[0].dialect.signs != sides[1].dialect.signs:
            return 3  # only few numbers tell signed from unsigned, or less from not greater
        return 2 if any(covered.one_sided() for covered in coverage) else 1

    def _search(self) -> Iterator[Against]:
        """Look for launches that run what none has run."""
        pair = self.pair
        known = self.known.reached
        part = _AGAIN if known else 1.0
        end = self.pair.cost + part * _SEARCH
        vain = 0
        self._find_dead()
        for trial in pair.search.launches():
            if self._all_reached() or vain > part * _VAIN or self.pair.cost > end:
                break
            if vain > part * _VAIN / 8 and all(covered.complete for covered in pair.coverage):
                break  # what is left are branches that go one way, as many do
            reached = len(pair.search.pool)
            outcome = self._launch(trial)
            if isinstance(outcome, Against):
                yield outcome
            vain = vain + 1 if len(pair.search.pool) == reached else 0
        known += [trial for trial in pair.search.pool if trial not in known]

    def _all_reached(self) -> bool:
        return all(c.complete and not c.one_sided() for c in self.pair.coverage)

    def _aligned(self, trial: Trial) -> Trial:
        """The trial with sizes that are multiples of what accesses seem to need."""
        by = _MULTIPLES[self.multiple]
        sizes = tuple(-(-size // by) * by for size in trial.sizes)
        return replace(trial, sizes=sizes, multiple=by)

    def _realign(self) -> bool:
        """Ask for sizes that are larger multiples, if most launches were misaligned so far."""
        count = self.pair.skipped["misaligned"] - self.misaligned
        if (
            count < 2 * _FAULTS
            or len(self.pair.tried) > count
            or self.multiple + 1 == len(_MULTIPLES)
        ):
            return False
        self.misaligned += count
        self.multiple += 1
        return True

    def _enlarge(self) -> bool:
        """Ask for more memory, if most launches went beyond what there was so far."""
        count = self.pair.skipped["out-of-bounds"] - self.outside
        if count < 2 * _FAULTS or len(self.pair.tried) > count:
            return False
        self.outside += count
        return self.pair.maker.grow()

    def _outside(self) -> Iterator[Against]:
        """Some launches with no more memory than the original touches."""
        end = self.pair.cost + _BUDGET / 4
        for trial in self.pair.tried[:_BOUNDED]:
            if self.pair.cost > end:
                break
            outside = self.pair.outside(trial)
            if outside is not None:
                yield outside

    def _aliased(self) -> Iterator[Against]:
        """Launches that reached something, with pointers to the same memory."""
        pair = self.pair
        end = pair.cost + _ALIASED
        usual = aliased_trials(pair.usage, pair.rules, pair.search.pool)
        for trial in chain(self._meeting(), usual):
            if self.pair.cost > end:
                break
            outcome = pair.launch(trial)
            if isinstance(outcome, Against):
                yield outcome

    def _meeting(self) -> Iterator[Trial]:
        """Launches of one thread that reads through one pointer what it wrote through another."""
        pair = self.pair
        several = len(pair.usage.pointers) > 1
        for start in lone_trials(pair.rules, pair.search.pool) if several else ():
            yield from meeting_trials(pair.usage, start, self.looking.touched(start))

    def _large(self) -> Iterator[Against]:
        """Launches that are larger than people's, or have sizes that the code compares with."""
        pair = self.pair
        blocks = list(dict.fromkeys(t.block for t in pair.tried))
        if not blocks or any(t.cooperative or t.cluster for t in pair.tried):
            return
        starts = [t for t in pair.search.pool if not t.instead][-_STARTS:]
        groups = chain(
            ([trial] for trial in large_trials(pair.usage, pair.rules, blocks)),
            marked_trials(pair.usage, pair.rules, blocks),
            deep_trials(pair.usage, pair.rules, starts),
            wide_trials(pair.usage, starts),
            missing_trials(pair.usage, starts),
        )
        end = self.pair.cost + _BUDGET
        for trial in chain.from_iterable(groups):
            if self.pair.cost > end:
                break
            outcome = pair.launch(trial)
            if isinstance(outcome, Against):
                yield outcome

    def _extreme(self) -> Iterator[Against]:
        """Launches with numbers where these end; what runs for long with them says nothing."""
        pair = self.pair
        end = pair.cost + _EXTREME
        starts = [self._aligned(t) for t in pair.search.pool if not t.instead]
        for trial in chain(ending_trials(pair.usage, starts), extreme_trials(pair.usage, starts)):
            if pair.cost > end:
                break
            self.last = trial
            outcome = pair.launch(trial, seconds=_SHORT)
            if isinstance(outcome, Against):
                yield outcome

    def _aimed(self) -> Iterator[Against]:
        """Look for launches that show sides of instructions which only one of the two has."""
        pair = self.pair
        self.hidden = self.looking.unmatched()
        end, vain = self.pair.cost + _AIMED, 0
        left = self._still_hidden()
        swept = list(islice(pair.search.swept(self._aligned), _AIMED_SWEPT)) if left else []
        others = map(self._aligned, pair.search.launches()) if left else ()
        for trial in chain(swept, others):
            if not left or vain > len(swept) + _AIMED_VAIN or self.pair.cost > end:
                break
            self.last = trial
            outcome = pair.launch(trial)
            if isinstance(outcome, Against):
                yield outcome
            before, left = left, self._still_hidden()
            vain = vain + 1 if len(left) == len(before) else 0
        if len(left) < len(self.hidden):
            self.hidden = self.looking.unmatched()

    def _still_hidden(self) -> list[tuple[bool, Instruction]]:
        hiding = [covered.hiding() for covered in self.pair.coverage]
        one_sided = [{b.span[0] for b in covered.one_sided()} for covered in self.pair.coverage]
        return [
            (theirs, one)
            for theirs, one in self.hidden
            if one.span[0] in hiding[theirs] or one.span[0] in one_sided[theirs]
        ]

    def _verdict(self, wanted: int) -> Execution:
        pair = self.pair
        if len(pair.tried) < self._least(wanted):
            reasons = ", ".join(f"{n} times {k}" for k, n in pair.skipped.most_common(3))
            why = f"only {len(pair.tried)} launches said something ({reasons or 'none was made'})"
            if self.late:
                why += ", and more would take too long"
            return self._done(False, why, hopeless=True)
        if not pair.coverage[0].wrote:
            return self._done(False, "no launch wrote anything", hopeless=True)
        if pair.always_raced:
            why = "the two differ where threads race, which they do in all launches with so many"
            return self._done(False, why)
        found = self._ground()
        foreign = pair.sides[0].dialect.foreign(pair.sides[1].dialect)
        foreign = foreign or leaves_out(*pair.coverage, pair.sides[0].dialect.is_narrow)
        if pair.trusts_more:
            foreign = foreign or "takes memory behind a pointer for constant"
        if pair.wider:
            foreign = foreign or "takes more bytes at once behind a pointer"
        if found.name and foreign:
            why = f"nothing differed, but it {foreign}, as the original does not"
            return self._done(False, why)
        unseen = hidden(*(covered.instructions() for covered in pair.coverage))
        unseen = unseen or fused_otherwise(*(covered.functions for covered in pair.coverage))
        if found.name and unseen:
            return self._done(False, f"nothing differed, but {unseen}")
        if found.name:
            for against in self._aimed():
                return self._done(False, against.reason, against.seen)
        if found.name and self.hidden:
            return self._done(False, _hidden(self.hidden))
        looks = (
            self.looking.misordered, self.looking.resigned, self.looking.reads_junk,
            self.looking.used_otherwise,
        )  # fmt: skip
        elsewhere = next(filter(None, (look() for look in looks)), "") if found.name else ""
        if elsewhere:
            return self._done(False, f"nothing differed, but {elsewhere}")
        table = pair.missing_table() if found.name else ""
        if table:
            why = f"nothing differed, but what '{table}' begins with is nowhere in the candidate"
            return self._done(False, why)
        return self._done(bool(found.name), found.reason, ground=found.name)

    def _done(
        self,
        equal: bool,
        reason: str,
        different: bool = False,
        ground: str = "",
        hopeless: bool = False,
    ) -> Execution:
        pair = self.pair
        return Execution(
            equal,
            reason,
            tuple(pair.tried),
            pair.skipped.total(),
            pair.coverage[0].share,
            different,
            ground,
            tuple(branch.line for branch in pair.coverage[0].one_sided()),
            0,
            pair.skipped,
            hopeless,
            pair.unordered > 0,
        )

    def on_gpu(self, found: Execution) -> Execution:
        """Repeat launches that were equal on the GPU."""
        pair = self.pair
        gpu = OnGpu(
            (pair.sides[0].module, pair.sides[1].module),
            (pair.sides[0].name, pair.sides[1].name),
            pair.parameters,
            pair.usage,
            pair.variables,
            pair.uninitialised,
        )
        gpu.maker.data = pair.maker.data
        # Threads that share memory race for it, and a GPU runs them in an order of its own.
        tried = [trial for trial in found.tried if not trial.shares]
        step = max(1, len(tried) // LAUNCHES)
        count = 0
        try:
            for trial in tried[::step]:
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


_SIDE = "always took the same side"
#: What else an instruction did not show.
_SHOWED = {
    "setp": "was never near to where it turns",
    **dict.fromkeys(
        ("atom", "red", "vote", "match", "redux", "shfl"), "shows little of what it is given"
    ),
}


def _hidden(unmatched: list[tuple[bool, Instruction]]) -> str:
    """What was never seen of instructions that only one of two programs has."""
    theirs, one = unmatched[0]
    programs = ("the original", "the candidate")
    owner, other = reversed(programs) if theirs else programs
    more = f", and {len(unmatched) - 1} more" if len(unmatched) > 1 else ""
    showed = _SHOWED.get(one.name, _SIDE)
    return (
        f"nothing differed, but '{one.opcode}' in line {one.line} of {owner} {showed}, "
        f"and {other} has none like it{more}"
    )


def seen_to_differ(
    original: Module,
    candidate: Module,
    kernel: str,
    other: str | None = None,
    launches: int = 16,
    budget: Budget = UNLIMITED,
) -> str:
    """What a few launches show to be different; nothing where they show nothing, or cannot run.

    A proof is only as good as its rules: what it says must not be contradicted by a run. Nothing is
    said, either, where the time of the ``budget`` is over.
    """
    try:
        pair = Pair(original, candidate, kernel, other or kernel, budget)
        for trial in trials(pair.usage, pair.rules, launches):
            found = pair.launch(trial)
            if isinstance(found, Against) and found.seen:
                return found.reason
    except (PtxkitError, OverdueError):
        return ""
    return ""


def _can_run(module: Module, kernel: str) -> bool:
    """Whether the simulator takes a kernel at all."""
    try:
        return Side(module, kernel).kernel is not None
    except PtxkitError:
        return False


def same_execution(
    original: Module,
    candidate: Module,
    kernel: str,
    other: str | None = None,
    *,
    wanted: int = WANTED,
    most: int = MOST,
    device: str = "cpu",
    known: Experience | None = None,
    budget: Budget = UNLIMITED,
) -> Execution:
    """Run two kernels on the same inputs and compare what they leave behind, bit for bit.

    The simulator runs them; with ``device="cuda"`` a GPU runs some of the launches, too. What is
    ``known`` of launches, nothing at first, spares looking for them again with other candidates.
    Nothing is claimed where the time of the ``budget`` is over before the end.

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
        comparison = Comparison(Pair(original, candidate, kernel, other or kernel, budget), known)
    except PtxkitError as error:
        why = f"the simulator cannot run it: {first_line(error)}"
        return Execution(False, why, hopeless=not _can_run(original, kernel))
    found = comparison.run(wanted, most)
    return comparison.on_gpu(found) if device == "cuda" and found.equal else found
