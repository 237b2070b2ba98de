"""Variables of single precision that are only ever used in double.

A compiler keeps ``float s; s += x * y;``, where the product is of doubles, as a double that is
rounded in every turn.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any

from ptxkit.cuda import nodes as n
from ptxkit.cuda.types import SCALARS, Scalar
from ptxkit.decompiler.lift.rewrite import bottom_up

_FLOAT, _DOUBLE = SCALARS["float"], SCALARS["double"]


def single_precision(function: n.Function, take: Callable[[], bool]) -> n.Function:
    """A function with such variables as what they hold.

    >>> from ptxkit.cuda import print_function, read
    >>> kernel = read('''(kernel k (params (param (ptr double) x))
    ...     (let double s 0.0)
    ...     (for (let int i 0) (< i 9) (+= i 1)
    ...         (= s (cast double (cast float (+ s ([] x i))))))
    ...     (= ([] x 0) s))''')
    >>> print(print_function(single_precision(kernel, lambda: True)), end="")
    __global__ void k(double *x) {
        float s = 0.0f;
        for (int i = 0; i < 9; i++) s = s + x[i];
        x[0] = s;
    }
    """
    body = function.body or ()
    values: dict[str, list[n.Expression | None]] = {}
    for statement in body:
        for name, value in _sets(statement):
            values.setdefault(name, []).append(value)
    addressed = {
        p.operand.name
        for s in body
        for p in s.walk()
        if isinstance(p, n.Unary) and p.operator == "&" and isinstance(p.operand, n.Name)
    }
    chosen = {
        name for name, some in values.items()
        if name not in addressed
        and any(_rounded(one) is not None for one in some)
        and all(_single(one) is not None for one in some)
        and take()
    }  # fmt: skip

    def change(node: Any) -> Any:
        match node:
            case n.Declare(name=name, value=value) if name in chosen:
                return replace(node, type=_FLOAT, value=value and _single(value))
            case n.Assign(target=n.Name(name=name), value=value) if name in chosen:
                return replace(node, value=_single(value) or value)
        return node

    return replace(function, body=tuple(bottom_up(s, change) for s in body)) if chosen else function


def _sets(statement: n.Statement) -> Iterator[tuple[str, n.Expression | None]]:
    """What doubles are set to; None for what nobody can say."""
    for part in statement.walk():
        match part:
            case n.Declare(type=type, name=name, value=value):
                if type == _DOUBLE and not part.space:
                    if value is not None:
                        yield name, value
                else:
                    yield name, None
            case n.Assign(target=n.Name(name=name), value=value, operator=operator):
                yield name, value if operator == "=" else None
            case n.Asm():
                yield from ((name, None) for name in part.names())


def _rounded(value: n.Expression | None) -> n.Expression | None:
    """What is rounded to single precision."""
    match value:
        case n.Cast(type=Scalar(kind="float", bits=64), operand=inner):
            return _rounded(inner)
        case n.Cast(type=Scalar(kind="float", bits=32), operand=inner):
            return inner
    return None


def _single(value: n.Expression | None) -> n.Expression | None:
    """What a variable of single precision is set to, if it can be set to that."""
    match value:
        case n.Literal(value=float() as number) if number in (0.0, 1.0, -1.0):
            return n.Literal(number, _FLOAT)
    return _rounded(value)
