"""Pointers to what others change at any time: told at the parameter, not at each access."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from typing import Any

from ptxkit.cuda import nodes as n
from ptxkit.cuda.types import Pointer
from ptxkit.decompiler.lift.rewrite import bottom_up


def with_volatile_pointers(function: n.Function) -> n.Function:
    """A kernel with ``volatile`` at the parameters through which all accesses are.

    >>> from ptxkit.cuda.printer import print_function
    >>> from ptxkit.cuda.types import INT, VOID
    >>> at = n.Binary("+", n.Name("p"), n.Name("i"))
    >>> access = n.Unary("*", n.Cast(Pointer(INT, volatile=True), at))
    >>> parameters = (n.Parameter(Pointer(INT), "p"), n.Parameter(INT, "i"))
    >>> kernel = n.Function("k", parameters, (n.Assign(access, n.Literal(0, INT)),), VOID)
    >>> print(print_function(with_volatile_pointers(kernel)), end="")
    __global__ void k(volatile int *p, int i) {
        p[i] = 0;
    }
    """
    if not function.kernel or function.body is None:
        return function
    pointers = {p.name: p.type for p in function.parameters if isinstance(p.type, Pointer)}
    names: Counter[str] = Counter()
    accessed: Counter[str] = Counter()
    for statement in function.body:
        for node in statement.walk():
            if isinstance(node, n.Name):
                names[node.name] += 1
            found = _access(node, pointers)
            if found is not None:
                accessed[found[0].name] += 1
    changed = {name for name, count in accessed.items() if count == names[name]}
    if not changed:
        return function
    chosen = {name: pointers[name] for name in changed}

    def change(node: Any) -> Any:
        found = _access(node, chosen)
        if found is None:
            return node
        base, index = found
        return n.Unary("*", base) if index is None else n.Index(base, index)

    return replace(
        function,
        parameters=tuple(
            replace(p, type=replace(chosen[p.name], volatile=True)) if p.name in chosen else p
            for p in function.parameters
        ),
        body=tuple(bottom_up(statement, change) for statement in function.body),
    )


def _access(node: Any, pointers: dict[str, Pointer]) -> tuple[n.Name, n.Expression | None] | None:
    """The pointer and the index of ``*(volatile T *)(p + index)``, for a pointer to T."""
    match node:
        case n.Unary("*", n.Cast(type=Pointer(volatile=True) as type, operand=operand)):
            pass
        case _:
            return None
    index: n.Expression | None = None
    match operand:
        case n.Name() as base:
            pass
        case n.Binary("+", n.Name() as base, index):
            pass
        case n.Unary("&", n.Index(base=n.Name() as base, index=index)):
            pass
        case _:
            return None
    known = pointers.get(base.name)
    return (base, index) if known is not None and known.target == type.target else None
