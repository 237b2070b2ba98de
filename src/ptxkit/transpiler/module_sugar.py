"""Shorter words for what stands between functions: rows of comments, and the mark of a kernel."""

from __future__ import annotations

from collections.abc import Sequence

from ptxkit.syntax import Function
from ptxkit.transpiler.functions import FunctionHeader
from ptxkit.transpiler.tree import Entry, File, FunctionSuite, Line, quoted

_WIDTH = 96


def sweeten(file: File) -> None:
    """Join comments, and let functions put the comment themselves that compilers put there."""
    made: list[Entry] = []
    row: list[Line] = []
    for entry in file.body:
        if isinstance(entry, FunctionSuite) and row and _marks(row[-1], entry):
            row.pop()
            assert isinstance(entry.header, FunctionHeader)
            entry.header.mark()
        if _is_comment(entry):
            assert isinstance(entry, Line)
            row.append(entry)
            continue
        made += _joined(row)
        row = []
        made.append(entry)
    file.body = made + _joined(row)


def _is_comment(entry: Entry) -> bool:
    return (
        isinstance(entry, Line)
        and entry.call == "module.comment"
        and not entry.keywords
        and not entry.suffixes
    )


def _marks(line: Line, function: FunctionSuite) -> bool:
    """Whether a comment is ``.globl`` or ``.weak`` with the name of the function after it."""
    node = function.node
    assert isinstance(node, Function)
    word = ".weak" if node.text.startswith(".weak") else ".globl"
    return line.arguments[0] == quoted(f"{word}\t{node.name}")


def _joined(row: Sequence[Line]) -> list[Entry]:
    if len(row) < 2:
        return list(row)
    return [CommentsLine("comments", "module.comments", [line.arguments[0] for line in row])]


class CommentsLine(Line):
    """``module.comments(...)``, over several lines where it is long."""

    __slots__ = ()

    def text(self, names: object = None) -> str:
        """The call, as many comments a line as there is room for."""
        texts = [str(argument) for argument in self.arguments]
        one = f"{self.call}({', '.join(texts)})"
        if len(one) <= _WIDTH:
            return one
        rows: list[str] = []
        for text in texts:
            if rows and len(rows[-1]) + len(text) < _WIDTH:
                rows[-1] += f" {text},"
            else:
                rows.append(f"    {text},")
        return "\n".join([f"{self.call}(", *rows, ")"])
