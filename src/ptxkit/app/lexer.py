"""CUDA C++ as the words a preprocessor sees: lines joined, comments gone, literals whole.

Written to judge what a text would read, not to compile it. What two compilers may understand
differently has a kind of its own, ``odd``, so that a caller can refuse it.
"""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections.abc import Iterator
from typing import NamedTuple


class Word(NamedTuple):
    """A token of the preprocessor."""

    kind: str
    """``name``, ``number``, ``literal``, ``header``, ``mark``, ``line`` (a line ends), ``odd``."""
    text: str
    line: int
    """Line of its first character, counted from 1."""
    first: bool
    """Whether it begins a line, so that ``#`` begins a directive."""


_SPLICE = re.compile(r"\\\n")
_SPACE = re.compile(r"[ \t\v\f]+|//[^\n]*|/\*.*?(?:\*/|\Z)", re.DOTALL)
_WORD = re.compile(
    r"""(?P<line>\n)
    |(?P<raw>(?:u8|[uUL])?R")
    |(?P<literal>(?:u8|[uUL])?(?:"(?:[^"\\\n]|\\.)*"|'(?:[^'\\\n]|\\.)*'))
    |(?P<unended>(?:u8|[uUL])?["'][^\n]*)
    |(?P<number>\.?[0-9](?:'\w|[eEpP][+-]|[\w.])*)
    |(?P<name>[^\W\d][\w$]*|\$[\w$]*)
    |(?P<mark>%:%:|\#\#|%:|.)""",
    re.VERBOSE,
)
_HEADER = re.compile(r'<[^>\n]*>|"[^"\n]*"')
_DELIMITER = re.compile(r'[^()\\\s"]{0,16}\(')
# Literals that do not end, trigraphs, and the like: compilers go on after them in their own ways.
_TRIGRAPH = re.compile(r"\?\?[/=]")
_LOOSE_SPLICE = re.compile(r"\\[ \t\v\f]+\n")
#: Directives whose operand is a header name, in which nothing is an escape or a comment.
READERS = frozenset({"include", "include_next", "import", "embed"})


class _Joined:
    """A text without its line splices, and the places of its characters before that."""

    def __init__(self, text: str) -> None:
        self.whole = text
        self.text = _SPLICE.sub("", text)
        # Where a splice was cut out: its place in the joined text, and in the whole one.
        starts = [found.start() for found in _SPLICE.finditer(text)]
        self._cuts = [start - 2 * count for count, start in enumerate(starts)]
        self._ends = [start + 2 for start in starts]
        self._lines = [at for at, char in enumerate(text) if char == "\n"]

    def before(self, at: int) -> int:
        """The place in the whole text of a character of the joined one."""
        return at + 2 * bisect_right(self._cuts, at)

    def after(self, at: int) -> int:
        """The place in the joined text of what stands at a place of the whole one."""
        return at - 2 * bisect_right(self._ends, at)

    def line(self, at: int) -> int:
        return bisect_left(self._lines, self.before(at)) + 1


def words(text: str) -> Iterator[Word]:
    r"""The words of a text.

    >>> [word.text for word in words('#inc\\\nlude /* x */ <a.h> // y')]
    ['#', 'include', '<a.h>']
    >>> [word.kind for word in words('s = "/*"; t = R"x(")x";')]
    ['name', 'mark', 'literal', 'mark', 'name', 'mark', 'literal', 'mark']
    """
    text = text.removeprefix("\ufeff").replace("\r\n", "\n")
    joined = _Joined(text)
    for odd in (_TRIGRAPH, _LOOSE_SPLICE, re.compile("\r")):
        found = odd.search(text)
        if found:
            yield Word("odd", found[0], text.count("\n", 0, found.start()) + 1, False)
    at, first, crossed, directive = 0, True, False, 0
    source = joined.text
    while at < len(source):
        space = _SPACE.match(source, at)
        if space:
            crossed = crossed or "\n" in space[0]
            at = space.end()
            continue
        header = _HEADER.match(source, at) if directive == 2 else None
        found = header or _WORD.match(source, at)
        assert found is not None, "the last alternative takes any character"
        kind = "header" if header else str(found.lastgroup)
        end = found.end()
        if kind == "raw":
            kind, end = _raw(joined, end)
        elif kind == "unended":
            # An apostrophe in text that is skipped; what it hides may be a comment elsewhere.
            kind = "odd" if "/*" in found[0] or "*/" in found[0] else "literal"
        elif found[0] == "\\":
            kind = "odd"
        # A comment over lines is a space; taking it for a new line before a # is only stricter.
        first = first or (crossed and found[0] in ("#", "%:"))
        word = Word(kind, source[at:end], joined.line(at), first)
        yield word
        # 1 after the # of a directive, 2 where the name of a header is to come.
        if first and word.text in ("#", "%:"):
            directive = 1
        else:
            directive = 2 if directive == 1 and word.text in READERS else 0
        first, crossed = kind == "line", False
        at = end


def _raw(joined: _Joined, at: int) -> tuple[str, int]:
    """The kind and the end of a raw string whose quote ends at a place: splices stay in it."""
    start = joined.before(at - 1) + 1
    opening = _DELIMITER.match(joined.whole, start)
    if opening is None:
        return "odd", at
    closing = f'){opening[0][:-1]}"'
    end = joined.whole.find(closing, opening.end())
    if end < 0:
        return "odd", at
    return "literal", joined.after(end + len(closing))
