"""A text an editor has open: its tree, its names, and places counted both ways.

Editors count lines from 0 and columns in UTF-16 units (or what was agreed on); the tree
counts bytes.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property

from ptxkit.errors import UsageError
from ptxkit.isa.targets import Target, Version
from ptxkit.syntax import Module, Scopes, parse


def _bytes_wide(character: str) -> int:
    return len(character.encode("utf-8", "surrogateescape"))


def _units_wide(character: str) -> int:
    return 2 if ord(character) > 0xFFFF else 1


def _one_wide(character: str) -> int:
    del character
    return 1


#: How wide a character is in the units of each encoding the protocol knows.
_UNITS: dict[str, Callable[[str], int]] = {
    "utf-8": _bytes_wide,
    "utf-16": _units_wide,
    "utf-32": _one_wide,
}


class Document:
    """One version of a text. Everything asked of it is worked out once.

    >>> document = Document("// ü\\n.version 8.0")
    >>> document.offset(0, 4), document.place(document.offset(1, 3))
    (5, (1, 3))
    """

    def __init__(self, text: str, filename: str = "<editor>", encoding: str = "utf-16") -> None:
        if encoding not in _UNITS:
            raise UsageError(f"columns are counted in {', '.join(_UNITS)}, not {encoding!r}")
        self.module: Module = parse(text, filename, recover=True)
        self.source = self.module.source()
        self._width = _UNITS[encoding]

    @cached_property
    def scopes(self) -> Scopes:
        """Where names are declared."""
        return Scopes(self.module)

    @cached_property
    def version(self) -> Version | None:
        """The PTX version of the file, if it says one."""
        try:
            return Version.parse(self.module.version) if self.module.version else None
        except UsageError:
            return None

    @cached_property
    def target(self) -> Target | None:
        """The target of the file, if it says one."""
        try:
            return Target.parse(self.module.target) if self.module.target else None
        except UsageError:
            return None

    @property
    def line_count(self) -> int:
        """How many lines there are, an empty last one too."""
        return self.module.line_count

    def _line(self, line: int) -> bytes:
        start = self.module.line_start(line + 1)
        end = self.source.find(b"\n", start)
        return self.source[start : len(self.source) if end < 0 else end]

    def offset(self, line: int, column: int) -> int:
        """The byte at a place of the editor's; one past the text's end is the end."""
        if line < 0:
            return 0
        if line >= self.line_count:
            return len(self.source)
        start, text = self.module.line_start(line + 1), self._line(line)
        if text.isascii():
            return start + max(0, min(column, len(text)))
        at = units = 0
        for character in text.decode("utf-8", "surrogateescape"):
            if units >= column:
                break
            units += self._width(character)
            at += len(character.encode("utf-8", "surrogateescape"))
        return start + at

    def place(self, offset: int) -> tuple[int, int]:
        """The editor's (line, column) of a byte."""
        offset = max(0, min(offset, len(self.source)))
        line = self.module.position(offset)[0] - 1
        start = self.module.line_start(line + 1)
        before = self.source[start:offset]
        if before.isascii():
            return line, len(before)
        text = before.decode("utf-8", "surrogateescape")
        return line, sum(self._width(character) for character in text)
