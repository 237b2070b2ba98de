"""Statements that repeat as ``for`` loops, with what varies as a formula or in a table.

A run is found by the shapes of its statements, over all of its rounds at once. What is the same
in every round stays; numbers and the numbers of registers become a formula of the counter where
one holds for all rounds; all else goes into a table.

A register that is made and used within one round keeps its name. Others that vary are written as
what they are, ``f[8 + 4 * i]``.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ptxkit.transpiler.names import Scope
from ptxkit.transpiler.ranges import Ranges
from ptxkit.transpiler.sequences import formula, joined
from ptxkit.transpiler.shapes import Leaf, Taken, leaves_of, rebuilt
from ptxkit.transpiler.tree import (
    Argument,
    Entry,
    Formula,
    ForSuite,
    FunctionSuite,
    Line,
    Site,
    Suite,
    Symbol,
    python_of,
    used_symbols,
    walk,
)

LONGEST_ROUND = 160
FEWEST_ROUNDS = 3
MOST_COLUMNS = 6
COUNTERS = "ijklmn"
_WIDTH = 80
_READS = frozenset((".load", ".new"))


class Repeats:
    """The pass."""

    name = "repeats"

    def __call__(self, function: FunctionSuite, skip: frozenset[int]) -> FunctionSuite:
        """Write runs as loops, but for those that begin at nodes to skip."""
        roller = _Roller(function, skip)
        body = roller.rolled(list(function.body), 0)
        if not roller.sites:
            return function
        return function.rewritten(roller.ranges.declared(body), roller.sites, roller.names)


class _Roller:
    def __init__(self, function: FunctionSuite, skip: frozenset[int]) -> None:
        self.function = function
        self.skip = skip
        self.names: dict[Symbol, str] = {}
        self._all_names = dict(function.names)
        self.sites: list[Site] = []
        self._outer: dict[Symbol, Formula | None] = {}  # those that loops keep by name
        self._order: dict[Line, int] = {}
        self._places: dict[Symbol, list[int]] = {}
        for at, line in enumerate(walk(function.body)):
            self._order[line] = at
            for symbol in used_symbols(line):
                self._places.setdefault(symbol, []).append(at)
        self.ranges = Ranges(function)
        self._taken: dict[Entry, Taken] = {}

    # -- lists of statements ---------------------------------------------------------------------

    def rolled(self, body: list[Entry], depth: int) -> list[Entry]:
        """A body with its runs as loops, and the bodies inside it likewise."""
        made = self._runs(body, depth)
        found: list[Entry] = []
        for entry in made:
            if isinstance(entry, Suite) and entry.body:
                inner = depth + isinstance(entry, ForSuite)
                found.append(entry.with_body(self.rolled(list(entry.body), inner)))
            else:
                found.append(entry)
        return found

    def _runs(self, body: list[Entry], depth: int) -> list[Entry]:
        if len(body) < FEWEST_ROUNDS or depth >= len(COUNTERS):
            return body
        taken = [leaves_of(entry, self._taken) for entry in body]
        known: dict[str, int] = {}
        shapes = np.array([known.setdefault(shape, len(known)) for shape, _ in taken])
        sizes = [_lines(entry) for entry in body]
        ends = np.concatenate([[0], np.cumsum(sizes)])
        loops: dict[int, tuple[int, Entry]] = {}
        free = np.ones(len(body), dtype=bool)
        for start, length, count in _candidates(shapes, ends):
            # The first or the last round may be another: values come in and go out there.
            for begin, rounds in ((start, count), (start, count - 1), (start + length, count - 1)):
                end = begin + length * rounds
                if rounds < FEWEST_ROUNDS or not free[begin:end].all():
                    continue
                loop = self._loop(body, taken, begin, length, rounds, depth)
                if loop is not None:
                    loops[begin] = (end, loop)
                    free[begin:end] = False
                    break
        made: list[Entry] = []
        at = 0
        while at < len(body):
            if at in loops:
                at, loop_made = loops[at]
                made.append(loop_made)
            else:
                made.append(body[at])
                at += 1
        return made

    # -- one run -------------------------------------------------------------------------------

    def _loop(
        self,
        body: Sequence[Entry],
        taken: Sequence[tuple[str, list[Leaf]]],
        start: int,
        length: int,
        count: int,
        depth: int,
    ) -> ForSuite | None:
        """A run as a loop; None where it would save nothing."""
        first = _node_index(body[start])
        if first is None or first in self.skip:
            return None
        if all(
            isinstance(one, Line) and one.call in _READS for one in body[start : start + length]
        ):
            return None  # parameters have names, and rows of reads take one line
        rounds = [
            [leaf for at in range(begin, begin + length) for leaf in taken[at][1]]
            for begin in range(start, start + length * count, length)
        ]
        local = self._locals(body, rounds, start, length, count)
        counter = self._word(COUNTERS[depth], 0)
        inside: set[object] = set()
        for leaves_of_round in rounds:
            inside.update(leaf.value for leaf in leaves_of_round if leaf.kind == "target")
        columns: dict[tuple[str, ...], str] = {}
        rows: list[list[Argument]] = [[] for _ in range(count)]
        leaves: list[Argument] = []
        freed: list[Symbol] = []
        uses_counter = False
        ranges: set[str] = set()
        for leaf in zip(*rounds, strict=True):
            values: list[Any] = [one.value for one in leaf]
            kind = leaf[0].kind
            if kind == "target":
                if values[0] in local:
                    leaves.append(values[0])
                    continue
                freed += values
                into = self._formula("symbol", values, counter)
                leaves.append(into or "")
                uses_counter = uses_counter or into is not None
                continue
            made = self._constant(kind, values, local)
            if made is None:
                made = self._formula(kind, values, counter)
                uses_counter = uses_counter or made is not None
                if isinstance(made, Formula) and made.name:
                    ranges.add(made.name)
            if made is None:
                if not all(self._is_known(value) for value in values):
                    return None
                cells = [self._cell(value, inside) for value in values]
                if None in cells:
                    return None
                made = self._column(cells, columns, rows, depth)  # type: ignore[arg-type]
                if len(columns) > MOST_COLUMNS:
                    return None
            leaves.append(made)
        for symbol in freed:
            name = self._indexed(symbol)
            if name is None:
                return None
            ranges.add(name.partition("[")[0])
        parts = iter(leaves)
        round = body[start : start + length]
        inner = [rebuilt(one, parts) for one in round]
        for old, new in zip(walk(round), walk(inner), strict=True):
            self._order[new] = self._order[old]
        node = body[start].node or next(iter(walk([body[start]]))).node
        loop = ForSuite(
            counter if uses_counter else "", count, list(columns.values()), rows, node, inner
        )
        saved = sum(_lines(one) for one in body[start : start + length * count])
        fewest = 3 if columns else 1
        if saved - _lines(loop) < fewest or self._is_too_wide(loop):
            return None
        for symbol in freed:
            self.names[symbol] = self._all_names[symbol] = str(self._indexed(symbol))
        for leaf in zip(*rounds, strict=True):
            if leaf[0].kind == "target" and leaf[0].value in local:
                values = [one.value for one in leaf]
                made = self._formula("symbol", values, counter)
                assert made is None or isinstance(made, Formula)
                self._outer[values[0]] = made
        self.ranges.used |= ranges
        last = _node_index(body[start + length * count - 1])
        self.sites.append(Site(first, (last or first) + 99, first))
        return loop

    def _is_too_wide(self, loop: ForSuite) -> bool:
        return any(len(line.text(self._all_names)) > 200 for line in walk(loop.body))

    def _locals(
        self,
        body: Sequence[Entry],
        rounds: Sequence[Sequence[Leaf]],
        start: int,
        length: int,
        count: int,
    ) -> dict[object, int]:
        """The registers that are made and used within one round, in every round.

        Each with the number of the leaf that makes it.
        """
        spans = []
        for begin in range(start, start + length * count, length):
            lines = [line for entry in body[begin : begin + length] for line in walk([entry])]
            spans.append((self._order[lines[0]], self._order[lines[-1]]))
        found: dict[object, int] = {}
        leaves = list(zip(*rounds, strict=True))
        for number, leaf in enumerate(leaves):
            if leaf[0].kind != "target" or not leaf[0].group:
                continue
            # Registers that one statement makes are named together or not at all.
            together = leaves[number : number + leaf[0].group]
            if all(self._is_inside(one, spans) for one in together):
                for at, one in enumerate(together, number):
                    found.update((of_round.value, at) for of_round in one)
        return found

    def _is_inside(self, leaf: Sequence[Leaf], spans: Sequence[tuple[int, int]]) -> bool:
        """Whether the registers that a leaf makes are used in their own round only."""
        for (low, high), one in zip(spans, leaf, strict=True):
            places = self._places.get(one.value, [])  # type: ignore[arg-type]
            if places and not (low <= places[0] and places[-1] <= high):
                return False
        return True

    # -- what becomes of a leaf ------------------------------------------------------------------

    @staticmethod
    def _constant(kind: str, values: Sequence[object], local: dict[object, int]) -> Argument | None:
        """What is the same in every round."""
        first = values[0]
        if kind == "symbol" and first in local:
            # The register that this round made; the first round's name stands for all.
            made_by = local[first]
            if all(local.get(value) == made_by for value in values):
                return first  # type: ignore[return-value]
            return None
        if any(value != first and _text(value) != _text(first) for value in values):
            return None
        if kind == "offset" and first is None:
            return ""
        return first if isinstance(first, Symbol) else str(first)

    def _formula(self, kind: str, values: Sequence[object], counter: str) -> Argument | None:
        """A formula of the counter that gives the values."""
        if kind in ("number", "offset"):
            numbers = [value or 0 for value in values]
            found = formula(numbers, counter)  # type: ignore[arg-type]
            if found is None or (kind == "offset" and None in values and 0 in values):
                return None
            return Formula(*found, is_offset=kind == "offset" and None in values)
        if kind != "symbol":
            return None
        indexes = [self._index(value) for value in values]  # type: ignore[arg-type]
        if None in indexes:
            return None
        known = [one for one in indexes if one is not None]
        name, rest, _ = known[0]
        found = formula([number for _, _, number in known], counter)
        if found is None or any(one[:2] != (name, rest) for one in known):
            return None
        return Formula(found[0], joined(found[1], rest), name)

    def _index(self, symbol: Symbol) -> tuple[str, str, int] | None:
        """The range of a register, what is added to its number, and its number."""
        if symbol in self._outer:
            # In a loop's body it stands for one register in each round.
            outer = self._outer[symbol]
            return None if outer is None else (outer.name, outer.rest, outer.constant)
        found = self.ranges.index(symbol)
        return None if found is None else (found[0], "", found[1])

    def _indexed(self, symbol: Symbol) -> str | None:
        found = self._index(symbol)
        return None if found is None else Formula(found[2], found[1], found[0]).text()

    def _is_known(self, value: object) -> bool:
        """Whether a table at the head of a loop can name a value: nothing declared inside."""
        if not isinstance(value, Symbol) or value.kind in ("special", "name"):
            return True
        scope: Scope | None = self.function.scope
        while scope is not None:
            if scope.symbols.get(value.ptx) is value:
                return True
            scope = scope.outer
        return False

    def _cell(self, value: object, inside: set[object]) -> Argument | None:
        """A value in a table; what the loop itself makes has no name yet where that stands."""
        if not isinstance(value, Symbol):
            return "None" if value is None else str(value)
        if value not in inside:
            return value
        found = self._index(value)
        if found is None:
            return None
        self.ranges.used.add(found[0])
        return Formula(found[2], found[1], found[0])

    def _column(
        self,
        cells: Sequence[Argument],
        columns: dict[tuple[str, ...], str],
        rows: list[list[Argument]],
        depth: int,
    ) -> Argument:
        """A name for what a table gives."""
        key = tuple(python_of(cell, self._all_names) for cell in cells)
        if key not in columns:
            word = "n" if isinstance(cells[0], str) else "x"
            columns[key] = self._word(f"{word}{len(columns)}", depth)
            for row, cell in zip(rows, cells, strict=True):
                row.append(cell)
        return columns[key]

    def _word(self, word: str, depth: int) -> str:
        """A Python name for a counter or a column, the same in loops beside each other."""
        return self.function.free_name(word, ("loop", word, depth))


def _candidates(shapes: np.ndarray, ends: np.ndarray) -> list[tuple[int, int, int]]:
    """Runs by start, length of a round and number of rounds; those that save most first."""
    found: list[tuple[int, int, int, int]] = []
    for length in range(1, min(LONGEST_ROUND, len(shapes) // FEWEST_ROUNDS) + 1):
        same = shapes[:-length] == shapes[length:]
        edges = np.flatnonzero(np.diff(np.concatenate([[False], same, [False]])))
        for start, end in zip(edges[::2].tolist(), edges[1::2].tolist(), strict=True):
            count = (end - start) // length + 1
            if count >= FEWEST_ROUNDS:
                size = int(ends[start + length] - ends[start])
                found.append((-(count - 1) * size, length, start, count))
    found.sort()
    return [(start, length, count) for _, length, start, count in found]


def _lines(entry: Entry) -> int:
    if isinstance(entry, Line):
        return 1
    head = len(entry.heading({})) if isinstance(entry, ForSuite) else max(1, len(entry.head))
    return head + sum(_lines(one) for one in entry.body)


def _is_read(entry: Entry) -> bool:
    """Whether a parameter or a special register is read."""
    return isinstance(entry, Line) and entry.call in _READS


def _node_index(entry: Entry) -> int | None:
    if isinstance(entry, Line):
        return entry.node.index if entry.node is not None else None
    return next((line.node.index for line in walk([entry]) if line.node is not None), None)


def _text(value: object) -> object:
    """What a symbol is called that is no register of a range: blocks declare the same names."""
    if isinstance(value, Symbol) and not value.python.endswith("]"):
        return value.python
    return value
