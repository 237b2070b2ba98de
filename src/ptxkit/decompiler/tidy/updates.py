"""``x = x + 32`` and ``i += -1``, as people write them. To a compiler they are the same."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from ptxkit.cuda import CudaModule
from ptxkit.cuda import nodes as n
from ptxkit.cuda.types import Scalar
from ptxkit.decompiler.lift.polish import compound
from ptxkit.decompiler.lift.rewrite import bottom_up

_OPPOSITE = {"+=": "-=", "-=": "+="}
#: Without its sign that is a number of another type.
_LARGE = 1 << 31


def plain_updates(tree: CudaModule) -> CudaModule:
    """A file in which variables are changed by what is done to them.

    >>> i = n.Name("i")
    >>> plain_update(n.Assign(i, n.Binary("+", i, n.integer(-1)))).operator
    '-='
    """
    items = (
        bottom_up(item, plain_update) if isinstance(item, n.Function) else item
        for item in tree.items
    )
    return replace(tree, items=tuple(items))


def plain_update(node: Any) -> Any:
    """One assignment; everything else as it is."""
    match node:
        # Not where the variable is on the right: operands stay in their order.
        case n.Assign(target=n.Name() as target, operator="=", value=n.Binary(left=left)) if (
            left == target
        ):
            node = compound(node)
    match node:
        case n.Assign(
            operator="+=" | "-=" as operator,
            value=n.Literal(value=int(number), type=Scalar(signed=True)) as literal,
        ) if -_LARGE < number < 0:
            return n.Assign(node.target, replace(literal, value=-number), _OPPOSITE[operator])
        case n.Assign(operator="+=" | "-=" as operator, value=n.Unary("-", operand)):
            return n.Assign(node.target, operand, _OPPOSITE[operator])
    return node
