"""The Python to print: a small tree of lines and suites.

Every :class:`Line` is one Python statement, made for one PTX statement (or one comment, or
blank lines); its ``node`` is that statement in the parsed module. A :class:`Suite` is a line
with a body under it: a function, a block, a section. Passes rewrite these lists; printing
is the last thing that happens.

Arguments stay structured so that a pass can rename or regroup them: a :class:`Symbol` is
shared by all places that name the same register, variable or label, and prints as its
``python`` says.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TypeAlias

from ptxkit._native import Node


def quoted(text: str) -> str:
    """A Python string literal, in ASCII and double quotes.

    >>> print(quoted("a"), quoted('say "x"'))
    "a" "say \\"x\\""
    """
    escaped = text.encode("unicode_escape").decode("ascii").replace('"', '\\"')
    return f'"{escaped}"'


class Symbol:
    """A PTX name and what stands for it in Python."""

    __slots__ = ("kind", "ptx", "python", "type")

    def __init__(self, ptx: str, python: str, kind: str, type: str = "") -> None:
        self.ptx = ptx
        self.python = python
        self.kind = kind  # "register", "variable", "parameter", "function", "special", "name"
        self.type = type

    def __repr__(self) -> str:
        return f"<{self.kind} {self.ptx} as {self.python}>"


class Group:
    """An argument made of others: ``addr(...)``, ``[...]``, ``(...)``."""

    __slots__ = ("closing", "opening", "parts")

    def __init__(self, opening: str, parts: Sequence[Argument], closing: str) -> None:
        self.opening = opening
        self.parts = list(parts)
        self.closing = closing


Argument: TypeAlias = "str | Symbol | Group"
"""Python text that is final, a symbol, or a group of arguments."""


def python_of(argument: Argument) -> str:
    """The Python text of an argument.

    >>> python_of(Group("addr(", [Symbol("%r1", "r[1]", "register"), "8"], ")"))
    'addr(r[1], 8)'
    """
    if isinstance(argument, str):
        return argument
    if isinstance(argument, Symbol):
        return argument.python
    inner = ", ".join([python_of(part) for part in argument.parts])
    return f"{argument.opening}{inner}{argument.closing}"


class Line:
    """One Python statement: ``target = call(arguments, keywords).suffixes``."""

    __slots__ = ("arguments", "call", "keywords", "kind", "node", "suffixes", "target")

    def __init__(
        self,
        kind: str,
        call: str,
        arguments: Sequence[Argument] = (),
        keywords: Sequence[tuple[str, Argument]] = (),
        *,
        node: Node | None = None,
        target: str = "",
    ) -> None:
        self.kind = kind
        """The statement's kind to the style; "comment" and "blank" for what is none."""
        self.call = call
        self.arguments = list(arguments)
        self.keywords = list(keywords)
        self.suffixes: list[str] = []
        """Further calls on the statement: ``.note("...")``, ``.spaced({...})``."""
        self.node = node
        self.target = target
        """What is assigned, for declarations."""

    def text(self) -> str:
        """The Python statement."""
        parts = [python_of(argument) for argument in self.arguments]
        parts += [f"{name}={python_of(value)}" for name, value in self.keywords]
        text = f"{self.call}({', '.join(parts)}){''.join(self.suffixes)}"
        return f"{self.target} = {text}" if self.target else text


class Suite:
    """Lines that introduce a body (decorators, ``def``, ``with``), and the body."""

    __slots__ = ("body", "head", "kind", "node")

    def __init__(self, kind: str, head: Sequence[str], node: Node | None = None) -> None:
        self.kind = kind  # "function", "block", "section"
        self.head = list(head)
        self.body: list[Entry] = []
        self.node = node


Entry: TypeAlias = "Line | Suite"


class File:
    """A whole Python file."""

    __slots__ = ("body", "imports", "notices", "opening")

    def __init__(self) -> None:
        self.imports: set[str] = set()
        """The names of ptxkit.dsl that the file uses."""
        self.notices: list[str] = []
        """Comments at the head of the file."""
        self.opening: list[str] = []
        """The lines that make ``module``."""
        self.body: list[Entry] = []

    def text(self) -> str:
        """The Python source."""
        return "\n".join([text for text, _ in self._printed()])

    def lines(self) -> dict[int, Line]:
        """The lines by their number in the text, counted from 1."""
        return {
            number: line for number, (_, line) in enumerate(self._printed(), 1) if line is not None
        }

    def _printed(self) -> list[tuple[str, Line | None]]:
        head = [f"# {notice}" for notice in self.notices]
        head += [*_import_lines(sorted(self.imports)), "", *self.opening]
        lines: list[tuple[str, Line | None]] = [(text, None) for text in head]
        _print(self.body, "", lines)
        tail = ["", 'if __name__ == "__main__":', "    module.print()", ""]
        return lines + [(text, None) for text in tail]


def _import_lines(names: Sequence[str]) -> list[str]:
    one = f"from ptxkit.dsl import {', '.join(names)}"
    if len(one) <= 100:
        return [one]
    return ["from ptxkit.dsl import (", *[f"    {name}," for name in names], ")"]


def _print(body: Sequence[Entry], indent: str, lines: list[tuple[str, Line | None]]) -> None:
    for entry in body:
        if isinstance(entry, Line):
            lines.append((indent + entry.text(), entry))
            continue
        around = [("", None), ("", None)] if entry.kind == "function" else []
        if lines[-2:] != around:
            lines += around
        lines += [(indent + head, None) for head in entry.head]
        if entry.body:
            _print(entry.body, indent + "    ", lines)
        else:
            lines.append((f"{indent}    pass", None))
        lines += around


def walk(body: Sequence[Entry]) -> Iterator[Line]:
    """All lines of a body, in the order their statements are made."""
    for entry in body:
        if isinstance(entry, Line):
            yield entry
        else:
            yield from walk(entry.body)
