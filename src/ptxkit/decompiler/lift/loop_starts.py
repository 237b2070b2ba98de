"""Loops that begin where people let them begin: at 1, where the first element is another one's.

A compiler that counts turns begins at 0, and puts what the source began at into an address.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

from ptxkit.cuda import nodes as n
from ptxkit.cuda.types import INT
from ptxkit.decompiler.lift.rewrite import Body, rebuilt, rebuilt_lists, terms_of, written


def with_loop_starts(body: Body) -> Body:
    """``a = 1 + r; for (k = 0; k < n - 1; k++) x[a + k]`` as ``a = r; for (k = 1; k < n; k++)``.

    >>> from ptxkit.cuda.printer import print_function
    >>> from ptxkit.cuda.types import VOID
    >>> a, r, k, size, one = *map(n.Name, ("a", "r", "k", "n")), n.integer(1)
    >>> first = n.Declare(INT, "a", n.Binary("+", one, r))
    >>> store = n.Assign(n.Index(n.Name("x"), n.Binary("+", a, k)), n.integer(0))
    >>> loop = n.For(n.Declare(INT, "k", n.integer(0)), n.Binary("<", k, n.Binary("-", size, one)),
    ...              n.Assign(k, one, "+="), (store,))
    >>> print(print_function(n.Function("f", (), with_loop_starts((first, loop)), VOID)), end="")
    __global__ void f() {
        int a = r;
        for (int k = 1; k < n; k++) x[a + k] = 0;
    }
    """
    names = Counter(p.name for s in body for p in s.walk() if isinstance(p, n.Name))
    changed = Counter(name for statement in body for name in written(statement))
    return _list(body, names, changed)


def _list(body: Body, names: Counter[str], changed: Counter[str]) -> Body:
    made = [rebuilt_lists(s, lambda inner: _list(inner, names, changed)) for s in body]
    for place, statement in enumerate(made):
        found = _from_zero(statement)
        if found is None:
            continue
        loop, index, bound, most = found
        for before in range(place - 1, -1, -1):
            base = made[before]
            start = _constant(base)
            if start is None or not 1 <= start <= most:
                continue
            assert isinstance(base, n.Declare) and base.value is not None
            together = _together(loop.body, index, base.name)
            alone = sum(p == n.Name(index) for s in loop.body for p in s.walk()) - together
            if alone or together != names[base.name] or changed[base.name] > 1:
                continue
            rest: list[n.Expression] = [
                t for t in terms_of(base.value) if not isinstance(t, n.Literal)
            ]
            made[before] = replace(base, value=_sum(rest))
            made[place] = _begun(loop, start, bound, most - start)
            break
    return tuple(made)


def _from_zero(node: n.Statement) -> tuple[n.For, str, n.Expression, int] | None:
    """A loop from 0 to some less than a number: its index, that number, and how many less."""
    match node:
        case n.For(
            start=n.Declare(type=type, name=index, value=n.Literal(value=0)),
            condition=n.Binary(
                operator="<",
                left=n.Name(name=asked),
                right=n.Binary(operator="-", left=bound, right=n.Literal(value=int() as less)),
            ),
            step=n.Assign(target=n.Name(name=stepped), value=n.Literal(value=1), operator="+="),
        ) if type == INT and index == asked == stepped:
            if not any(index in written(s) for s in node.body):
                return node, index, bound, less
    return None


def _constant(node: n.Statement) -> int | None:
    """The number in the sum that a variable is declared with."""
    match node:
        case n.Declare(type=type, value=n.Binary(operator="+") as value, space="") if type == INT:
            numbers = [t for t in terms_of(value) if isinstance(t, n.Literal)]
            if len(numbers) == 1 and isinstance(numbers[0].value, int):
                return numbers[0].value
    return None


def _together(body: Body, index: str, base: str) -> int:
    """In how many sums an index and what it is counted from stand once each."""
    found = 0
    for statement in body:
        for terms in _sums(statement):
            found += terms.count(n.Name(index)) == terms.count(n.Name(base)) == 1
    return found


def _sums(node: Any) -> Iterator[list[n.Expression]]:
    """What is added in each sum that is not part of another one."""
    match node:
        case n.Binary(operator="+" | "-"):
            added = list(_added(node))
            yield [term for plus, term in added if plus]
            for _, term in added:
                yield from _sums(term)
            return
    for part in node.children():
        yield from _sums(part)


def _added(node: n.Expression, plus: bool = True) -> Iterator[tuple[bool, n.Expression]]:
    match node:
        case n.Binary(operator="+" | "-" as operator, left=left, right=right):
            yield from _added(left, plus)
            yield from _added(right, plus == (operator == "+"))
        case _:
            yield plus, node


def _sum(terms: list[n.Expression]) -> n.Expression:
    made = terms[0]
    for term in terms[1:]:
        made = n.Binary("+", made, term)
    return made


def _begun(loop: n.For, start: int, bound: n.Expression, less: int) -> n.For:
    assert isinstance(loop.start, n.Declare) and isinstance(loop.condition, n.Binary)
    end = n.Binary("-", bound, n.integer(less)) if less else bound
    first = replace(loop.start, value=n.integer(start))
    return replace(loop, start=first, condition=replace(loop.condition, right=end))


def begun_at(loop: n.For, start: int) -> n.For:
    """A loop that counts from 0, as one that counts from another number.

    >>> from ptxkit.cuda import print_statements, read
    >>> loop = read("(for (= k 0) (< k (- n 1)) (+= k 1) (= ([] x (+ (+ k a) 1)) ([] x k)))")
    >>> print(print_statements((begun_at(loop, 1),)), end="")
    for (k = 1; k < n; k++) x[k + a] = x[k - 1];
    """
    match loop:
        case n.For(n.Assign(n.Name() as index, n.Literal(value=0)), n.Binary("<", _, limit)):
            pass
        case _:
            return loop
    if not start:
        return loop
    assert isinstance(loop.condition, n.Binary)

    def shifted(node: n.Node) -> n.Node:
        if isinstance(node, n.Binary) and node.operator in ("+", "-"):
            added = list(_added(node))
            if (True, index) in added:
                return _with_number(node, -start)
        if node == index:
            return n.Binary("-", index, n.integer(start))
        return rebuilt(node, shifted)

    return replace(
        loop,
        start=n.Assign(index, n.integer(start)),
        condition=replace(loop.condition, right=_with_number(limit, start)),
        body=tuple(rebuilt(s, shifted) for s in loop.body),
    )


def _with_number(total: n.Expression, number: int) -> n.Expression:
    """A sum, and a number added to what numbers it has."""
    made: n.Expression | None = None
    for plus, term in _added(total):
        if isinstance(term, n.Literal) and isinstance(term.value, int):
            number += term.value if plus else -term.value
        elif made is None:
            made = term if plus else n.Unary("-", term)
        else:
            made = n.Binary("+" if plus else "-", made, term)
    if made is None or not number:
        return made or n.integer(number)
    return n.Binary("+" if number > 0 else "-", made, n.integer(abs(number)))
