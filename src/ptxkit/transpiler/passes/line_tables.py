"""Source lines and debug labels as one table at the head of a function.

``.loc``, the labels ``$L__tmp3`` that debug sections name, and the comments that number basic
blocks stand between the statements; the table says where (:mod:`ptxkit.dsl.line_tables`), and
the statements can be read without them.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from ptxkit.transpiler.labels import label_of
from ptxkit.transpiler.tree import (
    Entry,
    FunctionSuite,
    Group,
    Line,
    Site,
    Suite,
    python_of,
    quoted,
    walk,
)

#: Lines that are no statements of their own.
_SAID = frozenset(("blank", "gap", "note", "spacing"))
_FUNCTION = re.compile(r'"\$L__info_string(\d+)"')
_LABEL = re.compile(r"\$L__((?:tmp|func_begin|func_end|[a-z_]+)\d+)")
_NOTE = re.compile(r'\.note\("([^"\\]*):(\d+):(\d+)"\)')
_BLOCK = re.compile(r'"%bb\.(\d+):"')
_WIDTH = 88


class LineTables:
    """The pass."""

    name = "line tables"

    def __call__(self, function: FunctionSuite, skip: frozenset[int]) -> FunctionSuite:
        """Take lines and debug labels out of a body, unless it is to be skipped."""
        maker = _Maker(function)
        body = maker.without(function.body)
        node = function.node
        if not maker.words or node is None or node.index in skip:
            return function
        line = TableLine(maker.words, maker.files)
        line.node = node
        site = Site(node.index, 1 << 60, node.index)
        return function.rewritten([line, *body], [site])


class TableLine(Line):
    """``ptx.lines("...")``, over several lines."""

    __slots__ = ("words",)

    def __init__(self, words: Sequence[str], files: dict[str, str]) -> None:
        super().__init__("lines", "ptx.lines")
        self.words = list(words)
        if files:
            rows = [f"{number}: {quoted(name)}" for number, name in sorted(files.items())]
            self.keywords.append(("files", f"{{{', '.join(rows)}}}"))

    def text(self, names: object = None) -> str:
        """The call; its table is a text over several lines."""
        rows: list[str] = []
        for word in self.words:
            if not rows or len(rows[-1]) + len(word) > _WIDTH:
                rows.append(word)
            else:
                rows[-1] += f" {word}"
        last = len(rows) - 1
        shown = [quoted(row if at == last else f"{row} ") for at, row in enumerate(rows)]
        said = "".join([f", {word}={python_of(value)}" for word, value in self.keywords])
        if len(shown) == 1 and len(shown[0]) + len(said) < _WIDTH:
            return f"ptx.lines({shown[0]}{said})"
        inner = "\n    ".join(shown)
        ending = f",\n    {said[2:]},\n)" if said else "\n)"
        return f"ptx.lines(\n    {inner}{ending}"


class _Maker:
    def __init__(self, function: FunctionSuite) -> None:
        self.words: list[str] = []
        self.files: dict[str, str] = {}
        self._count = 0  # statements since the last word
        self._file = "1"
        self._tmp = -1
        self._targets = {
            argument
            for line in walk(function.body)
            if line.call.startswith("ptx.br")
            for argument in line.arguments
            if isinstance(argument, str)
        }
        locs = [line for line in walk(function.body) if line.kind == "loc"]
        self._has_notes = bool(locs) and all(_has_note(line) for line in locs)

    def without(self, body: Sequence[Entry]) -> list[Entry]:
        """A body without what goes into the table."""
        made: list[Entry] = []
        at = 0
        while at < len(body):
            entry = body[at]
            end = at
            words: list[str] = []
            while end < len(body):
                word = self._word(body[end])
                if word is None:
                    break
                words.append(word)
                end += 1
            if words and self._is_close(body, end):
                for word in words:
                    self._add(word)
                at = end
                continue
            if words:  # the white space after them is another
                made += body[at:end]
                self._count += end - at
                at = end
                continue
            if isinstance(entry, Suite):
                self._count += 1
                made.append(entry.with_body(self.without(entry.body)))
                self._count += 1
            else:
                made.append(entry)
                self._count += entry.kind not in _SAID
            at += 1
        return made

    @staticmethod
    def _is_close(body: Sequence[Entry], at: int) -> bool:
        """Whether nothing is said of the white space before the next statement."""
        if at >= len(body):
            return True
        entry = body[at]
        if isinstance(entry, Suite):
            return True
        if entry.kind in _SAID or any(word == "before" for word, _ in entry.keywords):
            return False
        return not any(one.startswith(".spaced({0:") for one in entry.suffixes)

    def _add(self, word: str) -> None:
        if word.startswith("/"):  # the file is that of the line before
            file, _, rest = word[1:].partition("/")
            word = rest if file == self._file else f"{file}/{rest}"
            self._file = file
        elif word.startswith("~"):
            number = int(word[1:])
            word = "~" if number == self._tmp + 1 else word
            self._tmp = number
        self.words.append(f"{self._count}@{word}" if self._count else word)
        self._count = 0

    def _word(self, entry: Entry) -> str | None:
        """What a line is in the table."""
        if isinstance(entry, Suite):
            return None
        if entry.kind == "loc":
            return self._location(entry)
        if entry.suffixes:
            return None
        if entry.kind == "comment" and not entry.keywords:
            found = _BLOCK.fullmatch(str(entry.arguments[0]))
            return f"%{found[1]}" if found else None
        if entry.kind != "label":
            return None
        name = label_of(entry)
        found = _LABEL.fullmatch(name)
        if found is None or quoted(name) in self._targets:
            return None
        word = found[1]
        return f"~{word[3:]}" if word.startswith("tmp") else f"={word}"

    def _location(self, line: Line) -> str | None:
        numbers = line.arguments[:3]
        if not all(isinstance(one, str) and one.isdecimal() for one in numbers):
            return None
        file, row, column = map(str, numbers)
        if self._has_notes:
            (suffix,) = line.suffixes
            found = _NOTE.fullmatch(suffix)
            if found is None or self.files.setdefault(file, found[1]) != found[1]:
                return None
        elif line.suffixes:
            return None
        word = f"/{file}/{row}:{column}"
        if len(line.arguments) == 3:
            return word
        function, at = line.arguments[3:]
        info = _FUNCTION.fullmatch(python_of(function))
        if info is None or not isinstance(at, Group):
            return None
        return f"{word}>{info[1]},{at.parts[0]}/{at.parts[1]}:{at.parts[2]}"


def _has_note(line: Line) -> bool:
    """Whether what stands behind a line is its place once more."""
    if len(line.suffixes) != 1:
        return False
    found = _NOTE.fullmatch(line.suffixes[0])
    return found is not None and [found[2], found[3]] == line.arguments[1:3]
