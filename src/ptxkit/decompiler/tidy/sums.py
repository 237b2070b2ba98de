"""Indices that begin with a sum that has a name: ``a + (b >> 5) - 1`` is ``b + (b >> 5)``.

Where ``b`` is ``a - 1``, that is what a person computed; a compiler puts the numbers of a sum
together.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any

from ptxkit.cuda import nodes as n
from ptxkit.cuda.types import INT, UINT
from ptxkit.decompiler.lift.matrices import Sum, parsed, sum_of_terms
from ptxkit.decompiler.lift.rewrite import bottom_up, rebuilt_lists, size, without_declared, written

Body = tuple[n.Statement, ...]


def known_sums(function: n.Function, take: Callable[[], bool]) -> n.Function:
    """A function whose indices say the names of the sums in them, where that is shorter.

    >>> from ptxkit.cuda import print_function, read
    >>> kernel = read('''(kernel k (params (param (ptr int) x) (param int a))
    ...     (let int b (- a 1))
    ...     (= ([] x (- (+ a (>> b 5)) 1)) 0))''')
    >>> print(print_function(known_sums(kernel, lambda: True)), end="")
    __global__ void k(int *x, int a) {
        int b = a - 1;
        x[b + (b >> 5)] = 0;
    }
    """
    body = function.body or ()
    sets = Counter(name for s in body for name in written(s))

    def named(inner: Body, outer: _Known) -> Body:
        known = outer
        made: list[n.Statement] = []
        for statement in inner:
            stays = known.without(frozenset(written(statement)))
            one = rebuilt_lists(statement, partial(named, outer=stays))
            made.append(_with_names(one, known if one is statement else stays, take))
            known = stays
            match one:
                case n.Declare(type=type, name=name, value=n.Binary("+" | "-") as value, space=""):
                    if sets[name] < 2 and type in (INT, UINT):
                        known = known.having(name, value)
        return tuple(made)

    made = named(body, _Known({}))
    before, after = _uses(body), _uses(made)
    unread = {name for name in before if not after[name]}
    return without_declared(replace(function, body=made), unread)


def _uses(body: Body) -> Counter[str]:
    return Counter(p.name for s in body for p in s.walk() if isinstance(p, n.Name))


@dataclass(slots=True)
class _Known:
    """The sums that have names at a place."""

    values: dict[str, tuple[n.Expression, frozenset[str]]]
    """And the names in them."""
    _sums: dict[str, Sum] = field(default_factory=dict)

    def without(self, changed: frozenset[str]) -> _Known:
        """Those that are still the same behind a statement that sets some variables."""
        gone = [name for name, (_, names) in self.values.items() if not changed.isdisjoint(names)]
        if not gone:
            return self
        return _Known({name: held for name, held in self.values.items() if name not in gone})

    def having(self, name: str, value: n.Expression) -> _Known:
        """These and one more."""
        held = {**self.values, name: (value, frozenset(value.names()))}
        return _Known(held, dict(self._sums) if name not in self.values else {})

    def sum_of(self, name: str) -> Sum:
        """What a name stands for, down to what has none."""
        if name not in self._sums:
            self._sums[name] = self.spelled_out(self.values[name][0])
        return self._sums[name]

    def spelled_out(self, node: n.Expression) -> Sum:
        """A sum of what has no name as a sum itself."""
        first = parsed(node)
        found = Sum([], first.constant)
        for term, times in first.terms:
            if isinstance(term, n.Name) and term.name in self.values:
                inner = self.sum_of(term.name)
                found.terms += [(one, times * k) for one, k in inner.terms]
                found.constant += times * inner.constant
            else:
                found.terms.append((term, times))
        return found


def _with_names(statement: n.Statement, known: _Known, take: Callable[[], bool]) -> n.Statement:
    if not known.values:
        return statement

    def change(node: Any) -> Any:
        if not isinstance(node, n.Index) or isinstance(node.index, n.Name):
            return node
        whole = known.spelled_out(node.index)
        best: n.Expression = node.index
        for name in known.values:
            rest = _without(whole, known.sum_of(name))
            if rest is not None:
                made = sum_of_terms([(n.Name(name), 1), *rest.terms], max(rest.constant, 0))
                if rest.constant < 0:
                    made = n.Binary("-", made, n.integer(-rest.constant))
                if _length(made) < _length(best):
                    best = made
        return n.Index(node.base, best) if best is not node.index and take() else node

    made: n.Statement = bottom_up(statement, change)
    return made


def _length(node: n.Expression) -> tuple[int, int]:
    """How long a sum is; what adds a number to names is longer than names alone."""
    return size(node), sum(isinstance(p, n.Literal) for p in node.walk())


def _without(whole: Sum, part: Sum) -> Sum | None:
    """What is left of a sum without another; None where that is not all in it."""
    left = list(whole.terms)
    for term in part.terms:
        if term not in left:
            return None
        left.remove(term)
    return Sum(left, whole.constant - part.constant)
