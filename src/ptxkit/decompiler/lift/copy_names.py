"""The variables of copies, as those of the loop that the copies are turns of."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field

from ptxkit.cuda import nodes as n
from ptxkit.decompiler.lift.rewrite import Body, read, written
from ptxkit.decompiler.lift.uses import Uses


@dataclass(slots=True)
class CopyNames:
    """What the variables of copies are in the loop: one for each that a copy has for itself, and
    one for each that a copy hands to the next."""

    uses: Uses
    holes: dict[str, tuple[str, ...]]
    copies: list[Body]
    text: Body
    chosen: dict[str, str] = field(default_factory=dict)
    before: list[n.Statement] = field(default_factory=list)
    renamed: dict[str, str] = field(default_factory=dict)

    def solved(self) -> bool:
        """Whether a name was found for every hole."""
        inside = [Counter(name for s in copy for name in read(s)) for copy in self.copies]
        sets = [Counter(name for s in copy for name in written(s)) for copy in self.copies]
        own = {
            hole: None for hole, row in self.holes.items()
            if all(name in done for name, done in zip(row, sets, strict=True))
        }  # fmt: skip
        givers = {self.holes[hole][:-1]: hole for hole in reversed(own)}
        handed: dict[str, str] = {}
        for hole, row in self.holes.items():
            if hole in own and len(set(row)) == len(row):
                continue
            giver = givers.get(row[1:])
            if giver is None or giver in handed.values() or not self._in_time(hole, giver):
                return False
            handed[hole] = giver
        for hole in own:
            row = self.holes[hole]
            if len(set(row)) != len(row):
                return False
            if any(
                done[name] != self.uses.writes[name] for name, done in zip(row, sets, strict=True)
            ):
                return False
            last = len(row) if hole not in handed.values() else len(row) - 1
            for place, name in enumerate(row[:last]):
                near = inside[place][name]
                if hole in handed.values():
                    near += inside[place + 1][name]
                if near != self.uses.reads[name]:
                    return False
            if hole not in handed.values():
                self.chosen[hole] = row[0]
        for hole, giver in handed.items():
            self._hand(self.holes[hole][0], self.holes[giver][-1], hole, giver, inside[0])
        return True

    def _hand(self, first: str, last: str, hole: str, giver: str, reads: Counter[str]) -> None:
        """A value that goes from copy to copy is one variable."""
        alone = self.uses.reads[first] == reads[first] and self.uses.writes[first]
        if alone and self.uses.types.get(first) == self.uses.types.get(last):
            self.chosen[hole] = self.chosen[giver] = first
            self.renamed[last] = first
        else:
            own = self.holes[giver][0]
            self.chosen[hole] = self.chosen[giver] = own
            self.renamed[last] = own
            self.before.append(n.Assign(n.Name(own), n.Name(first)))

    def _in_time(self, hole: str, giver: str) -> bool:
        """Whether the old value is needed no more when the new one is there."""
        reads = [k for k, s in enumerate(self.text) if hole in set(read(s))]
        sets = [k for k, s in enumerate(self.text) if giver in set(written(s))]
        if not reads or len(sets) != 1:
            return False
        return reads[-1] < sets[0] or (
            reads[-1] == sets[0] and isinstance(self.text[sets[0]], n.Assign)
        )

    def fill(self, node: n.Node) -> n.Node:
        """The text with names in its holes."""
        if isinstance(node, n.Name) and node.name in self.chosen:
            return n.Name(self.chosen[node.name])
        return node
