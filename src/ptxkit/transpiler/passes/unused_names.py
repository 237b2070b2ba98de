"""Names that nothing uses are not given: ``r4 = ptx.add.s32.new(...)`` without ``r4 =``."""

from __future__ import annotations

from collections.abc import Sequence

from ptxkit.transpiler.tree import (
    Argument,
    Entry,
    ForSuite,
    FunctionSuite,
    Group,
    Line,
    Suite,
    Symbol,
    mapped,
    symbols_of,
    used_symbols,
    walk,
)


class UnusedNames:
    """The pass."""

    name = "unused names"

    def __call__(self, function: FunctionSuite, skip: frozenset[int]) -> FunctionSuite:
        """Leave out what is assigned for nothing."""
        used: set[Symbol] = set()
        for line in walk(function.body):
            used.update(used_symbols(line))
        for suite in _suites(function.body):
            if isinstance(suite, ForSuite):
                used.update(one for row in suite.rows for cell in row for one in symbols_of(cell))

        def change(line: Line) -> Sequence[Entry]:
            if line.kind != "instruction" or not _is_unused(line.target, used):
                return [line]
            made = Line(line.kind, line.call, line.arguments, line.keywords, node=line.node)
            made.suffixes = line.suffixes
            return [made]

        return function.rewritten(mapped(function.body, change))


def _suites(body: Sequence[Entry]) -> list[Suite]:
    found: list[Suite] = []
    stack = [entry for entry in body if isinstance(entry, Suite)]
    while stack:
        suite = stack.pop()
        found.append(suite)
        stack += [entry for entry in suite.body if isinstance(entry, Suite)]
    return found


def _is_unused(target: Argument, used: set[Symbol]) -> bool:
    parts = target.parts if isinstance(target, Group) else [target]
    return all(isinstance(part, Symbol) and part not in used for part in parts)
