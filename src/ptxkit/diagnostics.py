"""What the toolkit says about a piece of PTX: where, how bad, why, and what to do."""

import unicodedata
from dataclasses import KW_ONLY, dataclass
from typing import Any, Literal, get_args

Severity = Literal["error", "warning", "note"]

_INDENT = "    "
_TAB_WIDTH = 4
_WINDOW = 120  # columns of a source line that are shown around the caret
_CUT = "..."
_RAW_BYTES = range(0xDC80, 0xDD00)  # how "surrogateescape" writes a byte that is not UTF-8
# Characters that would move the cursor, vanish or reorder the text on a terminal.
_INVISIBLE = frozenset({"Cc", "Cf", "Cn", "Co", "Cs", "Zl", "Zp"})


@dataclass(frozen=True, slots=True)
class Diagnostic:
    """One finding about a source text.

    >>> print(Diagnostic(
    ...     "error", "unknown-opcode", "there is no instruction 'lds'", 3, 1,
    ...     "did you mean 'ld.shared'?",
    ...     filename="k.ptx", span=(40, 43), source_line="lds.f32 %f1, [%rd1];",
    ... ).render())
    k.ptx:3:1: error[unknown-opcode]: there is no instruction 'lds'
        lds.f32 %f1, [%rd1];
        ^^^
    hint: did you mean 'ld.shared'?
    """

    severity: Severity
    """"error", "warning" or "note"."""
    code: str
    """A short stable name of the rule, for filters and documentation."""
    message: str
    """What is wrong, in one sentence without a full stop."""
    line: int
    """Line of the first character, counted from 1."""
    column: int
    """Column of the first character, counted in characters from 1."""
    hint: str | None = None
    """What to do about it, where that is known."""
    _: KW_ONLY
    filename: str | None = None
    """Name of the source, as the user gave it."""
    span: tuple[int, int] | None = None
    """Byte offsets (start, end) in the source."""
    source_line: str | None = None
    """Text of `line`; bytes that are not UTF-8 decoded with "surrogateescape"."""

    def __post_init__(self) -> None:
        if self.severity not in get_args(Severity):
            raise ValueError(f"severity is one of {get_args(Severity)}, not {self.severity!r}")
        if self.line < 1 or self.column < 1:
            raise ValueError(f"line and column count from 1, not {self.line}:{self.column}")

    def render(self) -> str:
        """The finding as text for people: place, message, source line, caret and hint.

        >>> print(Diagnostic("warning", "demo", "look here", 1, 2).render())
        <input>:1:2: warning[demo]: look here
        """
        place = f"{_visible(self.filename or '<input>')}:{self.line}:{self.column}"
        lines = [f"{place}: {self.severity}[{self.code}]: {_visible(self.message)}"]
        if self.source_line is not None:
            lines += self._excerpt(self.source_line.rstrip("\r\n"))
        if self.hint:
            lines.append(f"hint: {_visible(self.hint)}")
        return "\n".join(lines)

    def to_dict(self) -> dict[str, Any]:
        """The fields as plain data, ready for `json.dumps`.

        >>> Diagnostic("note", "demo", "hello", 1, 2, span=(1, 6)).to_dict()["span"]
        [1, 6]
        """
        return {
            "severity": self.severity,
            "code": self.code,
            "message": self.message,
            "line": self.line,
            "column": self.column,
            "hint": self.hint,
            "filename": self.filename,
            "span": None if self.span is None else list(self.span),
            "source_line": self.source_line,
        }

    def _excerpt(self, line: str) -> list[str]:
        """The source line and, under it, the caret line."""
        start = min(self.column - 1, len(line))
        end = start + self._length(line[start:])
        # A cell is at least one column wide but for combining marks, so this much text
        # is enough for the window, and a megabyte-long line costs no more than a short one.
        first, last = max(0, start - 2 * _WINDOW), start + 2 * _WINDOW
        cells = _cells(line[first:last])
        before, after = cells[: start - first], cells[start - first :]
        under, after = after[: end - start], after[end - start :]

        under, under_cut = _fit(under, _WINDOW - 2 * len(_CUT))
        if under_cut:
            after = []
        room = _WINDOW - _width(under)
        # Most of the room goes to what comes before: that is what was read so far.
        reserve = min(_width(after), room // 3)
        before, before_cut = _fit(before[::-1], room - reserve)
        before.reverse()
        after, after_cut = _fit(after, room - _width(before))

        left = _CUT if before_cut or first > 0 else ""
        right = _CUT if under_cut or after_cut or last < len(line) else ""
        text = left + "".join(before + under + after) + right
        caret = " " * (len(left) + _width(before)) + "^" * max(1, _width(under))
        return [(_INDENT + text).rstrip(), _INDENT + caret]

    def _length(self, tail: str) -> int:
        """How many characters of `tail` the span covers, at least one."""
        if self.span is None:
            return 1
        room = self.span[1] - self.span[0]
        count = 0
        for char in tail:
            room -= _byte_length(char)
            if room < 0:
                break
            count += 1
        return max(1, count)


def _visible(text: str) -> str:
    """`text` without characters that a terminal would obey instead of show."""
    return "".join(map(_escape, text))


def _escape(char: str) -> str:
    if char.isascii():
        return char if char.isprintable() else f"\\x{ord(char):02x}"
    if unicodedata.category(char) not in _INVISIBLE:
        return char
    code = ord(char)
    if code in _RAW_BYTES:
        return f"\\x{code - 0xDC00:02x}"
    return f"\\u{code:04x}" if code <= 0xFFFF else f"\\U{code:08x}"


def _byte_length(char: str) -> int:
    return 1 if ord(char) in _RAW_BYTES else len(char.encode("utf-8", "surrogatepass"))


def _cells(text: str) -> list[str]:
    """What to print for each character; tabs become spaces up to the next stop."""
    cells = []
    column = 0
    for char in text:
        cell = " " * (_TAB_WIDTH - column % _TAB_WIDTH) if char == "\t" else _escape(char)
        cells.append(cell)
        column += _width([cell])
    return cells


def _fit(cells: list[str], room: int) -> tuple[list[str], bool]:
    """The first cells that are at most `room` columns wide, and whether any were cut."""
    used = 0
    for index, cell in enumerate(cells):
        used += _width([cell])
        if used > room:
            return cells[:index], True
    return list(cells), False


def _width(cells: list[str]) -> int:
    """Columns that the cells take on a terminal."""
    return sum(_char_width(char) for cell in cells for char in cell)


def _char_width(char: str) -> int:
    if char.isascii():
        return 1
    if unicodedata.combining(char):
        return 0
    return 2 if unicodedata.east_asian_width(char) in "WF" else 1
