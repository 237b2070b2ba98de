"""The ranges of registers at the head of a function, by the names that Python has for them."""

from __future__ import annotations

from collections.abc import Sequence

from ptxkit.transpiler.tree import Argument, Entry, FunctionSuite, Line, Symbol


class Ranges:
    """Which registers can be written as ``f[8]``."""

    def __init__(self, function: FunctionSuite) -> None:
        declared = _declared(function.body)
        self._names = {
            prefix: python
            for prefix, (python, _, _) in function.scope.ranges.items()
            if prefix in declared
        }
        self._known = set(self._names.values())
        self.used: set[str] = set()
        """Names that something uses, so that they must be given."""

    def index(self, symbol: Symbol) -> tuple[str, int] | None:
        """The name of a register's range, and its number."""
        if symbol.kind != "register" or symbol.python[-1] != "]":
            return None
        name, _, number = symbol.python[:-1].partition("[")
        return (name, int(number)) if name in self._known else None

    def declared(self, body: Sequence[Entry]) -> list[Entry]:
        """The body with its ranges named, where they are used by name."""
        made = list(body)
        for at, entry in enumerate(made):
            if isinstance(entry, Line) and entry.call == "ptx.registers" and not entry.target:
                names = [self._names[_prefix(argument)] for argument in entry.arguments]
                if self.used.intersection(names):
                    line = type(entry)(entry.kind, entry.call, entry.arguments, node=entry.node)
                    line.target = ", ".join(names)
                    made[at] = line
        return made


def _declared(body: Sequence[Entry]) -> set[str]:
    """The ranges that one call declares, or that have their names."""
    found: set[str] = set()
    for entry in body:
        if isinstance(entry, Line) and entry.kind == "register":
            found.update(_prefix(argument) for argument in entry.arguments)
    return found


def _prefix(argument: Argument) -> str:
    return str(argument)[1:-1].partition("<")[0].rpartition(" ")[2]
