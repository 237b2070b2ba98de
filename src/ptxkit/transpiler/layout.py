"""White space and comments: what a style does not say is said in Python.

The gap before a statement is white space with comments in it. Comments become lines of
their own (or notes on the line before), and the white space around them is compared with
what the style gives.
"""

from __future__ import annotations

import re

from ptxkit.dsl.builder import ASM_BEGINS, ASM_ENDS
from ptxkit.dsl.spacing import differences
from ptxkit.dsl.statements import comment_text
from ptxkit.dsl.styles import Style
from ptxkit.dsl.writer import Spacer
from ptxkit.transpiler.tree import Entry, Line, quoted

_COMMENT = re.compile(
    r"//[^\n]*?(?=\r*(?:\n|\Z))|/\*.*?\*/|\#[^\n]*?(?=\r*(?:\n|\Z))|\ufeff|\0[\0\s]*\Z", re.DOTALL
)
#: Kinds of lines whose call gives a statement, so that more can be said of it.
CHAINED = frozenset(
    "instruction loc pragma section_data section_label file alias dwarf version target "
    "address_size branchtargets calltargets callprototype".split()
)


class Layout:
    """Goes through a file statement by statement and knows what stood before."""

    def __init__(self, source: bytes, style: Style) -> None:
        self.source = source
        self.style = style
        self.body: list[Entry] = []
        """Where lines go now."""
        self.is_body = False
        self.is_asm = False
        self._place = 0  # where the last statement ended
        self._spacer = Spacer(style)
        self._first_gap: str | None = None  # before the statement begun last

    def text(self, start: int, end: int) -> str:
        """A part of the source."""
        return self.source[start:end].decode("utf-8", "surrogateescape")

    def statement(self, kind: str, start: int, end: int, line: Line | None, predicted: str) -> None:
        """Add a statement with all that stands before it.

        Without a line the statement is none of its own in Python (a brace, a header): what
        is to be said before it is added, and its own text is the caller's.
        """
        self.begin(kind, start, line)
        if line is not None:
            self.finish(line, end, predicted)
        else:
            self._place = end

    def begin(self, kind: str, start: int, line: Line | None) -> None:
        """Add what stands before a statement, and its line."""
        before = self._before(kind, start)
        self._first_gap = None
        if isinstance(before, str) and line is not None and line.kind in CHAINED:
            self._first_gap = before
        elif before is not None:
            self._say("gap" if isinstance(before, str) else "blank", before)
        if line is not None:
            self.body.append(line)
        self._place = start
        self._spacer.passed(kind)

    def finish(self, line: Line, end: int, predicted: str) -> None:
        """Compare the text of the statement begun with what the writer would give."""
        actual = self.text(self._place, end)
        self._place = end
        if actual == predicted and self._first_gap is None:
            return
        spacing = {} if self._first_gap is None else {0: self._first_gap}
        if actual != predicted and line.kind in CHAINED:
            tight = predicted.replace(", ", ",")
            if len(self.spacing(tight, actual)) < len(self.spacing(predicted, actual)) - 1:
                predicted = tight
                line.suffixes.append(".tight()")
        if actual != predicted:
            spacing |= self.spacing(predicted, actual)
        if not spacing:
            return
        shown = spacing_argument(spacing)
        if line.kind in CHAINED:
            line.suffixes.append(f".spaced({shown})")
        else:
            self.body.append(Line("spacing", f"{self.prefix}.spaced", [shown]))

    def stood(self, kind: str) -> None:
        """Say what kind of statement the last one ended with."""
        self._spacer.passed(kind)

    @property
    def prefix(self) -> str:
        """What statements are made with here."""
        return "ptx" if self.is_body else "module"

    def spacing(self, predicted: str, actual: str) -> dict[int, str]:
        """The white space inside a statement that departs from what the writer would do."""
        found = differences(predicted, actual)
        if found is None:
            raise AssertionError(f"the statement {actual!r} would be written {predicted!r}")
        return found

    # -- before a statement ----------------------------------------------------------------------

    def _before(self, kind: str, start: int) -> int | str | None:
        """Add the comments before a statement; what is to be said of the white space."""
        gap = self.text(self._place, start)
        if not gap.isspace() and gap:
            gap = self._comments(gap)
        self._spacer.entering(kind)  # comments before a brace still stand inside
        return self._departure(gap, kind)

    def _departure(self, gap: str, kind: str) -> int | str | None:
        """None where the style gives the gap, a number of blank lines, or the gap itself."""
        if gap == self._spacer.gap(kind):
            return None
        lines = gap.count("\n")
        if lines and gap == "\n" * lines + self.style.indent(kind, self._spacer.depth):
            return lines - 1
        return gap

    def _comments(self, gap: str) -> str:
        """Add the comments of a gap; gives the white space after the last."""
        place = 0
        noted = False
        for found in _COMMENT.finditer(gap):
            white, comment = gap[place : found.start()], found[0]
            behind = "\n" not in white and not self._spacer.is_start and comment[0] == "/"
            further = noted and white == self.style.note("", further=True)
            if (place == 0 and behind) or (further and self.style.note_column):
                self._note(white, comment, further=noted)
                noted = True
            else:
                self._comment(white, comment)
                noted = False
            place = found.end()
        rest = gap[place:]
        if rest and not rest.isspace():
            raise AssertionError(f"{rest!r} is neither white space nor a comment")
        return rest

    def _note(self, white: str, comment: str, *, further: bool) -> None:
        predicted = self.style.note(self._line_so_far(), further=further)
        text = quoted(_plain(comment))
        if white != predicted:
            text += f", {quoted(white)}"
        last = self.body[-1] if self.body else None
        if isinstance(last, Line) and last.kind in CHAINED:
            last.suffixes.append(f".note({text})")
        else:
            self.body.append(Line("note", f"{self.prefix}.note", [text]))
        self._place += len((white + comment).encode("utf-8", "surrogateescape"))

    def _comment(self, white: str, comment: str) -> None:
        kind = self.style.comment_kind(comment)
        before = self._departure(white, kind)
        if before is not None and not isinstance(before, str):
            self._say("blank", before)
        line = Line("comment", f"{self.prefix}.comment", [quoted(_plain(comment))])
        if isinstance(before, str):
            line.keywords.append(("before", quoted(before)))
        self.body.append(line)
        if comment == ASM_BEGINS:
            self.is_asm = True
        elif comment == ASM_ENDS:
            self.is_asm = False
        self._place += len((white + comment).encode("utf-8", "surrogateescape"))
        self._spacer.passed(kind)

    def _line_so_far(self) -> str:
        begin = self.source.rfind(b"\n", 0, self._place) + 1
        return self.text(begin, self._place)

    def _say(self, what: str, value: int | str) -> None:
        shown = quoted(value) if isinstance(value, str) else str(value)
        if what == "blank" and value == 1:
            shown = ""
        self.body.append(Line(what, f"{self.prefix}.{what}", [shown] if shown else []))


def _plain(comment: str) -> str:
    """A comment as ``comment_text`` takes it: without the two slashes where it adds them."""
    if comment == "//":
        return ""
    inner = comment[3:]
    if comment.startswith("// ") and inner and comment_text(inner) == comment:
        return inner
    return comment


def spacing_argument(gaps: dict[int, str]) -> str:
    """A mapping of gaps as Python."""
    return "{" + ", ".join([f"{number}: {quoted(gap)}" for number, gap in gaps.items()]) + "}"
