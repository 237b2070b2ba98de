"""Rows that begin a number of bytes behind a pointer, with a name, as in pitched memory.

People write ``float *row = (float *)((char *)p + y * pitch);`` and then ``row[x]``; or they count
the bytes in an integer, and compilers do not know any more which memory that is in. Nothing here is
trusted: who takes a change compiles it and compares the PTX.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import reduce
from typing import Any

from ptxkit.cuda import nodes as n
from ptxkit.cuda.types import SCALARS, UNSIGNED_LONG_LONG, Pointer, Scalar, Vector
from ptxkit.decompiler.lift.rewrite import Body, bottom_up, rebuilt_lists, written
from ptxkit.decompiler.refine.places import NewNames

_CHAR = SCALARS["char"]


@dataclass(frozen=True, slots=True)
class _Row:
    """Where a row begins."""

    type: Pointer
    base: n.Expression
    """The pointer that bytes are added to, as one to bytes."""
    bytes: n.Expression


def named_rows(function: n.Function) -> Iterator[n.Function]:
    """The function with names for rows, as bytes behind a pointer, and behind a number.

    >>> from ptxkit.cuda import print_function, read
    >>> kernel = read('''(kernel k (params (param (ptr float) x) (param int i) (param int n))
    ...     (let float v (deref (cast (ptr float) (+ (cast (ptr char) x) i))))
    ...     (= ([] x 0) (- v (deref (cast (ptr float)
    ...         (+ (+ (+ (cast (ptr char) x) i) (* (cast longlong n) 4)) 8))))))''')
    >>> for made in named_rows(kernel):
    ...     print(print_function(made), end="")
    __global__ void k(float *x, int i, int n) {
        float *row = (float *)((char *)x + i);
        float v = *row;
        x[0] = v - row[(long long)n + 2];
    }
    __global__ void k(float *x, int i, int n) {
        float *row = (float *)((unsigned long long)x + i);
        float v = *row;
        x[0] = v - row[(long long)n + 2];
    }
    """
    for counted in (False, True):
        made = _listed(function.body or (), NewNames(function), counted)
        if made != function.body:
            yield replace(function, body=made)


def _listed(body: Body, names: NewNames, counted: bool) -> Body:
    place = 0
    while place < len(body):
        rows = dict.fromkeys(r for p in body[place].walk() for r, _ in _element(p))
        later = {name for s in body[place:] for name in written(s)}
        for row in rows:
            if not later.isdisjoint(row.base.names() | row.bytes.names()):
                continue  # it is another one each time, or begins inside of this statement
            own = n.Name(names.take("row"))
            start = row.base
            if counted and isinstance(start, n.Cast):
                start = n.Cast(UNSIGNED_LONG_LONG, start.operand)
            value = n.Cast(row.type, n.Binary("+", start, row.bytes))
            after = (_with_row(s, row, own) for s in body[place:])
            body = (*body[:place], n.Declare(row.type, own.name, value), *after)
            place += 1
        place += 1
    return tuple(rebuilt_lists(s, lambda inner: _listed(inner, names, counted)) for s in body)


def _element(node: Any) -> Iterator[tuple[_Row, n.Expression]]:
    """The row of what is read or written so, and which of its elements that is."""
    match node:
        case n.Unary("*", n.Cast(Pointer(target=Scalar() | Vector() as target) as type, address)):
            already = []
        case n.Index(n.Cast(Pointer(target=Scalar() | Vector() as target) as type, address), index):
            already = [index]
        case _:
            return
    terms = _terms(address)
    base = terms.pop(0)
    if not (
        isinstance(base, n.Cast) and isinstance(base.type, Pointer) and base.type.target == _CHAR
    ):
        return
    bytes_ = [term for term in terms if _elements(term, target.size) is None]
    if bytes_ and not any(isinstance(p, n.Index | n.Call) for one in bytes_ for p in one.walk()):
        inside = [one for term in terms if (one := _elements(term, target.size)) is not None]
        inside += already
        yield _Row(type, base, _sum(bytes_)), _sum(inside) if inside else n.integer(0)


def _terms(total: n.Expression) -> list[n.Expression]:
    match total:
        case n.Binary("+", left, right):
            return [*_terms(left), *_terms(right)]
    return [total]


def _elements(term: n.Expression, size: int) -> n.Expression | None:
    """How many elements some bytes are; None where they need not be whole ones."""
    match term:
        case n.Literal(value=int() as number) if number % size == 0:
            return n.integer(number // size)
        case n.Binary("*", number, n.Literal(value=int() as each)) if each == size:
            return number
    return None


def _sum(terms: list[n.Expression]) -> n.Expression:
    return reduce(lambda one, other: n.Binary("+", one, other), terms)


def _with_row(statement: n.Statement, row: _Row, own: n.Name) -> n.Statement:
    def change(node: Any) -> Any:
        for found, index in _element(node):
            if found == row:
                return n.Unary("*", own) if index == n.integer(0) else n.Index(own, index)
        return node

    made: n.Statement = bottom_up(statement, change)
    return made
