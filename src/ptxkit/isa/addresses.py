"""What may stand in the brackets of an address."""

from __future__ import annotations

from ptxkit.isa.actuals import Actual
from ptxkit.isa.types import BITS, SCALAR_TYPES, SIGNED, UNSIGNED

#: State spaces an address may be checked against.
KNOWN_SPACES = frozenset("global shared local param const tmem".split())

#: Spaces whose symbols have a generic address that ptxas takes as it is.
GENERIC_SPACES = frozenset("global shared local".split())

#: Types of symbols that stand for a texture, sampler or surface.
HANDLES = frozenset("texref samplerref surfref".split())

#: Why a parameter may not be written or read: its role, and the access that breaks it.
_PARAMETERS = {
    ("", "address"): "the address of a parameter that is local to a function cannot be taken",
    ("input", "write"): "a function may not write to its input parameter",
    ("output", "read"): "a function may not read its return parameter",
}


def check_base(base: Actual, space: str, access: str) -> str:
    """Say what is wrong with the first part of an address in ``space`` ('' is generic)."""
    if base.kind == "unknown":
        return ""
    space, _, part = space.partition("::")
    if base.kind == "register":
        return _check_register(base, part)
    if base.kind == "integer":
        if space in ("local", "any"):
            return ""
        return "an address given as a number is allowed in .local space only"
    if base.kind != "symbol":
        return f"an address may not be a {base.kind}"
    if part == "entry" and base.space == "param" and not base.role:
        return "the parameter is not one of a kernel"
    return _check_symbol(base, space, access)


def _check_register(base: Actual, part: str) -> str:
    if part == "func":
        return "a parameter of a function is reached by its name only"
    if base.width > 1 or base.selector:
        return "an address may not be a vector register"
    scalar = SCALAR_TYPES[base.type]
    if scalar.kind not in (SIGNED, UNSIGNED, BITS) or scalar.width > 64:
        return f"an address may not be a .{base.type} register; use an integer one"
    return ""


def _check_symbol(base: Actual, space: str, access: str) -> str:
    if not base.space:
        return ""
    if not space and base.space not in GENERIC_SPACES:
        return f"the symbol is in .{base.space} space and has no generic address; name the space"
    if space in KNOWN_SPACES and base.space != space:
        return f"the symbol is in .{base.space} space, the instruction is for .{space}"
    return _PARAMETERS.get((base.role, access), "") if base.space == "param" else ""


def check_handle(actual: Actual, wanted: tuple[str, ...], name: str) -> str:
    """Say what is wrong with an operand that must be a texture, sampler or surface."""
    if actual.kind == "unknown":
        return ""
    if actual.kind == "register" and actual.width == 1 and not actual.offset:
        scalar = SCALAR_TYPES[actual.type]
        if scalar.kind in (SIGNED, UNSIGNED, BITS) and scalar.width == 64:
            return ""
    if actual.kind == "symbol" and actual.type in wanted and not actual.offset:
        return ""
    return f"operand '{name}' must be a .{wanted[0]} or a 64-bit register with its handle"
