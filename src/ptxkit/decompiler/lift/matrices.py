"""Arrays of two dimensions: from ``tile[y * 33 + x]`` to ``tile[y][x]``.

Where every access of an array has terms that are multiples of one number, and the array is made
of rows of so many elements, which no column is known to pass, it is written as rows.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field, replace
from math import lcm

from ptxkit.cuda import nodes as n
from ptxkit.cuda.types import INT, Array, Struct
from ptxkit.decompiler.lift.reach import Reach, is_thread
from ptxkit.decompiler.lift.rewrite import rebuilt
from ptxkit.decompiler.lift.row_counters import (
    counting_rows,
    only_indices,
    row_counters,
    spelled_out,
)
from ptxkit.decompiler.lift.row_walks import Walk, walks, without_rows
from ptxkit.decompiler.lift.terms import (
    Term,
    differences,
    multiple,
    multiples,
    sums,
    taken_apart,
)

Body = tuple[n.Statement, ...]
#: The bits that the number of a thread of a block may have.
_THREADS = 1023


@dataclass(slots=True)
class Sum:
    """An index as terms times numbers, and a number."""

    terms: list[tuple[n.Expression, int]] = field(default_factory=list)
    constant: int = 0


def with_matrices(body: Body) -> Body:
    """A function's body with its arrays as rows and columns."""
    arrays = {
        s.name: s.type for s in body
        if isinstance(s, n.Declare) and isinstance(s.type, Array) and len(s.type.shape) == 1
        and not isinstance(s.type.element, Struct | Array) and s.value is None
    }  # fmt: skip
    if not arrays:
        return body
    for walk in walks(body, set(arrays)):
        body = _with_row(body, arrays, walk)
    reach = Reach(body)
    counters = row_counters(body, reach)
    while counters:
        spelled = spelled_out(body, counters)
        whole = _Matrices(spelled, arrays, Reach(spelled), counters)
        scales = whole.scales()
        if scales.keys() == counters.keys():
            return counting_rows(whole.run(), scales)
        counters = {name: factor for name, factor in counters.items() if name in scales}
    return _Matrices(body, arrays, reach, {}).run()


def _with_row(body: Body, arrays: dict[str, Array], walk: Walk) -> Body:
    """A body in which a walk through one row begins at a column of it."""
    whole = _Matrices(body, arrays, Reach(body), {})
    own = n.Name(walk.name)
    others = [
        index for index in whole.found[walk.array]
        if index is None or not any(term == own for term, _ in index.terms)
    ]  # fmt: skip
    width = whole.width(others, arrays[walk.array].shape[0])
    if not width:
        return body

    def split(start: n.Expression) -> tuple[n.Expression, n.Expression] | None:
        first = parsed(start)
        rows = [(t, k) for t, k in first.terms if k % width == 0]
        columns = [(t, k) for t, k in first.terms if k % width]
        if not rows or any(k < 1 for _, k in columns) or not 0 <= first.constant < width:
            return None
        return sum_of_terms(rows, 0), sum_of_terms(columns, first.constant)

    return without_rows(body, walk, split)


class _Matrices:
    """The arrays of one body, and how long their rows are."""

    def __init__(
        self, body: Body, arrays: dict[str, Array], reach: Reach, counters: dict[str, int]
    ) -> None:
        self.body, self.arrays, self.reach, self.counters = body, arrays, reach, counters
        self.found: dict[str, list[Sum | None]] = {name: [] for name in arrays}
        for statement in body:
            _look(statement, self.found)
        self.widths = {name: width for name, indices in self.found.items()
                       if (width := self.width(indices, arrays[name].shape[0]))}  # fmt: skip

    def scales(self) -> dict[str, int]:
        """The counters that count rows here, and how many elements one of them is to stand for."""
        uses: dict[str, list[tuple[int, int]]] = {}
        for name, width in self.widths.items():
            for index in self.found[name]:
                for term, times in index.terms if index is not None else ():
                    if isinstance(term, n.Name) and term.name in self.counters:
                        uses.setdefault(term.name, []).append((times, width))
        indexed = Counter({name: len(places) for name, places in uses.items()})
        alone = only_indices(self.body, self.counters, indexed)
        made = {name: lcm(*(width for _, width in uses[name])) for name in uses if name in alone}
        return {name: scale for name, scale in made.items() if self.counters[name] % scale == 0}

    def _factor(self, term: n.Expression, times: int) -> int:
        """What the values of a term are multiples of."""
        own = self.counters.get(term.name, 1) if isinstance(term, n.Name) else 1
        return own * times

    def width(self, indices: list[Sum | None], size: int) -> int:
        """The elements of a row; 0 where there are no rows."""
        sums = [i for i in indices if i is not None]
        if not sums or len(sums) < len(indices):
            return 0
        factors = {self._factor(term, times) for i in sums for term, times in i.terms}
        large = sorted(f for f in factors if f > 1)
        if not large:
            return 0
        if 1 not in factors and -1 not in factors:
            return 0  # no column is asked for but by a number: those are records
        if not size or any(i.constant < 0 for i in sums):
            return 0
        # What is less than a row goes some columns on.
        fitting = (w for w in large if size % w == 0 and size != w)
        # Rows are counted up; columns may be counted from the end of one.
        rows = [w for w in fitting if not any(f > w and f % w for f in large)
                and min(factors) > -w]  # fmt: skip
        # A thread has a row of its own; what counts on goes through several, or through a part.
        own = {k for i in sums for term, k in i.terms if is_thread(term)}
        rows = sorted(rows, key=lambda w: (w not in own, w))
        return next((w for w in rows if not any(self._passes(i, w) for i in sums)), 0)

    def _passes(self, index: Sum, width: int) -> bool:
        """Whether a column is beyond the end of its row."""
        columns = [(t, k) for t, k in index.terms if self._factor(t, k) % width]
        most = sum(self.reach.of(t) * k for t, k in columns if k > 0)
        least = sum(self.reach.of(t) * k for t, k in columns if k < 0)
        first = index.constant % width
        if most >= width or first + most + least < 0:
            return True
        beside = sum(self.reach.without_threads(t) * k for t, k in columns if k > 0)
        return beside + first + least >= width

    def run(self) -> Body:
        """The body, rewritten."""
        if not self.widths:
            return self.body
        scales = self.scales()

        def change(part: n.Node) -> n.Node:
            match part:
                case n.Declare(name=name) if name in self.widths:
                    width = self.widths[name]
                    shape = (self.arrays[name].shape[0] // width, width)
                    return replace(part, type=Array(self.arrays[name].element, shape))
                case n.Index(n.Name(name=name), index) if name in self.widths:
                    whole, width = parsed(rebuilt(index, change)), self.widths[name]
                    terms = [
                        (t, k * scales.get(t.name, 1) if isinstance(t, n.Name) else k)
                        for t, k in whole.terms
                    ]
                    rows = [(t, k // width) for t, k in terms if k % width == 0]
                    columns = [(t, k) for t, k in terms if k % width]
                    first, second = divmod(whole.constant, width)
                    return n.Index(
                        n.Index(n.Name(name), sum_of_terms(rows, first)),
                        sum_of_terms(columns, second),
                    )
            return rebuilt(part, change)

        return tuple(change(s) for s in self.body)  # type: ignore[misc]


def _look(node: n.Node, found: dict[str, list[Sum | None]]) -> None:
    stack = [node]
    while stack:
        one = stack.pop()
        match one:
            case n.Index(n.Name(name=name), index) if name in found:
                found[name].append(parsed(index))
                stack.append(index)
                continue
            case n.Name(name=name) if name in found:
                found[name].append(None)  # its address is taken: it stays as it is
        stack.extend(one.children())


def parsed(node: n.Expression) -> Sum:
    """An index as a sum."""
    made = Sum()
    for term, times in taken_apart(node, (sums, differences, multiples, _upper_bits)):
        match term:
            case n.Literal(value=int() as value):
                made.constant += value * times
            case _:
                made.terms.append((term, times))
    return made


def _upper_bits(node: n.Expression) -> tuple[Term, ...]:
    """``thread & ~3``: some times the bits that are left."""
    match node:
        case n.Binary("&", left, n.Literal(value=int(mask))) if is_thread(left) and _low_bits(mask):
            low = _low_bits(mask)
            return ((n.Binary(">>", left, n.integer(low)), 1 << low),)
    return ()


def _low_bits(mask: int) -> int:
    """How many bits a mask cuts off at the bottom, where it cuts off none that a thread has."""
    low = (mask & -mask).bit_length() - 1 if mask else 0
    return low if (mask | ((1 << low) - 1)) & _THREADS == _THREADS else 0


def sum_of_terms(terms: list[tuple[n.Expression, int]], constant: int) -> n.Expression:
    """Terms times numbers, and a number, added up."""
    made: n.Expression | None = None
    less = [(term, -times) for term, times in terms if times < 0]
    for term, times in terms:
        if times > 0:
            one = multiple(term, times)
            made = one if made is None else n.Binary("+", made, one)
    if made is None or (constant and not less):
        number = n.Literal(constant, INT)
        made, constant = number if made is None else n.Binary("+", made, number), 0
    for term, times in less:
        made = n.Binary("-", made, multiple(term, times))
    return n.Binary("+", made, n.Literal(constant, INT)) if constant else made
