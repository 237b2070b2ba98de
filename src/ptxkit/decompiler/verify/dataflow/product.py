"""Two functions side by side: where they meet, and what is equal there.

They meet at the entry, and then wherever both come to the header of a loop at the same time. A
loop of one function may meet several of the other: a compiler makes two of one to ask a question
outside. What is known at such a place is first taken to be as much as the ways that lead to it
allow, and given up piece by piece until it holds on all of them.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import partial
from itertools import count
from math import inf

from ptxkit.decompiler.budget import UNLIMITED, Budget
from ptxkit.decompiler.verify.dataflow.agreement import Agreement
from ptxkit.decompiler.verify.dataflow.bits import part
from ptxkit.decompiler.verify.dataflow.bounds import as_signed
from ptxkit.decompiler.verify.dataflow.cuts import JOINT
from ptxkit.decompiler.verify.dataflow.decisions import Decisions, Diagram
from ptxkit.decompiler.verify.dataflow.decode import Register
from ptxkit.decompiler.verify.dataflow.limits import Limits
from ptxkit.decompiler.verify.dataflow.regions import RETURN, Executor, Program, Region
from ptxkit.decompiler.verify.dataflow.rewrite import Rewriter
from ptxkit.decompiler.verify.dataflow.semantics import State
from ptxkit.decompiler.verify.dataflow.terms import GiveUpError, Term, Terms
from ptxkit.decompiler.verify.dataflow.timeless import Timeless
from ptxkit.decompiler.verify.dataflow.touched import touches_more
from ptxkit.isa.types import SCALAR_TYPES

_ROUNDS = 60
#: Cases in all, at most; where there are few in each piece there may be many pieces.
_CASES, _NARROW_CASES = 50_000, 150_000
#: Loops of one function that a loop of the other may meet, on average.
_PARTNERS = 3

Name = tuple[int, Register]
"""A register of one of the two sides."""


@dataclass(slots=True, eq=False)
class Meeting:
    """Two blocks at which both functions are at the same time."""

    number: int
    blocks: tuple[int, int]
    known: Diagram
    """What holds whenever they meet here."""
    timeless: dict[Name, Diagram] = field(default_factory=dict)
    """Registers that hold what they held before the loop."""
    classes: dict[Name, int] = field(default_factory=dict)
    """The others; those of a class are equal."""
    derived: dict[Name, Diagram] = field(default_factory=dict)
    """Of those that are equal to none of the other side, what they are made of."""
    steps: dict[Name, int] = field(default_factory=dict)
    """What a turn of the loop adds to them."""
    limits: dict[int, tuple[int] | tuple[()]] = field(default_factory=dict)
    """What those of a class are never above, where something is known of that."""
    grown: set[int] = field(default_factory=set)
    """Classes that were found to be above what was noted first."""
    opaque: set[Name] = field(default_factory=set)
    """Those of which that cannot be told."""
    regions: tuple[Region, Region] | None = None
    stale: bool = True
    """Whether less holds by now than the regions were executed with."""


@dataclass(frozen=True, slots=True)
class Way:
    """What leads from one meeting to the next, or to an end."""

    source: Meeting
    targets: tuple[int, int]
    states: tuple[State, State]
    condition: Diagram


def _fresh(ways: list[Way]) -> list[Way]:
    return [way for way in ways if not way.source.stale]


class Product:
    """Both functions, and their meetings."""

    def __init__(
        self,
        programs: tuple[Program, Program],
        cases: int | None = None,
        narrow: bool = False,
        work: float = inf,
        budget: Budget = UNLIMITED,
    ) -> None:
        """With ``cases``, values of more of them are one term each.

        With ``narrow``, values are told only for where control is. It gives up after so much
        ``work``.
        """
        self.programs = programs
        read = programs[0].arguments | programs[1].arguments
        self.terms = Terms(special=programs[0].special, arguments=read, budget=budget)
        most = _NARROW_CASES if narrow else _CASES
        self.decisions = Decisions(self.terms, cases, most, work)
        self.timeless = Timeless(self.decisions)
        self.narrow = narrow
        self.agreement = Agreement(self.decisions, self.timeless)
        self.limits = Limits(self.decisions)
        self._solved: dict[Diagram, Rewriter | None] = {}
        self._contradicts: dict[Diagram, bool] = {}
        self.executors = [
            Executor(p, self.terms, self.decisions, narrow, original=side == 0)
            for side, p in enumerate(programs)
        ]
        entry = Meeting(0, (programs[0].entry, programs[1].entry), self.decisions.true)
        self.entry = entry
        self.meetings: dict[tuple[int, int] | None, Meeting] = {None: entry}
        self.headers = tuple(frozenset(p.headers) for p in programs)
        most = max(len(p.headers) for p in programs)
        self._most = 1 + _PARTNERS * most
        self._numbers = count(1)

    def settle(self) -> str:
        """Find all meetings and what holds there; why there is no telling."""
        changed = [self.entry]
        for _ in range(_ROUNDS + max(map(len, self.headers))):
            for meeting in changed:
                self.decisions.check()
                self._execute(meeting)
            changed = []
            for blocks, ways in self._arrivals().items():
                meeting = self._meeting(blocks)
                self.decisions.check()
                fresh = _fresh(ways)
                if fresh and self._refine(meeting, fresh):
                    meeting.stale = True
                    changed.append(meeting)
            if not changed:
                return ""
        return "the loops did not settle"

    def _meeting(self, blocks: tuple[int, int]) -> Meeting:
        if blocks not in self.meetings:
            if len(self.meetings) > self._most:
                raise GiveUpError("the loops do not fit together")
            number = len(self.meetings)
            self.meetings[blocks] = Meeting(number, blocks, self.decisions.false)
        return self.meetings[blocks]

    # ---- executing -------------------------------------------------------------------------

    def _execute(self, meeting: Meeting) -> None:
        memory = self.decisions.leaf(self.terms.make("memory", meeting.number))
        first, second = (
            executor.region(start, memory, partial(self._incoming, meeting, side), meeting.known)
            for side, (executor, start) in enumerate(
                zip(self.executors, meeting.blocks, strict=True)
            )
        )
        meeting.regions = first, second
        meeting.stale = False

    def _incoming(self, meeting: Meeting, side: int, register: Register) -> Diagram:
        """What a register holds at a meeting."""
        name = side, register
        held = meeting.timeless.get(name, meeting.derived.get(name))
        if held is not None:
            return held
        return self._carried(meeting, name)

    def _carried(self, meeting: Meeting, name: Name) -> Diagram:
        side, register = name
        type = self.programs[side].types.get(register, "b32")
        if meeting is self.entry:
            term = self.terms.make("nothing", side, register)
        else:
            width = SCALAR_TYPES[type].width
            known = meeting.classes.get(name)
            what = (side, register) if known is None else known
            most = meeting.limits.get(known or 0, ())
            term = self.terms.make("carried", meeting.number, what, width, *most)
        return self.decisions.ask(term) if type == "pred" else self.decisions.leaf(term)

    def ways(self) -> Iterator[Way]:
        """Everything that control can do between meetings, from those it can come to."""
        reached: list[Meeting] = [self.entry]
        for meeting in reached:
            if meeting.regions is None:
                continue
            first, second = meeting.regions
            for target, state in first.edges.items():
                for other, beside in second.edges.items():
                    condition = self.decisions.both(state.condition, beside.condition)
                    if condition == self.decisions.false:
                        continue
                    found = self.meetings.get((target, other))
                    if found is None and self._never(condition):
                        continue
                    yield Way(meeting, (target, other), (state, beside), condition)
                    found = self.meetings.get((target, other))
                    if found is not None and found not in reached:
                        reached.append(found)

    def _never(self, condition: Diagram) -> bool:
        """Whether a condition contradicts itself: there would be meetings that never are."""
        if condition not in self._contradicts:
            agreement = Agreement(self.decisions, self.timeless)
            self._contradicts[condition] = agreement.never(condition)
        return self._contradicts[condition]

    def meets(self, way: Way) -> bool:
        """Whether a way leads to a meeting, not to an end or nowhere.

        Who is about to do something else does not meet: such a way must contradict itself.
        """
        kinds = {p.begins[t] for t, p in zip(way.targets, self.programs, strict=True)
                 if t in p.begins}  # fmt: skip
        return len(kinds) < 2 and all(
            t in headers for t, headers in zip(way.targets, self.headers, strict=True)
        )

    def _arrivals(self) -> dict[tuple[int, int], list[Way]]:
        found: dict[tuple[int, int], list[Way]] = {}
        for way in self.ways():
            if self.meets(way):
                found.setdefault(way.targets, []).append(way)
        return found

    # ---- what holds at a meeting -----------------------------------------------------------

    def _refine(self, meeting: Meeting, ways: list[Way]) -> bool:
        """Give up what does not hold on all ways to a meeting; whether there was any."""
        self._note_steps(meeting, ways)
        known = meeting.known
        for way in ways:
            known = self.decisions.either(known, self.timeless.known(way.condition))
        changed = known != meeting.known or meeting.regions is None
        meeting.known = known
        left = []
        for name in self._names(meeting):
            if not self._stays(meeting, name, ways):
                changed |= meeting.timeless.pop(name, None) is not None
                left.append(name)
        # What comes from here was found with what has just been given up.
        meeting.stale |= changed
        ways = _fresh(ways) or ways
        groups: dict[tuple[int, ...], int] = {}
        before = dict(meeting.classes)
        for name in left:
            held = [self._held(way, name) for way in ways]
            old = before.get(name, 0)
            width = SCALAR_TYPES[self.programs[name[0]].types.get(name[1], "b32")].width
            values = (self._told(way, h) for way, h in zip(ways, held, strict=True))
            key = (old, width, *values)
            if key not in groups and old and self.narrow:
                # What looks different may be so only in cases that contradict themselves.
                near = (k for k in groups if k[:2] == key[:2])
                same = next((k for k in near if self._agree(ways, k[2:], key[2:])), None)
                if same is not None:
                    groups[key] = groups[same]
            if key not in groups:
                # The first part of a class keeps its number.
                groups[key] = old if old and old not in groups.values() else next(self._numbers)
            changed |= before.get(name) != groups[key]
            meeting.classes[name] = groups[key]
        changed |= self.narrow and self._limit(meeting, ways, left)
        return self._derive(meeting, ways) or changed

    def _limit(self, meeting: Meeting, ways: list[Way], names: list[Name]) -> bool:
        """Note how large numbers can be at a meeting; whether more is possible than before."""
        changed = False
        for c, name in {meeting.classes[name]: name for name in names}.items():
            width = self._width(name)
            if width not in (32, 64) or meeting.limits.get(c) == ():
                continue
            most = -1
            for way in ways:
                held = self.decisions.term(self._told(way, self._held(way, name)))
                if held is None:
                    most = 1 << width
                    break
                most = max(most, self.limits.greatest(way.condition, held, width))
            before = meeting.limits.get(c)
            if before and most <= before[0]:
                continue
            # It grows once, to what a condition says; what grows on has no bound.
            known = most < (1 << width) - 1 and c not in meeting.grown
            if before is not None:
                meeting.grown.add(c)
            meeting.limits[c] = (most,) if known else ()
            changed |= before != meeting.limits[c]
        return changed

    def _agree(self, ways: list[Way], first: Sequence[Diagram], second: Sequence[Diagram]) -> bool:
        """Whether values are equal in all cases that there can be, on some ways."""
        return all(
            Agreement(self.decisions, self.timeless).same(
                self._under(way.condition, a), self._under(way.condition, b)
            )
            for way, a, b in zip(ways, first, second, strict=True)
        )

    def _derive(self, meeting: Meeting, ways: list[Way]) -> bool:
        """Write what only one side holds in words of what both do; whether that has changed."""
        left = {name: c for name, c in meeting.classes.items() if name not in meeting.timeless}
        both = {c for (side, _), c in left.items() if side} & {
            c for (side, _), c in left.items() if not side
        }
        shared = [name for name, c in left.items() if c in both]
        others = [name for name, c in left.items() if c not in both and name[0] == 0]
        theirs = [name for name, c in left.items() if c not in both and name[0] == 1]
        rewriters = [self._rewriter(meeting, way, shared) for way in ways]
        known = [(rewriters, rewriters)]
        if self.narrow:
            known.append(
                (
                    [self._rewriter(meeting, way, [*shared, *theirs]) for way in ways],
                    [self._rewriter(meeting, way, [*shared, *others]) for way in ways],
                )
            )
        changed = False
        for name, c in left.items():
            if name in meeting.opaque:
                continue
            made = None
            if c not in both:
                # What a turn changes goes along with something else that it changes, if anything.
                free = [one for one in others if one not in meeting.derived]
                beside = [*shared, *free] if name[0] == 1 else shared
                made = self._in_step(meeting, ways, name, beside)
                for rewriters in (both_sides[name[0]] for both_sides in known):
                    if made is not None:
                        break
                    found = {
                        rewriter.diagram(self._held(way, name))
                        for way, rewriter in zip(ways, rewriters, strict=True)
                    }
                    made = found.pop() if len(found) == 1 else None
                if made is None and self.narrow and self._width(name) == 32:
                    wholes = [*shared, *(others if name[0] else theirs)]
                    made = self._half(meeting, ways, name, wholes)
            changed |= made != meeting.derived.get(name)
            if made is not None:
                meeting.derived[name] = made
            else:
                meeting.derived.pop(name, None)
                if c not in both:
                    meeting.opaque.add(name)
        return changed

    def _in_step(
        self, meeting: Meeting, ways: list[Way], name: Name, others: list[Name]
    ) -> Diagram | None:
        """A register as a multiple of one of some others, and something that stays."""
        by = meeting.steps.get(name)
        for other in others if by else ():
            step = meeting.steps.get(other)
            width = self._width(name)
            if not step or by is None or by % step or self._width(other) != width:
                continue
            rest: set[Term | None] = set()
            for way in ways:
                pair = [self.decisions.term(self._held(way, one)) for one in (name, other)]
                if pair[0] is None or pair[1] is None:
                    return None
                scaled = self.terms.scale(width, pair[1], by // step)
                rest.add(self.terms.add(width, pair[0], scaled, -1))
            left = rest.pop() if len(rest) == 1 else None
            word = self.decisions.term(self._carried(meeting, other))
            if left is not None and word is not None and self.timeless.term(left):
                scaled = self.terms.scale(width, word, by // step)
                return self.decisions.leaf(self.terms.add(width, scaled, left))
        return None

    def _half(
        self, meeting: Meeting, ways: list[Way], name: Name, wholes: list[Name]
    ) -> Diagram | None:
        """A register as the lower or upper half of another one."""
        held = [self._told(way, self._held(way, name)) for way in ways]
        for whole in wholes:
            if self._width(whole) != 64:
                continue
            for place in (0, 1):
                parts = (self._told(way, self._part(self._held(way, whole), place)) for way in ways)
                if all(one == other for one, other in zip(held, parts, strict=True)):
                    return self._part(self._carried(meeting, whole), place)
        return None

    def _part(self, whole: Diagram, place: int) -> Diagram:
        leaf = self.decisions.leaf
        return self.decisions.apply(
            ("part", place, 2, 64), lambda a: leaf(part(self.terms, 64, a, place, 2)), (whole,)
        )

    def _width(self, name: Name) -> int:
        return SCALAR_TYPES[self.programs[name[0]].types.get(name[1], "b32")].width

    def _note_steps(self, meeting: Meeting, ways: list[Way]) -> None:
        """By how much a turn of the loop changes what registers hold."""
        turns = [way for way in ways if way.source is meeting]
        for name in self._names(meeting) if turns else ():
            width = self._width(name)
            before = self.decisions.term(self._incoming(meeting, *name))
            after = {self.decisions.term(self._held(way, name)) for way in turns}
            if before is None or None in after or len(after) != 1 or width < 8:
                continue
            (only,) = after
            assert only is not None
            number = self.terms.constant_of(self.terms.add(width, only, before, -1))
            if number is not None:
                meeting.steps[name] = as_signed(width, number)

    def _rewriter(self, meeting: Meeting, way: Way, names: list[Name]) -> Rewriter:
        words: dict[Term, Term] = {}
        for name in names:
            held = self.decisions.term(self._held(way, name))
            word = self.decisions.term(self._carried(meeting, name))
            if held is not None and word is not None and not self.timeless.term(held):
                words.setdefault(held, word)
                if self.narrow and self._width(name) == 64:
                    for place in (0, 1):
                        whole = part(self.terms, 64, held, place, 2)
                        words.setdefault(whole, part(self.terms, 64, word, place, 2))
        return Rewriter(self.decisions, self.timeless, words)

    def _names(self, meeting: Meeting) -> list[Name]:
        return [
            (side, register)
            for side in (0, 1)
            for register in sorted(self.programs[side].live[meeting.blocks[side]])
        ]

    def _held(self, way: Way, name: Name) -> Diagram:
        side, register = name
        held = way.states[side].registers.get(register)
        return self._incoming(way.source, side, register) if held is None else held

    def _stays(self, meeting: Meeting, name: Name, ways: list[Way]) -> bool:
        """Whether a register holds the same on all ways, whenever that is."""
        held = [self._held(way, name) for way in ways]
        value = meeting.timeless.get(name)
        if value is None:
            if name in meeting.classes or not self.timeless.value(held[0]):
                return False
            value = held[0]
        if any(
            self._under(way.condition, one) != self._under(way.condition, value)
            for one, way in zip(held, ways, strict=True)
        ):
            return False
        meeting.timeless[name] = value
        return True

    def _told(self, way: Way, value: Diagram) -> Diagram:
        """A value on a way, in words that say what the way's condition says of it."""
        if not self.narrow:
            return self._under(way.condition, value)
        value = self.decisions.within(way.condition, value)
        if way.condition not in self._solved:
            words = self.agreement.words(way.condition)
            self._solved[way.condition] = (
                Rewriter(self.decisions, self.timeless, words, everything=True) if words else None
            )
        rewriter = self._solved[way.condition]
        told = None if rewriter is None else rewriter.diagram(value)
        return value if told is None else told

    def _under(self, condition: Diagram, value: Diagram) -> Diagram:
        """A value where a condition holds, and nothing elsewhere."""
        return self.decisions.choose(condition, value, self.decisions.undefined)

    # ---- comparing -------------------------------------------------------------------------

    def difference(self) -> str:
        """What is not the same on both sides; empty where everything is."""
        if self.entry.regions is not None and not self.entry.regions[0].edges:
            return "every launch goes through a null pointer"
        agreement = Agreement(self.decisions, self.timeless)
        visited: tuple[set[int], set[int]] = (set(), set())
        partners: set[tuple[int, int]] = set()
        seen: list[Meeting] = []
        for way in self.ways():
            where = self._place(way.source)
            both_end = way.targets[0] == way.targets[1] < 0
            if not both_end and not self.meets(way):
                if agreement.never(way.condition):
                    continue
                return f"a condition differs {where}"
            a, b = (self._under(way.condition, state.memory) for state in way.states)
            if not agreement.same(a, b):
                return f"what happens to memory differs {where}"
            if way.targets == (RETURN, RETURN) and not self._same_results(way):
                return f"what is returned differs {where}"
            assert way.source.regions is not None
            if way.source not in seen:
                seen.append(way.source)
                if touches_more(*way.source.regions, self.decisions, self.timeless):
                    return f"it loads what the original does not {where}"
            for blocks, region in zip(visited, way.source.regions, strict=True):
                blocks.update(region.visited)
            if way.source is not self.entry:
                partners.add(way.source.blocks)
        joint = [self._joint(side, blocks) for side, blocks in enumerate(visited)]
        alone = all(len({pair[side] for pair in partners}) == len(partners) for side in (0, 1))
        if joint[0] != joint[1] or (joint[0] and not alone):
            return "threads come together in other places"
        return ""

    def _place(self, meeting: Meeting) -> str:
        if meeting is self.entry:
            return "at the entry"
        return f"in loop {self.programs[0].headers.index(meeting.blocks[0]) + 1}"

    def _joint(self, side: int, blocks: set[int]) -> Counter[str]:
        """The instructions that several threads have a part in.

        A proof follows one thread. To it the two arms of a branch that ask which threads are
        active do the same as one question before the branch, and the answers are different.
        """
        steps = (step for index in blocks for step in self.programs[side].blocks[index].steps)
        return Counter(step.opcode for step in steps if step.name in JOINT)

    def _same_results(self, way: Way) -> bool:
        results = [
            {k: self._under(way.condition, v) for k, v in state.slots.items()
             if k[0].startswith("('result'")}
            for state in way.states
        ]  # fmt: skip
        return results[0] == results[1]
