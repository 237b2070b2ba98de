"""Indices that move on through one row: from ``i = y * 20 + x``, ``tile[i]``, to ``tile[y][x]``.

A compiler adds the row to what a loop begins with. Where the row stays what it is, it is a part of
the index again, and the loop counts columns.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, replace

from ptxkit.cuda import nodes as n
from ptxkit.decompiler.lift.rewrite import bottom_up, rebuilt_lists, terms_of, written

Body = tuple[n.Statement, ...]


@dataclass(frozen=True, slots=True)
class Walk:
    """A variable that indices of one array start from."""

    name: str
    array: str


def walks(body: Body, arrays: set[str]) -> list[Walk]:
    """Variables that are moved on, and used for nothing but indices of one array."""
    nodes = [node for statement in body for node in statement.walk()]
    uses = Counter(node.name for node in nodes if isinstance(node, n.Name))
    starts: Counter[str] = Counter()
    steps: Counter[str] = Counter()
    places: dict[str, list[str]] = {}
    for node in nodes:
        match node:
            case n.Declare(name=name, value=n.Binary("+"), space=""):
                starts[name] += 1
            case n.Assign(n.Name(name=name), value, "+=") if name not in value.names():
                steps[name] += 1
            case n.Index(n.Name(name=array), index) if array in arrays:
                for term in terms_of(index):
                    if isinstance(term, n.Name):
                        places.setdefault(term.name, []).append(array)
    return [
        Walk(name, found[0])
        for name, found in places.items()
        if len(set(found)) == 1 and starts[name] == 1
        and steps[name] and uses[name] == steps[name] + len(found)
    ]  # fmt: skip


Split = Callable[[n.Expression], tuple[n.Expression, n.Expression] | None]


def without_rows(body: Body, walk: Walk, split: Split) -> Body:
    """A walk that begins at a column, and indices with the row; the body if there is no row.

    ``split`` gives the elements before a row, and the column, of what a walk begins with.
    """

    def changed(inner: Body) -> Body:
        made = tuple(rebuilt_lists(s, changed) for s in inner)
        for place, statement in enumerate(made):
            match statement:
                case n.Declare(name=name, value=value) if name == walk.name and value is not None:
                    parts, later = split(value), made[place + 1 :]
                    fixed = parts is not None and not any(
                        parts[0].names() & set(written(s)) for s in later
                    )
                    if parts is None or not fixed:
                        return made
                    first = replace(statement, value=parts[1])
                    rest = (bottom_up(s, _with_row(walk, parts[0])) for s in later)
                    return (*made[:place], first, *rest)
        return made

    return changed(body)


def _with_row(walk: Walk, row: n.Expression) -> Callable[[n.Node], n.Node]:
    def change(node: n.Node) -> n.Node:
        match node:
            case n.Index(n.Name(name=array), index) if array == walk.array and any(
                term == n.Name(walk.name) for term in terms_of(index)
            ):
                return n.Index(n.Name(array), n.Binary("+", row, index))
        return node

    return change
