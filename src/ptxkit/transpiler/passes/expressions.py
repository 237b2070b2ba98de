"""Values that one statement uses, written where it uses them.

A value that is used twice there is named at its first place: ``(x := a + b) * x``. Where that is
done, what is used further down, too, may be named in the statement that uses it first; but only
one such value in a statement.

Python works out arguments from left to right, and before the call they belong to. So a row of
statements may be written as one where each value is used by a later statement of the row only,
and in the order they are made: nothing moves.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence

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
#: Variables begin with these, and pointers: they keep a line of their own.
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
        body = folder.named(folder.folded(function.body, INDENT), INDENT)
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
            made = _replaced(line, values, self._uses)
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

    # -- values that are used further down ------------------------------------------------------

    def named(self, body: Sequence[Entry], indent: int) -> list[Entry]:
        """A body with values named inside the statements that use them first."""
        made: list[Entry] = []
        for at, entry in enumerate(body):
            if isinstance(entry, Line):
                following = body[at + 1] if at + 1 < len(body) else None
                # One of a row of the same kind stays like the others.
                alike = isinstance(following, Line) and following.call == entry.call
                made.append(entry if alike else self._name_in(entry, made, indent))
                continue
            head = entry.head[0]
            if isinstance(head, Line):
                head = self._name_in(head, made, indent + 6)
            inner = self.named(entry.body, indent + INDENT)
            made.append(Suite(entry.kind, [head, *entry.head[1:]], entry.node, inner))
        return made

    def _name_in(self, line: Line, before: list[Entry], indent: int) -> Line:
        """The line with values from right before it, as long as one of them is named for more."""
        named: Symbol | None = None
        while before and line.node is not None and line.node.index not in self._skip:
            value = before[-1]
            if not isinstance(value, Line) or not isinstance(value.target, Symbol):
                break
            place = _place(line, value.target, self._naming.get(value))
            if place is None:
                break
            more = value.target if self._uses[value.target] != place else self._naming.get(value)
            if more is not None and (named is not None or not _may_be_named(line, value, more)):
                break
            made = _replaced(line, {value.target: value}, self._uses)
            if indent + len(made.text(self._names)) > max(LONGEST, indent + SHORTEST_LIMIT):
                break
            before.pop()
            self.sites.append(Site(line.node.index, line.node.index + 99, line.node.index))
            line, named = made, more or named
        if named is not None:
            self._naming[line] = named
        return line


def _may_be_named(line: Line, value: Line, named: Symbol) -> bool:
    """Whether a value that is used further down may get its name within a statement."""
    if value.target is not named:
        return True  # it has it there already
    node = value.node
    if value.call[0] == "." or (isinstance(node, Instruction) and node.name in _STARTS):
        return False
    # What a statement changes is not made in it.
    return bool(line.target) or not line.arguments or line.arguments[0] is not named


def _place(line: Line, symbol: Symbol, inside: Symbol | None) -> int | None:
    """How often a line uses a value, if it comes to it before it makes any statement.

    ``inside`` is what the value itself names; that must not be used before.
    """
    count = 0
    is_first = True
    for used in _events(line):
        if used is symbol:
            if not count and not is_first:
                return None
            count += 1
        elif used is None:
            is_first = False
        elif not count and used is inside:
            return None
    return count or None


def _events(line: Line) -> Iterator[Symbol | None]:
    """What Python comes to in a statement: values it uses, and None for statements it makes."""
    for argument in (*line.arguments, *[value for _, value in line.keywords]):
        stack: list[Argument | None] = [argument]
        while stack:
            one = stack.pop()
            if one is None or isinstance(one, Symbol):
                yield one
            elif isinstance(one, Group):
                stack += reversed(one.parts)
            elif isinstance(one, Line):
                stack.append(None)
                stack += [value for _, value in reversed(one.keywords)]
                stack += reversed(one.arguments)


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
    made.target, made.suffixes, made.is_named = line.target, line.suffixes, line.is_named
    return made


def _in(argument: Argument, values: dict[Argument, Line]) -> Argument:
    """An argument with values in place of their names; a value stands at the first place only."""
    if isinstance(argument, Symbol):
        return values.pop(argument, argument)
    if isinstance(argument, Group):
        parts = [_in(part, values) for part in argument.parts]
        return Group(argument.opening, parts, argument.closing)
    if isinstance(argument, Line) and values:
        arguments = [_in(one, values) for one in argument.arguments]
        keywords = [(word, _in(value, values)) for word, value in argument.keywords]
        made = Line(argument.kind, argument.call, arguments, keywords, node=argument.node)
        made.target, made.suffixes = argument.target, argument.suffixes
        made.is_named = argument.is_named
        return made
    return argument
