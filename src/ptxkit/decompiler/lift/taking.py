"""How operations take their arguments, and what they give: signed or not, or floats."""

from __future__ import annotations

from ptxkit.decompiler.lift.cells import FLOATS
from ptxkit.decompiler.lift.declared import declared_types, votes_of
from ptxkit.decompiler.lift.signatures import Signatures
from ptxkit.decompiler.lift.values import Value
from ptxkit.isa.types import SCALAR_TYPES

#: How operations take their arguments, and what they give: "b" is a number of either sign.
TAKES: dict[str, tuple[str, ...]] = {
    **{f"{op}.{s}": (s, s) for op in ("lt", "le", "gt", "ge", "div", "rem", "min", "max", "mulhi")
       for s in "su"},
    **dict.fromkeys("add sub mul and or xor".split(), ("b", "b")),
    "eq": ("", ""), "ne": ("", ""), "not": ("b",), "neg": ("b",), "shl": ("b", "b"),
    "shr.s": ("s", "b"), "shr.u": ("u", "b"), "sext": ("s",), "zext": ("u",), "trunc": ("b",),
}  # fmt: skip
GIVES: dict[str, str] = {
    **{f"{op}.{s}": s for op in ("div", "rem", "min", "max", "mulhi") for s in "su"},
    **dict.fromkeys("add sub mul and or xor not neg shl trunc".split(), "b"),
    "shr.s": "s", "shr.u": "u", "sext": "s", "zext": "u", "builtin": "b",
}  # fmt: skip


def kind_of(type: str) -> str:
    """How an instruction's type takes bits."""
    if type in FLOATS or type == "pred":
        return type
    return {"s": "s", "u": "u"}.get(type[0], "")


def gives(value: Value) -> str:
    """What an operation gives."""
    op = value.op
    if op in GIVES:
        return GIVES[op]
    if op[0] == "f" and op != "function" and isinstance(value.data, tuple):
        return value.data[0] if value.width > 1 else "pred"
    if op == "cvt":
        return kind_of(value.data[0])
    if op == "call":
        return kind_of(value.data.gives)
    if op == "collective":
        return kind_of(value.data[0].gives)
    if op == "atomic":
        return kind_of(value.data[1].type)
    if op == "printf":
        return "s"
    if op == "function":
        result = value.data[2]
        if result is not None and result.declared != "struct":
            return kind_of(result.declared)
    return ""


def takes(value: Value, signatures: Signatures) -> tuple[str, ...]:
    """How an operation takes its arguments."""
    op = value.op
    if op in TAKES:
        return TAKES[op] if value.args[0].width > 1 else ("pred",) * len(value.args)
    count = len(value.args)
    if op[0] == "f" and op != "function":
        return (value.data[0],) * count
    if op == "cvt":
        return (kind_of(value.data[1]),)
    if op == "call":
        return tuple(kind_of(t) for t in value.data.takes)
    if op == "printf":
        return tuple(kind_of(t) for t in value.data[1] if t in SCALAR_TYPES or t == "text")
    if op == "function" and value.data[0] == "direct":
        return tuple(
            _taken(value.data[1], k, a.width, signatures) for k, a in enumerate(value.args)
        )
    if op in ("collective", "texture"):
        return tuple(kind_of(t) for t in value.data[0].takes)
    return ("",) * count


def _taken(name: str, place: int, width: int, signatures: Signatures) -> str:
    """How a function takes one of the numbers it is given, where that is known."""
    signature = signatures.functions.get(name)
    slots = signature.parameters if signature is not None else ()
    type = slots[place].c_type if place < len(slots) else None
    told = declared_types(name) if type is None else ()
    type = told[place] if place < len(told) else type
    bits, kind = votes_of(type) if type is not None else (0, "")
    return kind if bits == width else ""
