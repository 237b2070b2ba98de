"""Labels of a function: what they are called, and whether their names go without saying."""

from __future__ import annotations

import re
from collections.abc import Sequence

from ptxkit.syntax import Instruction, Label
from ptxkit.transpiler.tree import Entry, FunctionSuite, Line, Suite, quoted

_BLOCK_LABEL = re.compile(r"\$L__BB(\d+)_(\d+)")
_TERMINATORS = frozenset(("bra", "brx", "ret", "exit"))


class Labels:
    """The labels of a function.

    A compiler calls a label after the number of its basic block, and the DSL counts those,
    too: so most names need not be said.
    """

    def __init__(self, function: FunctionSuite) -> None:
        self._prefix = f"$L__BB{function.number}_"
        self._implied: set[str] = set()
        self._block = 0
        self._ended = False
        self._depth = 0
        self._count(function.body)

    def argument(self, label: str) -> str | None:
        """What names a label in Python; None where it need not be named."""
        return None if label in self._implied else self.short(label)

    def short(self, label: str) -> str:
        """The number of a basic block's label, else the name."""
        number = label.removeprefix(self._prefix)
        if number != label and number.isdecimal() and str(int(number)) == number:
            return number
        return quoted(label)

    def _count(self, body: Sequence[Entry]) -> None:
        """Go along as the DSL does where it numbers blocks."""
        for entry in body:
            if isinstance(entry, Suite):
                self._depth += 1
                self._count(entry.body)
                self._depth -= 1
            elif entry.kind == "instruction" and isinstance(entry.node, Instruction):
                if not self._depth:
                    ends = entry.node.name in _TERMINATORS
                    if self._ended and not ends:
                        self._block += 1
                    self._ended = ends
            elif entry.kind == "label":
                self._place(entry)
            elif entry.kind in ("block", "block_close"):
                self._depth += 1 if entry.kind == "block" else -1
            elif entry.kind == "comment" and "inline asm" in str(entry.arguments[0]):
                if entry.arguments[0] == '"begin inline asm"':
                    self._depth += 1
                elif entry.arguments[0] == '"end inline asm"':
                    self._depth -= 1

    def _place(self, line: Line) -> None:
        name = label_of(line)
        found = _BLOCK_LABEL.fullmatch(name)
        if found is None:
            return
        if name == f"{self._prefix}{self._block + 1}":
            self._implied.add(name)
        self._block = int(found[2])
        self._ended = False


def label_of(line: Line) -> str:
    """The name of the label that a line places."""
    assert isinstance(line.node, Label)
    name: str = line.node.name
    return name
