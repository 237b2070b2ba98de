"""Loads, stores, atomics, addresses."""

from __future__ import annotations

from ptxkit._native import NO_SLOT, WINDOWS, Node
from ptxkit.run.layout import scalar_bytes
from ptxkit.run.lower import Lowering
from ptxkit.run.lowering.words import Lower, types_of, words_of
from ptxkit.syntax import Address, Instruction, Name

SHARED_WINDOW, LOCAL_WINDOW, PARAM_WINDOW = WINDOWS
_SPACES = {"": 0, "global": 1, "shared": 2, "local": 3, "param": 4, "const": 5}


def access_space(words: list[str]) -> str:
    """The state space that an opcode names; empty for generic addresses."""
    return next((w.partition("::")[0] for w in words if w.partition("::")[0] in _SPACES and w), "")


def address_operand(low: Lowering, node: Node, space: str, size: int) -> tuple[int, int, int]:
    """The slot, the offset and the access bits of an address operand."""
    if not isinstance(node, Address):
        raise ValueError("this address")
    offset = int(node.offset.value) if node.offset is not None else 0  # type: ignore[attr-defined]
    base = node.base
    bits = size << 4
    if isinstance(base, Name):
        declaration = low.scopes.resolve(base)
        if declaration is not None and declaration.kind == "register":
            register = low.register(base)
            bits |= register.bytes << 12
            return register.slot, offset, bits | _SPACES[space]
        where, place = low.symbol(base, declaration)
        if where == "local":
            return NO_SLOT, place + offset, bits | _SPACES["local"] | 1 << 10
        if where == "shared" and space == "":
            return NO_SLOT, place + offset + SHARED_WINDOW, bits | _SPACES[""]
        return NO_SLOT, place + offset, bits | _SPACES[where]
    value = base.value if hasattr(base, "value") else 0
    return NO_SLOT, int(value) + offset, bits | _SPACES[space]


def _elements(node: Node) -> tuple[Node, ...]:
    return node.children if node.kind == "Vector" else (node,)


def _ld(low: Lowering, node: Instruction) -> None:
    words = words_of(node)
    scalar = types_of(words)[-1]
    slot, offset, bits = address_operand(low, node.operands[1], access_space(words), scalar_bytes(scalar))
    bits |= 1 << 9 if scalar.startswith("s") else 0
    registers = [None if o.kind == "Sink" else low.register(o) for o in _elements(node.operands[0])]
    at = low.program.add_list(
        low.state.index, [NO_SLOT if r is None else r.slot for r in registers]
    )
    width = next((r.bytes for r in registers if r is not None), 4)
    low.emit(
        "ld", [slot], immediate=offset, target=bits, list=at, list_size=len(registers), width=width
    )


def _st(low: Lowering, node: Instruction) -> None:
    words = words_of(node)
    scalar = types_of(words)[-1]
    slot, offset, bits = address_operand(low, node.operands[0], access_space(words), scalar_bytes(scalar))
    values = _elements(node.operands[1])
    named = next((v for v in values if isinstance(v, Name)), None)
    width = scalar_bytes(scalar)
    if named is not None:
        declaration = low.scopes.resolve(named)
        if declaration is not None and declaration.kind == "register":
            width = low.register(named).bytes
    kind = scalar if width == scalar_bytes(scalar) else f"b{8 * width}"
    at = low.program.add_list(low.state.index, [low.source(v, kind) for v in values])
    low.emit(
        "st", [slot], immediate=offset, target=bits, list=at, list_size=len(values), width=width
    )


_ATOMIC = {
    name: number for number, name in enumerate("and or xor exch add inc dec min max cas".split())
}


def _atom(low: Lowering, node: Instruction) -> None:
    words = words_of(node)
    scalar = types_of(words)[-1]
    which = next(_ATOMIC[word] for word in words if word in _ATOMIC)
    kind = scalar.replace("b", "u")
    operands = list(node.operands)
    result = low.destination(operands.pop(0)) if node.name == "atom" else NO_SLOT
    slot, offset, bits = address_operand(low, operands[0], access_space(words), scalar_bytes(scalar))
    values = [low.source(operand, scalar) for operand in operands[1:3]]
    low.emit(f"atom.{kind}", [slot, result, *values], immediate=offset, target=bits, count=which)


def _cvta(low: Lowering, node: Instruction) -> None:
    words = words_of(node)
    scalar = types_of(words)[-1]
    window = {"shared": SHARED_WINDOW, "local": LOCAL_WINDOW, "param": PARAM_WINDOW}
    base = window.get(access_space(words), 0)
    slots = [low.destination(node.operands[0]), low.source(node.operands[1], scalar)]
    low.emit("cvta", slots, immediate=-base if "to" in words else base, width=scalar_bytes(scalar))


def _isspacep(low: Lowering, node: Instruction) -> None:
    window = {"shared": SHARED_WINDOW, "local": LOCAL_WINDOW, "param": PARAM_WINDOW}
    slots = [low.destination(node.operands[0]), low.source(node.operands[1], "u64")]
    low.emit("isspacep", slots, immediate=window.get(access_space(words_of(node)), 0))


LOWERINGS: dict[str, Lower] = {
    "ld": _ld,
    "ldu": _ld,
    "st": _st,
    "atom": _atom,
    "red": _atom,
    "cvta": _cvta,
    "isspacep": _isspacep,
}
