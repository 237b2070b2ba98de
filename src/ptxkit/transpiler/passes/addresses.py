"""The address of an element by name: ``x + ptx.mul.wide.s32.new(i, 4)`` is ``x.element(i, 4)``."""

from __future__ import annotations

from collections.abc import Sequence

from ptxkit.transpiler.tree import Argument, Entry, FunctionSuite, Group, Line, Site, Suite, quoted

_SIGNS = {"ptx.mul.wide.s32.new": "s", "ptx.mul.wide.u32.new": "u"}


class Addresses:
    """The pass."""

    name = "addresses"

    def __call__(self, function: FunctionSuite, skip: frozenset[int]) -> FunctionSuite:
        """Name addresses of elements, but for those at nodes to skip."""
        namer = _Namer(skip)
        body = namer.body(function.body)
        return function.rewritten(body, namer.sites) if namer.sites else function


class _Namer:
    def __init__(self, skip: frozenset[int]) -> None:
        self.skip = skip
        self.sites: list[Site] = []

    def body(self, body: Sequence[Entry]) -> list[Entry]:
        """A body with its addresses named."""
        made: list[Entry] = []
        for entry in body:
            if isinstance(entry, Suite):
                suite = entry.with_body(self.body(entry.body))
                suite.head = [
                    one if isinstance(one, str) else self._line(one) for one in entry.head
                ]
                made.append(suite)
            else:
                made.append(self._line(entry))
        return made

    def _line(self, line: Line) -> Line:
        arguments = [self._argument(argument) for argument in line.arguments]
        keywords = [(word, self._argument(value)) for word, value in line.keywords]
        call = line.call
        node = line.node
        is_element = call == "+" and node is not None and node.index not in self.skip
        if is_element and _is_distance(arguments[1]):
            base, distance = arguments
            assert isinstance(distance, Line)
            sign = _SIGNS[distance.call]
            call = ".element"
            arguments = [base, *distance.arguments, *([] if sign == "s" else [quoted(sign)])]
            assert node is not None
            self.sites.append(Site(node.index, node.index + 99, node.index))
        elif all(new is old for new, old in zip(arguments, line.arguments, strict=True)) and (
            keywords == line.keywords
        ):
            return line
        made = Line(line.kind, call, arguments, keywords, node=node)
        made.suffixes, made.target, made.is_named = line.suffixes, line.target, line.is_named
        return made

    def _argument(self, argument: Argument) -> Argument:
        if isinstance(argument, Line):
            return self._line(argument)
        if isinstance(argument, Group):
            parts = [self._argument(part) for part in argument.parts]
            if all(new is old for new, old in zip(parts, argument.parts, strict=True)):
                return argument
            return Group(argument.opening, parts, argument.closing)
        return argument


def _is_distance(argument: Argument) -> bool:
    """Whether an argument is an index times the size of an element."""
    return (
        isinstance(argument, Line)
        and argument.call in _SIGNS
        and not argument.keywords
        and not argument.is_named
        and isinstance(argument.arguments[1], str)
        and argument.arguments[1].isdecimal()
    )
