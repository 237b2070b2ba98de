"""Lists of registers that follow each other as slices: ``[r[8], r[9], r[10]]`` is ``r[8:11]``.

The fragments of ``mma``, ``wgmma`` and vector loads and stores are such lists.
"""

from __future__ import annotations

from collections.abc import Sequence

from ptxkit.transpiler.ranges import Ranges
from ptxkit.transpiler.tree import (
    Argument,
    Entry,
    Formula,
    FunctionSuite,
    Group,
    Line,
    Site,
    Symbol,
    mapped,
)

SHORTEST = 3


class RegisterLists:
    """The pass."""

    name = "register lists"

    def __call__(self, function: FunctionSuite, skip: frozenset[int]) -> FunctionSuite:
        """Write lists as slices, but for the nodes to skip."""
        ranges = Ranges(function)
        sites: list[Site] = []

        def change(line: Line) -> Sequence[Entry]:
            node = line.node
            if line.kind != "instruction" or node is None or node.index in skip:
                return [line]
            arguments = [_sliced(argument, ranges) for argument in line.arguments]
            if all(new is old for new, old in zip(arguments, line.arguments, strict=True)):
                return [line]
            made = Line(line.kind, line.call, arguments, line.keywords, node=node)
            made.suffixes, made.target = line.suffixes, line.target
            sites.append(Site(node.index, node.index + 999, node.index))
            return [made]

        body = mapped(function.body, change)
        return function.rewritten(ranges.declared(body), sites) if sites else function


def _sliced(argument: Argument, ranges: Ranges) -> Argument:
    if not isinstance(argument, Group):
        return argument
    if argument.opening != "[" or len(argument.parts) < SHORTEST:
        parts = [_sliced(part, ranges) for part in argument.parts]
        if all(new is old for new, old in zip(parts, argument.parts, strict=True)):
            return argument
        return Group(argument.opening, parts, argument.closing)
    found = [ranges.index(one) if isinstance(one, Symbol) else None for one in argument.parts]
    known = [one for one in found if one is not None]
    if len(known) != len(found):
        return argument
    name, first = known[0]
    step = known[1][1] - first
    if known != [(name, first + step * at) for at in range(len(known))]:
        return argument
    if step == 0 or first + step * len(known) < 0:
        return argument  # a slice down to the first register has no end to name
    ranges.used.add(name)
    return Formula(first, "", name, length=len(known), step=step)
