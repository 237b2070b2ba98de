"""Arrays with rows, though a column beside a thread's own might pass the end of one.

The lifter writes rows only where no column passes them; threads at the edge of a tile seldom tell.
Nothing here is trusted: who takes a change compiles it and compares the PTX, in which rows have
additions of their own.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import replace
from math import prod
from typing import Any

from ptxkit.cuda import nodes as n
from ptxkit.cuda.types import Array, Struct
from ptxkit.decompiler.lift.matrices import parsed
from ptxkit.decompiler.lift.rewrite import bottom_up, written
from ptxkit.decompiler.lift.rows import split_index

#: Rows of rows of rows are enough.
_MOST = 3


def shaped(function: n.Function) -> Iterator[n.Function]:
    """The function with all arrays in rows that may have some, then each of them alone.

    >>> from ptxkit.cuda import print_function, read
    >>> kernel = read('''(kernel k (params (param (ptr float) x))
    ...     (shared (array float 256) tile)
    ...     (let int i (+ (* threadIdx.y 16) threadIdx.x))
    ...     (= ([] x 0) (- ([] tile (- i 1)) ([] tile (+ i 16)))))''')
    >>> print(print_function(next(shaped(kernel))), end="")
    __global__ void k(float *x) {
        __shared__ float tile[16][16];
        int i = threadIdx.y * 16 + threadIdx.x;
        x[0] = tile[threadIdx.y][threadIdx.x - 1] - tile[threadIdx.y + 1][threadIdx.x];
    }
    """
    body = function.body or ()
    arrays = {
        s.name: s.type.shape[0] for s in body
        if isinstance(s, n.Declare) and isinstance(s.type, Array) and len(s.type.shape) == 1
        and s.type.shape[0] and not isinstance(s.type.element, Struct | Array) and s.value is None
    }  # fmt: skip
    if not arrays:
        return
    values = _values(function)
    shapes = {
        name: shape for name, size in arrays.items() if (shape := _shape(body, name, size, values))
    }
    for some in dict.fromkeys((tuple(shapes), *((name,) for name in shapes))):
        if some:
            chosen = {name: shapes[name] for name in some}
            yield replace(function, body=tuple(_rows(s, chosen, values) for s in body))


def _values(function: n.Function) -> dict[str, n.Expression]:
    """What variables are that are set once: sums, and multiples."""
    body = function.body or ()
    sets = Counter(name for s in body for name in written(s))
    return {
        p.name: p.value
        for s in body
        for p in s.walk()
        if isinstance(p, n.Declare)
        and isinstance(p.value, n.Binary)
        and sets[p.name] == 1
        and not any(sets[name] > 1 for name in p.value.names())
        and len(parsed(p.value).terms) > 1
    }


def _spelled_out(index: n.Expression, values: Mapping[str, n.Expression]) -> n.Expression:
    def change(node: Any) -> Any:
        if isinstance(node, n.Name) and node.name in values:
            return _spelled_out(values[node.name], values)
        return node

    made: n.Expression = bottom_up(index, change)
    return made


def _shape(
    body: tuple[n.Statement, ...], name: str, size: int, values: Mapping[str, n.Expression]
) -> tuple[int, ...]:
    """How long the rows of an array are, and the rows in those; nothing where it has none."""
    own = [p for s in body for p in s.walk() if isinstance(p, n.Index) and p.base == n.Name(name)]
    uses = sum(1 for s in body for p in s.walk() if p == n.Name(name))
    if not own or uses > len(own):
        return ()
    factors = {k for p in own for _, k in parsed(_spelled_out(p.index, values)).terms}
    if any(k < 1 for k in factors):
        return ()
    lengths: list[int] = []
    for k in sorted(factors, reverse=True):
        if 1 < k < size and (lengths[-1] if lengths else size) % k == 0:
            lengths.append(k)
    if not 0 < len(lengths) < _MOST or any(k % lengths[-1] for k in factors if k >= lengths[-1]):
        return ()
    return tuple(a // b for a, b in zip(lengths, (*lengths[1:], 1), strict=True))


def _rows(
    node: Any, shapes: Mapping[str, tuple[int, ...]], values: Mapping[str, n.Expression]
) -> Any:
    def change(part: Any) -> Any:
        match part:
            case n.Declare(name=name, type=Array(element=element, shape=(size,))) if name in shapes:
                whole = (size // prod(shapes[name]), *shapes[name])
                return replace(part, type=Array(element, whole))
            case n.Index(n.Name(name=name) as base, index) if name in shapes:
                made: n.Expression = base
                for one in split_index(parsed(_spelled_out(index, values)), shapes[name], {}):
                    made = n.Index(made, one)
                return made
        return part

    return bottom_up(node, change)
