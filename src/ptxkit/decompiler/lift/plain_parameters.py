"""Half numbers as parameters: PTX passes them as structures, C++ does not."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Any

from ptxkit.cuda import nodes as n
from ptxkit.cuda.types import BFLOAT16, HALF, VECTORS, Struct, Type
from ptxkit.decompiler.lift.rewrite import bottom_up

_HALVES = (HALF, BFLOAT16, VECTORS["half2"], VECTORS["bfloat162"])


def half_structs(structs: Iterable[n.StructDefinition]) -> dict[str, tuple[str, Type]]:
    """The structures that are one half number: its name in there, and its type."""
    return {
        one.name: (one.fields[0].name, one.fields[0].type)
        for one in structs
        if len(one.fields) == 1 and one.fields[0].type in _HALVES and not one.alignment
    }


def with_plain_halves(function: n.Function, halves: Mapping[str, tuple[str, Type]]) -> n.Function:
    """A kernel with half numbers for such structures, where it only reads what is in them.

    >>> from ptxkit.cuda.printer import print_function
    >>> from ptxkit.cuda.types import VOID
    >>> read = n.Member(n.Name("a"), "field_0")
    >>> body = (n.Evaluate(n.Call("use", (read,))),)
    >>> kernel = n.Function("k", (n.Parameter(Struct("S"), "a"),), body, VOID)
    >>> print(print_function(with_plain_halves(kernel, {"S": ("field_0", HALF)})), end="")
    __global__ void k(__half a) {
        use(a);
    }
    """
    if not function.kernel or function.body is None:
        return function
    found: dict[str, tuple[str, Type]] = {
        p.name: halves[p.type.name]
        for p in function.parameters
        if isinstance(p.type, Struct) and p.type.name in halves
    }
    if not found:
        return function
    # Whoever takes the address, or passes all of it on, needs the structure.
    members, names = dict.fromkeys(found, 0), dict.fromkeys(found, 0)
    for statement in function.body:
        for node in statement.walk():
            if isinstance(node, n.Name) and node.name in names:
                names[node.name] += 1
            base = _read(node, found)
            if base is not None:
                members[base.name] += 1
    found = {name: one for name, one in found.items() if names[name] == members[name]}

    def change(node: Any) -> Any:
        return _read(node, found) or node

    return replace(
        function,
        parameters=tuple(
            replace(p, type=found[p.name][1]) if p.name in found else p for p in function.parameters
        ),
        body=tuple(bottom_up(statement, change) for statement in function.body),
    )


def _read(node: Any, found: Mapping[str, tuple[str, Type]]) -> n.Name | None:
    """The structure that a node is the one field of."""
    if not isinstance(node, n.Member) or not isinstance(node.base, n.Name):
        return None
    field, _ = found.get(node.base.name, ("", None))
    return node.base if node.field == field else None
