"""Device functions by the names that people gave them, where the compiler mangles those again."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from typing import Any

from ptxkit.cuda import CudaModule, demangled_name
from ptxkit.cuda import nodes as n
from ptxkit.cuda.words import is_free
from ptxkit.decompiler.verify.certificates import compiled
from ptxkit.decompiler.verify.identity import same_ptx


def with_plain_names(tree: CudaModule, arch: str, *, separate: bool) -> CudaModule:
    """A file with such names, if the compiler makes the same PTX of it."""
    names = _plain_names(tree)
    if not names:
        return tree
    made = _renamed(tree, names)
    one, two = (compiled(t, arch, separate=separate).module for t in (tree, made))
    if one is None or two is None:
        return tree
    own = [f.name for f in one.functions if f.has_body]
    if own != [f.name for f in two.functions if f.has_body]:
        return tree
    return made if all(same_ptx(one, two, name) for name in own) else tree


def _plain_names(tree: CudaModule) -> dict[str, str]:
    """The device functions that can have other names, each only one."""
    functions = [i for i in tree.items if isinstance(i, n.Function) and not i.kernel]
    wished = {f.name: name for f in functions if (name := demangled_name(f)) and is_free(name)}
    taken = Counter(set(wished.values()))
    taken.update(wished.values())
    mentioned = {
        node.name
        for node in tree.walk()
        if isinstance(node, n.Name | n.Declare | n.Parameter | n.Function | n.StructDefinition)
    }
    return {
        symbol: name
        for symbol, name in wished.items()
        if taken[name] == 2 and name not in mentioned and not _is_pointed_to(tree, symbol)
    }


def _is_pointed_to(tree: CudaModule, symbol: str) -> bool:
    """Whether anything but a call names a function."""
    for node in tree.walk():
        if isinstance(node, n.Name) and symbol in node.name:
            return True
        if isinstance(node, n.Call) and symbol in node.function and node.function != symbol:
            return True
        if isinstance(node, n.StructDefinition):
            return any(symbol in field.type.spelling for field in node.fields)
    return False


def _renamed(tree: CudaModule, names: dict[str, str]) -> CudaModule:
    def change(node: Any) -> Any:
        changes: dict[str, Any] = {}
        if isinstance(node, n.Function) and node.name in names:
            changes = {"name": names[node.name], "linkage": ""}
        elif isinstance(node, n.Call) and node.function in names:
            changes = {"function": names[node.function]}
        return node.rebuilt(change, **changes)

    return replace(tree, items=tuple(change(item) for item in tree.items))
