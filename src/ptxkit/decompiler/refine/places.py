"""Places in the tree of a function, and changes at them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import count
from typing import Any

from ptxkit.cuda import nodes as n

Path = tuple[str | int, ...]
"""The fields, and the numbers in them, that lead from a function to something in it."""

BODIES = frozenset(("body", "then", "otherwise"))


@dataclass(frozen=True, slots=True)
class Edit:
    """One change: what is at a place, and what shall be there.

    Of a list of statements it changes those from ``start`` on, as many as ``old`` has.
    """

    kind: str
    path: Path
    old: Any
    new: Any
    start: int | None = None

    def statement(self) -> Path:
        """The path of the statement that changes, or of the first one that does."""
        if self.start is not None:
            return (*self.path, self.start)
        return statement_of(self.path)


def statement_of(path: Path) -> Path:
    """The path of the statement that something is in; empty for what is in none."""
    for place in range(len(path) - 1, 0, -1):
        if isinstance(path[place], int) and path[place - 1] in BODIES:
            return path[: place + 1]
    return ()


def applied(function: n.Function, edit: Edit) -> n.Function | None:
    """The function with a change; None where something else is at that place."""
    made = _changed(function, edit.path, edit)
    return made if isinstance(made, n.Function) else None


def _changed(here: Any, path: Path, edit: Edit) -> Any:
    if not path:
        if edit.start is None:
            return edit.new if here == edit.old else None
        end = edit.start + len(edit.old)
        if here[edit.start : end] != edit.old:
            return None
        return (*here[: edit.start], *edit.new, *here[end:])
    step, *rest = path
    if isinstance(step, int):
        if step >= len(here):
            return None
        inner = _changed(here[step], tuple(rest), edit)
        return None if inner is None else (*here[:step], inner, *here[step + 1 :])
    if not hasattr(here, step):
        return None
    inner = _changed(getattr(here, step), tuple(rest), edit)
    return None if inner is None else replace(here, **{step: inner})


def nodes_in(node: n.Node, path: Path = ()) -> Iterator[tuple[Path, n.Node]]:
    """A node and all below it with their paths, parents first."""
    yield path, node
    kind: type = type(node)
    for name in n.branches(kind):
        value = getattr(node, name)
        if isinstance(value, n.Node):
            yield from nodes_in(value, (*path, name))
        elif isinstance(value, tuple):
            for number, item in enumerate(value):
                if isinstance(item, n.Node):
                    yield from nodes_in(item, (*path, name, number))


def bodies_in(function: n.Function) -> Iterator[tuple[Path, tuple[n.Statement, ...]]]:
    """All lists of statements with their paths."""
    for path, node in nodes_in(function):
        kind: type = type(node)
        for name in n.branches(kind):
            if name in BODIES:
                body = getattr(node, name)
                if body and isinstance(body, tuple):
                    yield (*path, name), body


def difference(kind: str, a: n.Function, b: n.Function) -> Edit | None:
    """The smallest change that makes one function of another."""
    path: list[str | int] = []
    old: Any = a
    new: Any = b
    while True:
        step = _differing(old, new)
        if step is None:
            break
        path += step
        for one in step:
            old = old[one] if isinstance(one, int) else getattr(old, one)
            new = new[one] if isinstance(one, int) else getattr(new, one)
    if old == new:
        return None
    if isinstance(old, tuple):
        start = next((k for k, (x, y) in enumerate(zip(old, new, strict=False)) if x != y),
                     min(len(old), len(new)))  # fmt: skip
        end = 0
        while end < min(len(old), len(new)) - start and old[-1 - end] == new[-1 - end]:
            end += 1
        return Edit(kind, tuple(path), old[start : len(old) - end], new[start : len(new) - end],
                    start)  # fmt: skip
    return Edit(kind, tuple(path), old, new)


def _differing(old: Any, new: Any) -> list[str | int] | None:
    """The way to the one part in which two things of a kind differ."""
    if isinstance(old, tuple):
        if len(old) != len(new):
            return None
        changed = [k for k, (x, y) in enumerate(zip(old, new, strict=True)) if x != y]
        return [changed[0]] if len(changed) == 1 else None
    if type(old) is not type(new) or not isinstance(old, n.Node):
        return None
    kind: type = type(old)
    names = n.branches(kind)
    changed_names = [name for name in names if getattr(old, name) != getattr(new, name)]
    if len(changed_names) != 1:
        return None
    name = changed_names[0]
    if old != replace(new, **{name: getattr(old, name)}):
        return None
    value = getattr(old, name)
    both = value is not None and getattr(new, name) is not None
    return [name] if both else None


class NewNames:
    """Names that a function does not have yet.

    >>> from ptxkit.cuda import read
    >>> names = NewNames(read("(kernel k (params (param int row)) (let int row1 row))"))
    >>> names.take("row"), names.take("row"), names.take("column")
    ('row2', 'row3', 'column')
    """

    def __init__(self, function: n.Function) -> None:
        self.taken = {p.name for p in function.parameters} | {
            node.name for _, node in nodes_in(function) if isinstance(node, n.Declare | n.Name)
        }

    def take(self, wish: str) -> str:
        """The wish, or that with the first number that is free."""
        name = next(x for k in count() if (x := f"{wish}{k or ''}") not in self.taken)
        self.taken.add(name)
        return name
