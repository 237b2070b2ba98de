"""Shorter words for what stands between functions: rows of comments and of debug data."""

from __future__ import annotations

import re
from collections.abc import Sequence

from ptxkit.dsl.heads import nvcc_comments
from ptxkit.syntax import Function
from ptxkit.transpiler.functions import FunctionHeader
from ptxkit.transpiler.tree import Argument, Entry, File, FunctionSuite, Line, Suite, quoted

_WIDTH = 92
_MOST_JOINED = 25  # longer rows are nothing but bytes, and nobody's reading
_TEXT = re.compile(r'"(?:[^"\\]|\\.)*"')
_NOTE = re.compile(r'\.note\(("(?:[^"\\]|\\.)*")\)')


def sweeten(file: File) -> None:
    """Join comments, and let functions put the comment themselves that compilers put there."""
    made: list[Entry] = []
    row: list[Line] = []
    for at, entry in enumerate(file.body):
        if isinstance(entry, FunctionSuite) and row and _marks(row[-1], entry):
            row.pop()
            assert isinstance(entry.header, FunctionHeader)
            entry.header.mark()
        if _is_blank(entry) and row and at + 1 < len(file.body):
            following = file.body[at + 1]
            if isinstance(following, FunctionSuite) and _marks(row[-1], following):
                row.pop()
                assert isinstance(following.header, FunctionHeader)
                following.header.mark('"apart"')
                continue
        if _is_comment(entry):
            assert isinstance(entry, Line)
            row.append(entry)
            continue
        made += _joined(row)
        row = []
        if isinstance(entry, FunctionSuite):
            entry = _with_registers(entry)
        if isinstance(entry, Suite) and entry.kind == "section":
            entry = entry.with_body(_rows(entry.body))
        made.append(entry)
    file.body = made + _joined(row)
    _sweeten_head(file.body)


def _with_registers(function: FunctionSuite) -> FunctionSuite:
    """The function with its registers declared in the decorator, if nothing names them."""
    first = function.body[0] if function.body else None
    if not isinstance(first, Line) or first.call != "ptx.registers" or first.target:
        return function
    texts = [str(argument) for argument in first.arguments]
    assert isinstance(function.header, FunctionHeader)
    if len(function.body) < 2 or not function.header.declare_registers(texts, function.names):
        return function
    return function.rewritten(function.body[1:])


def _sweeten_head(body: list[Entry]) -> None:
    """One call for the comment that nvcc begins with and what follows it."""
    if len(body) < 2 or not isinstance(body[0], Line) or not isinstance(body[1], Line):
        return
    first, second = body[0], body[1]
    if first.call != "module.comments" or second.call != "module.head" or second.suffixes:
        return
    texts = tuple(str(argument)[1:-1] for argument in first.arguments)
    if len(texts) != len(nvcc_comments("", "", "")):
        return
    pairs = list(zip(texts, nvcc_comments("", "", ""), strict=True))
    if not all(text.startswith(begin) if begin else not text for text, begin in pairs):
        return
    said = [text.removeprefix(begin) for text, begin in pairs if text != begin]
    if nvcc_comments(*said) == texts:
        body[:2] = [Line("head", "module.head", (), [("nvcc", f"({', '.join(map(_text, said))})")])]


def _text(text: str) -> str:
    return f'"{text}"'


def _is_blank(entry: Entry) -> bool:
    """Whether exactly one blank line is asked for."""
    return isinstance(entry, Line) and entry.call == "module.blank" and not entry.arguments


def take_end(file: File) -> bool:
    """Take away the blank line at the end; whether there was one."""
    last = file.body[-1] if file.body else None
    if last is None or not _is_blank(last):
        return False
    file.body.pop()
    return True


def _rows(body: Sequence[Entry]) -> list[Entry]:
    """The lines of a section with numbers of one type in one call."""
    made: list[Entry] = []
    for entry in body:
        last = made[-1] if made else None
        if isinstance(last, FilledLine) and _is_plain_note(entry, last):
            assert isinstance(entry, Line)
            last.arguments[-1] = f"({last.arguments[-1]}, {entry.arguments[0]})"
            continue
        values = _values(entry)
        if not values or not isinstance(entry, Line):
            made.append(entry)
        elif isinstance(last, FilledLine) and last.arguments[0] == entry.arguments[0]:
            last.arguments += values
        else:
            made.append(FilledLine("rows", "module.rows", [entry.arguments[0], *values]))
    return [_single(entry) for entry in made]


def _is_plain_note(entry: Entry, last: Line) -> bool:
    """Whether a comment stands behind the last number of a row, which has none yet."""
    return (
        isinstance(entry, Line)
        and entry.call == "module.note"
        and _TEXT.fullmatch(str(entry.arguments[0])) is not None
        and str(last.arguments[-1])[0] != "("
    )


def _single(entry: Entry) -> Entry:
    """A row of one number as it was."""
    if not isinstance(entry, FilledLine) or len(entry.arguments) > 2:
        return entry
    type, value = map(str, entry.arguments)
    if value[0] != "(":
        return Line("section_data", "module.data", [type, value])
    number, _, note = value[1:-1].partition(", ")
    made = Line("section_data", "module.data", [type, number])
    made.suffixes.append(f".note({note})")
    return made


def _values(entry: Entry) -> list[Argument]:
    """The numbers of a line of a section, with the comment behind one."""
    if not isinstance(entry, Line) or entry.keywords:
        return []
    if entry.call == "module.lines" and not entry.suffixes:
        return entry.arguments[1:] if len(entry.arguments) <= _MOST_JOINED else []
    if entry.call != "module.data" or len(entry.arguments) != 2:
        return []
    number = entry.arguments[1]
    if not entry.suffixes:
        return [number]
    found = _NOTE.fullmatch(entry.suffixes[0]) if len(entry.suffixes) == 1 else None
    return [f"({number}, {found[1]})"] if found else []


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
    return [FilledLine("comments", "module.comments", [line.arguments[0] for line in row])]


class FilledLine(Line):
    """A call with many arguments, over several lines where it is long."""

    __slots__ = ()

    def text(self, names: object = None) -> str:
        """The call, as many arguments a line as there is room for."""
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
