"""Long indices that are written again and again: a name for them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import replace
from itertools import chain, count
from typing import Any

from ptxkit.cuda import nodes as n
from ptxkit.cuda.infer import infer
from ptxkit.cuda.printer import print_expression
from ptxkit.cuda.types import Scalar, Type
from ptxkit.decompiler.lift.rewrite import bottom_up, rebuilt_lists, written

Body = tuple[n.Statement, ...]
#: How often, and of how many letters, an index is written that gets a name.
_OFTEN, _LONG = 3, 24
_PLAIN = (n.Name, n.Member, n.Literal, n.Binary, n.Unary, n.Cast)


def named_indices(function: n.Function, take: Callable[[], bool]) -> n.Function:
    """A function with variables for what it adds up for many indices.

    >>> from ptxkit.cuda import print_function, read
    >>> kernel = read('''(kernel k (params (param (ptr float) x) (param int width))
    ...     (let int row threadIdx.y) (let int column threadIdx.x)
    ...     (= ([] x (+ (* row width) (* column 4))) 0.0f)
    ...     (= ([] x (+ (+ (* row width) (* column 4)) 1)) 0.0f)
    ...     (= ([] x (+ (+ (* row width) (* column 4)) 2)) 0.0f))''')
    >>> print(print_function(named_indices(kernel, lambda: True)), end="")
    __global__ void k(float *x, int width) {
        int row = threadIdx.y;
        int column = threadIdx.x;
        int index = row * width + column * 4;
        x[index] = 0.0f;
        x[index + 1] = 0.0f;
        x[index + 2] = 0.0f;
    }
    """
    body = function.body or ()
    if any(isinstance(p, n.Goto | n.Label) for s in body for p in s.walk()):
        return function
    types: dict[str, Type] = {p.name: p.type for p in function.parameters}
    types |= {p.name: p.type for s in body for p in s.walk() if isinstance(p, n.Declare)}
    return replace(function, body=_Indices(types, take).run(body))


class _Indices:
    def __init__(self, types: dict[str, Type], take: Callable[[], bool]) -> None:
        self.types, self.take = types, take
        self.refused: set[n.Expression] = set()

    def run(self, body: Body) -> Body:
        """Statements with names for what they repeat; first what is common to most of them."""
        while True:
            found = self._best(body)
            if found is None:
                break
            place, index, type = found
            if not self.take():
                self.refused.add(index)
                continue
            name = self._fresh()
            self.types[name] = type
            rest = (bottom_up(s, _named(index, name)) for s in body[place:])
            body = (*body[:place], n.Declare(type, name, index), *rest)
        return tuple(rebuilt_lists(s, self.run) for s in body)

    def _best(self, body: Body) -> tuple[int, n.Expression, Type] | None:
        """Where the longest one is first written, what it is, and its type."""
        times: Counter[n.Expression] = Counter()
        first: dict[n.Expression, int] = {}
        last: dict[n.Expression, int] = {}
        for place, statement in enumerate(body):
            for index in _indices(statement):
                times[index] += 1
                first.setdefault(index, place)
                last[index] = place
        often = [index for index, many in times.items() if many >= _OFTEN]
        often = [index for index in often if index not in self.refused and _is_plain(index)]
        for index in sorted(often, key=lambda one: -len(print_expression(one))):
            if len(print_expression(index)) < _LONG:
                break
            span = body[first[index] : last[index] + 1]
            changed = {name for s in span for name in written(s)}
            declared = {p.name for s in span for p in s.walk() if isinstance(p, n.Declare)}
            # In one statement it belongs to what that governs.
            if len(span) < 2 or index.names() & (changed | declared):
                continue
            try:
                type = infer(index, self.types)
            except (KeyError, TypeError, ValueError):
                continue
            if isinstance(type, Scalar) and type.is_integer:
                return first[index], index, type
        return None

    def _fresh(self) -> str:
        names = chain(["index"], (f"index{k}" for k in count(1)))
        return next(name for name in names if name not in self.types)


def _indices(node: n.Node) -> Iterator[n.Expression]:
    """What elements are asked for by: an index, and what is added to a number there."""
    for part in node.walk():
        if isinstance(part, n.Index):
            index = part.index
            while True:
                yield index
                match index:
                    case n.Binary("+" | "-", left, _):
                        index = left
                    case _:
                        break


def _is_plain(index: n.Expression) -> bool:
    """Whether an index is a sum that is the same wherever its variables are."""
    return isinstance(index, n.Binary) and all(isinstance(p, _PLAIN) for p in index.walk())


def _named(index: n.Expression, name: str) -> Callable[[Any], Any]:
    return lambda node: n.Name(name) if node == index else node
