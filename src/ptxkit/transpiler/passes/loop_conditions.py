"""The condition at the end of a loop said at its head: ``with ptx.do_while(lambda: i < n):``.

The function is called where the block ends, so nothing moves.
"""

from __future__ import annotations

from collections.abc import Sequence

from ptxkit.transpiler.tree import Argument, Entry, FunctionSuite, Group, Line, Site, Suite, walk


class LoopConditions:
    """The pass."""

    name = "loop conditions"

    def __call__(self, function: FunctionSuite, skip: frozenset[int]) -> FunctionSuite:
        """Say conditions at the head of loops, but for those at nodes to skip."""
        sites: list[Site] = []
        body = _body(function.body, skip, sites)
        return function.rewritten(body, sites) if sites else function


def _body(body: Sequence[Entry], skip: frozenset[int], sites: list[Site]) -> list[Entry]:
    return [_suite(one, skip, sites) if isinstance(one, Suite) else one for one in body]


def _suite(suite: Suite, skip: frozenset[int], sites: list[Site]) -> Suite:
    made = suite.with_body(_body(suite.body, skip, sites))
    made.head = list(suite.head)
    head = suite.head[0] if suite.head else ""
    if not isinstance(head, Line) or head.call != "ptx.repeat" or len(made.body) < 2:
        return made
    if any(word == "inside" for word, _ in head.keywords):
        return made  # its first round begins in the middle
    last = made.body[-1]
    if not isinstance(last, Line) or not _is_plain(last) or last.node is None:
        return made
    # Another way to the next round would lead past the condition.
    jumps = [line for line in walk(made.body) if "continue_" in line.call]
    if last.node.index in skip or jumps != [last]:
        return made
    sites.append(Site(last.node.index, last.node.index + 99, last.node.index))
    condition = Group("lambda: ", [last.keywords[0][1]], "")
    new = Line(head.kind, "ptx.do_while", [condition, *head.arguments], head.keywords)
    new.node, new.target = head.node, head.target
    made.head = [new, *suite.head[1:]]
    made.body.pop()
    return made


def _is_plain(line: Line) -> bool:
    """``ptx.continue_(when=...)``, and nothing that a function could not say."""
    if line.call != "ptx.continue_" or line.arguments or line.suffixes:
        return False
    return [word for word, _ in line.keywords] == ["when"] and not _names(line.keywords[0][1])


def _names(argument: Argument) -> bool:
    """Whether a name is given inside a value."""
    if isinstance(argument, Line):
        return argument.is_named or any(map(_names, argument.arguments))
    return isinstance(argument, Group) and any(map(_names, argument.parts))
