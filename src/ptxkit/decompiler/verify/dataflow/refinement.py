"""What holds at a meeting: as much as the ways to it allow, given up piece by piece."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import count

from ptxkit.decompiler.verify.dataflow.agreement import Agreement
from ptxkit.decompiler.verify.dataflow.decisions import Diagram
from ptxkit.decompiler.verify.dataflow.fields import zeros
from ptxkit.decompiler.verify.dataflow.invariants import Invariants
from ptxkit.decompiler.verify.dataflow.limits import Limits
from ptxkit.decompiler.verify.dataflow.meetings import Meeting, Name, Way, fresh
from ptxkit.decompiler.verify.dataflow.products import none_is_product
from ptxkit.decompiler.verify.dataflow.registers import Registers
from ptxkit.decompiler.verify.dataflow.terms import Term
from ptxkit.decompiler.verify.dataflow.words import Words

#: Widths of floating-point numbers.
_REALS = frozenset((16, 32, 64))


class Refinement:
    """Finds what holds at meetings."""

    def __init__(self, registers: Registers) -> None:
        """Of these registers."""
        self.registers = registers
        self.words = Words(registers)
        self.terms = registers.terms
        self.decisions = registers.decisions
        self.timeless = registers.timeless
        self.narrow = registers.narrow
        self.limits = Limits(registers.decisions)
        self.invariants = Invariants(registers)
        self._numbers = count(1)
        self._known: dict[tuple[Diagram, Diagram], bool] = {}

    def refine(self, meeting: Meeting, ways: list[Way]) -> bool:
        """Give up what does not hold on all ways to a meeting; whether there was any."""
        self.words.note_steps(meeting, ways)
        known = meeting.known
        for way in ways:
            known = self.decisions.either(known, self.timeless.known(way.condition))
        changed = known != meeting.known or meeting.regions is None
        meeting.known = known
        left = []
        for name in self.registers.names(meeting):
            if not self._stays(meeting, name, ways):
                changed |= meeting.timeless.pop(name, None) is not None
                left.append(name)
        # What comes from here was found with what has just been given up.
        meeting.stale |= changed
        ways = fresh(ways) or ways
        groups: dict[tuple[int, ...], int] = {}
        before = dict(meeting.classes)
        for name in left:
            held = [self.registers.held(way, name) for way in ways]
            old = before.get(name, 0)
            width = self.registers.width(name)
            values = (self.registers.told(way, h) for way, h in zip(ways, held, strict=True))
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
        changed |= self._settle(meeting, ways, left)
        changed |= self.narrow and self.invariants.refine(meeting, ways)
        return self.words.derive(meeting, ways) or changed

    def _alike(self, first: tuple[int, ...], second: tuple[int, ...]) -> bool:
        """Whether values are the same where they have no cases."""
        term = self.decisions.term
        return all(
            a == b or term(a) is None or term(b) is None
            for a, b in zip(first[2:], second[2:], strict=True)
        )

    def _agree(self, ways: list[Way], first: Sequence[Diagram], second: Sequence[Diagram]) -> bool:
        """Whether values are equal in all cases that there can be, on some ways."""
        return all(
            self._same(
                self.registers.under(way.condition, a), self.registers.under(way.condition, b)
            )
            for way, a, b in zip(ways, first, second, strict=True)
        )

    def _same(self, a: Diagram, b: Diagram) -> bool:
        """The same of one way; it is asked for again and again until loops have settled."""
        key = a, b
        if key not in self._known:
            self._known[key] = Agreement(self.decisions, self.timeless).same(a, b)
        return self._known[key]

    def _limit(self, meeting: Meeting, ways: list[Way], names: list[Name]) -> bool:
        """Note how large numbers can be at a meeting; whether more is possible than before."""
        changed = False
        for c, name in {meeting.classes[name]: name for name in names}.items():
            width = self.registers.width(name)
            if width not in (16, 32, 64):
                continue
            held = (self.decisions.term(self.registers.held(way, name)) for way in ways)
            least = min(self._zeros(width, one) for one in held)
            if least < meeting.zeros.get(c, width + 1):
                # What is 0 at first is a multiple of anything, until a loop adds to it.
                changed |= c in meeting.zeros
                meeting.zeros[c] = least
            if meeting.limits.get(c) == ():
                continue
            most = -1
            for way in ways:
                told = self.registers.told(way, self.registers.held(way, name))
                most = max(most, self.limits.greatest_of(way.condition, told, width))
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

    def _settle(self, meeting: Meeting, ways: list[Way], names: list[Name]) -> bool:
        """Note what is no product on any way to a meeting; whether there is less of that."""
        changed = False
        for name in names:
            c = meeting.classes[name]
            if c in meeting.products or self.registers.width(name) not in _REALS:
                continue
            held = (self.registers.held(way, name) for way in ways)
            if all(none_is_product(self.decisions, one) for one in held):
                meeting.no_products.add(c)
            else:
                meeting.products.add(c)
                changed |= c in meeting.no_products
                meeting.no_products.discard(c)
        return changed

    def _zeros(self, width: int, term: Term | None) -> int:
        """How many of the lowest bits of a number are zeros."""
        if term is None:
            return 0
        constant, parts = self.terms.parts(width, term)
        return min((zeros(one) for one in (constant, *parts.values()) if one), default=width)

    def _stays(self, meeting: Meeting, name: Name, ways: list[Way]) -> bool:
        """Whether a register holds the same on all ways, whenever that is."""
        held = [self.registers.held(way, name) for way in ways]
        value = meeting.timeless.get(name)
        if value is None:
            if name in meeting.classes or not all(map(self.timeless.value, held)):
                return False
            value = self._united(meeting, ways, held)
        if any(
            self.registers.under(way.condition, one) != self.registers.under(way.condition, value)
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
