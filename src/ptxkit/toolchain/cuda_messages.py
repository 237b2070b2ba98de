"""The log of NVRTC and nvcc, read into diagnostics.

A message is a line ``file(3): error: text``, then the source line and a caret under it,
each indented by two.
"""

from __future__ import annotations

import re
from itertools import pairwise

from ptxkit.diagnostics import Diagnostic, Severity
from ptxkit.toolchain.headers import missing_header, undefined_name

_HEAD = re.compile(
    r"^(?:(?P<file>.+?)\((?P<line>\d+)\)|(?P<end>At end of source)|(?P<tool>nvrtc|nvcc\b[^:]*)"
    r"|(?P<linker>[\w+/.-]*(?:gcc|g\+\+|cc1plus|cudafe\+\+)))\s*: "
    r"(?P<severity>catastrophic error|fatal error|internal error|error|warning|remark|fatal)"
    r"\s*(?:#(?P<number>\d+)(?:-D)?)?\s*: (?P<message>.*)$"
)
_GCC = re.compile(
    r"^(?P<file>[^\s:(][^:(]*):(?P<line>\d+):(?P<column>\d+): "
    r"(?P<severity>fatal error|error): (?P<message>.*)$"
)
#: What the back end says, once the source was understood.
_BACK_END = re.compile(
    r"^(?P<file>[^\s(][^(]*)\((?P<line>\d+)\)\s+(?P<severity>Error): (?P<message>.*)$"
)
_SUMMARY = re.compile(
    r"^(?:\d+ (?:catastrophic )?errors? detected in|Compilation terminated|Remark: |Error limit)"
)
#: What is missing, and what to do about it.
_MISSING = (
    (re.compile(r'cannot open source file "(.*)"'), missing_header),
    (re.compile(r'identifier "(\w+)" is undefined'), undefined_name),
)
_INDENT = "  "
_WORD = re.compile(r"\w+|\S")


def parse(log: str, source: str, filename: str) -> list[Diagnostic]:
    """Diagnostics in the order of the log.

    >>> log = 'k.cu(1): error: identifier "x" is undefined\\n  int f() { return x; }\\n' + (
    ...     ' ' * 19 + '^\\n\\n1 error detected in the compilation of "k.cu".\\n')
    >>> print(parse(log, "int f() { return x; }", "k.cu")[0].render())
    k.cu:1:18: error[cuda]: identifier "x" is undefined
        int f() { return x; }
                         ^
    """
    lines = source.split("\n")
    found: list[Diagnostic] = []
    block: list[str] = []
    head: re.Match[str] | None = None
    for text in [*log.split("\n"), ""]:
        starts = _HEAD.match(text) or _GCC.match(text) or _BACK_END.match(text)
        if starts or not text.strip() or _SUMMARY.match(text):
            if head is not None:
                found.append(_diagnostic(head, block, lines, filename))
            head, block = starts, []
        elif head is not None:
            block.append(text)
    return found


def _diagnostic(
    head: re.Match[str], block: list[str], lines: list[str], filename: str
) -> Diagnostic:
    fields = head.groupdict()
    severity: Severity = {"warning": "warning", "remark": "note"}.get(  # type: ignore[assignment]
        fields["severity"], "error"
    )
    number = fields.get("number")
    code = f"cuda-{number}" if number else "cuda"
    name = fields.get("file") or filename
    line = int(fields.get("line") or (len(lines) if fields.get("end") else 1))
    own = name == filename and 1 <= line <= len(lines)
    shown, caret = _excerpt(block)
    text = lines[line - 1] if own and (fields.get("file") or fields.get("end")) else shown
    if fields.get("column"):
        column = int(fields["column"])
    elif fields.get("end"):
        column = len(text or "") + 1
    else:
        column = _column(shown, caret, text)
    notes = [row.strip() for row in block if "detected during" in row or row.startswith(" " * 12)]
    hint = " ".join(row for row in notes if "^" not in row and row != (shown or "").strip())
    hint = hint or _missing(fields["message"])
    return Diagnostic(
        severity, code, fields["message"].strip(), line, column, hint or None,
        filename=name, source_line=text,
    )  # fmt: skip


def _missing(message: str) -> str:
    for form, advice in _MISSING:
        found = form.search(message)
        if found is not None:
            return advice(found[1])
    return ""


def _excerpt(block: list[str]) -> tuple[str | None, int]:
    """The source line a message shows, and the byte its caret stands under."""
    for above, row in pairwise(block):
        if row.strip() == "^":
            return above.removeprefix(_INDENT), row.index("^") - len(_INDENT)
    return None, 0


def _column(shown: str | None, caret: int, text: str | None) -> int:
    """The column in the true source line, counted in characters from 1."""
    if shown is None or text is None:
        return 1
    before = shown.encode()[:caret].decode("utf-8", "ignore")
    if shown.rstrip() == text.rstrip():
        return len(before) + 1
    # nvcc shows the line after preprocessing: look for the same word, as often repeated.
    at = _WORD.search(shown, len(before))
    if at is not None:
        earlier = sum(1 for word in _WORD.finditer(before) if word[0] == at[0])
        same = [word.start() for word in _WORD.finditer(text) if word[0] == at[0]]
        if len(same) > earlier:
            return same[earlier] + 1
    return len(text) - len(text.lstrip()) + 1
