"""Places in a grid of two dimensions: a column and a row, not what compilers make of the two.

Of ``x + y * blockDim.x * gridDim.x``, with both by threads and blocks, they take ``blockDim.x``
out of the sum; nobody writes that.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from itertools import count

from ptxkit.cuda import nodes as n
from ptxkit.cuda.types import Type
from ptxkit.decompiler.lift.rewrite import Body, rebuilt_lists


def grid_places(function: n.Function, take: Callable[[], bool]) -> n.Function:
    """A function with variables for the column and the row, where one place is made of both.

    >>> from ptxkit.cuda import print_function, read
    >>> kernel = read('''(kernel k (params (param (ptr int) p))
    ...     (let int i (+ (* (+ (* (+ (* (. blockIdx y) (. blockDim y)) (. threadIdx y))
    ...         (. gridDim x)) (. blockIdx x)) (. blockDim x)) (. threadIdx x)))
    ...     (= ([] p i) i))''')
    >>> print(print_function(grid_places(kernel, lambda: True)), end="")
    __global__ void k(int *p) {
        int x = blockIdx.x * blockDim.x + threadIdx.x;
        int y = blockIdx.y * blockDim.y + threadIdx.y;
        int i = y * gridDim.x * blockDim.x + x;
        p[i] = i;
    }
    """
    body = function.body or ()
    taken = {p.name for p in function.parameters} | {
        p.name for s in body for p in s.walk() if isinstance(p, n.Declare | n.Name)
    }
    rows = {
        s.name for statement in body for s in statement.walk()
        if isinstance(s, n.Declare) and s.value is not None and _is_place(s.value, "y")
    }  # fmt: skip

    def declared(wish: str, type: Type, value: n.Expression) -> n.Declare:
        name = next(x for k in count() if (x := f"{wish}{k or ''}") not in taken)
        taken.add(name)
        return n.Declare(type, name, value)

    def changed(statements: Body) -> Body:
        made: list[n.Statement] = []
        for one in statements:
            statement = rebuilt_lists(one, changed)
            if isinstance(statement, n.Declare) and statement.value is not None:
                row = _row(statement.value, rows)
                if row is not None and take():
                    x = declared("x", statement.type, _column(statement.value))
                    made.append(x)
                    if not isinstance(row, n.Name):
                        y = declared("y", statement.type, row)
                        made.append(y)
                        row = n.Name(y.name)
                    rest = n.Binary("*", n.Binary("*", row, _size("gridDim")), _size("blockDim"))
                    whole = _like(statement.value, n.Name(x.name), rest)
                    statement = replace(statement, value=whole)
            made.append(statement)
        return tuple(made)

    return replace(function, body=changed(body))


_THREAD, _BLOCK = (n.Member(n.Name(name), "x") for name in ("threadIdx", "blockIdx"))


def _size(name: str) -> n.Expression:
    return n.Member(n.Name(name), "x")


def _like(value: n.Expression, one: n.Expression, other: n.Expression) -> n.Expression:
    """A sum in the order of another one: of what is by threads, and of the rest."""
    first = isinstance(value, n.Binary) and value.left == _THREAD
    return n.Binary("+", *((one, other) if first else (other, one)))


def _column(value: n.Expression) -> n.Expression:
    return _like(value, _THREAD, n.Binary("*", _BLOCK, _size("blockDim")))


def _is_place(value: n.Expression, axis: str) -> bool:
    """Whether it is where a thread is along an axis."""
    block, size, thread = (
        n.Member(n.Name(name), axis) for name in ("blockIdx", "blockDim", "threadIdx")
    )
    return _beside("*", _beside("+", value, thread), size) == block


def _row(value: n.Expression, rows: set[str]) -> n.Expression | None:
    """The row of a place, if it is one such."""
    blocks = _beside("*", _beside("+", value, _THREAD), _size("blockDim"))
    row = _beside("*", _beside("+", blocks, _BLOCK), _size("gridDim"))
    if row is None or isinstance(row, n.Name):
        return row if row is not None and row.name in rows else None
    return row if _is_place(row, "y") else None


def _beside(operator: str, value: n.Expression | None, one: n.Expression) -> n.Expression | None:
    """The other operand beside one; None where there is none such."""
    match value:
        case n.Binary(operator=found, left=left, right=right) if found == operator:
            return right if left == one else left if right == one else None
    return None
