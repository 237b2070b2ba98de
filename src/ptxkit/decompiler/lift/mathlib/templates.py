"""A function of the library as a pattern: the term that its result is, with holes.

Nodes are numbered, arguments before what is made of them, so that a template is plain data
and can be kept on disk.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from functools import cached_property, lru_cache
from typing import Any

from ptxkit.decompiler.lift.mathlib.terms import Terms
from ptxkit.decompiler.lift.values import Value


@dataclass(frozen=True, slots=True)
class Node:
    """One operation of a template.

    ``op`` is that of a value, or "hole" (an argument of the function; ``key`` says which) or
    "any" (memory that nothing was written to yet).
    """

    op: str
    width: int
    args: tuple[int, ...]
    key: Any
    loop: tuple[int, ...] = ()
    """For what a loop carries: the first value, the next one, and whether it goes on."""


#: Of the numbers of a function, what is left where one argument is a number too.
_TYPICAL = 0.5
#: And where only signs differ, or where what it asks is known.
_NEARLY_ALL = 0.7


def unsigned(numbers: Iterable[tuple[int, int]]) -> frozenset[tuple[int, int]]:
    """Numbers without their signs.

    >>> unsigned([(32, 0xbf800000), (32, 0x3f800000)])
    frozenset({(32, 1065353216)})
    """
    return frozenset((width, bits & ~(1 << max(width, 1) - 1)) for width, bits in numbers)


@dataclass(frozen=True)
class Template:
    """A function, and what a compiler makes of it."""

    call: str
    """Its name."""
    takes: tuple[str, ...]
    gives: str
    nodes: tuple[Node, ...]
    """The last one is the result."""
    fixed: tuple[int | None, ...] = ()
    """The bits of arguments that are numbers; None for those that are holes. Empty: all are."""
    negated: bool = False
    """Whether it is of ``f(-a)``: compilers put the sign elsewhere."""
    part: int = -1
    """Of a function with two results, which one it is."""

    @property
    def root(self) -> Node:
        """The result."""
        return self.nodes[-1]

    @cached_property
    def below(self) -> tuple[str | None, ...]:
        """The operations that the result is made of; None for what may be any."""
        found = (self.nodes[number].op for number in self.root.args)
        return tuple(None if op in ("hole", "any") else op for op in found)

    @property
    def operations(self) -> int:
        """How many operations it has."""
        return sum(bool(n.args) for n in self.nodes)

    @property
    def numbers(self) -> frozenset[tuple[int, int]]:
        """The numbers in it, by width and bits, but for those that are everywhere."""
        return frozenset(
            (n.width, n.key) for n in self.nodes if n.op == "const" and n.key not in (0, 1)
        )

    @property
    def typical(self) -> tuple[frozenset[tuple[int, int]], float]:
        """Its numbers, signs apart, and how many of them make it likely to be there."""
        own = unsigned(self.numbers)
        return own, (_TYPICAL if len(self.takes) == 2 else _NEARLY_ALL) * len(own)


@lru_cache(maxsize=4096)
def key_of(data: Any) -> Any:
    """What operations differ in beside their arguments, as plain data."""
    return data if data is None or isinstance(data, int | str) else repr(data)


def place_key(data: tuple[str, int]) -> tuple[str, int]:
    """How something is added to the begin of memory, and the offset with its sign."""
    how, offset = data
    return how, offset - (1 << 64) if offset >> 63 else offset


def _key(value: Value) -> Any:
    if value.op == "place":
        return place_key(value.data)
    return None if value.op == "mu" else key_of(value.data)


@dataclass(slots=True)
class Recorder:
    """Writes a term down as nodes."""

    terms: Terms
    holes: Sequence[Value]
    nodes: list[Node] = field(default_factory=list)
    numbers: dict[Value, int] = field(default_factory=dict)

    def record(self, root: Value) -> tuple[Node, ...] | None:
        """The nodes of a term; None where it depends on more than the holes."""
        pending = [root]
        loops: list[Value] = []
        while pending:
            value = pending[-1]
            if value in self.numbers:
                pending.pop()
                continue
            special = self._leaf(value)
            if special is None and not value.args and value.op in ("leaf", "load", "builtin"):
                return None
            args = () if special is not None else value.args
            missing = [a for a in args if a not in self.numbers]
            if missing:
                pending += missing
                continue
            pending.pop()
            if value.op == "mu":
                loops.append(value)
                # Values of the next round are made of this one: known from now on.
                loop = self.terms.loops[value]
                pending += [loop.first, loop.following, loop.again]
            self._add(
                value,
                special
                or Node(value.op, value.width, tuple(self.numbers[a] for a in args), _key(value)),
            )
        for value in loops:
            loop = self.terms.loops[value]
            number = self.numbers[value]
            parts = tuple(self.numbers[v] for v in (loop.first, loop.following, loop.again))
            old = self.nodes[number]
            self.nodes[number] = Node(old.op, old.width, old.args, old.key, parts)
        if self.numbers[root] != len(self.nodes) - 1:
            self.nodes.append(Node("same", root.width, (self.numbers[root],), None))
        return tuple(self.nodes)

    def _leaf(self, value: Value) -> Node | None:
        if value in self.holes:
            return Node("hole", value.width, (), self.holes.index(value))
        if value.op == "memory":
            return Node("any", 0, (), None)
        return None

    def _add(self, value: Value, node: Node) -> None:
        self.numbers[value] = len(self.nodes)
        self.nodes.append(node)
