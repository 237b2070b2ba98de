"""What goes wrong in a kernel written in Python, with the Python line it stands on."""

from __future__ import annotations

import contextlib
import linecache
import sys
from bisect import bisect_right
from pathlib import Path
from types import CodeType, FrameType

from ptxkit.errors import PtxkitError

#: Where mistakes are not made: here, and in what `with` blocks go through.
_OURS = (str(Path(__file__).parent), contextlib.__file__)


def python_place() -> tuple[str, int]:
    """The file and line of the innermost frame outside this package.

    >>> python_place()[1] > 0
    True
    """
    frame: FrameType | None = sys._getframe(1)
    while frame is not None and frame.f_code.co_filename.startswith(_OURS):
        frame = frame.f_back
    return (frame.f_code.co_filename, _line_of(frame)) if frame is not None else ("<unknown>", 0)


#: Python finds a line by reading the function's table from its begin: too slow in a long one.
_FAR = 4096
_table: tuple[CodeType | None, list[int], list[int]] = (None, [], [])


def _line_of(frame: FrameType) -> int:
    """The line a frame is at; the table of the long function asked about last is kept."""
    global _table
    if frame.f_lasti < _FAR:
        return frame.f_lineno
    code, starts, lines = _table
    if code is not frame.f_code:
        code = frame.f_code
        rows = [(start, line) for start, _, line in code.co_lines() if line is not None]
        starts, lines = [start for start, _ in rows], [line for _, line in rows]
        _table = (code, starts, lines)
    return lines[bisect_right(starts, frame.f_lasti) - 1]


class DslError(PtxkitError):
    """A mistake in a kernel written in Python; the message begins with its file and line.

    >>> print(DslError("this is wrong", "write that", place=("k.py", 3)))
    k.py:3: this is wrong
      help: write that
    """

    def __init__(
        self, message: str, hint: str = "", *, place: tuple[str, int] | None = None
    ) -> None:
        self.filename, self.line = place or python_place()
        self.message, self.hint = message, hint
        source = linecache.getline(self.filename, self.line).strip()
        text = f"{self.filename}:{self.line}: {message}"
        if source:
            text += f"\n    {source}"
        if hint:
            text += f"\n  help: {hint}"
        super().__init__(text)

    def __reduce__(self) -> tuple[object, ...]:
        place = (self.filename, self.line)
        return _rebuild, (type(self), self.message, self.hint, place)


class UnknownWordError(DslError, AttributeError):
    """An attribute that is no word of PTX; to Python, one that is not there."""


class DslIndexError(DslError, IndexError):
    """A register that a range does not have; to Python, the end of it."""


def _rebuild(cls: type[DslError], message: str, hint: str, place: tuple[str, int]) -> DslError:
    return cls(message, hint, place=place)
