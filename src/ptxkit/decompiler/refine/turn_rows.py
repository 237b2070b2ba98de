"""The row of a turn, as a pointer inside of the loop: ``const float *row = x + t * width + first``.

A compiler takes what does not change out of a loop, and with it most of such a pointer. In which
order it adds the rest tells what stood together. Nothing here is trusted: who takes a change
compiles it and compares the PTX.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import reduce
from typing import Any

from ptxkit.cuda import nodes as n
from ptxkit.cuda.types import Pointer, Type
from ptxkit.decompiler.lift.rewrite import Body, bottom_up, rebuilt_lists, terms_of, written
from ptxkit.decompiler.refine.places import NewNames, nodes_in

Terms = tuple[n.Expression, ...]


def rows_of_turns(function: n.Function) -> Iterator[n.Function]:
    """The function with pointers to rows inside of its loops: of all loops, in several orders.

    >>> from ptxkit.cuda import print_function, read
    >>> kernel = read('''(kernel k (params (param (ptr float) x) (param (ptr float) out)
    ...     (param int w) (param int n) (param int h))
    ...     (let (ptr float) p (+ (+ x (* h 16)) threadIdx.x))
    ...     (for (let int i 0) (< i n) (+= i 1)
    ...       (= ([] out i) ([] p (* i w)))))''')
    >>> print(print_function(next(rows_of_turns(kernel))), end="")
    __global__ void k(float *x, float *out, int w, int n, int h) {
        for (int i = 0; i < n; i++) {
            float *p = x + i * w + h * 16;
            out[i] = p[threadIdx.x];
        }
    }
    """
    if function.body is None:
        return
    seen = {function}
    for order in _ORDERS:
        made = replace(function, body=_Loops(function, order).body(function.body))
        if made not in seen:
            seen.add(made)
            yield made


@dataclass(frozen=True, slots=True)
class _Element:
    """What an element's place is made of: an array, and what is added to that."""

    base: n.Expression
    turn: Terms
    """What the loop's counter is in."""
    fixed: Terms
    """What does not change in the loop, and stood before it."""


_Order = Callable[[_Element], tuple[Terms, Terms]]
"""What of an element's place the pointer is moved on by, and what is left for the index."""


def _is_plain(term: n.Expression) -> bool:
    return isinstance(term, n.Name | n.Member)


def _products(one: _Element) -> Terms:
    return tuple(term for term in one.fixed if not _is_plain(term))


def _plain(one: _Element) -> Terms:
    return tuple(term for term in one.fixed if _is_plain(term))


_ORDERS: tuple[_Order, ...] = (
    lambda one: ((*one.turn, *_products(one)), _plain(one)),
    lambda one: ((*_products(one), *one.turn), _plain(one)),
    lambda one: (one.turn, one.fixed),
    lambda one: ((*one.turn, *one.fixed), ()),
    lambda one: ((*one.fixed, *one.turn), ()),
)


class _Loops:
    """Writes the rows of one function's loops in one order."""

    def __init__(self, function: n.Function, order: _Order) -> None:
        self.order = order
        self.names = NewNames(function)
        nodes = [node for _, node in nodes_in(function)]
        self.uses = [node.name for node in nodes if isinstance(node, n.Name)]
        self.pointers = {p.name: p.type for p in function.parameters if isinstance(p.type, Pointer)}

    def body(self, body: Body) -> Body:
        """A list of statements, and those inside of them."""
        made = [rebuilt_lists(statement, self.body) for statement in body]
        for place, loop in enumerate(made):
            if isinstance(loop, n.For) and isinstance(loop.start, n.Declare):
                for before in range(place):
                    made[place], kept = self._with_row(made[before], made[place])
                    if not kept:
                        made[before] = n.Comment("")
                made[place] = self._with_own_rows(made[place])
        return tuple(one for one in made if one != n.Comment(""))

    def _with_row(self, declared: n.Statement, loop: Any) -> tuple[Any, bool]:
        """A loop with a pointer inside that is declared before it; whether that is needed still."""
        match declared:
            case n.Declare(type=Pointer() as type, name=name, value=n.Binary() as value):
                base, *start = terms_of(value)
            case _:
                return loop, True
        inside = sum(node == n.Name(name) for node in loop.walk())
        if not isinstance(base, n.Name) or not inside or self.uses.count(name) != inside:
            return loop, True
        made = self._row(loop, n.Name(name), name, type, base, tuple(start))
        return (loop, True) if made is None else (made, False)

    def _with_own_rows(self, loop: Any) -> Any:
        """A loop with pointers to rows of arrays that it indexes by a row and a column."""
        for name, type in self.pointers.items():
            fresh = self.names.take("row")
            made = self._row(loop, n.Name(name), fresh, type, n.Name(name), ())
            loop = loop if made is None else made
        return loop

    def _row(
        self,
        loop: Any,
        pointer: n.Name,
        name: str,
        type: Type,
        base: n.Expression,
        fixed: Terms,
    ) -> Any | None:
        """A loop with a row for what is read through a pointer; None where it is no row."""
        counter = loop.start.name
        elements = [
            node for node in loop.walk() if isinstance(node, n.Index) and node.base == pointer
        ]
        if not elements or len(elements) != sum(node == pointer for node in loop.walk()):
            return None
        turns = {tuple(t for t in terms_of(e.index) if counter in t.names()) for e in elements}
        if len(turns) != 1:
            return None
        (turn,) = turns
        changing = set(written(loop)) - {counter}
        if not turn or any(_is_plain(t) or changing & {*t.names()} for t in turn):
            return None
        moved, left = self.order(_Element(base, turn, fixed))
        rests = {tuple(t for t in terms_of(e.index) if t not in turn) for e in elements}
        if not left and rests == {()}:
            return None  # one element of each row, which is no row
        use = _through(pointer, n.Name(name), turn, left)
        row = n.Declare(type, name, reduce(lambda a, b: n.Binary("+", a, b), moved, base))
        return replace(loop, body=(row, *(bottom_up(s, use) for s in loop.body)))


def _through(pointer: n.Name, row: n.Name, turn: Terms, left: Terms) -> Callable[[Any], Any]:
    """Elements of a pointer as those of a row: without what the row is moved on by."""

    def use(node: Any) -> Any:
        if not isinstance(node, n.Index) or node.base != pointer:
            return node
        rest = [*left, *(t for t in terms_of(node.index) if t not in turn)]
        if not rest:
            return n.Unary("*", row)
        return n.Index(row, reduce(lambda a, b: n.Binary("+", a, b), rest))

    return use
