"""Statements: what a kernel's Python makes, and what the writer turns into text."""

from __future__ import annotations

from collections.abc import Mapping

from ptxkit.dsl.errors import DslError
from ptxkit.dsl.spacing import check_gap, respaced


class Note:
    """A comment at the end of a statement's line."""

    __slots__ = ("before", "text")

    def __init__(self, text: str, before: str | None) -> None:
        self.text = text
        self.before = before


class Statement:
    """One PTX statement as its style lays it out.

    ``kind`` says what it is to the style ("instruction", "label", "register" ...);
    ``before`` what stands before it: None for what the style says, a number for that many
    blank lines, a text for exactly that.
    """

    __slots__ = ("before", "is_spaced", "kind", "notes", "text")

    def __init__(self, kind: str, text: str, before: int | str | None = None) -> None:
        self.kind = kind
        self.text = text
        self.before = before
        self.notes: list[Note] | None = None
        self.is_spaced = False
        """Whether its white space was set, so that its lines are not broken."""

    def note(self, text: str, before: str | None = None) -> Statement:
        """Put a comment behind the statement, on its line."""
        if self.notes is None:
            self.notes = []
        self.notes.append(Note(comment_text(text), None if before is None else white_space(before)))
        return self

    def spaced(self, gaps: Mapping[int, str]) -> Statement:
        """Set the white space before some of the statement's tokens; 0 is its first."""
        inner = dict(gaps)
        first = inner.pop(0, None)
        if first is not None:
            self.before = white_space(first)
        if inner:
            self.is_spaced = True
            try:
                self.text = respaced(self.text, inner)
            except ValueError as error:
                raise DslError(f"spaced: {error}") from error
        return self

    def tight(self) -> Statement:
        """Leave out the spaces after commas."""
        self.text = self.text.replace(", ", ",")
        return self

    def __repr__(self) -> str:
        return f"<{self.kind} {self.text!r}>"


def white_space(gap: str) -> str:
    """Refuse code that is given as white space."""
    try:
        check_gap(gap)
    except ValueError as error:
        raise DslError(str(error), "code is written as statements") from None
    return gap


def comment_text(text: str) -> str:
    """A comment as it is written: a text alone gets two slashes.

    >>> comment_text("counters"), comment_text("/* all */"), comment_text("")
    ('// counters', '/* all */', '//')
    """
    if text.startswith(("//", "/*", "#", "\ufeff", "\0")):
        white_space(text if text.startswith("/*") else f"{text}\n")
        # After a NUL byte there is only white space.
        if "\n" in text and not text.startswith(("/*", "\0")):
            raise DslError("a comment of several lines needs /* and */ around it")
        return text
    if "\n" in text:
        raise DslError("a comment of several lines needs /* and */ around it")
    return f"// {text}" if text else "//"
