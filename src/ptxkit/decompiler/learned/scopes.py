"""Where names are known, and whether two functions are the same but for names.

>>> from ptxkit.cuda import read
>>> text = '''(kernel k (params (param int n)) (for (let int i 0) (< i n) (+= i 1) (+= i n))
...     (for (let int {0} 0) (< {0} n) (+= {0} 1) (+= {1} 1)))'''
>>> one, two, three = (read(text.format(a, b)) for a, b in ("jj", "ii", "jn"))
>>> {name: found for name, found in spans(one).items()}
{'n': ((0, 99999999),), 'i': ((1, 12),), 'j': ((13, 24),)}
>>> same_but_for_names(one, two), same_but_for_names(one, three)
(True, False)
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import fields
from typing import Any

from ptxkit.cuda import nodes as n

Span = tuple[int, int]
EVERYWHERE: Span = (0, 99_999_999)


def spans(function: n.Function) -> dict[str, tuple[Span, ...]]:
    """The stretches of a function's text in which each parameter and variable is known."""
    reader = _Spans()
    reader.body(function.body or ())
    made = {name: tuple(found) for name, found in reader.found.items()}
    return {**{p.name: (EVERYWHERE,) for p in function.parameters}, **made}


def overlap(one: tuple[Span, ...], two: tuple[Span, ...]) -> bool:
    """Whether there is a place in which both are known.

    >>> overlap(((0, 4), (9, 12)), ((4, 9),)), overlap(((0, 4),), ((3, 5),))
    (False, True)
    """
    return any(a[0] < b[1] and b[0] < a[1] for a in one for b in two)


class _Spans:
    """Counts nodes in the order of the text."""

    def __init__(self) -> None:
        self.at = 0
        self.found: dict[str, list[Span]] = {}

    def body(self, statements: Any) -> None:
        """A block: what is declared in it is known to its end."""
        begun: list[tuple[str, int]] = []
        for statement in statements:
            if isinstance(statement, n.Declare):
                begun.append((statement.name, self.at))
            self.node(statement)
        self._ended(begun)

    def node(self, node: n.Node) -> None:
        """A node and all below it."""
        self.at += 1
        begun: list[tuple[str, int]] = []
        for field, value in _parts(node):
            if isinstance(value, tuple):
                if field in _BLOCKS:
                    self.body(value)
                    continue
                for part in value:
                    self.node(part)
            else:
                if isinstance(value, n.Declare):
                    begun.append((value.name, self.at))
                self.node(value)
        self._ended(begun)

    def _ended(self, begun: list[tuple[str, int]]) -> None:
        for name, start in begun:
            self.found.setdefault(name, []).append((start, self.at))


_BLOCKS = frozenset(("body", "then", "otherwise"))


def _parts(node: n.Node) -> Iterator[tuple[str, Any]]:
    """The fields that hold nodes, in the order of the text as far as scopes go."""
    for field in fields(node):  # type: ignore[arg-type]
        value = getattr(node, field.name)
        if isinstance(value, n.Node) or (
            isinstance(value, tuple) and value and isinstance(value[0], n.Node)
        ):
            yield field.name, value


def same_but_for_names(one: n.Function, two: n.Function) -> bool:
    """Whether every use in one function means the declaration that it means in the other."""
    if len(one.parameters) != len(two.parameters):
        return False
    first = {p.name: k for k, p in enumerate(one.parameters)}
    second = {p.name: k for k, p in enumerate(two.parameters)}
    if len(first) != len(one.parameters) or len(second) != len(two.parameters):
        return False
    if any((a.type, a.const) != (b.type, b.const)
           for a, b in zip(one.parameters, two.parameters, strict=True)):  # fmt: skip
        return False
    return _Bindings(first, second).body(one.body or (), two.body or ())


Known = dict[str, int]


class _Bindings:
    """Reads two trees side by side; names are numbers of declarations."""

    def __init__(self, first: Known, second: Known) -> None:
        self.first, self.second = first, second
        """What names mean where it reads, in the one tree and in the other."""
        self.count = len(first)
        self.hidden: list[tuple[Known, str, int | None]] = []
        """What names meant before they were declared again: where a scope ends they do so still.
        To keep all names of every scope would take the square of the time."""

    def body(self, one: Any, two: Any) -> bool:
        """Two blocks, each with names of its own."""
        outside = len(self.hidden)
        same = len(one) == len(two) and all(self.same(a, b) for a, b in zip(one, two, strict=True))
        self._leave(outside)
        return same

    def same(self, one: Any, two: Any) -> bool:
        """Two nodes; what they declare is known from here on."""
        if type(one) is not type(two):
            return False
        if isinstance(one, n.Name):
            # What is declared outside has the same name in both.
            return bool(self.first.get(one.name, one.name) == self.second.get(two.name, two.name))
        outside = len(self.hidden)
        if isinstance(one, n.Declare):
            self._declare(self.first, one.name)
            self._declare(self.second, two.name)
            self.count += 1
            outside = len(self.hidden)
        for field in fields(one):
            a, b = getattr(one, field.name), getattr(two, field.name)
            if isinstance(one, n.Declare) and field.name == "name":
                continue
            if field.name in _BLOCKS and isinstance(a, tuple):
                if not self.body(a, b):
                    return False
            elif not self._part(a, b):
                return False
        self._leave(outside)
        # A function that a variable of its name would hide is another one.
        return not isinstance(one, n.Call) or (
            self.first.get(one.function) == self.second.get(one.function)
        )

    def _declare(self, known: Known, name: str) -> None:
        self.hidden.append((known, name, known.get(name)))
        known[name] = self.count

    def _leave(self, outside: int) -> None:
        while len(self.hidden) > outside:
            known, name, before = self.hidden.pop()
            if before is None:
                del known[name]
            else:
                known[name] = before

    def _part(self, a: Any, b: Any) -> bool:
        if isinstance(a, n.Node):
            return self.same(a, b)
        if isinstance(a, tuple):
            return (
                isinstance(b, tuple)
                and len(a) == len(b)
                and all(self._part(x, y) for x, y in zip(a, b, strict=True))
            )
        return bool(a == b)
