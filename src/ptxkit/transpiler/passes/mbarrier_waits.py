"""Loops that test an mbarrier until its phase is over, as ``ptx.wait``."""

from __future__ import annotations

from collections.abc import Sequence

from ptxkit.syntax import Instruction
from ptxkit.transpiler.tree import (
    Argument,
    Entry,
    FunctionSuite,
    Group,
    Line,
    Site,
    Suite,
    python_of,
)

_TESTS = (".test_wait", ".try_wait")
_SPACED = ".spaced("


class MbarrierWaits:
    """The pass."""

    name = "mbarrier waits"

    def __call__(self, function: FunctionSuite, skip: frozenset[int]) -> FunctionSuite:
        """Write spins as waits, but for those at nodes to skip."""
        sites: list[Site] = []
        body = _written(function.body, sites, skip)
        return function.rewritten(body, sites) if sites else function


def _written(body: Sequence[Entry], sites: list[Site], skip: frozenset[int]) -> list[Entry]:
    made: list[Entry] = []
    for entry in body:
        if isinstance(entry, Suite):
            wait = _wait(entry)
            if wait is None or wait.node is None or wait.node.index in skip:
                made.append(entry.with_body(_written(entry.body, sites, skip)))
                continue
            sites.append(Site(wait.node.index, wait.node.index + 99, wait.node.index))
            made.append(wait)
        else:
            made.append(entry)
    return made


def _wait(suite: Suite) -> Line | None:
    """A loop as a wait, if it is nothing but that."""
    if suite.kind != "repeat" or not 2 <= len(suite.body) <= 3:
        return None
    (head,) = suite.head
    lines = [entry for entry in suite.body if isinstance(entry, Line)]
    if not isinstance(head, Line) or head.target or len(lines) != len(suite.body):
        return None
    test, *ways = lines
    if not isinstance(test.node, Instruction) or test.node.name != "mbarrier":
        return None
    if not any(word in test.node.modifiers for word in _TESTS) or test.keywords:
        return None
    if any(way.suffixes for way in ways) or not all(s.startswith(_SPACED) for s in test.suffixes):
        return None
    keywords = _ways(test.arguments[0], ways)
    if keywords is None or len(test.suffixes) > 1:
        return None
    if head.arguments:
        keywords.append(("top", head.arguments[0]))
    keywords += head.keywords
    for suffix in test.suffixes:
        keywords.append(("spaced", suffix[len(_SPACED) : -1]))
    made = Line("instruction", "ptx.wait", [test.call, *test.arguments], keywords, node=suite.node)
    made.node = test.node
    return made


def _ways(flag: Argument, ways: Sequence[Line]) -> list[tuple[str, Argument]] | None:
    """What must be said of the branches after the test."""
    said = dict(ways[0].keywords)
    guard = said.pop("when", None)
    uniform = [(word, value) for word, value in said.items() if word == "uniform"]
    if guard is None or len(uniform) != len(said):
        return None
    if len(ways) == 1:
        back = isinstance(guard, Group) and guard.opening in ("~", "inverted(")
        if ways[0].call != "ptx.continue_" or not back:
            return None
        assert isinstance(guard, Group)
        return uniform if python_of(guard.parts[0]) == python_of(flag) else None
    second = ways[1]
    if ways[0].call != "ptx.break_" or second.call != "ptx.continue_":
        return None
    if python_of(guard) != python_of(flag) or any(word != "uniform" for word, _ in second.keywords):
        return None
    back_said: list[tuple[str, Argument]] = [("back", value) for _, value in second.keywords]
    return [("leaves", "True"), *uniform, *back_said]
