"""Numbers of 8 and 16 bits: ``(w + 65439) % 256`` is ``(unsigned char)(w - 97)``."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

from ptxkit.cuda import nodes as n
from ptxkit.cuda.types import SCALARS, Scalar
from ptxkit.decompiler.lift.rewrite import bottom_up

_BYTE, _SHORT = SCALARS["uchar"], SCALARS["ushort"]
_ALL = 1 << 16


def short_numbers(function: n.Function, take: Callable[[], bool]) -> n.Function:
    """A function that subtracts where it wraps around, and converts where it cuts off.

    >>> from ptxkit.cuda import print_function, read
    >>> kernel = read('''(kernel k (params (param (ptr uchar) x))
    ...     (let ushort w ([] x 0))
    ...     (let ushort big (+ w 65504))
    ...     (if (< (cast ushort (% (+ w 65439) 256)) 26) (then (= ([] x 0) big))))''')
    >>> print(print_function(short_numbers(kernel, lambda: True)), end="")
    __global__ void k(unsigned char *x) {
        unsigned short w = x[0];
        unsigned short big = w - 32;
        if ((unsigned char)(w - 97) < 26) x[0] = big;
    }
    """
    types = {
        p.name: p.type for s in function.body or () for p in s.walk() if isinstance(p, n.Declare)
    }

    def change(node: Any) -> Any:
        match node:
            case n.Cast(
                type=Scalar(word="ushort"),
                operand=n.Binary("%", inner, n.Literal(value=256))
                | n.Binary("&", inner, n.Literal(value=255)),
            ) if _wraps(inner) and take():
                return n.Cast(_BYTE, _less(inner))
            case n.Cast(type=Scalar(bits=16 | 8), operand=inner) if _wraps(inner) and take():
                return replace(node, operand=_less(inner))
            case n.Declare(type=Scalar(bits=16 | 8), value=inner) if _wraps(inner) and take():
                return replace(node, value=_less(inner))
            case n.Assign(n.Name(name=name), inner, "=") if (
                getattr(types.get(name), "bits", 0) in (8, 16) and _wraps(inner) and take()
            ):
                return replace(node, value=_less(inner))
        return node

    return replace(function, body=tuple(bottom_up(s, change) for s in function.body or ()))


def _wraps(node: n.Expression | None) -> bool:
    """Whether more than half of all numbers of 16 bits is added."""
    match node:
        case n.Binary("+", _, n.Literal(value=int(number))):
            return _ALL // 2 <= number < _ALL
    return False


def _less(node: n.Expression | None) -> n.Expression:
    assert isinstance(node, n.Binary) and isinstance(node.right, n.Literal)
    return n.Binary("-", node.left, n.integer(_ALL - int(node.right.value)))
