"""Elements by their numbers: ``*(double *)((char *)x + (long long)i * 8)`` is ``x[i]``."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

from ptxkit.cuda import nodes as n
from ptxkit.cuda.types import Pointer, Scalar, Type
from ptxkit.decompiler.lift.rewrite import bottom_up

_BYTE = 8


def plain_elements(function: n.Function, take: Callable[[], bool]) -> n.Function:
    """A function that counts elements where it counted their bytes.

    >>> from ptxkit.cuda import print_function, read
    >>> kernel = read('''(kernel k (params (param (ptr float) x) (param int i))
    ...     (= ([] x 0)
    ...         (deref (cast (ptr float) (+ (cast (ptr char) x) (* (cast longlong i) 4))))))''')
    >>> print(print_function(plain_elements(kernel, lambda: True)), end="")
    __global__ void k(float *x, int i) {
        x[0] = x[i];
    }
    """
    types = {p.name: p.type for p in function.parameters}
    for statement in function.body or ():
        types |= {p.name: p.type for p in statement.walk() if isinstance(p, n.Declare)}

    def change(node: Any) -> Any:
        if isinstance(node, n.Cast):
            made = _element(node, types)
            return made if made is not None and take() else node
        match node:
            case n.Unary("*", n.Binary("+", n.Name(name=name) as base, index)):
                if isinstance(types.get(name), Pointer):
                    return n.Index(base, index)
        return node

    body = tuple(bottom_up(s, change) for s in function.body or ())
    # Nothing else is written another way for its own sake.
    return replace(function, body=body) if _casts(body) < _casts(function.body or ()) else function


def _casts(body: tuple[n.Statement, ...]) -> int:
    return sum(isinstance(p, n.Cast) for s in body for p in s.walk())


def _element(node: n.Cast, types: Mapping[str, Type]) -> n.Expression | None:
    """The address of an element that a number of bytes leads to."""
    match node:
        case n.Cast(
            type=Pointer(target=Scalar() as target),
            operand=n.Binary(
                "+",
                n.Cast(type=Pointer(target=Scalar(bits=8)), operand=n.Name(name=name) as base),
                n.Binary("*", n.Cast(type=Scalar(bits=64), operand=index), n.Literal(value=size)),
            ),
        ):
            own = types.get(name)
            if isinstance(own, Pointer) and own.target == target and size == target.bits // _BYTE:
                return n.Binary("+", base, index)
    return None
