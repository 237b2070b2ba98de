"""The one writer: statements and a style to text."""

from __future__ import annotations

from collections.abc import Iterable

from ptxkit.dsl.statements import Statement
from ptxkit.dsl.styles import Style

#: Statements after which what follows stands one level further in, and those that end it.
OPENING = frozenset(("header", "block", "section"))
CLOSING = frozenset(("body_close", "block_close", "section_close"))


class Spacer:
    """Goes along statements and knows what stands before the next one."""

    __slots__ = ("_is_first", "_known", "_previous", "depth", "style")

    def __init__(self, style: Style) -> None:
        self.style = style
        self.depth = 0
        self._previous = "start"
        self._is_first = False  # whether the next instruction is the first of its function
        self._known: dict[tuple[str, str, int], str] = {}

    @property
    def is_start(self) -> bool:
        """Whether nothing stands before."""
        return self._previous == "start"

    def gap(self, kind: str) -> str:
        """The white space the style puts before a statement of a kind that comes next."""
        if self._is_first and kind == "instruction":
            kind = "first_instruction"
        key = (self._previous, kind, self.depth)
        found = self._known.get(key)
        if found is None:
            found = self._known[key] = self.style.gap(*key)
        return found

    def entering(self, kind: str) -> None:
        """Say that a statement of a kind comes next, before asking for the gap."""
        if kind in CLOSING:
            self.depth -= 1

    def passed(self, kind: str) -> None:
        """Say that a statement of a kind stands there now."""
        self._previous = kind
        if kind == "instruction":
            self._is_first = False
        elif kind in OPENING:
            self.depth += 1
            if kind == "header":
                self._is_first = True


def write(statements: Iterable[Statement], style: Style) -> str:
    """Lay statements out.

    >>> from ptxkit.dsl.styles import NVCC
    >>> write([Statement("header", ".func f()\\n{"), Statement("instruction", "ret;"),
    ...        Statement("body_close", "}"), Statement("end", "")], NVCC)
    '.func f()\\n{\\n\\n\\n\\tret;\\n\\n}\\n'
    """
    out: list[str] = []
    push = out.append
    spacer = Spacer(style)
    width = style.width
    last, row_gap = "", ""  # what stands between instructions in a row
    for statement in statements:
        kind = statement.kind
        before = statement.before
        if before is None and kind == "instruction" == last:
            gap = row_gap
        else:
            spacer.entering(kind)
            if before is None:
                gap = spacer.gap(kind)
            elif isinstance(before, str):
                gap = before
            else:
                gap = "\n" * (before + 1) + style.indent(kind, spacer.depth)
            spacer.passed(kind)
            if kind == "instruction":
                row_gap = spacer.gap(kind)
            last = kind
        push(gap)
        text = statement.text
        if width and not statement.is_spaced and len(gap) + len(text) > width:
            text = style.wrapped(text, gap)
        push(text)
        if statement.notes is not None:
            _write_notes(out, statement, style)
    return "".join(out)


def _write_notes(out: list[str], statement: Statement, style: Style) -> None:
    further = False
    for note in statement.notes or ():
        if note.before is not None:
            out.append(note.before)
        else:
            out.append(style.note(_last_line(out), further=further))
        out.append(note.text)
        further = True


def _last_line(out: list[str]) -> str:
    """What the line so far holds."""
    pieces: list[str] = []
    for piece in reversed(out):
        head, found, tail = piece.rpartition("\n")
        pieces.append(tail if found else head + tail)
        if found:
            break
    return "".join(reversed(pieces))
