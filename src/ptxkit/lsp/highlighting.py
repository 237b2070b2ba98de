"""Colours by meaning: every token with its kind, as editors want them."""

from __future__ import annotations

from collections.abc import Iterator

from ptxkit.isa.registry import known_names
from ptxkit.isa.special_registers import SPECIAL_REGISTERS
from ptxkit.lsp.document import Document

#: The legend: a token's type is a number in it.
TOKEN_TYPES = (
    "keyword",
    "function",
    "variable",
    "parameter",
    "number",
    "string",
    "comment",
    "label",
    "macro",
    "type",
)
_NUMBER = {name: number for number, name in enumerate(TOKEN_TYPES)}
_OF_DECLARATION = {
    "register": "variable",
    "variable": "variable",
    "parameter": "parameter",
    "label": "label",
    "function": "function",
}
_OF_TOKEN = {
    "integer": "number",
    "float": "number",
    "string": "string",
    "comment": "comment",
    "dotword": "keyword",
}


def tokens(
    document: Document, start: int = 0, end: int | None = None
) -> Iterator[tuple[int, int, str]]:
    """(start, end, type) of each token between two offsets, in order; none spans two lines."""
    end = len(document.source) if end is None else end
    opcodes, names = known_names(), _kinds_of_names(document, start, end)
    for kind, text, first, last in document.module.tokens(trivia=True):
        if first >= end:
            return
        if last <= start:
            continue
        found = _OF_TOKEN.get(kind) or names.get(first)
        if found is None and kind == "identifier":
            base = text.partition(".")[0]
            if base in SPECIAL_REGISTERS:
                found = "macro"
            elif base in opcodes:
                found = "function"
        if found is None:
            continue
        if kind == "comment" and "\n" in text:
            yield from _lines(document, first, last, found)
        else:
            yield first, last, found


def _lines(document: Document, first: int, last: int, found: str) -> Iterator[tuple[int, int, str]]:
    at = first
    while at < last:
        newline = document.source.find(b"\n", at, last)
        stop = last if newline < 0 else newline
        if stop > at:
            yield at, stop, found
        at = stop + 1


def _kinds_of_names(document: Document, start: int, end: int) -> dict[int, str]:
    """What each name in a stretch of text is, by the offset of its first byte."""
    found: dict[int, str] = {}
    known: dict[tuple[int, str], str | None] = {}
    scopes = document.scopes
    for kind in ("Name", "Declarator", "Parameter", "Label", "Function", "Opcode"):
        for node in document.module.find(kind):
            first, last = node.span
            if last <= start or first >= end:
                continue
            if kind == "Opcode":
                found[first] = "function"
            elif kind == "Name":
                scope = scopes.scope_of(node)
                key = (id(scope), node.identifier)
                if key not in known:
                    declaration = scope.resolve(node.identifier, first)
                    known[key] = None if declaration is None else _OF_DECLARATION[declaration.kind]
                meant = known[key]
                if meant:
                    found[first] = meant
            else:
                declaration = scopes.declaration(node)
                if declaration is not None:
                    found[declaration.name_span[0]] = _OF_DECLARATION[declaration.kind]
    return found


def semantic_tokens(document: Document, start: int = 0, end: int | None = None) -> list[int]:
    """The tokens as the protocol packs them: five numbers each, relative to the one before.

    >>> semantic_tokens(Document(".version 8.0"))
    [0, 0, 8, 0, 0, 0, 9, 3, 4, 0]
    """
    packed: list[int] = []
    line = column = 0
    for first, last, kind in tokens(document, start, end):
        at_line, at_column = document.place(first)
        length = document.place(last)[1] - at_column
        packed += [
            at_line - line,
            at_column - column if at_line == line else at_column,
            length,
            _NUMBER[kind],
            0,
        ]
        line, column = at_line, at_column
    return packed
