"""Two functions side by side: where they meet, and what is equal there.

They meet at the entry, and then wherever both come to the header of a loop at the same time. A
loop of one function may meet several of the other: a compiler makes two of one to ask a question
outside. What is known at such a place is first taken to be as much as the ways that lead to it
allow, and given up piece by piece until it holds on all of them.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from itertools import count
from math import inf
from types import MappingProxyType
from typing import Any

from ptxkit.decompiler.budget import UNLIMITED, Budget
from ptxkit.decompiler.verify.dataflow.agreement import Agreement
from ptxkit.decompiler.verify.dataflow.bits import part
from ptxkit.decompiler.verify.dataflow.bounds import as_signed
from ptxkit.decompiler.verify.dataflow.combined import combinations
from ptxkit.decompiler.verify.dataflow.decisions import Decisions, Diagram
from ptxkit.decompiler.verify.dataflow.decode import Register
from ptxkit.decompiler.verify.dataflow.fields import zeros
from ptxkit.decompiler.verify.dataflow.joint import come_together, opcodes
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
#: Registers of which pairs are looked at.
_OTHERS = 40

NOTHING: Mapping[Any, Any] = MappingProxyType({})
#: Values of so few cases are taken from each other.
_SMALL = 9

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
    zeros: dict[int, int] = field(default_factory=dict)
    """How many of the lowest bits of those of a class are never set."""
    grown: set[int] = field(default_factory=set)
    """Classes that were found to be above what was noted first."""
    opaque: set[Name] = field(default_factory=set)
    """Those of which that cannot be told."""
    regions: tuple[Region, Region] | None = None
    stale: bool = True
    """Whether less holds by now than the regions were executed with."""
    turns: int = 0
    """How often the regions were executed."""
    before: Meeting | None = None
    """The meeting that it was first come to from."""

    def forget(self) -> None:
        """Give up all that was found about registers."""
        for found in (self.timeless, self.classes, self.derived, self.steps, self.limits,
                      self.zeros, self.grown, self.opaque):  # fmt: skip
            found.clear()


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
        self._places = [{block: at for at, block in enumerate(p.order)} for p in programs]
        self.parted: Way | None = None
        """Where the two went to places that do not fit, if they did."""

    def settle(self) -> str:
        """Find all meetings and what holds there; why there is no telling."""
        arrivals: dict[Meeting, dict[Meeting, list[Way]]] = {}
        pending = {self.entry}
        while pending:
            # In the order of control, so that what leads to a meeting is known before it.
            meeting = min(pending, key=self._rank)
            pending.discard(meeting)
            self.decisions.check()
            meeting.turns += 1
            if meeting.turns > _ROUNDS:
                return "the loops did not settle"
            self._execute(meeting)
            reached: dict[Meeting, list[Way]] = {}
            for way in self._ways_from(meeting):
                if self.meets(way):
                    reached.setdefault(self._meeting(way), []).append(way)
                elif way.targets[0] != way.targets[1] and not self._never(way.condition):
                    # What is known only becomes less, so that this stays possible.
                    self.parted = way
                    return f"a condition differs {self._place(meeting)}"
            for arriving in arrivals.values():
                arriving.pop(meeting, None)
            for target, ways in reached.items():
                arriving = arrivals.setdefault(target, {})
                arriving[meeting] = ways
                fresh = _fresh([way for some in arriving.values() for way in some])
                if target.regions is None:
                    # Nobody has relied on what was taken to hold here.
                    target.known = self.decisions.false
                    target.forget()
                if fresh and self._refine(target, fresh):
                    target.stale = True
                    pending.add(target)
        # What was found one way after the other must hold on all of them at once.
        for target, arriving in arrivals.items():
            ways = [way for some in arriving.values() for way in some]
            if ways and self._refine(target, ways):
                return "the loops did not settle"
        return ""

    def _rank(self, meeting: Meeting) -> tuple[int, ...]:
        """Where a meeting is in the order of control."""
        return tuple(place[b] for place, b in zip(self._places, meeting.blocks, strict=True))

    def _meeting(self, way: Way) -> Meeting:
        blocks = way.targets
        if blocks not in self.meetings:
            if len(self.meetings) > self._most:
                raise GiveUpError("the loops do not fit together")
            number = len(self.meetings)
            made = Meeting(number, blocks, self.decisions.false, before=way.source)
            self.meetings[blocks] = made
        return self.meetings[blocks]

    def turned(self, before: set[tuple[int, int]]) -> tuple[Program, Program] | None:
        """The programs with one loop cut elsewhere, where that may let the two stay together.

        A compiler moves the question of a loop to its end and asks it once more in front. What was
        turned ``before`` is not turned again.
        """
        if self.parted is None:
            return None
        places = [self.parted.targets]
        meeting: Meeting | None = self.parted.source
        while meeting is not None:
            places.append(meeting.blocks)
            meeting = meeting.before
        for blocks in places:
            for side, (program, block) in enumerate(zip(self.programs, blocks, strict=True)):
                behind = program.otherwise.get(block)
                if behind is None or (side, block) in before:
                    continue
                before |= {(side, block), (side, behind)}
                first, second = self.programs
                return (first.turned(block), second) if side == 0 else (first, second.turned(block))
        return None

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
            low = meeting.zeros.get(known or 0, 0)
            if low:
                # A multiple of a number that is as much smaller.
                most = (min((*most, (1 << width) - 1)) >> low,)
            term = self.terms.make("carried", meeting.number, what, width, *most)
            term = self.terms.scale(width, term, 1 << low) if low else term
        return self.decisions.ask(term) if type == "pred" else self.decisions.leaf(term)

    def ways(self) -> Iterator[Way]:
        """Everything that control can do between meetings, from those it can come to."""
        reached = {self.entry: None}
        pending = [self.entry]
        for meeting in pending:
            for way in self._ways_from(meeting):
                yield way
                found = self.meetings.get(way.targets)
                if found is not None and found not in reached:
                    reached[found] = None
                    pending.append(found)

    def _ways_from(self, meeting: Meeting) -> Iterator[Way]:
        if meeting.regions is None:
            return
        first, second = meeting.regions
        for target, state in first.edges.items():
            for other, beside in second.edges.items():
                condition = self.decisions.both(state.condition, beside.condition)
                if condition == self.decisions.false:
                    continue
                if (target, other) not in self.meetings and self._never(condition):
                    continue
                yield Way(meeting, (target, other), (state, beside), condition)

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
        kinds = {p.begins.get(t) for t, p in zip(way.targets, self.programs, strict=True)}
        return len(kinds) < 2 and all(
            t in headers for t, headers in zip(way.targets, self.headers, strict=True)
        )

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
            if key not in groups and (old or name[0]) and self.narrow:
                # What looks different may be so only in cases that contradict themselves.
                near = (k for k in groups if k[:2] == key[:2] and (old or self._alike(k, key)))
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

    def _alike(self, first: tuple[int, ...], second: tuple[int, ...]) -> bool:
        """Whether values are the same where they have no cases."""
        term = self.decisions.term
        return all(
            a == b or term(a) is None or term(b) is None
            for a, b in zip(first[2:], second[2:], strict=True)
        )

    def _limit(self, meeting: Meeting, ways: list[Way], names: list[Name]) -> bool:
        """Note how large numbers can be at a meeting; whether more is possible than before."""
        changed = False
        for c, name in {meeting.classes[name]: name for name in names}.items():
            width = self._width(name)
            if width not in (32, 64):
                continue
            least = min(
                self._zeros(width, self.decisions.term(self._held(way, name))) for way in ways
            )
            if least < meeting.zeros.get(c, width):
                changed |= c in meeting.zeros
                meeting.zeros[c] = least
            if meeting.limits.get(c) == ():
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

    def _zeros(self, width: int, term: Term | None) -> int:
        """How many of the lowest bits of a number are zeros."""
        if term is None:
            return 0
        constant, parts = self.terms.parts(width, term)
        return min((zeros(one) for one in (constant, *parts.values()) if one), default=width)

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
        related = self._related(meeting, ways, left, both) if self.narrow else {}
        shared = [name for name, c in left.items() if c in both and name not in related]
        others = [name for name, c in left.items() if c not in both and name[0] == 0]
        theirs = [name for name, c in left.items() if c not in both and name[0] == 1]
        rewriters = [self._rewriter(meeting, way, shared) for way in ways]
        more: dict[int, list[Rewriter]] = {}
        changed = False
        # What is written in words of the other side must not be the words for that.
        for name, c in sorted(left.items()):
            if name in meeting.opaque:
                continue
            made = related.get(name)
            if c not in both:
                # What a turn changes goes along with something else that it changes, if anything.
                beyond = others if name[0] else theirs
                free = [one for one in beyond if one not in meeting.derived]
                beside = [*shared, *free] if name[0] == 1 else shared
                made = self._in_step(meeting, ways, name, beside)
                if made is None:
                    made = self._in_words(ways, name, rewriters)
                if made is None and self.narrow:
                    if name[0] not in more:
                        names = [*shared, *free]
                        more[name[0]] = [self._rewriter(meeting, way, names) for way in ways]
                    made = self._in_words(ways, name, more[name[0]])
                if made is None and self.narrow and self._width(name) == 32:
                    made = self._half(meeting, ways, name, [*shared, *free])
                if made is None and self.narrow:
                    made = self._combined(meeting, ways, name, [*shared, *free])
            changed |= made != meeting.derived.get(name)
            if made is not None:
                meeting.derived[name] = made
            elif meeting.derived.pop(name, None) is not None or c not in both:
                meeting.opaque.add(name)
        return changed

    def _related(
        self, meeting: Meeting, ways: list[Way], left: dict[Name, int], both: set[int]
    ) -> dict[Name, Diagram]:
        """What both sides hold in words of something else that both do, and all names of it.

        The one may ask for a number, the other for the half of a pair, or for what is left of it.
        """
        names: dict[int, list[Name]] = {}
        for name, c in sorted(left.items()):
            if c in both:
                names.setdefault(c, []).append(name)
        found: dict[Name, Diagram] = {}
        roots: list[Name] = []

        def order(c: int) -> tuple[int, int, int]:
            # What is a multiple of something is so in no other words.
            return -self._width(names[c][0]), -meeting.zeros.get(c, 0), c

        for c in sorted(names, key=order):
            made = None
            if meeting.opaque.isdisjoint(names[c]):
                made = self._in_step(meeting, ways, names[c][0], [*roots, *found], found)
                if made is None and self._width(names[c][0]) == 32:
                    made = self._half(meeting, ways, names[c][0], roots)
            if made is None:
                roots.append(names[c][0])
            else:
                found |= dict.fromkeys(names[c], made)
        return found

    def _in_words(
        self, ways: list[Way], name: Name, rewriters: Sequence[Rewriter]
    ) -> Diagram | None:
        """A register in words of others, where these are the same on all ways."""
        found = {
            rewriter.diagram(self._held(way, name))
            for way, rewriter in zip(ways, rewriters, strict=True)
        }
        return found.pop() if len(found) == 1 else None

    def _in_step(
        self,
        meeting: Meeting,
        ways: list[Way],
        name: Name,
        others: list[Name],
        words: Mapping[Name, Diagram] = NOTHING,
    ) -> Diagram | None:
        """A register as a multiple of one of some others, and something that stays.

        Some of the others may have ``words`` of their own.
        """
        held = [self._held(way, name) for way in ways]
        width = self._width(name)
        if width < 8:
            return None
        by = meeting.steps.get(name)
        for other in others:
            word = self.decisions.term(words.get(other, self._carried(meeting, other)))
            if word is None or self._width(other) != width:
                continue
            beside = [self._held(way, other) for way in ways]
            step = meeting.steps.get(other)
            apart = by // step if by and step and not by % step else None
            for times in (apart,) if apart is not None else (1, -1):
                left = self._rest(ways, width, held, beside, times)
                if left is not None:
                    scaled = self.terms.scale(width, word, times)
                    return self.decisions.leaf(self.terms.add(width, scaled, left))
        return None

    def _is_small(self, value: Diagram) -> bool:
        return len(self.decisions.reached(value, _SMALL)) <= _SMALL

    def _apart(self, way: Way, width: int, a: Diagram, b: Diagram, times: int) -> Diagram:
        """What is left of a value on a way without a multiple of another one."""
        terms, leaf = self.terms, self.decisions.leaf

        def left(one: Term, other: Term) -> Diagram:
            return leaf(terms.add(width, one, terms.scale(width, other, times), -1))

        made = self.decisions.apply(("apart", width, times), left, (a, b))
        return self.decisions.within(way.condition, made)

    def _combined(
        self, meeting: Meeting, ways: list[Way], name: Name, others: list[Name]
    ) -> Diagram | None:
        """A register as something that is made of two others."""
        width = self._width(name)
        near = [one for one in others if self._width(one) == width][:_OTHERS]
        held = [self._told(way, self._held(way, name)) for way in ways]
        first = {one: self._held(ways[0], one) for one in near}
        for a, b, make in combinations(self.decisions, width, held[0], first):
            made = (make(self._held(way, a), self._held(way, b)) for way in ways)
            if all(
                value == self._told(way, one)
                for way, value, one in zip(ways, held, made, strict=True)
            ):
                return make(self._carried(meeting, a), self._carried(meeting, b))
        return None

    def _half(
        self, meeting: Meeting, ways: list[Way], name: Name, wholes: list[Name]
    ) -> Diagram | None:
        """A register as the lower or upper half of another one, and something that stays."""
        held = [self._held(way, name) for way in ways]
        told = [self._told(way, one) for way, one in zip(ways, held, strict=True)]
        for whole in wholes:
            if self._width(whole) != 64:
                continue
            for place in (0, 1):
                parts = [self._part(self._held(way, whole), place) for way in ways]
                word = self._part(self._carried(meeting, whole), place)
                also = (self._told(way, one) for way, one in zip(ways, parts, strict=True))
                if all(one == other for one, other in zip(told, also, strict=True)):
                    return word
                left = self._rest(ways, 32, held, parts, 1)
                half = self.decisions.term(word)
                if left is not None and half is not None:
                    return self.decisions.leaf(self.terms.add(32, half, left))
        return None

    def _rest(
        self, ways: list[Way], width: int, held: list[Diagram], beside: list[Diagram], times: int
    ) -> Term | None:
        """What is left of a value without a multiple of another one, if it stays on all ways."""
        if not all(map(self._is_small, (*held, *beside))):
            return None
        rest = {
            self.decisions.term(self._apart(way, width, a, b, times))
            for way, a, b in zip(ways, held, beside, strict=True)
        }
        left = rest.pop() if len(rest) == 1 else None
        return left if left is not None and self.timeless.term(left) else None

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
            if name in meeting.classes or not all(map(self.timeless.value, held)):
                return False
            value = self._united(meeting, ways, held)
        if any(
            self._under(way.condition, one) != self._under(way.condition, value)
            for one, way in zip(held, ways, strict=True)
        ):
            return False
        meeting.timeless[name] = value
        return True

    def _united(self, meeting: Meeting, ways: list[Way], held: list[Diagram]) -> Diagram:
        """What may be held on all ways: by what is known on each, if they tell different things.

        What is held where a question was answered may be that answer.
        """
        value = held[0]
        if len(set(held)) == 1:
            return value
        for way, one in zip(ways[1:], held[1:], strict=True):
            value = self.decisions.choose(self.timeless.known(way.condition), one, value)
        value = self.decisions.within(meeting.known, value)
        return value if self.timeless.value(value) else held[0]

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
                if not come_together(*way.source.regions, self.decisions, self.timeless):
                    return f"other threads come together {where}"
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
        """The instructions of some blocks that several threads have a part in."""
        return opcodes(step for index in blocks for step in self.programs[side].blocks[index].steps)

    def _same_results(self, way: Way) -> bool:
        results = [
            {k: self._under(way.condition, v) for k, v in state.slots.items()
             if k[0].startswith("('result'")}
            for state in way.states
        ]  # fmt: skip
        return results[0] == results[1]
