"""What only one of two functions holds at a meeting, in words of what both do.

A register may be a multiple of another one and something that stays, the half of one, or made of
two others: a compiler is free to count a loop in bytes, from the end, or by a pointer.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import Any

from ptxkit.decompiler.verify.dataflow.bits import part
from ptxkit.decompiler.verify.dataflow.bounds import as_signed
from ptxkit.decompiler.verify.dataflow.combined import combinations, functions
from ptxkit.decompiler.verify.dataflow.decisions import Diagram
from ptxkit.decompiler.verify.dataflow.meetings import Meeting, Name, Way
from ptxkit.decompiler.verify.dataflow.questions import Questions
from ptxkit.decompiler.verify.dataflow.registers import Registers
from ptxkit.decompiler.verify.dataflow.rewrite import Rewriter
from ptxkit.decompiler.verify.dataflow.staying import Staying
from ptxkit.decompiler.verify.dataflow.terms import Term

#: Registers of which pairs are looked at.
_OTHERS = 40
#: Values of so few cases are taken from each other.
_SMALL = 9

#: How often a loop may turn until it is told what its predicates are about.
_TURNS = 8

NOTHING: Mapping[Any, Any] = MappingProxyType({})


class Words:
    """Finds words for registers."""

    def __init__(self, registers: Registers) -> None:
        """For these registers."""
        self.registers = registers
        self.terms = registers.terms
        self.decisions = registers.decisions
        self.timeless = registers.timeless
        self.narrow = registers.narrow
        self._questions = Questions(registers)
        self._staying = Staying(registers, self._rewriter)
        self._changing: dict[Name, frozenset[Term] | None] = {}
        """For registers of the meeting that is looked at, the parts that do not stay."""

    def note_steps(self, meeting: Meeting, ways: list[Way]) -> None:
        """By how much a turn of the loop changes what registers hold."""
        turns = [way for way in ways if way.source is meeting]
        for name in self.registers.names(meeting) if turns else ():
            width = self.registers.width(name)
            before = self.decisions.term(self.registers.incoming(meeting, *name))
            after = {self.decisions.term(self.registers.held(way, name)) for way in turns}
            if before is None or None in after or len(after) != 1 or width < 8:
                continue
            (only,) = after
            assert only is not None
            number = self.terms.constant_of(self.terms.add(width, only, before, -1))
            if number is not None:
                meeting.steps[name] = as_signed(width, number)

    def derive(self, meeting: Meeting, ways: list[Way]) -> bool:
        """Write what only one side holds in words of what both do; whether that has changed."""
        self._changing.clear()
        left = {name: c for name, c in meeting.classes.items() if name not in meeting.timeless}
        both = {c for (side, _), c in left.items() if side} & {
            c for (side, _), c in left.items() if not side
        }
        related = self._related(meeting, ways, left, both) if self.narrow else {}
        shared = [name for name, c in left.items() if c in both and name not in related]
        others = [name for name, c in left.items() if c not in both and name[0] == 0]
        theirs = [name for name, c in left.items() if c not in both and name[0] == 1]
        rewriters = [self._rewriter(meeting, way, shared) for way in ways]
        staying = [name for name in shared if meeting.steps.get(name) == 0]
        keeping = [self._rewriter(meeting, way, staying) for way in ways] if staying else []
        more: dict[int, list[Rewriter]] = {}
        numbers = [name for name in left if self.registers.width(name) > 1]
        changed = False
        alone: list[Name] = []
        # What is written in words of the other side must not be the words for that.
        for name, c in sorted(left.items(), key=self._questions_last):
            if name in meeting.opaque and not self._is_asked_again(meeting, name):
                alone += [name] if c not in both and name[0] else []
                continue
            made = related.get(name)
            if c not in both:
                # What a turn changes goes along with something else that it changes, if anything.
                beyond = others if name[0] else theirs
                free = [one for one in beyond if one not in meeting.derived]
                # Of what only the second holds, the first are the words for the others.
                beside = [*shared, *free, *alone] if name[0] == 1 else shared
                made = None
                if keeping and meeting.steps.get(name) == 0:
                    # What a turn leaves alone is no function of what it changes, even where it
                    # looks like one when the loop begins.
                    made = self._in_words(ways, name, keeping)
                if made is None:
                    made = self._in_step(meeting, ways, name, beside)
                if made is None:
                    made = self._in_words(ways, name, rewriters)
                if made is None and self.narrow:
                    if name[0] not in more:
                        names = [*shared, *free]
                        more[name[0]] = [self._rewriter(meeting, way, names) for way in ways]
                    made = self._in_words(ways, name, more[name[0]])
                if made is None and self.narrow and self.registers.width(name) == 32:
                    made = self._half(meeting, ways, name, shared)
                if made is None and self.narrow and name[0] == 0:
                    made = self._in_step(meeting, ways, name, free)
                if made is None and self.narrow and self.registers.width(name) == 32:
                    made = self._half(meeting, ways, name, [*shared, *free])
                if made is None and self.narrow and self.registers.width(name) == 64:
                    made = self._extended(meeting, ways, name, [*shared, *free])
                if made is None and self.narrow:
                    made = self._combined(meeting, ways, name, [*shared, *free])
                if made is None and self.narrow:
                    made = self._of_cases(meeting, ways, name, [*shared, *free])
                if made is None and self.narrow and self.registers.width(name) == 1:
                    made = self._questions.about(meeting, ways, name, numbers)
                if made is None and self.narrow:
                    made = self._guessed_again(meeting, ways, name, shared, free)
                alone += [name] if made is None and name[0] else []
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
        made_of = self._made_of_others(meeting, ways, [some[0] for some in names.values()])

        def order(c: int) -> tuple[int, int, int]:
            # What is a multiple of something is so in no other words.
            return -self.registers.width(names[c][0]), -meeting.zeros.get(c, 0), c

        for c in sorted(names, key=order):
            made = None
            if meeting.opaque.isdisjoint(names[c]):
                made = self._in_step(meeting, ways, names[c][0], [*roots, *found], found)
                if made is None and self.registers.width(names[c][0]) == 32:
                    made = self._half(meeting, ways, names[c][0], roots)
                if made is None:
                    made = made_of.get(names[c][0])
            if made is None:
                roots.append(names[c][0])
            else:
                found |= dict.fromkeys(names[c], made)
        return found

    def _made_of_others(
        self, meeting: Meeting, ways: list[Way], names: list[Name]
    ) -> dict[Name, Diagram]:
        """What is computed from others before a cut, in words of these.

        In loops it may be so only until they turn.
        """
        if meeting.blocks[0] not in self.registers.programs[0].begins:
            return self._staying.made_of_others(meeting, ways, names) if self.narrow else {}
        alone = [
            name
            for name in names
            if all(self._staying.is_atom(self.registers.held(w, name)) for w in ways)
        ]
        rewriters = [self._rewriter(meeting, way, alone) for way in ways]
        made = {name: self._in_words(ways, name, rewriters) for name in names if name not in alone}
        return {name: word for name, word in made.items() if word is not None}

    def _guessed_again(
        self, meeting: Meeting, ways: list[Way], name: Name, shared: list[Name], free: list[Name]
    ) -> Diagram | None:
        """A register that was taken to stay until a turn changed it, by how the loop begins.

        What a turn adds may be no constant; the next turn tells whether it is as is guessed here.
        """
        before = meeting.derived.get(name)
        entering = [way for way in ways if way.source is not meeting]
        if before is None or not self.timeless.value(before) or len(entering) in (0, len(ways)):
            return None
        made = None
        if self.registers.width(name) == 32:
            made = self._half(meeting, entering, name, shared)
        if made is None:
            made = self._in_step(meeting, entering, name, [*shared, *free])
        # That it is the same at any time is what the turn has refuted.
        return None if made is None or self.timeless.value(made) else made

    def _in_words(
        self, ways: list[Way], name: Name, rewriters: Sequence[Rewriter]
    ) -> Diagram | None:
        """A register in words of others, where these are the same on all ways."""
        found = {
            rewriter.diagram(self.registers.held(way, name))
            for way, rewriter in zip(ways, rewriters, strict=True)
        }
        return found.pop() if len(found) == 1 else None

    def _is_asked_again(self, meeting: Meeting, name: Name) -> bool:
        """Whether a predicate may still turn out to be a question.

        Until a loop has turned, what it counts is a number, and a question about it tells nothing.
        """
        return self.narrow and self.registers.width(name) == 1 and meeting.turns <= _TURNS

    def _questions_last(self, one: tuple[Name, int]) -> tuple[bool, Name]:
        """An order in which predicates come behind the numbers that they are about."""
        return self.registers.width(one[0]) == 1, one[0]

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
        held = [self.registers.held(way, name) for way in ways]
        width = self.registers.width(name)
        if width < 8:
            return None
        by = meeting.steps.get(name)
        mine = self._changing_parts(ways[0], name)
        for other in others:
            step = meeting.steps.get(other)
            apart = by // step if by and step and not by % step else None
            if apart is None and not self._may_cancel(mine, self._changing_parts(ways[0], other)):
                continue
            word = self.decisions.term(words.get(other, self.registers.carried(meeting, other)))
            if word is None or self.registers.width(other) != width:
                continue
            beside = [self.registers.held(way, other) for way in ways]
            several = (apart,) if apart is not None else self._multiples(width, held[0], beside[0])
            for times in several:
                left = self._rest(ways, width, held, beside, times)
                if left is None and apart is not None and self.narrow:
                    left = self._kept_rest(meeting, ways, width, name, other, times)
                if left is not None:
                    scaled = self.terms.scale(width, word, times)
                    return self.decisions.leaf(self.terms.add(width, scaled, left))
        return None

    def _changing_parts(self, way: Way, name: Name) -> frozenset[Term] | None:
        """The parts of what a register holds on a way that do not stay; None where it has cases."""
        if name not in self._changing:
            term = self.decisions.term(self.registers.held(way, name)) if self.narrow else None
            width = self.registers.width(name)
            self._changing[name] = None if term is None else frozenset(
                atom for atom in self.terms.parts(width, term)[1] if not self.timeless.term(atom)
            )  # fmt: skip
        return self._changing[name]

    @staticmethod
    def _may_cancel(mine: frozenset[Term] | None, theirs: frozenset[Term] | None) -> bool:
        """Whether nothing that changes may be left of one value without multiples of another."""
        return mine is None or theirs is None or mine == theirs

    def _multiples(self, width: int, held: Diagram, beside: Diagram) -> tuple[int, ...]:
        """How many times a value another one may be in, if what is left stays the same."""
        one, other = self.decisions.term(held), self.decisions.term(beside)
        if one is None or other is None or not self.narrow:
            return 1, -1
        mine, theirs = (self.terms.parts(width, term)[1] for term in (one, other))
        likely: list[int] = []
        for atom in sorted(mine.keys() & theirs.keys()):
            by, step = (as_signed(width, some[atom]) for some in (mine, theirs))
            times, rest = divmod(by, step)
            if not self.timeless.term(atom):
                return (times,) if not rest else ()
            likely += [times] if times and not rest else []
        return tuple(dict.fromkeys((*likely[:1], 1, -1)))

    def _combined(
        self, meeting: Meeting, ways: list[Way], name: Name, others: list[Name]
    ) -> Diagram | None:
        """A register as something that is made of two others."""
        width = self.registers.width(name)
        near = [one for one in others if self.registers.width(one) == width][:_OTHERS]
        held = [self.registers.told(way, self.registers.held(way, name)) for way in ways]
        first = {one: self.registers.held(ways[0], one) for one in near}
        for a, b, make in combinations(self.decisions, self.timeless, width, held[0], first):
            made = (make(self.registers.held(way, a), self.registers.held(way, b)) for way in ways)
            if all(
                value == self.registers.told(way, one)
                for way, value, one in zip(ways, held, made, strict=True)
            ):
                return make(self.registers.carried(meeting, a), self.registers.carried(meeting, b))
        return None

    def _of_cases(
        self, meeting: Meeting, ways: list[Way], name: Name, others: list[Name]
    ) -> Diagram | None:
        """A register of several cases as something that is made of each case of another one."""
        told = [self.registers.told(way, self.registers.held(way, name)) for way in ways]
        if all(self.decisions.term(one) is not None for one in told):
            return None
        held = {one: self.registers.held(ways[0], one) for one in others}
        # What has cases is made of what has them, too.
        likely = sorted(held, key=lambda one: self.decisions.term(held[one]) is not None)
        first = {one: held[one] for one in likely[:_OTHERS]}
        for other, make in functions(self.decisions, self.timeless, told[0], first):
            made = (make(self.registers.held(way, other)) for way in ways)
            if all(
                self.registers.told(way, value) == one
                for way, value, one in zip(ways, made, told, strict=True)
            ):
                return make(self.registers.carried(meeting, other))
        return None

    def _half(
        self, meeting: Meeting, ways: list[Way], name: Name, wholes: list[Name]
    ) -> Diagram | None:
        """A register as a multiple of the lower or upper half of another one, and what stays."""
        held = [self.registers.held(way, name) for way in ways]
        told = [self.registers.told(way, one) for way, one in zip(ways, held, strict=True)]
        for whole in wholes:
            if self.registers.width(whole) != 64:
                continue
            for place in (0, 1):
                parts = [self._part(self.registers.held(way, whole), place) for way in ways]
                word = self._part(self.registers.carried(meeting, whole), place)
                also = (self.registers.told(way, one) for way, one in zip(ways, parts, strict=True))
                if all(one == other for one, other in zip(told, also, strict=True)):
                    return word
                half = self.decisions.term(word)
                for times in self._multiples(32, held[0], parts[0]) if half is not None else ():
                    left = self._rest(ways, 32, held, parts, times)
                    if left is not None and half is not None:
                        scaled = self.terms.scale(32, half, times)
                        return self.decisions.leaf(self.terms.add(32, scaled, left))
        return None

    def _extended(
        self, meeting: Meeting, ways: list[Way], name: Name, shorter: list[Name]
    ) -> Diagram | None:
        """A register as another one with more bits: one of the two made an index of it already."""
        told = [self.registers.told(way, self.registers.held(way, name)) for way in ways]
        for other in (one for one in shorter if self.registers.width(one) == 32):
            for signed in (True, False):
                made = (self._widened(self.registers.held(way, other), signed) for way in ways)
                also = (self.registers.told(way, one) for way, one in zip(ways, made, strict=True))
                if all(one == wide for one, wide in zip(told, also, strict=True)):
                    return self._widened(self.registers.carried(meeting, other), signed)
        return None

    def _widened(self, value: Diagram, signed: bool) -> Diagram:
        leaf = self.decisions.leaf
        return self.decisions.apply(
            ("extend", signed, 32, 64),
            lambda a: leaf(self.terms.extend(signed, 32, 64, a)), (value,),
        )  # fmt: skip

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

    def _kept_rest(
        self, meeting: Meeting, ways: list[Way], width: int, name: Name, other: Name, times: int
    ) -> Term | None:
        """The same, in words of registers that a turn of the loop leaves alone.

        A turn adds as many times as much to the one as to the other: what is left of them stays.
        """
        turns = [way for way in ways if way.source is meeting]
        staying = [
            one
            for one in self.registers.names(meeting)
            if one not in meeting.timeless
            and all(self._held_before(way, one) == self.registers.held(way, one) for way in turns)
        ]
        found: set[Term | None] = set()
        for way in ways:
            rest = self._left_of(width, self.registers.held(way, name),
                                 self.registers.held(way, other), times)  # fmt: skip
            if rest is None:
                return None
            if way.source is not meeting:
                found.add(self._rewriter(meeting, way, staying).term(rest))
            elif rest != self._left_of(width, self._held_before(way, name),
                                       self._held_before(way, other), times):  # fmt: skip
                return None
        return found.pop() if len(found) == 1 else None

    def _held_before(self, way: Way, name: Name) -> Diagram:
        return self.registers.incoming(way.source, *name)

    def _left_of(self, width: int, value: Diagram, other: Diagram, times: int) -> Term | None:
        one, beside = self.decisions.term(value), self.decisions.term(other)
        if one is None or beside is None:
            return None
        return self.terms.add(width, one, self.terms.scale(width, beside, times), -1)

    def _part(self, whole: Diagram, place: int) -> Diagram:
        leaf = self.decisions.leaf
        return self.decisions.apply(
            ("part", place, 2, 64), lambda a: leaf(part(self.terms, 64, a, place, 2)), (whole,)
        )

    def _apart(self, way: Way, width: int, a: Diagram, b: Diagram, times: int) -> Diagram:
        """What is left of a value on a way without a multiple of another one."""
        terms, leaf = self.terms, self.decisions.leaf

        def left(one: Term, other: Term) -> Diagram:
            return leaf(terms.add(width, one, terms.scale(width, other, times), -1))

        made = self.decisions.apply(("apart", width, times), left, (a, b))
        return self.decisions.within(way.condition, made)

    def _is_small(self, value: Diagram) -> bool:
        return len(self.decisions.reached(value, _SMALL)) <= _SMALL

    def _note_part(self, words: dict[Term, Term], width: int, held: Term, word: Term) -> None:
        """Where a register holds a number and something that stays, note what the number is."""
        _, parts = self.terms.parts(width, held)
        changing = [atom for atom in parts if not self.timeless.term(atom)]
        if len(changing) != 1 or changing[0] == held:
            return
        sign = as_signed(width, parts[changing[0]])
        if abs(sign) == 1:
            alone = self.terms.scale(width, changing[0], sign)
            rest = self.terms.add(width, held, alone, -1)
            left = self.terms.add(width, word, rest, -1)
            words.setdefault(changing[0], self.terms.scale(width, left, sign))

    def _rewriter(self, meeting: Meeting, way: Way, names: list[Name]) -> Rewriter:
        words: dict[Term, Term] = {}
        # Where several hold the same, those that a turn leaves alone do so on all ways.
        for staying in (True, False):
            some = [name for name in names if (meeting.steps.get(name) == 0) is staying]
            self._note(words, meeting, way, some)
        return Rewriter(self.decisions, self.timeless, words)

    def _note(self, words: dict[Term, Term], meeting: Meeting, way: Way, names: list[Name]) -> None:
        """Note words for what registers hold on a way."""
        known = [
            (self.registers.width(name), held, word)
            for name in names
            if (held := self.decisions.term(self.registers.held(way, name))) is not None
            and (word := self.decisions.term(self.registers.carried(meeting, name))) is not None
            and not self.timeless.term(held)
        ]
        for width, held, word in known:
            words.setdefault(held, word)
            if self.narrow and width == 64:
                for place in (0, 1):
                    whole = part(self.terms, 64, held, place, 2)
                    words.setdefault(whole, part(self.terms, 64, word, place, 2))
        for width, held, word in known if self.narrow else ():
            self._note_part(words, width, held, word)
            if width == 64:
                # An address of shared memory goes along with the lower half of an index.
                halves = (part(self.terms, 64, one, 0, 2) for one in (held, word))
                self._note_part(words, 32, *halves)
