"""Constant expressions: integers and floats apart, no division by zero."""

from __future__ import annotations

from ptxkit._native import Node
from ptxkit.isa.rules.context import Context
from ptxkit.syntax.constants import evaluate, why_no_value

_CALCULATIONS = ("Expression", "Unary", "Parenthesized")


def check_constants(context: Context, node: Node) -> bool:
    """Report the expressions of a node that have no value; False where there is one."""
    found = len(context.found)
    if node.kind in _CALCULATIONS:
        _check_expression(context, node)
        return len(context.found) == found
    for kind in _CALCULATIONS:
        for inner in node.find(kind):
            if inner.parent.kind not in _CALCULATIONS:
                _check_expression(context, inner)
    return len(context.found) == found


def _check_expression(context: Context, node: Node) -> None:
    reason = why_no_value(node)
    if reason is not None:
        context.error(
            node, "constant", f"this has no value: {reason}",
            "integers and floats do not mix; 1.0 is a float" if "float" in reason else None,
        )  # fmt: skip
        return
    for literal in node.find("Float"):
        if literal.text[:2] in ("0f", "0F") and literal.parent.kind != "Parenthesized":
            context.error(
                literal, "constant", "a 0f literal cannot be calculated with",
                f"write {literal.value!r}, or the literal alone",
            )  # fmt: skip
            return
    if node.parent.kind == "Address" and isinstance(evaluate(node), float):
        context.error(node, "constant", "an offset is an integer: it counts bytes")
