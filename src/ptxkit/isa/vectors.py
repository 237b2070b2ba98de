"""How ptxas types a vector operand: its elements settle on one type, and that one must fit.

Measured over all pairs of registers and literals in ``ld``, ``st`` and ``tex``.
"""

from __future__ import annotations

from itertools import pairwise

from ptxkit.isa.actuals import Actual
from ptxkit.isa.types import BITS, PREDICATE, SCALAR_TYPES

LITERALS = ("integer", "decimal", "float")


def element_type(element: Actual) -> str:
    """The type an element brings: a literal is 64 bits wide unless it begins with 0f."""
    if element.kind == "integer":
        return "s64"
    if element.kind in LITERALS:
        return element.type or ("f64" if element.kind == "decimal" else "f32")
    if element.kind == "special":
        return f"b{SCALAR_TYPES[element.type].width}" if element.type else "b32"
    return element.type


def element_width(element: Actual) -> int:
    """The bits an element brings."""
    scalar = SCALAR_TYPES[element_type(element)]
    return 32 if scalar.kind == PREDICATE else scalar.width


def _group(element: Actual) -> str:
    """Neighbours must be of one group; ``.bN`` is of every group."""
    scalar = SCALAR_TYPES[element_type(element)]
    if scalar.is_integer:
        return "integer"
    return "float" if scalar.name in ("f16", "f32", "f64") else scalar.kind + scalar.name[:1]


def _quarrel(one: Actual, other: Actual) -> str:
    """Why two neighbours cannot stand in one vector."""
    registers = one.kind not in LITERALS and other.kind not in LITERALS
    if registers and element_width(one) != element_width(other):
        return "different widths"
    groups = {_group(one), _group(other)}
    if len(groups) > 1 and not any(group.startswith(BITS) for group in groups):
        return "different types"
    return ""


def settle(elements: tuple[Actual, ...]) -> tuple[str, str]:
    """The type the elements agree on, or '' and why they do not.

    >>> settle((Actual("register", "u32"), Actual("register", "u32")))
    ('u32', '')
    >>> settle((Actual("register", "f32"), Actual("register", "b32")))
    ('b32', '')
    >>> settle((Actual("register", "f32"), Actual("register", "u32")))
    ('', 'different types')
    """
    elements = tuple(one for one in elements if one.kind != "sink")
    if not elements:
        return "", "no type"
    for one, other in pairwise(elements):
        reason = _quarrel(one, other)
        if reason:
            return "", reason
    types = {element_type(one) for one in elements}
    if len(types) == 1:
        return types.pop(), ""
    # A float literal leaves the width to its neighbour, an integer literal does not.
    first = elements[1] if elements[0].kind in ("decimal", "float") else elements[0]
    return f"b{element_width(first)}", ""
