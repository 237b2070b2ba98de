"""Whether the registers that markers name are there, and can hold their operands."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterable, Iterator

from ptxkit._native import Node
from ptxkit.diagnostics import Diagnostic
from ptxkit.inject.site import Occurrence, Operand, Site
from ptxkit.isa.types import SCALAR_TYPES
from ptxkit.syntax import Module, Scopes
from ptxkit.syntax.scopes import Scope


def wrong_registers(module: Module, sites: Iterable[Site]) -> Iterator[Diagnostic]:
    """What is wrong with the registers of every occurrence, in the order of the sites."""
    finder = _Finder(module)
    good: set[tuple[int, str, str]] = set()  # what was looked at already
    for site in sites:
        for occurrence in site.occurrences:
            start = module.line_start(occurrence.line)
            scope = finder.scope_at(occurrence.function, start)
            for name, operand in site.args.items():
                register = occurrence.registers[name]
                key = id(scope), register, operand.register_type
                if key in good:
                    continue
                said = _judge(operand, register, scope, start)
                if said is None:
                    good.add(key)
                    continue
                yield _diagnostic(module, occurrence, register, *said)


class _Finder:
    """The innermost scopes around places of functions."""

    def __init__(self, module: Module) -> None:
        self._module = module
        self._scopes = Scopes(module)
        self._blocks: dict[str, tuple[list[int], list[Node]]] = {}

    def scope_at(self, function: str, offset: int) -> Scope:
        """The scope of a place; blocks are looked at from the last that begins before it."""
        if function not in self._blocks:
            found = sorted(self._module[function].find("Block"), key=lambda one: one.span[0])
            self._blocks[function] = [one.span[0] for one in found], found
        starts, blocks = self._blocks[function]
        for at in range(bisect_right(starts, offset) - 1, 0, -1):
            if offset < blocks[at].span[1]:
                return self._scopes.scope_of(blocks[at])
        return self._scopes.scope_of(self._module[function])


def _judge(operand: Operand, register: str, scope: Scope, offset: int) -> tuple[str, str] | None:
    """A message and a hint, if there is something to say."""
    if register.lstrip("-")[:1].isdigit():
        return None  # a constant
    declared = scope.resolve(register, offset)
    if declared is None or declared.kind != "register":
        return (
            f"there is no register '{register}' for the operand '{operand.name}'",
            "name one that the function declares before the marker",
        )
    wanted = operand.register_type
    if wanted == "pred" and register != operand.register:
        wanted = "b32"  # asm statements take no predicates: it comes and goes as a number
    predicate = "pred" in (declared.type, wanted) and declared.type != wanted
    if not predicate and SCALAR_TYPES[declared.type].width == SCALAR_TYPES[wanted].width:
        return None
    return (
        f"the register '{register}' is a .{declared.type}, which can't hold the operand "
        f"'{operand.name}' of type {operand.type}",
        f"name a register that is as wide as .{wanted}",
    )


def _diagnostic(
    module: Module, occurrence: Occurrence, register: str, message: str, hint: str
) -> Diagnostic:
    """What is said, at the register's name in the marker."""
    line = module.line_text(occurrence.line)
    words = line.rfind("=") + 1
    found = re.compile(rf"(?<!\S){re.escape(register)}(?!\S)").search(line, words)
    begin, end = found.span() if found is not None else (0, len(line))
    start = module.line_start(occurrence.line)
    span = start + len(line[:begin].encode()), start + len(line[:end].encode())
    return module.diagnostic("error", "inject-register", message, span, hint)
