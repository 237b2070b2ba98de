"""Numbers about programs: how hard they are to read, how far apart two of them are."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, fields
from typing import Any

from ptxkit.cuda import CudaModule, print_function
from ptxkit.cuda import nodes as n
from ptxkit.errors import import_extra


def walk(node: Any) -> Iterator[n.Node]:
    """A node and everything below it."""
    pending = [node]
    while pending:
        one = pending.pop()
        if isinstance(one, tuple):
            pending.extend(reversed(one))
        elif isinstance(one, n.Node):
            yield one
            parts = reversed(fields(one))  # type: ignore[arg-type]
            pending.extend(getattr(one, f.name) for f in parts)


_STATEMENTS = (
    n.Declare, n.Assign, n.Evaluate, n.If, n.For, n.While, n.DoWhile, n.Switch, n.Break,
    n.Continue, n.Return, n.Goto, n.Asm,
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Readability:
    """What makes a function hard to read."""

    lines: int
    statements: int
    gotos: int
    assembly: int
    casts: int


def readability(tree: CudaModule, name: str | None = None) -> Readability:
    """Count in one function of a file, or in all.

    >>> from ptxkit.cuda import read
    >>> tree = CudaModule((read("(kernel k (params) (let int i 1) (= i (cast int 2.0f)))"),))
    >>> readability(tree)
    Readability(lines=4, statements=2, gotos=0, assembly=0, casts=1)
    """
    functions = [
        item for item in tree.items
        if isinstance(item, n.Function) and item.body is not None and name in (None, item.name)
    ]  # fmt: skip
    counts = Counter(type(node) for function in functions for node in walk(function))
    return Readability(
        sum(len(print_function(f).splitlines()) for f in functions),
        sum(counts[kind] for kind in _STATEMENTS),
        counts[n.Goto],
        counts[n.Asm],
        counts[n.Cast],
    )


def reading_cost(tree: CudaModule, name: str) -> float:
    """How hard a function is to read: the lower the better."""
    found = readability(tree, name)
    if not found.lines:
        found = readability(tree)
    return found.lines + 5.0 * found.gotos + 5.0 * found.assembly + 0.5 * found.casts


# ---- distance of trees ---------------------------------------------------------------------


@dataclass(eq=False, slots=True)
class Labelled:
    """A tree of labels, as the distance is defined on."""

    name: str
    children: list[Labelled]


def labelled(node: Any) -> Labelled:
    """A program as a tree of labels: a node for each part, its words as its label."""
    children: list[Labelled] = []
    words = [type(node).__name__]
    for field in fields(node):
        value = getattr(node, field.name)
        if isinstance(value, n.Node):
            children.append(labelled(value))
        elif isinstance(value, tuple) and any(isinstance(v, n.Node) for v in value):
            children.append(Labelled(field.name, [labelled(v) for v in value]))
        elif value not in ((), None, ""):
            words.append(getattr(value, "spelling", str(value)))
    return Labelled(" ".join(words), children)


def _size(tree: Labelled) -> int:
    return 1 + sum(_size(child) for child in tree.children)


def tree_similarity(a: n.Node, b: n.Node) -> float:
    """One minus the tree edit distance over the size of the larger tree.

    The distance is that of Zhang and Shasha: the fewest nodes to insert, delete or rename.

    >>> from ptxkit.cuda import read
    >>> one, two = (read(f"(= x (+ a {name}))") for name in "bc")
    >>> tree_similarity(one, one), tree_similarity(one, two)
    (1.0, 0.8)
    """
    apted = import_extra("apted", extra="evaluate")
    first, second = labelled(a), labelled(b)
    distance = apted.APTED(first, second, _Config()).compute_edit_distance()
    return 1.0 - float(distance) / max(_size(first), _size(second))


class _Config:
    """How apted reads our trees: every operation costs one."""

    valuecls = float

    def rename(self, a: Labelled, b: Labelled) -> float:
        return float(a.name != b.name)

    def delete(self, node: Labelled) -> float:
        return 1.0

    def insert(self, node: Labelled) -> float:
        return 1.0

    def children(self, node: Labelled) -> list[Labelled]:
        return node.children
