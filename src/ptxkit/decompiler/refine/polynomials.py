"""Indices as people write them: what a compiler took out of sums, and shared, put back.

Nothing here is trusted: who takes a change compiles it and compares the PTX.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from functools import partial
from typing import Any

from ptxkit.cuda import nodes as n
from ptxkit.decompiler.lift.rewrite import bottom_up, without_declared, written
from ptxkit.decompiler.lift.terms import differences, sums, taken_apart
from ptxkit.decompiler.refine.places import nodes_in

Monomial = tuple[n.Expression, ...]
"""The factors of a product, in the order in which they were first seen."""
Polynomial = dict[Monomial, int]
#: Longer sums are left as they are.
_MANY = 8
_PLAIN = frozenset("+ - * << / %".split())


def expanded(function: n.Function) -> Iterator[tuple[str, n.Function]]:
    """The function with all of its indices written out, and so with what these are computed by."""
    known = [function]
    full = _in_full(function)
    for start, several in ((function, False), (full, False), (full, True)):
        made = bottom_up(start, partial(_changed, several))
        if made not in known:
            known.append(made)
            yield "expand", made


def _in_full(function: n.Function) -> n.Function:
    """The function with variables of which indices are sums as what they are."""
    body = function.body or ()
    sets = Counter(name for statement in body for name in written(statement))
    changing = {name for name, count in sets.items() if count > 1}
    values: dict[str, n.Expression] = {}
    for _, node in nodes_in(function):
        match node:
            case n.Declare(name=name, value=n.Binary() as value, space="") if sets[name] == 1:
                if _is_plain(value) and not changing & value.names():
                    values[name] = bottom_up(value, partial(_by_value, values))
    if not values:
        return function
    made: n.Function = bottom_up(function, partial(_index_by_value, values))
    used = Counter(p.name for s in made.body or () for p in s.walk() if isinstance(p, n.Name))
    unused = {name for name in values if not used[name]}
    return without_declared(made, unused)


def _is_plain(value: n.Expression) -> bool:
    """Whether it is a sum or product of variables and numbers alone."""
    return all(
        isinstance(p, n.Name | n.Literal) or (isinstance(p, n.Binary) and p.operator in _PLAIN)
        for p in value.walk()
    )


def _by_value(values: Mapping[str, n.Expression], node: Any) -> Any:
    return values.get(node.name, node) if isinstance(node, n.Name) else node


def _index_by_value(values: Mapping[str, n.Expression], node: Any) -> Any:
    if not isinstance(node, n.Index):
        return node
    return n.Index(node.base, bottom_up(node.index, partial(_by_value, values)))


def _changed(several: bool, node: Any) -> Any:
    if not isinstance(node, n.Index):
        return node
    made = written_out(node.index, several)
    return n.Index(node.base, made) if made is not None and made != node.index else node


def written_out(index: n.Expression, several: bool = False) -> n.Expression | None:
    """A sum of products in which rows and columns are told apart; None where there are none.

    With ``several``, there may be several rows to each number: ``(k * 2 + 1) * w``.

    >>> from ptxkit.cuda import print_expression
    >>> k, w, h, x = map(n.Name, "kwhx")
    >>> rows = n.Binary("+", n.Binary("-", n.Binary("*", k, h), h), n.Binary("<<", h, n.integer(1)))
    >>> print_expression(written_out(n.Binary("+", n.Binary("*", rows, w), x)))
    '(k + 1) * h * w + x'
    >>> pairs = n.Binary("+", n.Binary("<<", n.Binary("*", k, w), n.integer(1)), w)
    >>> print_expression(written_out(n.Binary("+", pairs, x), several=True))
    '(k * 2 + 1) * w + x'
    """
    found = polynomial(index)
    if found is None or len(found) > _MANY or all(len(factors) < 2 for factors in found):
        return None
    left = {factors: by for factors, by in found.items() if by}
    terms: list[tuple[bool, n.Expression]] = []
    for factors in sorted(left, key=len, reverse=True):
        if factors not in left:
            continue
        by = left.pop(factors)
        joined = next(
            (x for x in factors if len(factors) > 1 and _without(factors, x) in left), None
        )
        if joined is not None and (by == 1 or (several and by > 1)):
            rest = _without(factors, joined)
            more = left.pop(rest)
            rows = product((joined,), by)
            head: n.Expression = n.Binary("+" if more > 0 else "-", rows, n.integer(abs(more)))
            terms.append((True, product((head, *rest), 1)))
        elif several and by > 1 and len(factors) > 1:
            terms.append((True, product((product(factors[:1], by), *factors[1:]))))
        else:
            terms.append((by > 0, product(factors, abs(by))))
    terms.sort(key=lambda term: not term[0])
    if not terms or not terms[0][0]:
        return None
    return _joined(terms[0][1], terms[1:])


def summed(first: n.Expression, rest: Polynomial) -> n.Expression:
    """Something and a sum of products, numbers last."""
    terms = [(by > 0, product(factors, abs(by))) for factors, by in rest.items()]
    terms.sort(key=lambda term: (isinstance(term[1], n.Literal), not term[0]))
    return _joined(first, terms)


def difference(one: Polynomial, other: Polynomial) -> Polynomial:
    """What is left of a sum without another one."""
    made = _sum(one, other, -1) or {}
    return {factors: by for factors, by in made.items() if by}


def _joined(made: n.Expression, terms: list[tuple[bool, n.Expression]]) -> n.Expression:
    for plus, term in terms:
        made = n.Binary("+" if plus else "-", made, term)
    return made


def _without(factors: Monomial, one: n.Expression) -> Monomial:
    place = factors.index(one)
    return (*factors[:place], *factors[place + 1 :])


def product(factors: Monomial, by: int = 1) -> n.Expression:
    """Some factors, so many times."""
    parts = factors if by == 1 and factors else (*factors, n.integer(by))
    made = parts[0]
    for part in parts[1:]:
        made = n.Binary("*", made, part)
    return made


def polynomial(node: n.Expression) -> Polynomial | None:
    """A whole number as a sum of products; None if it has too many."""
    made: Polynomial | None = {}
    for term, times in taken_apart(node, (sums, differences)):
        made = _sum(made, _of_term(term), times)
    return made


def _of_term(node: n.Expression) -> Polynomial | None:
    """What is no sum itself, and may be a product of some."""
    match node:
        case n.Literal(value=int() as value):
            return {(): value}
        case n.Binary(operator="*", left=left, right=right):
            return _times(polynomial(left), polynomial(right))
        case n.Binary(operator="<<", left=left, right=n.Literal(value=int() as value)) if (
            value < 31
        ):
            return _times(polynomial(left), {(): 1 << value})
    return {(node,): 1}


def _sum(one: Polynomial | None, two: Polynomial | None, times: int) -> Polynomial | None:
    if one is None or two is None:
        return None
    made = dict(one)
    for factors, by in two.items():
        known = _known(made, factors)
        made[known] = made.get(known, 0) + times * by
    return made


def _times(one: Polynomial | None, two: Polynomial | None) -> Polynomial | None:
    if one is None or two is None or len(one) * len(two) > _MANY:
        return None
    made: Polynomial = {}
    for first, by in one.items():
        for second, times in two.items():
            known = _known(made, (*first, *second))
            made[known] = made.get(known, 0) + by * times
    return made


def _known(made: Polynomial, factors: Monomial) -> Monomial:
    """The same product in the order in which it is known already."""
    for other in made:
        if len(other) == len(factors) and all(other.count(x) == factors.count(x) for x in factors):
            return other
    return factors
