"""Columns beside one's own, written together: ``x[row * width + (i - 1)]``.

A compiler adds what stands together first. Nothing here is trusted: who takes a change compiles it
and compares the PTX.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

from ptxkit.cuda import nodes as n
from ptxkit.decompiler.lift.rewrite import bottom_up, terms_of


def columns_beside(function: n.Function) -> Iterator[n.Function]:
    """The function with all numbers in indices beside columns, behind the rows or before them.

    >>> from ptxkit.cuda import print_function, read
    >>> kernel = read('''(kernel k (params (param (ptr int) x) (param int w) (param int i))
    ...     (= ([] x (+ (* i w) i)) ([] x (- (+ (* (+ i 1) w) i) 1))))''')
    >>> for one in columns_beside(kernel):
    ...     print(print_function(one), end="")
    __global__ void k(int *x, int w, int i) {
        x[i * w + i] = x[(i + 1) * w + (i - 1)];
    }
    __global__ void k(int *x, int w, int i) {
        x[i * w + i] = x[i - 1 + (i + 1) * w];
    }
    """
    body = function.body or ()
    for first in (False, True):

        def change(node: Any, first: bool = first) -> Any:
            if isinstance(node, n.Index) and isinstance(node.index, n.Binary):
                return n.Index(node.base, _beside(node.index, first))
            return node

        made = tuple(bottom_up(s, change) for s in body)
        if made != body:
            yield replace(function, body=made)


def _beside(index: n.Binary, first: bool) -> n.Expression:
    sign = index.operator
    if sign not in ("+", "-") or not isinstance(index.right, n.Literal):
        return index
    terms = terms_of(index.left)
    rows = [t for t in terms if isinstance(t, n.Binary) and t.operator in ("*", "<<")]
    columns = [t for t in terms if t not in rows]
    if not rows or len(columns) != 1:
        return index
    column = n.Binary(sign, columns[0], index.right)
    whole = [column, *rows] if first else [*rows, column]
    made = whole[0]
    for term in whole[1:]:
        made = n.Binary("+", made, term)
    return made
