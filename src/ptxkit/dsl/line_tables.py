"""Source lines of a function as a table: ``ptx.lines("36:11 3@37:15 2@38:9")``.

Debug information stands between the statements of a body and has nothing to do with what they
do. So it is said apart, once: each word says after how many statements it stands (``3@``; none
is 0), and what stands there:

``36:11``
    ``.loc`` of line 36, column 11, in the file named last (1 at first); ``2/36:11`` in file 2.
``36:11>0,1/40:28``
    The same, inlined: ``function_name $L__info_string0, inlined_at 1 40 28``.
``~``
    The next of the labels ``$L__tmp0``, ``$L__tmp1``, ...; ``~7`` is ``$L__tmp7``.
``=func_begin0``
    The label ``$L__func_begin0``.
``%8``
    The comment ``// %bb.8:`` that names a basic block.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import TYPE_CHECKING

from ptxkit.dsl.errors import DslError
from ptxkit.dsl.statements import Statement

if TYPE_CHECKING:
    from ptxkit.dsl.styles import Style

WORD = re.compile(
    r"(?:(?P<after>\d+)@)?(?:"
    r"(?:(?P<file>\d+)/)?(?P<line>\d+):(?P<column>\d+)"
    r"(?:>(?P<function>\d+),(?P<at_file>\d+)/(?P<at_line>\d+):(?P<at_column>\d+))?"
    r"|~(?P<tmp>\d*)|=(?P<label>[\w$]+)|%(?P<block>\d+))"
)


class LineTable:
    """What stands between statements, by the number of statements before it."""

    def __init__(self, text: str, files: Mapping[int, str] | None) -> None:
        self._rows: list[tuple[int, re.Match[str]]] = []
        self._files = files
        self._file = "1"
        self._tmp = -1
        place = 0
        for word in text.split():
            found = WORD.fullmatch(word)
            if found is None:
                raise DslError(f"{word!r} is no entry of a table of lines", "see ptx.lines")
            place += int(found["after"] or 0)
            self._rows.append((place, found))

    def merged(self, statements: list[Statement], first: int, style: Style) -> list[Statement]:
        """Statements with the table's between them; ``first`` is the statement after the table."""
        made = statements[:first]
        at = first
        for place, word in self._rows:
            upto = min(first + place, len(statements))
            made += statements[at:upto]
            at = upto
            one = self._statement(word, style)
            if at < len(statements):
                # What was said of the gap before the statement is said of the first of these.
                one.before, statements[at].before = statements[at].before, None
            made.append(one)
        return made + statements[at:]

    def _statement(self, word: re.Match[str], style: Style) -> Statement:
        if word["line"] is None:
            return self._mark(word, style)
        self._file = word["file"] or self._file
        line, column = word["line"], word["column"]
        text = f".loc{style.directive_gap}{self._file} {line} {column}"
        if word["function"] is not None:
            text += f", function_name $L__info_string{word['function']}, inlined_at "
            text += f"{word['at_file']} {word['at_line']} {word['at_column']}"
        made = Statement("loc", text)
        if self._files is not None:
            name = self._files.get(int(self._file), "")
            made.note(f"{name}:{line}:{column}")
        return made

    def _mark(self, word: re.Match[str], style: Style) -> Statement:
        if word["block"] is not None:
            return Statement("basic_block", f"// %bb.{word['block']}:")
        if word["label"] is not None:
            return Statement("label", f"$L__{word['label']}:")
        self._tmp = int(word["tmp"]) if word["tmp"] else self._tmp + 1
        return Statement("label", f"$L__tmp{self._tmp}:")
