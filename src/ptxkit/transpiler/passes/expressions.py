"""Values that one statement uses, written where it uses them.

A value that is used twice there, or again further down, is named at its first place:
``(x := a + b) * x``. A statement names one such value at most.

Python works out arguments from left to right, and before the call they belong to. So a row of
statements may be written as one where each value is used by a later statement of the row only,
and in the order they are made: nothing moves.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence

from ptxkit.syntax import Instruction
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
#: Variables begin with these, and pointers.
_STARTS = frozenset(("mov", "cvta"))


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
        self._naming: dict[Line, Symbol] = {}
        """Lines that name a value inside which is used further down, and that."""
        self.sites: list[Site] = []

    def folded(self, body: Sequence[Entry], indent: int) -> list[Entry]:
        """A body with its rows of values written as one."""
        made: list[Entry] = []
        for at, entry in enumerate(body):
            if isinstance(entry, Line):
                following = body[at + 1] if at + 1 < len(body) else None
                # One of a row of the same kind stays like the others.
                alike = isinstance(following, Line) and following.call == entry.call
                made.append(self._take(entry, made, indent, names_more=not alike))
                continue
            head = entry.head[0]
            if isinstance(head, Line):
                head = self._take(head, made, indent + 6, names_more=True)
            inner = self.folded(entry.body, indent + INDENT)
            made.append(Suite(entry.kind, [head, *entry.head[1:]], entry.node, inner))
        return made

    def _take(self, line: Line, before: list[Entry], indent: int, *, names_more: bool) -> Line:
        """The line with the values in it that stand right before; those are taken away.

        ``names_more``: whether one of them may be used further down.
        """
        count = self._count(line, before, names_more)
        while count:
            values = {
                one.target: one for one in before[len(before) - count :] if isinstance(one, Line)
            }
            made = _replaced(line, values, self._uses)
            if indent + len(made.text(self._names)) <= max(LONGEST, indent + SHORTEST_LIMIT):
                del before[len(before) - count :]
                assert line.node is not None
                self.sites.append(Site(line.node.index, line.node.index + 99, line.node.index))
                for one in values.values():
                    named = self._named_inside(line, one)
                    if named is not None:
                        self._naming[made] = named
                return made
            count -= 1
        return line

    def _named_inside(self, line: Line, value: Line) -> Symbol | None:
        """What a line names for further down where it takes a value in."""
        target = value.target
        assert isinstance(target, Symbol)
        used = sum(1 for symbol in used_symbols(line) if symbol is target)
        return target if self._uses[target] != used else self._naming.get(value)

    def _count(self, line: Line, before: Sequence[Entry], names_more: bool) -> int:
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
        changed = line.arguments[0] if line.arguments and not line.target else None
        limit = len(used)
        for entry in reversed(before):
            if not isinstance(entry, Line) or not isinstance(entry.target, Symbol):
                break
            at = order.get(entry.target)
            if at is None or at >= limit:
                break
            inside = self._naming.get(entry)
            if inside is not None and inside in used[:at]:
                break  # it would be used before it has its name
            is_shared = self._uses[entry.target] != used.count(entry.target)
            if is_shared or inside is not None:
                if not names_more or (is_shared and (inside or not _may_be_named_inside(entry))):
                    break
                if entry.target is changed:
                    break
                names_more = False
            limit = at
            count += 1
        return count


def _may_be_named_inside(line: Line) -> bool:
    """Whether a value may get its name within another statement: not what all is built on."""
    node = line.node
    return line.call[0] != "." and not (isinstance(node, Instruction) and node.name in _STARTS)


def _replaced(line: Line, given: Mapping[Argument, Line], uses: Mapping[Symbol, int]) -> Line:
    values = dict(given)
    for symbol, value in given.items():
        if isinstance(symbol, Symbol) and uses[symbol] > 1:
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
