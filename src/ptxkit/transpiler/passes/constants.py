"""Numbers by name: the mask of a whole warp, the bits of infinity, log2 of e."""

from __future__ import annotations

from collections.abc import Sequence

from ptxkit.dsl import constants
from ptxkit.dsl.operands import float_constant
from ptxkit.syntax import Instruction
from ptxkit.transpiler.tree import Argument, Entry, FunctionSuite, Group, Line, Site, Suite

_MASKED = frozenset(("shfl", "vote", "match", "redux"))
_INTEGERS = {
    str(getattr(constants, name)): name
    for name in ("INFINITY_BITS", "NEGATIVE_INFINITY_BITS", "MAGNITUDE_BITS", "SIGN_BIT")
}
_FLOATS = {
    float_constant(getattr(constants, name), type).text: f"{type}({name})"
    for name in ("LOG2_E", "LN_2", "PI", "TWO_PI", "INFINITY")
    for type in ("f32", "f64")
}


class Constants:
    """The pass."""

    name = "constants"

    def __call__(self, function: FunctionSuite, skip: frozenset[int]) -> FunctionSuite:
        """Name constants, but for those at nodes to skip."""
        namer = _Namer(skip)
        body = namer.body(function.body)
        return function.rewritten(body, namer.sites) if namer.sites else function


class _Namer:
    def __init__(self, skip: frozenset[int]) -> None:
        self.skip = skip
        self.sites: list[Site] = []

    def body(self, body: Sequence[Entry]) -> list[Entry]:
        """A body with its constants named."""
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
        node = line.node
        if node is None or node.index in self.skip:
            return line
        arguments = [self._argument(argument) for argument in line.arguments]
        keywords = [(word, self._argument(value)) for word, value in line.keywords]
        is_mask = isinstance(node, Instruction) and node.name in _MASKED
        if is_mask and arguments and arguments[-1] == "-1":
            arguments[-1] = "FULL_MASK"
        same = all(new is old for new, old in zip(arguments, line.arguments, strict=True))
        if same and keywords == line.keywords:
            return line
        made = Line(line.kind, line.call, arguments, keywords, node=node)
        made.suffixes, made.target = line.suffixes, line.target
        made.is_named = line.is_named
        self.sites.append(Site(node.index, node.index + 99, node.index))
        return made

    def _argument(self, argument: Argument) -> Argument:
        if isinstance(argument, str):
            if argument.startswith(("f32(", "f64(")):
                return _FLOATS.get(_spelled(argument), argument)
            return _INTEGERS.get(argument, argument)
        if isinstance(argument, Line):
            return self._line(argument)
        if isinstance(argument, Group):
            parts = [self._argument(part) for part in argument.parts]
            if all(new is old for new, old in zip(parts, argument.parts, strict=True)):
                return argument
            return Group(argument.opening, parts, argument.closing)
        return argument


def _spelled(argument: str) -> str:
    """The PTX of ``f32(1.5)``."""
    type, _, value = argument[:-1].partition("(")
    number = value.removeprefix('float("').removesuffix('")')
    return float_constant(float(number), type).text
