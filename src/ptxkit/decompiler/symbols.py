"""Symbols that C++ has no way to write, and what they are called instead."""

from __future__ import annotations

from itertools import count

from ptxkit._native import Node
from ptxkit.cuda.words import is_free
from ptxkit.decompiler.lift.signatures import identifier
from ptxkit.syntax import Declarator, Function, Module, Variable, rename


def writable(module: Module) -> tuple[Module, list[str]]:
    """A module in which others' symbols have names that C++ can write, and what was renamed.

    NVRTC takes no name of a symbol beside that of a function or variable. Kernels keep their
    names, which a verdict is about: a candidate's kernel of another name stands for them. What is
    private to the module has a free name anyway.

    >>> import ptxkit
    >>> made, notes = writable(ptxkit.parse(".visible .global .u32 new; .entry k() { ret; }"))
    >>> made.emit(), notes
    ('.visible .global .u32 new_; .entry k() { ret; }', ["C++ cannot call it 'new': it is 'new_'"])
    """
    notes: list[str] = []
    while (found := _unwritable(module)) is not None:
        name, node = found
        words = {word.identifier for word in module.find("Name")}
        words |= {x.name for x in module.find("Declarator", "Function", "Parameter", "Label")}
        wish = identifier(name)
        fresh = next(
            made
            for number in count(1)
            if (made := wish if number == 1 else f"{wish}_{number}") not in words and is_free(made)
        )
        module = rename(module, node, fresh)
        notes.append(_said(name, fresh))
    return module, notes


def renamed_kernels(module: Module, names: list[str]) -> list[str]:
    """What to say about kernels whose names C++ cannot write.

    >>> import ptxkit
    >>> renamed_kernels(ptxkit.parse(".entry float() { ret; }"), ["float"])
    ["C++ cannot call it 'float': it is 'float_'"]
    """
    kernels = [name for name in names if module[name].is_entry]
    return [_said(name, identifier(name)) for name in kernels if not is_free(name)]


def _said(name: str, other: str) -> str:
    return f"C++ cannot call it '{name}': it is '{other}'"


def _unwritable(module: Module) -> tuple[str, Node] | None:
    for node in module.children:
        known: list[Declarator | Function] = []
        if isinstance(node, Variable):
            known = [*node.declarators] if node.linkage else []
        elif isinstance(node, Function) and node.has_body and not node.is_entry:
            known = [node] if node.linkage else []
        found = next((one for one in known if not is_free(one.name)), None)
        if found is not None:
            return found.name, found
    return None
