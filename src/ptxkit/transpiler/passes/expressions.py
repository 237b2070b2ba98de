"""Values that one statement uses, written where it uses them.

A value that is used twice there is named at its first place: ``(x := a + b) * x``.

Python works out arguments from left to right, and before the call they belong to. So a row of
statements may be written as one where each value is used by a later statement of the row only,
and in the order they are made: nothing moves.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence

from ptxkit.transpiler.tree import (
    Argument,
    Entry,
    FunctionSuite,
    Group,
    Line,
    Names,
    Site,
    Suite,
    Symbol,
    used_symbols,
    walk,
)

#: No longer than this, with the indent; what stands far in may still have so much.
LONGEST = 98
SHORTEST_LIMIT = 72
INDENT = 4


class Expressions:
    """The pass."""

    name = "expressions"

    def __call__(self, function: FunctionSuite, skip: frozenset[int]) -> FunctionSuite:
        """Write values where they are used, but for the nodes to skip."""
        uses: Counter[Symbol] = Counter()
        for line in walk(function.body):
            uses.update(used_symbols(line))
        folder = _Folder(uses, function.names, skip)
        body = folder.folded(function.body, INDENT)
        return function.rewritten(body, folder.sites) if folder.sites else function


class _Folder:
    def __init__(self, uses: Mapping[Symbol, int], names: Names, skip: frozenset[int]) -> None:
        self._uses = uses
        self._names = names
        self._skip = skip
        self.sites: list[Site] = []

    def folded(self, body: Sequence[Entry], indent: int) -> list[Entry]:
        """A body with its rows of values written as one."""
        made: list[Entry] = []
        for entry in body:
            if isinstance(entry, Line):
                made.append(self._take(entry, made, indent))
                continue
            head = entry.head[0]
            if isinstance(head, Line):
                head = self._take(head, made, indent + 6)
            inner = self.folded(entry.body, indent + INDENT)
            made.append(Suite(entry.kind, [head, *entry.head[1:]], entry.node, inner))
        return made

    def _take(self, line: Line, before: list[Entry], indent: int) -> Line:
        """The line with the values in it that stand right before; those are taken away."""
        count = self._count(line, before)
        while count:
            values = {
                one.target: one for one in before[len(before) - count :] if isinstance(one, Line)
            }
            made = _replaced(line, values)
            if indent + len(made.text(self._names)) <= max(LONGEST, indent + SHORTEST_LIMIT):
                del before[len(before) - count :]
                assert line.node is not None
                self.sites.append(Site(line.node.index, line.node.index + 99, line.node.index))
                return made
            count -= 1
        return line

    def _count(self, line: Line, before: Sequence[Entry]) -> int:
        """How many of the lines right before give values that this one uses in that order."""
        if not before or line.node is None or line.node.index in self._skip:
            return 0
        last = before[-1]
        if not isinstance(last, Line) or not isinstance(last.target, Symbol):
            return 0
        used = list(used_symbols(line))
        order = {symbol: at for at, symbol in reversed(list(enumerate(used)))}
        if not order:
            return 0
        count = 0
        limit = len(used)
        for entry in reversed(before):
            if not isinstance(entry, Line) or not isinstance(entry.target, Symbol):
                break
            at = order.get(entry.target)
            if at is None or at >= limit or self._uses[entry.target] != used.count(entry.target):
                break
            limit = at
            count += 1
        return count


def _replaced(line: Line, given: Mapping[Argument, Line]) -> Line:
    values = dict(given)
    used = Counter(used_symbols(line))
    for symbol, value in given.items():
        if isinstance(symbol, Symbol) and used[symbol] > 1:
            named = Line(value.kind, value.call, value.arguments, value.keywords, node=value.node)
            named.target, named.is_named = symbol, True
            values[symbol] = named
    arguments = [_in(argument, values) for argument in line.arguments]
    keywords = [(word, _in(value, values)) for word, value in line.keywords]
    made = Line(line.kind, line.call, arguments, keywords, node=line.node)
    made.target, made.suffixes = line.target, line.suffixes
    return made


def _in(argument: Argument, values: dict[Argument, Line]) -> Argument:
    """An argument with values in place of their names; a value stands at the first place only."""
    if isinstance(argument, Symbol):
        return values.pop(argument, argument)
    if isinstance(argument, Group):
        parts = [_in(part, values) for part in argument.parts]
        return Group(argument.opening, parts, argument.closing)
    return argument
