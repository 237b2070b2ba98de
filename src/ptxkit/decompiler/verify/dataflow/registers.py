"""What the registers of two functions hold at a meeting, and at the end of a way."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ptxkit.decompiler.verify.dataflow.agreement import Agreement
from ptxkit.decompiler.verify.dataflow.decisions import Decisions, Diagram
from ptxkit.decompiler.verify.dataflow.decode import Register
from ptxkit.decompiler.verify.dataflow.meetings import Meeting, Name, Way
from ptxkit.decompiler.verify.dataflow.products import no_product
from ptxkit.decompiler.verify.dataflow.regions import Program
from ptxkit.decompiler.verify.dataflow.rewrite import Rewriter
from ptxkit.decompiler.verify.dataflow.terms import Term, Terms
from ptxkit.decompiler.verify.dataflow.timeless import Timeless
from ptxkit.decompiler.verify.dataflow.unset import NOTHING
from ptxkit.isa.types import SCALAR_TYPES

#: Flags are kept in registers of so many bits.
FLAG = 16


class Registers:
    """The registers of both sides."""

    def __init__(
        self,
        programs: tuple[Program, Program],
        terms: Terms,
        decisions: Decisions,
        entry: Meeting,
        narrow: bool,
        unset: Mapping[Register, Register] = NOTHING,
    ) -> None:
        """They hold nothing at the ``entry``.

        With ``narrow``, values are told only for where control is. What was ``unset`` and is read
        all the same is whatever there is: see `unset`.
        """
        self.programs = programs
        self.terms = terms
        self.decisions = decisions
        self.entry = entry
        self.narrow = narrow
        self.unset = unset
        self.timeless = Timeless(decisions)
        self.agreement = Agreement(decisions, self.timeless)
        self._solved: dict[Diagram, Rewriter | None] = {}

    def incoming(self, meeting: Meeting, side: int, register: Register) -> Diagram:
        """What a register holds at a meeting."""
        name = side, register
        held = meeting.timeless.get(name, meeting.derived.get(name))
        if held is not None:
            return held
        return self.carried(meeting, name)

    def carried(self, meeting: Meeting, name: Name) -> Diagram:
        """What a register holds that a loop may have changed."""
        side, register = name
        type = self.programs[side].types.get(register, "b32")
        if meeting is self.entry:
            if side and register in self.unset:
                side, register = 0, self.unset[register]
            term = self.terms.make("nothing", side, register)
        else:
            width = SCALAR_TYPES[type].width
            known = meeting.classes.get(name)
            what: Any = (side, register) if known is None else known
            if known in meeting.no_products:
                what = no_product(what)
            most = meeting.limits.get(known or 0, ())
            low = meeting.zeros.get(known or 0, 0)
            if low:
                # A multiple of a number that is as much smaller.
                most = (min((*most, (1 << width) - 1)) >> low,)
            term = self.terms.make("carried", meeting.number, what, width, *most)
            term = self.terms.scale(width, term, 1 << low) if low else term
            if width == FLAG and most == (1,):
                return self._flag(term, width)
        return self.decisions.ask(term) if type == "pred" else self.decisions.leaf(term)

    def _flag(self, term: Term, width: int) -> Diagram:
        """What is 0 or 1, as one of them: where it is not 0, nobody has to find that it is 1."""
        zero, one = (self.decisions.leaf(self.terms.constant(width, number)) for number in (0, 1))
        asked = self.terms.make("eq", width, term)
        return self.decisions.choose(self.decisions.ask(asked), zero, one)

    def held(self, way: Way, name: Name) -> Diagram:
        """What a register holds at the end of a way."""
        side, register = name
        held = way.states[side].registers.get(register)
        return self.incoming(way.source, side, register) if held is None else held

    def told(self, way: Way, value: Diagram) -> Diagram:
        """A value on a way, in words that say what the way's condition says of it."""
        if not self.narrow:
            return self.under(way.condition, value)
        value = self.decisions.within(way.condition, value)
        if way.condition not in self._solved:
            words = self.agreement.words(way.condition)
            self._solved[way.condition] = (
                Rewriter(self.decisions, self.timeless, words, everything=True, same=True)
                if words
                else None
            )
        rewriter = self._solved[way.condition]
        told = None if rewriter is None else rewriter.diagram(value)
        return value if told is None else told

    def under(self, condition: Diagram, value: Diagram) -> Diagram:
        """A value where a condition holds, and nothing elsewhere."""
        return self.decisions.choose(condition, value, self.decisions.undefined)

    def width(self, name: Name) -> int:
        """How many bits a register has."""
        return SCALAR_TYPES[self.programs[name[0]].types.get(name[1], "b32")].width

    def names(self, meeting: Meeting) -> list[Name]:
        """The registers that are read from a meeting on."""
        return [
            (side, register)
            for side in (0, 1)
            for register in sorted(self.programs[side].live[meeting.blocks[side]])
        ]
