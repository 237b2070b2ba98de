"""The one writer: statements and a style to text."""

from __future__ import annotations

from collections.abc import Iterable

from ptxkit.dsl.statements import Statement
from ptxkit.dsl.styles import Style

#: Statements after which what follows stands one level further in, and those that end it.
OPENING = frozenset(("header", "block", "section"))
CLOSING = frozenset(("body_close", "block_close", "section_close"))


def write(statements: Iterable[Statement], style: Style) -> str:
    """Lay statements out.

    >>> from ptxkit.dsl.styles import NVCC
    >>> write([Statement("header", ".func f()\\n{"), Statement("instruction", "ret;"),
    ...        Statement("body_close", "}"), Statement("end", "")], NVCC)
    '.func f()\\n{\\n\\n\\n\\tret;\\n\\n}\\n'
    """
    out: list[str] = []
    push = out.append
    previous, depth = "start", 0
    known: dict[tuple[str, str, int], str] = {}
    for statement in statements:
        kind = statement.kind
        if kind in CLOSING:
            depth -= 1
        before = statement.before
        if before is None:
            key = (previous, kind, depth)
            gap = known.get(key)
            if gap is None:
                gap = known[key] = style.gap(previous, kind, depth)
            push(gap)
        elif before.__class__ is str:
            push(before)
        else:
            push("\n" * (before + 1) + style.indent(kind, depth))  # type: ignore[operator]
        push(statement.text)
        if statement.notes is not None:
            _write_notes(out, statement, style)
        if kind in OPENING:
            depth += 1
        previous = kind
    return "".join(out)


def _write_notes(out: list[str], statement: Statement, style: Style) -> None:
    further = False
    for note in statement.notes or ():
        if note.before is not None:
            out.append(note.before)
        else:
            out.append(style.note(_last_line(out), further=further))
        out.append(note.text)
        further = True


def _last_line(out: list[str]) -> str:
    """What the line so far holds."""
    pieces: list[str] = []
    for piece in reversed(out):
        head, found, tail = piece.rpartition("\n")
        pieces.append(tail if found else head + tail)
        if found:
            break
    return "".join(reversed(pieces))
