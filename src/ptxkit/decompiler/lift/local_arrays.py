"""Arrays of a thread's own, of which a compiler made a variable for each element.

``float r[3]`` that only loops of a known number of turns look into is in PTX no array any more, and
the loops are written out. What stood for ``r[k]`` is another variable in each of the copies: those
are written as elements again, so that `copies` finds the loops. As there nothing is proved here:
the verifier decides.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from itertools import islice, pairwise

from ptxkit.cuda import nodes as n
from ptxkit.cuda.types import INT, Array, Scalar, Type
from ptxkit.decompiler.lift.rewrite import (
    Body,
    bodies_of,
    bottom_up,
    read,
    rebuilt_lists,
    statements_of,
    written,
)
from ptxkit.decompiler.lift.runs import LEAST, MOST_RUNS, Shapes, runs
from ptxkit.decompiler.lift.unify import DifferentError, Holes, counter

#: How often the statements of a list may be looked at.
_PATIENCE = 8


@dataclass(slots=True)
class LocalArrays:
    """Writes the arrays of one function."""

    types: dict[str, Type]
    fresh: Callable[[str], str]
    """Makes the name of an array, if it can the one that is wished for."""
    others: frozenset[str] = frozenset()
    """What can be no element: parameters."""
    shapes: Shapes = field(default_factory=Shapes)
    reads: Counter[str] = field(default_factory=Counter)
    after: dict[str, str] = field(default_factory=dict)
    """The variable of the next element, by that of an element."""
    before: dict[str, str] = field(default_factory=dict)
    elements: dict[str, n.Index] = field(default_factory=dict)
    """The element that a variable is."""

    @property
    def names(self) -> frozenset[str]:
        """The arrays."""
        return frozenset(e.base.name for e in self.elements.values() if isinstance(e.base, n.Name))

    def run(self, body: Body) -> Body:
        """The body with its arrays; the same body where there are none."""
        self.reads.update(name for s in body for name in read(s))
        self.others |= _not_elements(body)
        rows = sorted(self._rows(body), key=lambda found: (-found[0], -len(found[1])))
        for _, row in rows:
            self._link(row)
        for first in [name for name in self.after if name not in self.before]:
            self._array(first)
        return self._list(body) if self.elements else body

    def restored(self, body: Body) -> Body:
        """The body with those arrays as variables that no loop looks into."""
        looked = {p.base.name for s in body for p in s.walk()
                  if isinstance(p, n.Index) and isinstance(p.base, n.Name)
                  and not isinstance(p.index, n.Literal)}  # fmt: skip
        names = {
            element: name for name, element in self.elements.items()
            if isinstance(element.base, n.Name) and element.base.name not in looked
        }  # fmt: skip

        def change(node: n.Node) -> n.Node:
            return n.Name(names[node]) if isinstance(node, n.Index) and node in names else node

        return tuple(bottom_up(s, change) for s in body) if names else body

    # ---- which variables stand in a row ------------------------------------------------------

    def _rows(self, body: Body) -> Iterator[tuple[bool, tuple[str, ...]]]:
        """Variables that stand for elements in copies, and whether these count something, too."""
        for statement in body:
            for inner in bodies_of(statement):
                yield from self._rows(inner)
        left = _PATIENCE * len(body)
        taken: list[tuple[int, int]] = []
        shapes = [self.shapes.of(s) for s in body]
        for start, size, count in islice(runs(shapes, [False] * len(body)), MOST_RUNS):
            end = start + size * count
            if any(start < b and a < end for a, b in taken):
                continue
            left -= size * count
            if left < 0:
                break
            copies = [tuple(body[start + k * size : start + (k + 1) * size]) for k in range(count)]
            found = self._holes(copies)
            if found is not None:
                taken.append((start, end))
                yield from found

    def _holes(self, copies: list[Body]) -> list[tuple[bool, tuple[str, ...]]] | None:
        """The variables of copies that are not those of a turn alone; None if it are no copies."""
        holes = Holes()
        try:
            text = holes.unify(copies)
        except DifferentError:
            return None
        counted = counter(holes.numbers, len(copies))
        if counted is None or _moves(text):
            return None
        down = any(times < 0 for times, _ in counted.holes.values())
        rows = holes.names.values()
        handed = {row for row in rows for other in rows if row is not other
                  and (row[1:] == other[:-1] or row[:-1] == other[1:])}  # fmt: skip
        inside = [Counter(name for s in copy for name in read(s)) for copy in copies]
        sets = [{name for s in copy for name in written(s)} for copy in copies]
        found = []
        for row in rows:
            own = all(
                name in done and near[name] == self.reads[name]
                for name, near, done in zip(row, inside, sets, strict=True)
            ) and not any(name in _first_read(copy) for name, copy in zip(row, copies, strict=True))
            if not own and row not in handed and self._are_elements(row):
                found.append((bool(holes.numbers), row[::-1] if down else row))
        return found

    def _are_elements(self, row: tuple[str, ...]) -> bool:
        types = {self.types.get(name) for name in row}
        return (
            len(set(row)) == len(row)
            and len(types) == 1
            and isinstance(next(iter(types)), Scalar)
            and self.others.isdisjoint(row)
        )

    def _link(self, row: tuple[str, ...]) -> None:
        """Have variables follow one another, if no other row has it otherwise."""
        pairs = [*pairwise(row)]
        if any(self.after.get(a, b) != b or self.before.get(b, a) != a for a, b in pairs):
            return
        after = self.after | dict(pairs)
        last = after.get(row[-1])
        while last is not None and last != row[-1]:
            last = after.get(last)
        if last is None:  # else it would follow itself
            self.after = after
            self.before.update((b, a) for a, b in pairs)

    def _array(self, first: str) -> None:
        names = [first]
        while names[-1] in self.after:
            names.append(self.after[names[-1]])
        if len(names) < LEAST:
            return
        array = self.fresh("values")
        self.types[array] = Array(self.types[first], (len(names),))
        for place, name in enumerate(names):
            self.elements[name] = n.Index(n.Name(array), n.Literal(place, INT))

    # ---- with elements -----------------------------------------------------------------------

    def _list(self, body: Body) -> Body:
        made: list[n.Statement] = []
        begun: list[n.Statement] = []
        for statement in body:
            if _begins(statement, self.elements):
                begun.append(statement)
                continue
            inner = rebuilt_lists(statement, self._list)
            made += (*self._begun(begun), bottom_up(inner, self._element))
            begun.clear()
        return (*made, *self._begun(begun))

    def _begun(self, statements: list[n.Statement]) -> list[n.Statement]:
        """What begins with a number, in the order of the places."""
        return [bottom_up(s, self._element) for s in sorted(statements, key=self._place)]

    def _place(self, statement: n.Statement) -> tuple[str, int]:
        assert isinstance(statement, n.Assign) and isinstance(statement.target, n.Name)
        element = self.elements[statement.target.name]
        assert isinstance(element.base, n.Name) and isinstance(element.index, n.Literal)
        return element.base.name, int(element.index.value)

    def _element(self, node: n.Node) -> n.Node:
        return self.elements.get(node.name, node) if isinstance(node, n.Name) else node


def _begins(statement: n.Statement, elements: dict[str, n.Index]) -> bool:
    match statement:
        case n.Assign(n.Name(name=name), n.Literal(), "="):
            return name in elements
    return False


def _moves(text: Body) -> bool:
    """Whether a text does nothing but to set a variable to another one, or to a number."""
    return all(
        isinstance(s, n.Assign) and s.operator == "=" and isinstance(s.target, n.Name)
        and isinstance(s.value, n.Name | n.Literal)
        for s in text
    )  # fmt: skip


def _first_read(body: Body) -> set[str]:
    """Variables that are read before they are set, as far as the statements of a body tell."""
    found: set[str] = set()
    done: set[str] = set()
    for statement in body:
        found |= set(read(statement)) - done
        done |= set(written(statement))
    return found


def _not_elements(body: Body) -> frozenset[str]:
    """Variables that can be no elements: counters, and those that assembly sets."""
    found: set[str] = set()
    for statement in statements_of(body):
        match statement:
            case n.For(start=start, step=step):
                for end in (start, step):
                    found.update(written(end) if end is not None else ())
            case n.Asm():
                found |= statement.names()
        for part in statement.walk() if not bodies_of(statement) else ():
            match part:
                case n.Unary("&", n.Name(name=name)):
                    found.add(name)
    return frozenset(found)
