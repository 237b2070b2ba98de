"""Loads, stores, addresses, the stack."""

from __future__ import annotations

from ptxkit._native import NO_SLOT, WINDOWS, Node
from ptxkit.run.layout import scalar_bytes
from ptxkit.run.lower import Lowering
from ptxkit.run.lowering.words import Lower, bits_type, types_of, words_of
from ptxkit.syntax import Address, Instruction, Name, evaluate

SHARED_WINDOW, LOCAL_WINDOW, PARAM_WINDOW = WINDOWS
#: The numbers of Space in native/sim/memory.hpp.
SPACES = {
    "": 0, "global": 1, "shared": 2, "shared::cta": 2, "local": 3, "param": 4, "param::entry": 4,
    "param::func": 4, "const": 5, "shared::cluster": 6,
}  # fmt: skip
_WINDOWS = {"shared": SHARED_WINDOW, "local": LOCAL_WINDOW, "param": PARAM_WINDOW}
#: Loads that see what other threads write meanwhile; a thread that polls lets them run.
_STRONG = frozenset("volatile relaxed acquire mmio".split())


def space_of(words: list[str]) -> str:
    """The state space that modifiers name; ``""`` for generic addresses."""
    return next((word for word in words if word in SPACES), "")


def address_operand(low: Lowering, node: Node, space: str, size: int) -> tuple[int, int, int]:
    """The slot, the offset and the access bits of an address operand."""
    if not isinstance(node, Address):
        raise ValueError("this address")
    offset = int(node.offset.value) if node.offset is not None else 0  # type: ignore[attr-defined]
    base = node.base
    bits = size << 4
    if base.kind == "Subscript":
        name, index = base.children
        declaration = low.scopes.resolve(name)
        element = scalar_bytes(declaration.type) if declaration is not None else 1
        offset += int(evaluate(index) or 0) * element
        base = name
    if isinstance(base, Name):
        declaration = low.scopes.resolve(base)
        if declaration is not None and declaration.kind == "register":
            register = low.register(base)
            bits |= register.bytes << 12
            return register.slot, offset, bits | SPACES[space]
        where, place = low.symbol(base, declaration)
        if where == "local":
            if space == "":
                slot = low.new_register("b64").slot
                low.emit("address.local", [slot], immediate=place + LOCAL_WINDOW, width=8)
                return slot, offset, bits | 8 << 12
            return NO_SLOT, place + offset, bits | SPACES["local"] | 1 << 10
        if space == "" and where in _WINDOWS:
            return NO_SLOT, place + offset + _WINDOWS[where], bits
        return NO_SLOT, place + offset, bits | SPACES[space if where == "shared" else where]
    value = base.value if hasattr(base, "value") else 0
    return NO_SLOT, int(value) + offset, bits | SPACES[space]


def address_slot(low: Lowering, node: Node, space: str) -> tuple[int, int]:
    """An address as a register of 64 bits, and its space: for what takes several of them."""
    slot, offset, bits = address_operand(low, node, space, 1)
    fresh = low.new_register("b64").slot
    low.emit("address", [fresh, slot], immediate=offset, target=bits)
    return fresh, bits & 15


def elements(node: Node) -> tuple[Node, ...]:
    """The elements of a vector operand, or the operand itself."""
    return node.children if node.kind == "Vector" else (node,)


def _ld(low: Lowering, node: Instruction) -> None:
    words = words_of(node)
    scalar = types_of(words)[-1]
    size = scalar_bytes(scalar)
    slot, offset, bits = address_operand(low, node.operands[1], space_of(words), size)
    bits |= 1 << 9 if scalar.startswith("s") else 0
    registers = [None if o.kind == "Sink" else low.register(o) for o in elements(node.operands[0])]
    at = low.program.add_list(
        low.state.index, [NO_SLOT if r is None else r.slot for r in registers]
    )
    width = next((r.bytes for r in registers if r is not None), 4)
    low.emit(
        "ld" if _STRONG.isdisjoint(words) else "ld.strong",
        [slot], immediate=offset, target=bits, list=at, list_size=len(registers), width=width,
    )  # fmt: skip


def _st(low: Lowering, node: Instruction) -> None:
    words = words_of(node)
    if "async" in words or "bulk" in words:
        from ptxkit.run.lowering.asynchronous import store

        return store(low, node)
    scalar = types_of(words)[-1]
    size = scalar_bytes(scalar)
    slot, offset, bits = address_operand(low, node.operands[0], space_of(words), size)
    values = elements(node.operands[1])
    width = next(filter(None, map(low.operand_bytes, values)), size)
    kind = scalar if width == size else f"b{8 * width}"
    slots = [NO_SLOT if v.kind == "Sink" else low.source(v, kind) for v in values]
    at = low.program.add_list(low.state.index, slots)
    low.emit(
        "st", [slot], immediate=offset, target=bits, list=at, list_size=len(values), width=width
    )
    return None


def _cvta(low: Lowering, node: Instruction) -> None:
    words = words_of(node)
    scalar = types_of(words)[-1]
    base = _WINDOWS.get(space_of(words).partition("::")[0], 0)
    slots = [low.destination(node.operands[0]), low.source(node.operands[1], scalar)]
    low.emit("cvta", slots, immediate=-base if "to" in words else base, width=scalar_bytes(scalar))


def _isspacep(low: Lowering, node: Instruction) -> None:
    space = space_of(words_of(node))
    kinds = {"shared": 1, "shared::cta": 1, "global": 2, "const": 3}
    address = node.operands[1]
    width = low.operand_bytes(address) or 8
    slots = [low.destination(node.operands[0]), low.source(address, f"u{8 * width}")]
    window = _WINDOWS.get(space.partition("::")[0], 0)
    low.emit("isspacep", slots, immediate=window, count=kinds.get(space, 0), width=width)


def _cluster_address(low: Lowering, node: Instruction) -> None:
    """mapa and getctarank."""
    words = words_of(node)
    scalar = types_of(words)[-1]
    slots = [low.destination(node.operands[0]), low.source(node.operands[1], scalar)]
    slots += [low.source(operand, "u32") for operand in node.operands[2:]]
    low.emit(f"{node.name}.{bits_type(scalar)}", slots)


def _alloca(low: Lowering, node: Instruction) -> None:
    scalar = types_of(words_of(node))[-1]
    first, size, *rest = node.operands
    alignment = int(evaluate(rest[0]) or 1) if rest else 8
    low.program.uses_alloca = True
    slots = [low.destination(first), low.source(size, scalar)]
    low.emit(f"alloca.{bits_type(scalar)}", slots, immediate=alignment)


def _stack(low: Lowering, node: Instruction) -> None:
    """stacksave and stackrestore."""
    scalar = types_of(words_of(node))[-1]
    low.program.uses_alloca = True
    saves = node.name == "stacksave"
    operand = node.operands[0]
    slot = low.destination(operand) if saves else low.source(operand, scalar)
    low.emit(f"{node.name}.{bits_type(scalar)}", [slot])


def _policy(low: Lowering, node: Instruction) -> None:
    """createpolicy: caches are not simulated, so that every policy is 0."""
    low.emit("mov.b64", [low.destination(node.operands[0]), low.constant(0, 8)])


LOWERINGS: dict[str, Lower] = {
    "ld": _ld,
    "ldu": _ld,
    "st": _st,
    "cvta": _cvta,
    "isspacep": _isspacep,
    "mapa": _cluster_address,
    "getctarank": _cluster_address,
    "alloca": _alloca,
    "stacksave": _stack,
    "stackrestore": _stack,
    "createpolicy": _policy,
}
