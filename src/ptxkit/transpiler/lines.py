"""Rewriting line by line: what passes share that look at one call and its arguments."""

from __future__ import annotations

from collections.abc import Sequence

from ptxkit.transpiler.tree import Argument, Entry, FunctionSuite, Group, Line, Site, Suite


class LineRewriter:
    """Goes through a function; a pass says what becomes of a call and of a plain argument.

    Lines of nodes to skip stay as they are; the arguments inside of them are looked at.
    """

    def __init__(self, skip: frozenset[int]) -> None:
        self.skip = skip
        self.sites: list[Site] = []

    def call(self, line: Line, arguments: list[Argument]) -> tuple[str, list[Argument]] | None:
        """Another call with its arguments for a line, or None where it stays as it is."""
        del line, arguments
        return None

    def text(self, argument: str) -> str:
        """What becomes of an argument that is plain text."""
        return argument

    def function(self, function: FunctionSuite) -> FunctionSuite:
        """The function rewritten."""
        body = self.body(function.body)
        return function.rewritten(body, self.sites) if self.sites else function

    def body(self, body: Sequence[Entry]) -> list[Entry]:
        """The lines of a body, and of what stands in it."""
        made: list[Entry] = []
        for entry in body:
            if isinstance(entry, Suite):
                suite = entry.with_body(self.body(entry.body))
                suite.head = [one if isinstance(one, str) else self.line(one) for one in entry.head]
                made.append(suite)
            else:
                made.append(self.line(entry))
        return made

    def line(self, line: Line) -> Line:
        """One line, the calls in its arguments first."""
        node = line.node
        mine = node is not None and node.index not in self.skip
        arguments = [self.argument(argument, mine) for argument in line.arguments]
        keywords = [(word, self.argument(value, mine)) for word, value in line.keywords]
        pairs = list(zip(arguments, line.arguments, strict=True))
        pairs += [(new, old) for (_, new), (_, old) in zip(keywords, line.keywords, strict=True)]
        changed = self.call(line, arguments) if mine else None
        if changed is None and all(new is old for new, old in pairs):
            return line
        call, arguments = changed or (line.call, arguments)
        made = Line(line.kind, call, arguments, keywords, node=node)
        made.suffixes, made.target, made.is_named = line.suffixes, line.target, line.is_named
        # A call inside of this one has a site of its own.
        own = any(new is not old and not isinstance(old, Line) for new, old in pairs)
        if node is not None and (own or changed is not None):
            self.sites.append(Site(node.index, node.index + 99, node.index))
        return made

    def argument(self, argument: Argument, mine: bool) -> Argument:
        """One argument of a line."""
        if isinstance(argument, str):
            return self.text(argument) if mine else argument
        if isinstance(argument, Line):
            return self.line(argument)
        if isinstance(argument, Group):
            parts = [self.argument(part, mine) for part in argument.parts]
            if all(new is old for new, old in zip(parts, argument.parts, strict=True)):
                return argument
            return Group(argument.opening, parts, argument.closing)
        return argument
