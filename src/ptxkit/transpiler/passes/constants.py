"""Numbers by name: the mask of a whole warp, the bits of infinity, log2 of e."""

from __future__ import annotations

from ptxkit.dsl import constants
from ptxkit.dsl.operands import float_constant
from ptxkit.syntax import Instruction
from ptxkit.transpiler.lines import LineRewriter
from ptxkit.transpiler.tree import Argument, FunctionSuite, Line

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
        return _Namer(skip).function(function)


class _Namer(LineRewriter):
    def call(self, line: Line, arguments: list[Argument]) -> tuple[str, list[Argument]] | None:
        """An instruction whose last operand is the mask of its lanes."""
        node = line.node
        is_mask = isinstance(node, Instruction) and node.name in _MASKED
        if not is_mask or not arguments or arguments[-1] != "-1":
            return None
        return line.call, [*arguments[:-1], "FULL_MASK"]

    def text(self, argument: str) -> str:
        """A number, by its name if it has one."""
        if argument.startswith(("f32(", "f64(")):
            return _FLOATS.get(_spelled(argument), argument)
        return _INTEGERS.get(argument, argument)


def _spelled(argument: str) -> str:
    """The PTX of ``f32(1.5)``."""
    type, _, value = argument[:-1].partition("(")
    number = value.removeprefix('float("').removesuffix('")')
    return float_constant(float(number), type).text
