"""Two functions side by side: where they meet, and what is equal there.

They meet at the entry, and then wherever both come to the header of a loop at the same time. A
loop of one function may meet several of the other: a compiler makes two of one to ask a question
outside. What is known at such a place is first taken to be as much as the ways that lead to it
allow, and given up piece by piece until it holds on all of them.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from functools import partial
from math import inf

from ptxkit.decompiler.budget import UNLIMITED, Budget
from ptxkit.decompiler.verify.dataflow.agreement import Agreement
from ptxkit.decompiler.verify.dataflow.decisions import Decisions, Diagram
from ptxkit.decompiler.verify.dataflow.decode import Register
from ptxkit.decompiler.verify.dataflow.earlier import touched_earlier
from ptxkit.decompiler.verify.dataflow.joint import come_together, opcodes
from ptxkit.decompiler.verify.dataflow.lockstep import keeps_step
from ptxkit.decompiler.verify.dataflow.meetings import Meeting, Way, fresh
from ptxkit.decompiler.verify.dataflow.refinement import Refinement
from ptxkit.decompiler.verify.dataflow.regions import RETURN, Executor, Program
from ptxkit.decompiler.verify.dataflow.registers import Registers
from ptxkit.decompiler.verify.dataflow.state import Touched
from ptxkit.decompiler.verify.dataflow.terms import GiveUpError, Terms
from ptxkit.decompiler.verify.dataflow.touched import takes_for_global, touches_more
from ptxkit.decompiler.verify.dataflow.unset import NOTHING, first_uses, partners

_ROUNDS = 60
#: Cases in all, at most; where there are few in each piece there may be many pieces.
_CASES, _NARROW_CASES = 50_000, 150_000
#: Loops of one function that a loop of the other may meet, on average.
_PARTNERS = 3


class Product:
    """Both functions, and their meetings."""

    def __init__(
        self,
        programs: tuple[Program, Program],
        cases: int | None = None,
        narrow: bool = False,
        work: float = inf,
        budget: Budget = UNLIMITED,
        unset: Mapping[Register, Register] = NOTHING,
    ) -> None:
        """With ``cases``, values of more of them are one term each.

        With ``narrow``, values are told only for where control is. It gives up after so much
        ``work``. Registers of the second function that are read ``unset`` are those of the first.
        """
        self.programs = programs
        read = programs[0].arguments | programs[1].arguments
        self.terms = Terms(special=programs[0].special, arguments=read, budget=budget)
        most = _NARROW_CASES if narrow else _CASES
        self.decisions = Decisions(self.terms, cases, most, work)
        self._contradicts: dict[Diagram, bool] = {}
        self.executors = [
            Executor(p, self.terms, self.decisions, narrow, original=side == 0)
            for side, p in enumerate(programs)
        ]
        entry = Meeting(0, (programs[0].entry, programs[1].entry), self.decisions.true)
        self.entry = entry
        self.registers = Registers(programs, self.terms, self.decisions, entry, narrow, unset)
        self.timeless = self.registers.timeless
        self.refinement = Refinement(self.registers)
        self.meetings: dict[tuple[int, int] | None, Meeting] = {None: entry}
        self.headers = tuple(frozenset(p.headers) for p in programs)
        most = max(len(p.headers) for p in programs)
        self._most = 1 + _PARTNERS * most
        self._places = [{block: at for at, block in enumerate(p.order)} for p in programs]
        self.parted: Way | None = None
        """Where the two went to places that do not fit, if they did."""
        self._earlier: dict[Meeting, list[Touched]] | None = None

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
                lately = fresh([way for some in arriving.values() for way in some])
                if target.regions is None:
                    # Nobody has relied on what was taken to hold here.
                    target.known = self.decisions.false
                    target.forget()
                if lately and self.refinement.refine(target, lately):
                    target.stale = True
                    pending.add(target)
        # What was found one way after the other must hold on all of them at once.
        for target, arriving in arrivals.items():
            ways = [way for some in arriving.values() for way in some]
            if ways and self.refinement.refine(target, ways):
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

    def elsewhere(self, before: set[tuple[int, int]]) -> tuple[Program, Program] | None:
        """The programs cut elsewhere in one place, where that may let the two stay together.

        First where they went, then where they came from. What was cut elsewhere ``before`` is not
        so again.
        """
        if self.parted is None:
            return None
        meeting: Meeting | None = self.parted.source
        places = [self.parted.targets]
        while meeting is not None:
            places.append(meeting.blocks)
            meeting = meeting.before
        for blocks in (*self._doubtful(), *places):
            found = self._turned(blocks, before) or self._without_join(blocks)
            if found is not None:
                return found
        return None

    def unset(self) -> dict[Register, Register]:
        """Which registers that are read unset may belong together, by where the two have met."""
        found = [one.live[one.entry] for one in self.programs]
        if not all(found):
            return {}
        first, second = (
            {
                register: (program.types.get(register, "b32"), place)
                for register, place in first_uses(program.steps(), unset).items()
            }
            for program, unset in zip(self.programs, found, strict=True)
        )
        live = (
            (self.programs[0].live[one.blocks[0]], self.programs[1].live[one.blocks[1]])
            for one in self.meetings.values()
        )
        return partners(live, (first, second))

    def _doubtful(self) -> Iterator[tuple[int, int]]:
        """Where ways come together, and each side holds something that the other does not."""
        for meeting in sorted(self.meetings.values(), key=self._rank):
            if meeting.blocks[0] not in self.programs[0].joins:
                continue
            sides = [{c for name, c in meeting.classes.items() if name[0] == side
                      and name not in meeting.timeless and name not in meeting.derived}
                     for side in (0, 1)]  # fmt: skip
            if sides[0] - sides[1] and sides[1] - sides[0]:
                yield meeting.blocks
                return

    def _turned(
        self, blocks: tuple[int, int], before: set[tuple[int, int]]
    ) -> tuple[Program, Program] | None:
        """With one loop cut at its other end.

        A compiler moves the question of a loop to its end and asks it once more in front.
        """
        for side, (program, block) in enumerate(zip(self.programs, blocks, strict=True)):
            behind = program.otherwise.get(block)
            if behind is None or (side, block) in before:
                continue
            before |= {(side, block), (side, behind)}
            first, second = self.programs
            return (first.turned(block), second) if side == 0 else (first, second.turned(block))
        return None

    def _without_join(self, blocks: tuple[int, int]) -> tuple[Program, Program] | None:
        """Not cut where ways come together, if only one has come there: at the earlier of two."""
        joins = [p.joins[block] for p, block in zip(self.programs, blocks, strict=True)
                 if block in p.joins]  # fmt: skip
        if not joins:
            return None
        first, second = self.programs
        return first.without_join(min(joins)), second.without_join(min(joins))

    # ---- executing -------------------------------------------------------------------------

    def _execute(self, meeting: Meeting) -> None:
        memory = self.decisions.leaf(self.terms.make("memory", meeting.number))
        incoming = self.registers.incoming
        known = self.decisions.both(meeting.known, self.refinement.invariants.condition(meeting))
        first, second = (
            executor.region(start, memory, partial(incoming, meeting, side), known)
            for side, (executor, start) in enumerate(
                zip(self.executors, meeting.blocks, strict=True)
            )
        )
        meeting.regions = first, second
        meeting.stale = False

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
            self.parted = way
            where = self._place(way.source)
            both_end = way.targets[0] == way.targets[1] < 0
            if not both_end and not self.meets(way):
                if agreement.never(way.condition):
                    continue
                return f"a condition differs {where}"
            a, b = (self.registers.under(way.condition, state.memory) for state in way.states)
            if not agreement.same(a, b):
                return f"what happens to memory differs {where}"
            if way.targets == (RETURN, RETURN) and not self._same_results(way):
                return f"what is returned differs {where}"
            assert way.source.regions is not None
            if way.source not in seen:
                seen.append(way.source)
                if self._does_more(touches_more, way.source):
                    return f"it loads what the original does not {where}"
                if self.programs[1].all_generic and self._does_more(takes_for_global, way.source):
                    return f"it takes memory for global that may be none {where}"
                if not come_together(*way.source.regions, self.decisions, self.timeless):
                    return f"other threads come together {where}"
            for blocks, region in zip(visited, way.source.regions, strict=True):
                blocks.update(region.visited)
            if way.source is not self.entry:
                partners.add(way.source.blocks)
        joint = [self._joint(side, blocks) for side, blocks in enumerate(visited)]
        alone = all(len({pair[side] for pair in partners}) == len(partners) for side in (0, 1))
        elsewhere = joint[0] != joint[1] or (joint[0] and not alone)
        if elsewhere and not keeps_step(self.registers, self.meetings, self.ways()):
            return "threads come together in other places"
        return ""

    def _does_more(self, asks: Callable[..., bool], meeting: Meeting) -> bool:
        """Whether more is done to memory behind a meeting, and was not before it either."""
        assert meeting.regions is not None
        if not asks(*meeting.regions, self.decisions, self.timeless):
            return False
        if self._earlier is None:
            # What is called may give memory back.
            calls = any(step.name == "call" for step in self.programs[0].steps())
            self._earlier = {} if calls else touched_earlier(
                self.entry, self.ways(), self._led_to, self.decisions, self.timeless
            )  # fmt: skip
        earlier = self._earlier.get(meeting)
        return not earlier or asks(*meeting.regions, self.decisions, self.timeless, earlier)

    def _led_to(self, way: Way) -> Meeting | None:
        return self.meetings.get(way.targets)

    def _place(self, meeting: Meeting) -> str:
        if meeting is self.entry:
            return "at the entry"
        return f"in loop {self.programs[0].headers.index(meeting.blocks[0]) + 1}"

    def _joint(self, side: int, blocks: set[int]) -> Counter[str]:
        """The instructions of some blocks that several threads have a part in."""
        return opcodes(step for index in blocks for step in self.programs[side].blocks[index].steps)

    def _same_results(self, way: Way) -> bool:
        results = [
            {k: self.registers.under(way.condition, v) for k, v in state.slots.items()
             if k[0].startswith("('result'")}
            for state in way.states
        ]  # fmt: skip
        return results[0] == results[1]
