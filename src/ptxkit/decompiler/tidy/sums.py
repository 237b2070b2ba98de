"""Indices that begin with a sum that has a name: ``a + (b >> 5) - 1`` is ``b + (b >> 5)``.

Where ``b`` is ``a - 1``, that is what a person computed; a compiler puts the numbers of a sum
together.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import partial
from typing import Any

from ptxkit.cuda import nodes as n
from ptxkit.cuda.types import INT, UINT
from ptxkit.decompiler.lift.matrices import Sum, parsed, sum_of_terms
from ptxkit.decompiler.lift.rewrite import bottom_up, rebuilt_lists, size, written

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

    def named(inner: Body, outer: Mapping[str, n.Expression]) -> Body:
        known = dict(outer)
        made: list[n.Statement] = []
        for statement in inner:
            changed = set(written(statement))
            stays = {name: v for name, v in known.items() if changed.isdisjoint(v.names())}
            one = rebuilt_lists(statement, partial(named, outer=stays))
            made.append(_with_names(one, known if one is statement else stays, take))
            known = stays
            match one:
                case n.Declare(type=type, name=name, value=n.Binary("+" | "-") as value, space=""):
                    if sets[name] < 2 and type in (INT, UINT):
                        known[name] = value
        return tuple(made)

    made = named(body, {})
    before, after = _uses(body), _uses(made)
    unread = {name for name in before if not after[name]}
    return replace(function, body=_without_unread(made, unread))


def _uses(body: Body) -> Counter[str]:
    return Counter(p.name for s in body for p in s.walk() if isinstance(p, n.Name))


def _without_unread(body: Body, names: set[str]) -> Body:
    """Statements without variables that nobody reads any more."""
    kept = (rebuilt_lists(s, lambda inner: _without_unread(inner, names)) for s in body)
    return tuple(s for s in kept if not (isinstance(s, n.Declare) and s.name in names))


def _with_names(
    statement: n.Statement, known: Mapping[str, n.Expression], take: Callable[[], bool]
) -> n.Statement:
    if not known:
        return statement
    sums = {name: _spelled_out(n.Name(name), known) for name in known}

    def change(node: Any) -> Any:
        if not isinstance(node, n.Index) or isinstance(node.index, n.Name):
            return node
        whole = _spelled_out(node.index, known)
        best: n.Expression = node.index
        for name, part in sums.items():
            rest = _without(whole, part)
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


def _spelled_out(node: n.Expression, known: Mapping[str, n.Expression]) -> Sum:
    """A sum of what has no name as a sum itself."""
    found = Sum()
    first = parsed(node)
    found.constant = first.constant
    for term, times in first.terms:
        if isinstance(term, n.Name) and term.name in known:
            inner = _spelled_out(known[term.name], known)
            found.terms += [(one, times * k) for one, k in inner.terms]
            found.constant += times * inner.constant
        else:
            found.terms.append((term, times))
    return found


def _without(whole: Sum, part: Sum) -> Sum | None:
    """What is left of a sum without another; None where that is not all in it."""
    left = list(whole.terms)
    for term in part.terms:
        if term not in left:
            return None
        left.remove(term)
    return Sum(left, whole.constant - part.constant)
