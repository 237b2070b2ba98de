"""Pointers of which none reaches what another one does, as people declare all of a kernel's."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

from ptxkit.cuda import nodes as n
from ptxkit.cuda.types import Pointer
from ptxkit.decompiler.lift.rewrite import bottom_up


def all_restricted(function: n.Function) -> Iterator[n.Function]:
    """The function with ``__restrict__`` on all pointers, and plain reads for ``__ldg``.

    A compiler reads by ``__ldg`` itself what nobody writes then.

    >>> from ptxkit.cuda import print_function
    >>> from ptxkit.cuda.types import FLOAT, VOID
    >>> element = n.Index(n.Name("x"), n.integer(0))
    >>> body = (n.Assign(n.Index(n.Name("y"), n.integer(0)),
    ...                  n.Call("__ldg", (n.Unary("&", element),))),)
    >>> names = [n.Parameter(Pointer(FLOAT), name) for name in "xy"]
    >>> for made in all_restricted(n.Function("k", tuple(names), body, VOID)):
    ...     print(print_function(made), end="")
    __global__ void k(const float *__restrict__ x, float *__restrict__ y) {
        y[0] = x[0];
    }
    __global__ void k(float *__restrict__ x, float *__restrict__ y) {
        y[0] = x[0];
    }
    """
    pointers = [p for p in function.parameters if isinstance(p.type, Pointer)]
    if len(pointers) < 2 or function.body is None:
        return
    stored = {p.name for s in function.body for p in _stores(s)}
    body = tuple(bottom_up(s, _plain) for s in function.body)
    for const in (True, False):
        parameters = tuple(
            replace(
                p,
                type=replace(
                    p.type, restrict=True, const=p.type.const or (const and p.name not in stored)
                ),
            )
            if isinstance(p.type, Pointer)
            else p
            for p in function.parameters
        )
        yield replace(function, parameters=parameters, body=body)


def _plain(node: Any) -> Any:
    match node:
        case n.Call("__ldg", (n.Unary("&", element),)):
            return element
        case n.Call("__ldg", (pointer,)):
            return n.Unary("*", pointer)
    return node


def _stores(statement: n.Statement) -> Iterator[n.Name]:
    """Everything that is named where a statement stores to, or that functions are given."""
    for part in statement.walk():
        if isinstance(part, n.Assign) and not isinstance(part.target, n.Name):
            yield from (p for p in part.target.walk() if isinstance(p, n.Name))
        elif isinstance(part, n.Call) and part.function != "__ldg":
            yield from (p for a in part.arguments for p in a.walk() if isinstance(p, n.Name))
        elif isinstance(part, n.Declare) and isinstance(part.type, Pointer) and part.value:
            yield from (p for p in part.value.walk() if isinstance(p, n.Name))
