"""Loads, stores, atomics and addresses."""

from __future__ import annotations

from ptxkit._native import Node
from ptxkit.decompiler.lift.algebra import make
from ptxkit.decompiler.lift.arithmetic import Lifter
from ptxkit.decompiler.lift.context import Access, Lift, NotLiftedError, types_of, words_of
from ptxkit.decompiler.lift.values import Definition, Step, Value, Variable, const, raw, var
from ptxkit.isa.types import SCALAR_TYPES
from ptxkit.syntax import Address, Instruction, Name

SPACES = ("global", "shared", "local", "const", "param")
_ORDERED = frozenset("acquire release relaxed mmio sys gpu cta cluster".split())
_HINTS = frozenset("ca cg cs lu cv wb wt".split())
_IGNORED = ("L1::", "L2::")
_COUNTS = {"v2": 2, "v4": 4}
_LOADABLE = frozenset("u8 s8 b8 u16 s16 b16 u32 s32 b32 f32 u64 s64 b64 f64".split())


def space_of(words: list[str]) -> str:
    """The state space of an instruction, ``generic`` without one."""
    for word in words:
        head = word.partition("::")[0]
        if head in SPACES:
            if word == "shared::cluster":
                raise NotLiftedError("'.shared::cluster'")
            return head
    return "generic"


def _access(node: Instruction, lift: Lift) -> Access:
    words = words_of(node)
    types = types_of(words)
    if not types or types[-1] not in _LOADABLE or _ORDERED & set(words) or "unified" in words:
        raise NotLiftedError(node.opcode)
    count = 1
    for word in words:
        if word[0] == "v" and word[1:].isdigit():
            count = int(word[1:])
    width = SCALAR_TYPES[types[-1]].width
    # Vectors of C++ cannot be read or written where they are volatile.
    if count > 4 or count * width > 128 or (count > 1 and "volatile" in words):
        raise NotLiftedError(node.opcode)
    if any(word.startswith(_IGNORED) for word in words):
        raise NotLiftedError(node.opcode)
    hint = next((w for w in words if w in _HINTS), "")
    if hint and space_of(words) == "generic":
        raise NotLiftedError(node.opcode)  # `__ldcg` and its like are for global memory alone
    return Access(
        space_of(words), types[-1], count, "volatile" in words, "nc" in words, hint, lift.number()
    )


def _slot_address(lift: Lift, node: Node) -> tuple[Variable, int] | None:
    """The parameter and offset that an address is."""
    if not isinstance(node, Address) or not isinstance(node.base, Name):
        return None
    if node.base.index in lift.versions.reads:
        return None
    offset = node.offset
    return lift.slot(node.base), int(offset.value) if offset is not None else 0  # type: ignore[attr-defined]


def current(lift: Lift, slot: Variable) -> Value:
    """What a parameter's variable holds now."""
    known = lift.slot_versions.get(slot)
    if known is None:
        known = lift.slot_versions[slot] = Definition(slot, lift.block)
    return var(known)


def _ld(lift: Lift, node: Instruction) -> None:
    access = _access(node, lift)
    target, place = node.operands[0], node.operands[1]
    if access.space == "param":
        found = _slot_address(lift, place)
        if found is not None:
            return _from_slot(lift, target, access, *found)
    address = lift.address(place, access.space)
    _load(lift, target, access, address)
    return None


def _load(lift: Lift, target: Node, access: Access, address: Value) -> None:
    width = access.width
    if target.kind == "Vector" and access.count == 1:
        target = target.children[0]  # inline assembly may write one register in braces
    if target.kind != "Vector":
        value = raw("load", width, (address,), access)
        return lift.write(target, access.type, value)
    whole = lift.fresh(width * access.count, "vector")
    value = raw("load", width * access.count, (address,), access)
    lift.steps.append(Step("set", [whole], [value], line=lift.line))
    for place, child in enumerate(target.children):
        part = raw("component", width, (var(whole),), place)
        lift.write(child, access.type, part)
    return None


def _from_slot(lift: Lift, target: Node, access: Access, slot: Variable, offset: int) -> None:
    if slot.declared != "struct":
        if offset or access.count > 1 or access.width > slot.width:
            raise NotLiftedError("a part of a parameter")
        value = current(lift, slot)
        return lift.write(target, access.type, make("trunc", access.width, value))
    children = target.children if target.kind == "Vector" else [target]
    one = Access("param", access.type)
    for place, child in enumerate(children):
        at = offset + place * access.width // 8
        address = make("add", 64, raw("slot", 64, (), slot), const(at, 64))
        value = raw("load", access.width, (address,), one)
        if slot.role != "parameter":
            # What a call gave: read at once, before the next call changes it.
            value = raw("load", access.width, (address,),
                        Access("local", access.type, serial=lift.number()))  # fmt: skip
        lift.write(child, access.type, value)
    return None


def _st(lift: Lift, node: Instruction) -> None:
    access = _access(node, lift)
    place, source = node.operands
    sources = source.children if source.kind == "Vector" else [source]
    if access.space == "param":
        found = _slot_address(lift, place)
        if found is None:
            raise NotLiftedError(node.opcode)
        slot, offset = found
        if slot.declared != "struct":
            if offset or access.count > 1 or access.width > slot.width:
                raise NotLiftedError("a part of a parameter")
            value = lift.read(sources[0], access.type)
            if slot.width > value.width:
                value = make("zext", slot.width, value)
            version = lift.slot_versions[slot] = Definition(slot, lift.block)
            slot.definitions += 1
            lift.steps.append(Step("set", [version], [value], line=lift.line))
            return
        for number, child in enumerate(sources):
            at = offset + number * access.width // 8
            address = make("add", 64, raw("slot", 64, (), slot), const(at, 64))
            value = lift.read(child, access.type)
            one = Access("local", access.type)
            lift.steps.append(Step("store", [], [address, value], one, lift.line))
        return
    address = lift.address(place, access.space)
    values = [lift.read(child, access.type) for child in sources]
    lift.steps.append(Step("store", [], [address, *values], access, lift.line))


def _cvta(lift: Lift, node: Instruction) -> None:
    words = words_of(node)
    space = space_of(words)
    type = types_of(words)[-1]
    value = lift.read(node.operands[1], type)
    if value.width != 64:
        raise NotLiftedError(node.opcode)
    if space in ("global", "const", "param") and value.op != "symbol":
        # The same number in both; and now known to be an address.
        if space == "global":
            lift.pointers[value] = None
    elif "to" in words:
        value = make("specific", 64, value, data=space)
    else:
        value = make("generic", 64, value, data=space)
    lift.write(node.operands[0], type, value)


_ATOMICS = {"add": "Add", "min": "Min", "max": "Max", "and": "And", "or": "Or", "xor": "Xor",
            "exch": "Exch", "cas": "CAS", "inc": "Inc", "dec": "Dec"}  # fmt: skip
#: What each atomic function takes: of PTX's types, as which of C++'s.
_ATOMIC_TYPES = {
    "Add": {"s32": "s32", "u32": "u32", "u64": "u64", "s64": "u64", "f32": "f32", "f64": "f64"},
    "Min": {"s32": "s32", "u32": "u32", "u64": "u64", "s64": "s64"},
    "Max": {"s32": "s32", "u32": "u32", "u64": "u64", "s64": "s64"},
    "Exch": {"b32": "b32", "b64": "u64"},
    "CAS": {"b32": "b32", "b64": "u64", "b16": "u16"},
    "Inc": {"u32": "u32"},
    "Dec": {"u32": "u32"},
    "And": {"b32": "b32", "b64": "u64"},
    "Or": {"b32": "b32", "b64": "u64"},
    "Xor": {"b32": "b32", "b64": "u64"},
}
_SCOPES = {"cta": "_block", "sys": "_system", "gpu": ""}


def _atomic(lift: Lift, node: Instruction) -> None:
    words = words_of(node)
    name = next((_ATOMICS[w] for w in words if w in _ATOMICS), None)
    type = types_of(words)[-1]
    refused = {"acquire", "release", "acq_rel", "cluster", "vec"}
    if name is None or refused & set(words) or any(w.startswith("L2::") for w in words):
        raise NotLiftedError(node.opcode)
    typed = _ATOMIC_TYPES[name].get(type)
    if typed is None or any(w[0] == "v" and w[1:].isdigit() for w in words):
        raise NotLiftedError(node.opcode)
    scope = next((_SCOPES[w] for w in words if w in _SCOPES), "")
    operands = list(node.operands)
    target = operands.pop(0) if node.name == "atom" else None
    if len(operands) != (3 if name == "CAS" else 2):
        raise NotLiftedError(node.opcode)
    space = space_of(words)
    address = lift.address(operands[0], space)
    values = [lift.read(o, type) for o in operands[1:]]
    access = Access(space, typed, serial=lift.number())
    width = SCALAR_TYPES[type].width
    call = raw("atomic", width, (address, *values), (f"atomic{name}{scope}", access))
    if target is None:
        lift.effect(call)
    else:
        lift.write(target, typed, call)


LIFTERS: dict[str, Lifter] = {"ld": _ld, "ldu": _ld, "st": _st, "cvta": _cvta,
                              "atom": _atomic, "red": _atomic}  # fmt: skip
