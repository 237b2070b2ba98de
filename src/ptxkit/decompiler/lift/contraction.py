"""Which products and sums a compiler makes one rounding of."""

from __future__ import annotations

from ptxkit.decompiler.lift.values import Value


def is_negative(value: Value) -> bool:
    """Whether a compiler would take a minus out of a factor, and make the sum a difference."""
    if value.op == "fmul" and value.args[1].op == "const":
        return bool(value.args[1].data >> (value.width - 1))
    return value.op == "fneg"


def swallowed(value: Value) -> list[int]:
    """The operands of a sum that the compiler would contract with it, were they products.

    It contracts ``a * b + c``, and ``c - a * k`` with a constant ``k``, which is a sum to it.
    """
    if value.op == "fadd":
        return [0, 1]
    if value.op != "fsub":
        return []
    second = value.args[1]
    found = []
    if second.op == "const":
        found.append(0)
    inner = second.args[0] if second.op == "fneg" else second
    if inner.op == "var" or any(a.op == "const" for a in inner.args):
        found.append(1)
    return found
