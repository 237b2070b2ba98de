"""One function of a module, and what it needs of the rest."""

from __future__ import annotations

import re

from ptxkit._native import Node
from ptxkit.syntax import Function, Module, Variable

_WORD = re.compile(r"[%A-Za-z_$][\w$]*", re.ASCII)


def named_parts(module: Module) -> dict[str, list[Node]]:
    """The functions and variables of a module by their names, each with its declarations."""
    named: dict[str, list[Node]] = {}
    for node in module.children:
        if isinstance(node, Function):
            named.setdefault(node.name, []).append(node)
        elif isinstance(node, Variable):
            for one in node.declarators:
                named.setdefault(one.name, []).append(node)
    return named


def needed(named: dict[str, list[Node]], first: str) -> set[str]:
    """The names of all that a function uses, and of what those use; its own among them."""
    wanted: set[str] = set()
    pending = [first]
    while pending:
        name = pending.pop()
        if name not in wanted and name in named:
            wanted.add(name)
            pending += [word for node in named[name] for word in _WORD.findall(node.text)]
    return wanted


def isolated(module: Module, function: Function) -> Module:
    """A module with one function and all that it uses; the rest is cut out, but not its lines.

    >>> import ptxkit
    >>> m = ptxkit.parse(".version 8.0 .target sm_80 .global .u32 x; .func g() { ret; } "
    ...                  ".entry a() { call g; ret; } .entry b() { ret; }")
    >>> isolated(m, m["a"]).emit()
    '.version 8.0 .target sm_80  .func g() { ret; } .entry a() { call g; ret; } '
    """
    named = named_parts(module)
    kept = {node.index for name in needed(named, function.name) for node in named[name]}
    cut = {node.index: node for nodes in named.values() for node in nodes}
    edit = module.edit()
    for index, node in cut.items():
        if index not in kept:
            edit.replace(node, "\n" * node.text.count("\n"))
    return edit.apply() if len(kept) < len(cut) else module
