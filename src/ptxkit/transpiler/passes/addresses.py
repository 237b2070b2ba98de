"""The address of an element by name: ``x + ptx.mul.wide.s32.new(i, 4)`` is ``x.element(i, 4)``."""

from __future__ import annotations

from ptxkit.transpiler.lines import LineRewriter
from ptxkit.transpiler.tree import Argument, FunctionSuite, Line, quoted

_SIGNS = {"ptx.mul.wide.s32.new": "s", "ptx.mul.wide.u32.new": "u"}


class Addresses:
    """The pass."""

    name = "addresses"

    def __call__(self, function: FunctionSuite, skip: frozenset[int]) -> FunctionSuite:
        """Name addresses of elements, but for those at nodes to skip."""
        return _Namer(skip).function(function)


class _Namer(LineRewriter):
    def call(self, line: Line, arguments: list[Argument]) -> tuple[str, list[Argument]] | None:
        """A sum of an address and a distance."""
        if line.call != "+" or not _is_distance(arguments[1]):
            return None
        base, distance = arguments
        assert isinstance(distance, Line)
        sign = _SIGNS[distance.call]
        return ".element", [base, *distance.arguments, *([] if sign == "s" else [quoted(sign)])]


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
