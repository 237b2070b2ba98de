"""What is declared, read or begun with in a row, in one line.

``a, b = x.load(), y.load()``: Python works out the right side from left to right. The same holds
for a row of constants that variables begin with, and for loads of one kind.
"""

from __future__ import annotations

from collections.abc import Sequence

from ptxkit.transpiler.tree import (
    Entry,
    FunctionSuite,
    Group,
    Line,
    Names,
    Site,
    Suite,
    Symbol,
    used_symbols,
)

_LONGEST = 98
_CALLS = frozenset((".load", ".new", "ptx.cvta.to.global_.u64.new"))


class JoinedLoads:
    """The pass."""

    name = "joined loads"

    def __call__(self, function: FunctionSuite, skip: frozenset[int]) -> FunctionSuite:
        """Join reads, but for those at nodes to skip."""
        joiner = _Joiner(function.names, skip)
        body = joiner.body(function.body, 4)
        return function.rewritten(body, joiner.sites) if joiner.sites else function


class _Joiner:
    def __init__(self, names: Names, skip: frozenset[int]) -> None:
        self._names = names
        self._skip = skip
        self.sites: list[Site] = []

    def body(self, body: Sequence[Entry], indent: int) -> list[Entry]:
        """A body with reads joined."""
        made: list[Entry] = []
        row: list[Line] = []
        for entry in body:
            if self._is_read(entry) and isinstance(entry, Line):
                if row and not self._fits([*row, entry], indent):
                    made += self._joined(row)
                    row = []
                row.append(entry)
                continue
            made += self._joined(row)
            row = []
            if isinstance(entry, Suite):
                entry = entry.with_body(self.body(entry.body, indent + 4))
            made.append(entry)
        return made + self._joined(row)

    def _is_read(self, entry: Entry) -> bool:
        if not isinstance(entry, Line) or entry.suffixes or entry.node is None:
            return False
        if entry.node.index in self._skip or not entry.arguments:
            return False
        if entry.kind in ("declaration", "register"):
            target = entry.target
            return isinstance(target, str) and target.isidentifier() and not entry.keywords
        return isinstance(entry.target, Symbol) and _kind(entry) is not None

    def _fits(self, row: Sequence[Line], indent: int) -> bool:
        """Whether reads make one line, and none needs the name of another."""
        if _kind(row[0]) != _kind(row[-1]):
            return False  # a declaration is not to be overlooked among reads
        targets = {line.target for line in row[:-1]}
        if any(symbol in targets for symbol in used_symbols(row[-1])):
            return False
        return indent + len(_one(row).text(self._names)) <= _LONGEST

    def _joined(self, row: Sequence[Line]) -> list[Entry]:
        if len(row) < 2:
            return list(row)
        node = row[0].node
        assert node is not None
        self.sites.append(Site(node.index, node.index + 99, node.index))
        return [_one(row)]


def _kind(line: Line) -> str | None:
    """What a line does, where a row of its kind may be one; None where not."""
    if line.kind != "instruction":
        return "declaration"
    if line.call in _CALLS:
        return "read" if isinstance(line.arguments[0], Symbol) else None
    if not line.call.endswith(".new") or line.keywords:
        return None
    if line.call.startswith("ptx.mov."):
        return "begin" if isinstance(line.arguments[0], str) else None
    return line.call if line.call.startswith("ptx.ld.") else None


def _one(row: Sequence[Line]) -> Line:
    if len(row) == 1:
        return row[0]
    made = Line("instruction", "", row, node=row[0].node)
    made.target = Group("", [line.target for line in row], "")
    return made
