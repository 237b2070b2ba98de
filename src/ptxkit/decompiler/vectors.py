"""Registers that are vectors, taken apart: C++ has a variable for each of their parts."""

from __future__ import annotations

from itertools import count

from ptxkit._native import Node
from ptxkit.syntax import Module, Variable
from ptxkit.syntax.scopes import Declaration, Scopes

#: The names of parts, by their places.
_PARTS = {name: place for names in ("xyzw", "rgba") for place, name in enumerate(names)}


def with_scalars(module: Module) -> Module:
    """A module with a register for each part of those that are vectors; lines stay as they are.

    >>> import ptxkit
    >>> m = ptxkit.parse(".func f() { .reg .v2 .b32 v; ld.v2.b32 v, [p]; add.s32 a, v.x, v.y; }")
    >>> with_scalars(m).emit()
    '.func f() { .reg .b32 v_x, v_y; ld.v2.b32 {v_x, v_y}, [p]; add.s32 a, v_x, v_y; }'
    """
    vectors = [
        v
        for v in module.find("Variable")
        if isinstance(v, Variable) and v.space == "reg" and v.vector > 1
    ]
    if not vectors:
        return module
    scopes = Scopes(module)
    words = {node.identifier for node in module.find("Name")}
    words |= {node.name for node in module.find("Declarator", "Function", "Parameter", "Label")}
    edit = module.edit()
    for variable in vectors:
        declared: list[str] = []
        for declarator in variable.declarators:
            declaration = scopes.declaration(declarator)
            assert declaration is not None  # it is one
            parts = _names(declaration.name, variable.vector, words)
            numbers = "" if declaration.count is None else f"<{declaration.count}>"
            declared += [part + numbers for part in parts]
            for reference in scopes.references(declaration):
                edit.replace(reference, _part(reference, declaration, parts))
        lines = "\n" * variable.text.count("\n")
        edit.replace(variable, f".reg .{variable.type} {', '.join(declared)};{lines}")
    return edit.apply()


def _names(name: str, size: int, words: set[str]) -> list[str]:
    """Names for the parts of a register, or of many, that nothing begins with."""
    for number in count():
        mark = "_" if not number else f"_{number}_"
        found = [f"{name}{mark}{part}" for part in "xyzw"[:size]]
        if not any(word.startswith(tuple(found)) for word in words):
            words.update(found)
            return found
    raise AssertionError("there are more numbers than words")


def _part(reference: Node, declaration: Declaration, parts: list[str]) -> str:
    """What stands for a vector, or for one of its parts."""
    number = reference.identifier[len(declaration.name) :]
    if not reference.selector_length:
        return f"{{{', '.join(part + number for part in parts)}}}"
    place = _PARTS.get(reference.text[-1], len(parts))
    # A part that there is not is told with the instruction.
    return parts[place] + number if place < len(parts) else reference.text
