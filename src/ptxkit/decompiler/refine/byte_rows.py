"""Rows that begin a number of bytes behind a pointer, with a name, as in pitched memory.

People write ``float *row = (float *)((char *)p + y * pitch);`` and then ``row[x]``; or they count
the bytes in an integer, and compilers do not know any more which memory that is in. Nothing here is
trusted: who takes a change compiles it and compares the PTX.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

from ptxkit.cuda import nodes as n
from ptxkit.cuda.types import UNSIGNED_LONG_LONG, Pointer, Scalar
from ptxkit.decompiler.lift.rewrite import Body, bottom_up, rebuilt_lists, written
from ptxkit.decompiler.refine.places import NewNames

_BYTE = 8


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
    >>> kernel = read('''(kernel k (params (param (ptr float) x) (param int i))
    ...     (let float v (deref (cast (ptr float) (+ (cast (ptr char) x) i))))
    ...     (= ([] x 0) (- v (deref (cast (ptr float) (+ (cast (ptr char) x) (+ i 8)))))))''')
    >>> for made in named_rows(kernel):
    ...     print(print_function(made), end="")
    __global__ void k(float *x, int i) {
        float *row = (float *)((char *)x + i);
        float v = *row;
        x[0] = v - row[2];
    }
    __global__ void k(float *x, int i) {
        float *row = (float *)((unsigned long long)x + i);
        float v = *row;
        x[0] = v - row[2];
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


def _element(node: Any) -> Iterator[tuple[_Row, int]]:
    """The row of what is read or written so, and which of its elements that is."""
    match node:
        case n.Unary("*", n.Cast(type=Pointer(target=Scalar() as target) as type, operand=address)):
            outer, address = _without_number(address)
        case _:
            return
    match address:
        case n.Binary("+", n.Cast(type=Pointer(target=Scalar(bits=8))) as base, offset):
            inner, offset = _without_number(offset)
        case _:
            return
    plain = not any(isinstance(p, n.Index | n.Call) for p in offset.walk())
    element, rest = divmod(outer + inner, target.bits // _BYTE)
    if plain and not rest and not isinstance(offset, n.Literal):
        yield _Row(type, base, offset), element


def _without_number(total: n.Expression) -> tuple[int, n.Expression]:
    match total:
        case n.Binary("+", rest, n.Literal(value=int() as number)):
            return number, rest
    return 0, total


def _with_row(statement: n.Statement, row: _Row, own: n.Name) -> n.Statement:
    def change(node: Any) -> Any:
        for found, number in _element(node):
            if found == row:
                return n.Index(own, n.integer(number)) if number else n.Unary("*", own)
        return node

    made: n.Statement = bottom_up(statement, change)
    return made
