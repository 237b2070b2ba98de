"""What statements have in common: their shape, and the leaves that vary.

:func:`leaves_of` takes a statement apart into a shape, which is text, and its leaves: numbers,
symbols, other texts, and what it assigns. Statements of the same shape differ in their leaves
only, and :func:`rebuilt` puts other leaves into one.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from ptxkit.transpiler.sequences import joined
from ptxkit.transpiler.tree import (
    Argument,
    Entry,
    Formula,
    ForSuite,
    Group,
    Line,
    Symbol,
)


class Leaf(NamedTuple):
    """A part that may vary: ``kind`` is "number", "offset", "symbol", "text" or "target"."""

    kind: str
    value: int | str | Symbol | None
    group: int = 1
    """For a target: how many registers are made with it, counted at the first; 0 at others."""


Taken = tuple[str, list[Leaf]]


def leaves_of(entry: Entry, known: dict[Entry, Taken] | None = None) -> Taken:
    """The shape of a statement, and its leaves in order.

    ``known`` keeps what was taken apart, as the statements of a body come up again.
    """
    if known is None:
        known = {}
    found = known.get(entry)
    if found is None:
        shape: list[str] = []
        leaves: list[Leaf] = []
        if isinstance(entry, Line):
            _take_line(entry, shape, leaves)
        else:
            _take_suite(entry, shape, leaves, known)
        found = known[entry] = ("\0".join(shape), leaves)
    return found


def _take_suite(
    entry: Suite, shape: list[str], leaves: list[Leaf], known: dict[Entry, Taken]
) -> None:
    shape.append(f"{entry.kind}:")
    if isinstance(entry, ForSuite):
        shape.append("\n".join([text for text, _ in entry.heading({})]))
    for head in entry.head:
        if isinstance(head, str):
            shape.append(head)
        else:
            _take_line(head, shape, leaves)
    for one in entry.body:
        inner, more = leaves_of(one, known)
        shape.append(inner)
        leaves += more
    shape.append("end")


def _take_line(line: Line, shape: list[str], leaves: list[Leaf]) -> None:
    target = line.target
    if target:
        if isinstance(target, Symbol):
            leaves.append(Leaf("target", target))
            shape.append("=")
        elif isinstance(target, Group):
            for at, one in enumerate(target.parts):
                assert isinstance(one, Symbol)
                leaves.append(Leaf("target", one, 0 if at else len(target.parts)))
            shape.append("=" * len(target.parts))
        else:
            shape.append(f"{target}=")
    shape.append(line.call)
    for argument in line.arguments:
        _take_argument(argument, shape, leaves)
    for word, value in line.keywords:
        shape.append(f"{word}=")
        _take_argument(value, shape, leaves)
    shape += line.suffixes
    shape.append(")")


def _take_argument(argument: Argument, shape: list[str], leaves: list[Leaf]) -> None:
    if isinstance(argument, str):
        if _is_number(argument):
            shape.append("#")
            leaves.append(Leaf("number", int(argument)))
        else:
            shape.append("'")
            leaves.append(Leaf("text", argument))
    elif isinstance(argument, Symbol):
        shape.append("$")
        leaves.append(Leaf("symbol", argument))
    elif isinstance(argument, Formula):
        if argument.is_offset:
            shape.append(argument.rest)
            leaves.append(Leaf("offset", argument.constant or None))
        else:
            shape.append(f"{argument.name}#{argument.rest}[{argument.length},{argument.step}]")
            leaves.append(Leaf("number", argument.constant))
    elif isinstance(argument, Line):
        _take_line(argument, shape, leaves)
    elif argument.opening == "addr(" and len(argument.parts) <= 2 and argument.closing == ")":
        # No offset is like one of nothing.
        shape.append("addr")
        _take_argument(argument.parts[0], shape, leaves)
        offset = argument.parts[1] if len(argument.parts) == 2 else None
        if offset is None or (isinstance(offset, str) and _is_number(offset) and offset != "0"):
            shape.append("")
            leaves.append(Leaf("offset", None if offset is None else int(str(offset))))
        else:
            _take_argument(offset, shape, leaves)
    else:
        shape.append(argument.opening)
        for part in argument.parts:
            _take_argument(part, shape, leaves)
        shape.append(argument.closing)


def _is_number(text: str) -> bool:
    return text.isdecimal() or (text[:1] == "-" and text[1:].isdecimal())


def rebuilt(entry: Entry, leaves: Iterator[Argument]) -> Entry:
    """A statement of the same shape with other leaves; an empty target is left out."""
    if isinstance(entry, Line):
        return _line(entry, leaves)
    head = [one if isinstance(one, str) else _line(one, leaves) for one in entry.head]
    made = entry.with_body([rebuilt(one, leaves) for one in entry.body])
    made.head = list(head)
    return made


def _line(line: Line, leaves: Iterator[Argument]) -> Line:
    target = line.target
    if target:
        if isinstance(target, Group):
            parts = [next(leaves) for _ in target.parts]
            target = Group("", parts, "") if all(parts) else ""
        elif isinstance(target, Symbol):
            target = next(leaves)
    arguments = [_argument(one, leaves) for one in line.arguments]
    keywords = [(word, _argument(value, leaves)) for word, value in line.keywords]
    made = Line(line.kind, line.call, arguments, keywords, node=line.node)
    made.target, made.suffixes = target, line.suffixes
    return made


def _argument(argument: Argument, leaves: Iterator[Argument]) -> Argument:
    if isinstance(argument, Line):
        return _line(argument, leaves)
    if isinstance(argument, Formula):
        return _formula(argument, next(leaves))
    if not isinstance(argument, Group):
        return next(leaves)
    if argument.opening == "addr(" and len(argument.parts) <= 2 and argument.closing == ")":
        base = _argument(argument.parts[0], leaves)
        offset = _argument(argument.parts[1], leaves) if len(argument.parts) == 2 else next(leaves)
        return Group("addr(", [base, offset] if offset else [base], ")")
    return Group(argument.opening, [_argument(part, leaves) for part in argument.parts],
                 argument.closing)  # fmt: skip


def _formula(outer: Formula, leaf: Argument) -> Argument:
    """A formula whose constant has become one itself, or what a table gives."""
    if isinstance(leaf, Formula):
        return outer.with_number(leaf.constant, joined(leaf.rest, outer.rest))
    if isinstance(leaf, str) and (not leaf or _is_number(leaf)):
        return outer.with_number(int(leaf or 0), outer.rest)
    return outer.with_number(0, joined(str(leaf), outer.rest))
