"""What a loop leaves alone in words of something else that it leaves alone.

Eight turns are made at a time, and ``count & 7`` are left for behind them. One compiler keeps that,
another one computes it again: both have to know of which number it is the lowest bits. How the loop
begins tells that, since none of its turns changes either.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

from ptxkit.decompiler.verify.dataflow.bits import masked, shifted_right
from ptxkit.decompiler.verify.dataflow.bounds import bounds
from ptxkit.decompiler.verify.dataflow.decisions import Diagram
from ptxkit.decompiler.verify.dataflow.meetings import Meeting, Name, Way
from ptxkit.decompiler.verify.dataflow.registers import Registers
from ptxkit.decompiler.verify.dataflow.rewrite import Rewriter
from ptxkit.decompiler.verify.dataflow.terms import Term

#: What is left of so many turns at most, where several are made at a time.
_LEFT = 1 << 8


class Staying:
    """Finds such words."""

    def __init__(
        self, registers: Registers, rewriter: Callable[[Meeting, Way, list[Name]], Rewriter]
    ) -> None:
        """``rewriter`` gives words for what registers hold on a way to a meeting."""
        self.registers = registers
        self.decisions = registers.decisions
        self.terms = registers.terms
        self.timeless = registers.timeless
        self._rewriter = rewriter

    def made_of_others(
        self, meeting: Meeting, ways: list[Way], names: list[Name]
    ) -> dict[Name, Diagram]:
        """What is computed from others before a loop that changes neither, in words of these."""
        turns = [way for way in ways if way.source is meeting]
        entering = [way for way in ways if way.source is not meeting]
        # Before there is a turn, nothing is known of it but what was found of others.
        if not entering or not (turns or any(name in meeting.derived for name in names)):
            return {}
        staying = {
            name: term
            for name in names
            if all(self._stays(way, name) for way in turns)
            and (term := self.decisions.term(self.registers.held(entering[0], name))) is not None
        }
        found: dict[Name, Diagram] = {}
        roots: list[Name] = []
        # What is made of something else is younger than that.
        for name in sorted(staying, key=staying.__getitem__):
            made = None
            if roots and not self.is_atom(self.registers.held(entering[0], name)):
                rewriters = [self._rewriter(meeting, way, roots) for way in entering]
                made = self._in_words(entering, name, rewriters)
                if made is None:
                    made = self._by_one_way(meeting, entering, name, rewriters, roots)
                if made is None:
                    words = {one: self.registers.carried(meeting, one) for one in roots} | found
                    made = self._lowest_of(entering, name, staying[name], words)
            if made is None:
                roots.append(name)
            else:
                found[name] = made
        return found

    def _stays(self, turn: Way, name: Name) -> bool:
        return self.registers.incoming(turn.source, *name) == self.registers.held(turn, name)

    def _by_one_way(
        self,
        meeting: Meeting,
        ways: list[Way],
        name: Name,
        rewriters: list[Rewriter],
        others: list[Name],
    ) -> Diagram | None:
        """A register in the words of one way, where they come out right on all others.

        Before the first turn of an outer loop numbers may be known that have no words there.
        """
        for rewriter, way in zip(rewriters, ways, strict=True):
            made = rewriter.diagram(self.registers.held(way, name))
            if made is None or self.timeless.value(made):
                continue
            if all(
                self._put_back(meeting, one, others).diagram(made) == self.registers.held(one, name)
                for one in ways
            ):
                return made
        return None

    def _put_back(self, meeting: Meeting, way: Way, names: list[Name]) -> Rewriter:
        """Replaces what registers hold at a meeting by what they hold on a way there."""
        held: dict[Term, Term] = {}
        for name in names:
            word = self.decisions.term(self.registers.carried(meeting, name))
            value = self.decisions.term(self.registers.held(way, name))
            if word is None or value is None:
                continue
            low = meeting.zeros.get(meeting.classes[name], 0)
            if low and self.terms.rows[word][0] == "sum":
                # It is a multiple of what is as much smaller.
                ((word, _),) = self.terms.rows[word][3]
                value = shifted_right(self.terms, self.registers.width(name), value, low)
            held[word] = value
        return Rewriter(self.decisions, self.timeless, held, everything=True)

    def _lowest_of(
        self, ways: list[Way], name: Name, held: Term, words: Mapping[Name, Diagram]
    ) -> Diagram | None:
        """A register as some of the lowest bits of another one: what is left of so many turns."""
        width = self.registers.width(name)
        mask = bounds(self.terms, held, width, False)[1]
        if width not in (32, 64) or mask & mask + 1 or not 0 < mask < _LEFT:
            return None

        def cut(value: Diagram) -> Diagram:
            leaf = self.decisions.leaf
            return self.decisions.apply(
                ("lowest", width, mask),
                lambda a: leaf(masked(self.terms, width, a, mask)),
                (value,),
            )

        for other, word in words.items():
            if self.registers.width(other) == width and all(
                cut(self.registers.held(way, other)) == self.registers.held(way, name)
                for way in ways
            ):
                return cut(word)
        return None

    def _in_words(self, ways: list[Way], name: Name, rewriters: list[Rewriter]) -> Diagram | None:
        """A register in words of others, where these are the same on all ways."""
        found = {
            rewriter.diagram(self.registers.held(way, name))
            for way, rewriter in zip(ways, rewriters, strict=True)
        }
        return found.pop() if len(found) == 1 else None

    def is_atom(self, value: Diagram) -> bool:
        """Whether a value is no function of others."""
        term = self.decisions.term(value)
        if term is None or self.terms.rows[term][0] == "sum":
            return False
        return self.timeless.first_part(term) is None
