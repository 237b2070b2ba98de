"""Rows beside a row, as people write them: ``(y + 1) * width + x``.

A compiler that has computed one row takes the next one from it: ``p + width``, and the one after
next by ``width * 2``. Nothing here is trusted: who takes a change compiles it and compares the
PTX.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import Any

from ptxkit.cuda import nodes as n
from ptxkit.cuda.types import INT, UINT
from ptxkit.decompiler.lift.rewrite import Body, bottom_up, rebuilt_lists
from ptxkit.decompiler.refine.places import NewNames, nodes_in
from ptxkit.decompiler.refine.polynomials import Polynomial, polynomial, summed

_NUMBERS = (INT, UINT)


def rows_beside(function: n.Function) -> Iterator[tuple[str, n.Function]]:
    """The function with a name for the number of a row, where rows beside it are indexed.

    >>> from ptxkit.cuda.printer import print_function
    >>> from ptxkit.cuda.types import FLOAT, VOID, Pointer
    >>> p, w, x, y, u = map(n.Name, "pwxyu")
    >>> sum = n.Binary("+", n.Binary("-", p, w), x)
    >>> body = (
    ...     n.Declare(INT, "p", n.Binary("*", n.Binary("+", y, n.integer(3)), w)),
    ...     n.Declare(INT, "i", sum),
    ...     n.Assign(n.Index(u, n.Binary("+", p, x)), n.Index(u, n.Name("i"))),
    ... )
    >>> pointer = n.Parameter(Pointer(FLOAT), "u")
    >>> (_, made), = rows_beside(n.Function("f", (pointer,), body, VOID))
    >>> print(print_function(made), end="")
    __global__ void f(float *u) {
        int row = y + 3;
        u[row * w + x] = u[(row - 1) * w + x];
    }
    """
    if function.body is None:
        return
    rows = _Rows(function)
    made = rows.rewritten()
    if made != function:
        yield "expand", made


def single_values(function: n.Function) -> dict[str, n.Expression]:
    """What numbers are that are set once, from what never changes."""
    nodes = [node for _, node in nodes_in(function)]
    changed = {node.target.name for node in nodes
               if isinstance(node, n.Assign) and isinstance(node.target, n.Name)}  # fmt: skip
    declared = Counter(node.name for node in nodes if isinstance(node, n.Declare))
    found: dict[str, n.Expression] = {}
    for node in nodes:
        if isinstance(node, n.Declare) and node.value is not None and node.type in _NUMBERS:
            once = declared[node.name] == 1 and node.name not in changed
            if once and not changed & node.value.names():
                found[node.name] = node.value
    return found


class _Rows:
    """The rows of one function."""

    def __init__(self, function: n.Function) -> None:
        self.function = function
        self.names = NewNames(function)
        self.values = single_values(function)
        #: Products, and what they may be made of: which row, and how long a row is.
        self.rows = {
            name: _in_both_orders(value)
            for name, value in self.values.items()
            if isinstance(value, n.Binary) and value.operator == "*" and _in_both_orders(value)
        }
        #: What they are made of.
        self.chosen: dict[str, _Row] = {}

    def rewritten(self) -> n.Function:
        """The function with names for its rows."""
        if not self.rows:
            return self.function
        for _, node in nodes_in(self.function):
            if isinstance(node, n.Index):
                self._notice(node.index)
        if not self.chosen:
            return self.function
        made: n.Function = bottom_up(self.function, self._index)
        assert made.body is not None
        return replace(made, body=without_unread_numbers(_in_lists(made.body, self._declared)))

    def _declared(self, body: Body) -> Body:
        """Statements with the number of each row in front of where it begins."""
        made: list[n.Statement] = []
        for statement in body:
            if isinstance(statement, n.Declare) and statement.name in self.chosen:
                row = self.chosen[statement.name]
                if row.name != row.number:
                    made.append(n.Declare(INT, row.name.name, row.number))
                statement = replace(statement, value=n.Binary("*", row.name, row.length))
            made.append(statement)
        return tuple(made)

    def _notice(self, index: n.Expression) -> None:
        for product, number, length, by in self._parts(index):
            if by and product not in self.chosen:
                named = isinstance(number, n.Name)
                name = number if named else n.Name(self.names.take("row"))
                assert isinstance(name, n.Name)
                self.chosen[product] = _Row(number, length, name)

    def _parts(self, index: n.Expression) -> Iterator[tuple[str, n.Expression, n.Expression, int]]:
        """The rows that an index has, what they are made of, and how many rows it is beside."""
        found = self._polynomial(index) or {}
        for factors, by in found.items():
            if by == 1 and len(factors) == 1 and isinstance(factors[0], n.Name):
                product = factors[0].name
                for number, length in self.rows.get(product, ()):
                    beside = self._in_lengths(found, length)
                    yield product, number, length, beside.get((length,), 0)

    def _in_lengths(self, found: Polynomial, length: n.Expression) -> Polynomial:
        """A sum in which a row is ``length = width + 2`` long, without ``width``."""
        value = self.values.get(length.name) if isinstance(length, n.Name) else None
        match value:
            case n.Binary("+" | "-" as sign, n.Name() as width, n.Literal(value=int() as more)):
                times = found.get((width,), 0)
            case _:
                return found
        if not times or length == width:
            return found
        made = {factors: by for factors, by in found.items() if factors != (width,)}
        made[(length,)] = made.get((length,), 0) + times
        made[()] = made.get((), 0) - times * (more if sign == "+" else -more)
        return made

    def _polynomial(self, index: n.Expression) -> Polynomial | None:
        def opened(node: Any) -> Any:
            if isinstance(node, n.Name) and self._holds_row(node.name, set()):
                return bottom_up(self.values[node.name], opened)
            return node

        return polynomial(bottom_up(index, opened))

    def _holds_row(self, name: str, seen: set[str]) -> bool:
        """Whether a variable is a sum of a row and something else."""
        value = self.values.get(name)
        if value is None or name in self.rows or name in seen:
            return False
        if not isinstance(value, n.Binary) or value.operator not in ("+", "-"):
            return False
        return any(
            inner in self.rows or self._holds_row(inner, seen | {name}) for inner in value.names()
        )

    def _index(self, node: Any) -> Any:
        if not isinstance(node, n.Index):
            return node
        product = next((name for name, *_ in self._parts(node.index) if name in self.chosen), "")
        found = self._polynomial(node.index)
        if not product or found is None:
            return node
        row = self.chosen[product]
        found = self._in_lengths(found, row.length)
        by = found.get((row.length,), 0)
        own = ((n.Name(product),), (row.length,))
        left = {k: v for k, v in found.items() if v and k not in own}
        number: n.Expression = row.name
        if by:
            number = n.Binary("+" if by > 0 else "-", number, n.integer(abs(by)))
        return n.Index(node.base, summed(n.Binary("*", number, row.length), left))


@dataclass(frozen=True, slots=True)
class _Row:
    """Which row, how long rows are, and what the first of these is called."""

    number: n.Expression
    length: n.Expression
    name: n.Name


def _in_both_orders(value: n.Binary) -> tuple[tuple[n.Expression, n.Expression], ...]:
    """A number of rows and the length of one: whoever wrote the product may have turned it."""
    pairs = ((value.left, value.right), (value.right, value.left))
    return tuple(pair for pair in pairs if isinstance(pair[1], n.Name | n.Member))


def _in_lists(body: Body, change: Callable[[Body], Body]) -> Body:
    """All lists of statements of a body changed, the inner ones first."""
    inner = tuple(rebuilt_lists(s, lambda some: _in_lists(some, change)) for s in body)
    return change(inner)


def without_unread_numbers(body: Body) -> Body:
    """A body without numbers that nobody reads."""
    while True:
        read = {node.name for s in body for node in s.walk() if isinstance(node, n.Name)}
        made = _in_lists(body, lambda some: tuple(s for s in some if not _is_unread(s, read)))  # noqa: B023
        if made == body:
            return made
        body = made


def _is_unread(statement: n.Statement, read: set[str]) -> bool:
    if not isinstance(statement, n.Declare) or statement.name in read or statement.value is None:
        return False
    plain = not any(isinstance(part, n.Call) for part in statement.value.walk())
    return plain and statement.type in _NUMBERS and not statement.space
