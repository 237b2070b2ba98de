"""Text of S-expressions to nested lists and back; what the lists mean is in ``sexpr.py``."""

from __future__ import annotations

import re
from dataclasses import dataclass

from ptxkit.errors import PtxkitError

MAXIMUM_DEPTH = 400
"""Lists nested deeper than this are refused: no program people or compilers write is."""


class SExpressionError(PtxkitError):
    """A text that is no S-expression of CUDA C++; ``line`` and ``column`` count from 1."""

    def __init__(self, message: str, line: int = 1, column: int = 1) -> None:
        super().__init__(message, line, column)
        self.message, self.line, self.column = message, line, column

    def __str__(self) -> str:
        return f"{self.line}:{self.column}: {self.message}"


class Quoted(str):
    """A string in quotes, as against a bare word."""

    __slots__ = ()


@dataclass(slots=True)
class Items:
    """A list in parentheses and where it began."""

    items: list[Items | str]
    line: int
    column: int

    @property
    def head(self) -> str:
        """The first word, or an empty string."""
        first = self.items[0] if self.items else ""
        return first if isinstance(first, str) and not isinstance(first, Quoted) else ""

    def error(self, message: str) -> SExpressionError:
        """An error about this list."""
        return SExpressionError(message, self.line, self.column)


_TOKEN = re.compile(r'\s+|;[^\n]*|([()])|"((?:[^"\\]|\\.)*)"|([^\s()";]+)|(.)', re.DOTALL)
_ESCAPES = {"n": "\n", "t": "\t"}


def read_lists(text: str) -> list[Items | str]:
    """Everything in a text, as nested lists of words.

    >>> [str(item) for item in read_lists("(+ a 1)")[0].items]
    ['+', 'a', '1']
    >>> try:
    ...     read_lists("(+ a")
    ... except SExpressionError as error:
    ...     print(error)
    1:1: this '(' is never closed; add a ')'
    """
    top: list[Items | str] = []
    stack: list[Items] = []
    line, line_start = 1, 0
    for match in _TOKEN.finditer(text):
        column = match.start() - line_start + 1
        parenthesis, quoted, word, other = match.groups()
        inside = stack[-1].items if stack else top
        if parenthesis == "(":
            if len(stack) >= MAXIMUM_DEPTH:
                raise SExpressionError(f"nested deeper than {MAXIMUM_DEPTH} lists", line, column)
            child = Items([], line, column)
            inside.append(child)
            stack.append(child)
        elif parenthesis == ")":
            if not stack:
                raise SExpressionError("this ')' closes nothing; remove it", line, column)
            stack.pop()
        elif quoted is not None:
            inside.append(
                Quoted(re.sub(r"\\(.)", lambda m: _ESCAPES.get(m[1], m[1]), quoted, flags=re.S))
            )
        elif word is not None:
            inside.append(word)
        elif other is not None:
            raise SExpressionError("a string that is never closed; add a '\"'", line, column)
        newlines = match.group().count("\n")
        if newlines:
            line += newlines
            line_start = match.start() + match.group().rindex("\n") + 1
    if stack:
        raise stack[-1].error("this '(' is never closed; add a ')'")
    return top


def quote(text: str) -> str:
    """A string with its quotes.

    >>> quote('a "b"')
    '"a \\\\"b\\\\""'
    """
    text = text.replace("\\", "\\\\").replace('"', '\\"')
    return '"' + text.replace("\n", "\\n").replace("\t", "\\t") + '"'
