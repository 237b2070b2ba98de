"""Loads and stores, as calls of ``@ld`` and ``@st`` on 64-bit addresses."""

from __future__ import annotations

from ptxkit._native import Node
from ptxkit.cuda import nodes as n
from ptxkit.cuda.types import LONG_LONG, UNSIGNED_LONG_LONG, Scalar
from ptxkit.decompiler.lift.arithmetic import Lifter, types_of, words_of
from ptxkit.decompiler.lift.context import C_TYPES, Lift, NotLiftedError
from ptxkit.syntax import Address, Instruction, Name

SPACES = ("global", "shared", "local", "const", "param")
_ORDERED = frozenset("acquire release relaxed mmio sys gpu cta cluster".split())


def _space(words: list[str]) -> str:
    return next((w for w in words if w in SPACES), "generic")


def address_of(lift: Lift, node: Node, space: str) -> n.Expression:
    """The address an operand stands for."""
    if not isinstance(node, Address):
        raise NotLiftedError("this address")
    offset = int(node.offset.value) if node.offset is not None else 0  # type: ignore[attr-defined]
    base = node.base
    if isinstance(base, Name) and base.index in lift.webs.by_name:
        _, web = lift.variable(base)
        wide = web.type.endswith("64")
        value: n.Expression = lift.read(base, "b64" if wide else "b32")
        if not wide:
            value = n.Cast(UNSIGNED_LONG_LONG, value)
    elif isinstance(base, Name):
        declaration = lift.scopes.resolve(base)
        if declaration is None:
            raise NotLiftedError(f"'{base.text}'")
        value = n.Call(f"@address.{declaration.space}", (n.Name(declaration.name),))
    else:
        raise NotLiftedError("an address that is a number")
    return n.Binary("+", value, n.Literal(offset, LONG_LONG)) if offset else value


def _parameter(lift: Lift, node: Node) -> n.Name | None:
    """The variable of a parameter at offset 0."""
    if not isinstance(node, Address) or not isinstance(node.base, Name):
        return None
    if node.base.index in lift.webs.by_name:
        return None
    if node.offset is not None and int(node.offset.value) != 0:  # type: ignore[attr-defined]
        return None
    return n.Name(lift.slot(node.base))


def _ld(lift: Lift, node: Instruction) -> list[n.Statement]:
    words = words_of(node)
    type = types_of(words)[-1]
    if type not in C_TYPES or _ORDERED & set(words):
        raise NotLiftedError(node.opcode)
    space = _space(words)
    target = node.operands[0]
    if space == "param":
        variable = _parameter(lift, node.operands[1])
        if variable is None or target.kind == "Vector":
            raise NotLiftedError("a parameter that is a structure")
        return _from_slot(lift, target, type, variable)
    if target.kind == "Vector":
        raise NotLiftedError(node.opcode)
    address = address_of(lift, node.operands[1], space)
    return _loaded(lift, target, type, space, words, address)


def _loaded(
    lift: Lift, target: Node, type: str, space: str, words: list[str], address: n.Expression
) -> list[n.Statement]:
    _, web = lift.variable(target)
    have = lift.type_of_web(web)
    if type[0] == "b" or type[1:] in ("32", "64"):
        # Bits are loaded as what they are used for.
        if have.is_float and f"{have.bits}" == type[1:]:
            type = f"f{have.bits}"
        elif have.is_integer and have.bits == int(type[1:]) and type[0] != "f":
            type = ("s" if have.signed else "u") + type[1:]
    flags = "".join(f".{w}" for w in ("volatile", "nc") if w in words)
    call = n.Call(f"@ld.{space}{flags}.{type}", (address,))
    lift.types[call.function] = C_TYPES[type]
    return lift.write(target, type, call)


def _from_slot(lift: Lift, target: Node, type: str, variable: n.Name) -> list[n.Statement]:
    _, web = lift.variable(target)
    have = lift.type_of_web(web)
    known = lift.types.get(variable.name)
    if known is None or variable.name in lift.open_slots:
        # The first look at a parameter says what it is.
        bits = int(type[1:])
        same = have.bits == bits and (have.is_float or type[0] != "f")
        lift.types[variable.name] = have if same else C_TYPES[type]
        lift.open_slots.add(variable.name)
    return lift.write(target, type, _slot_value(lift, variable, type))


def _slot_value(lift: Lift, variable: n.Name, type: str) -> n.Expression:
    known = lift.types[variable.name]
    wanted = C_TYPES[type]
    if known == wanted or not isinstance(known, Scalar):
        return variable
    return lift.reinterpreted(variable, known, wanted)


def _st(lift: Lift, node: Instruction) -> list[n.Statement]:
    words = words_of(node)
    type = types_of(words)[-1]
    if type not in C_TYPES or _ORDERED & set(words):
        raise NotLiftedError(node.opcode)
    space = _space(words)
    source = node.operands[1]
    if space == "param":
        variable = _parameter(lift, node.operands[0])
        if variable is None or source.kind == "Vector":
            raise NotLiftedError("a parameter that is a structure")
        kind = _kind(lift, source, type)
        lift.types.setdefault(variable.name, C_TYPES[kind])
        value = lift.read(source, kind)
        have = lift.types[variable.name]
        if isinstance(have, Scalar):
            value = lift.reinterpreted(value, C_TYPES[kind], have)
        return [n.Assign(variable, value)]
    if source.kind == "Vector":
        raise NotLiftedError(node.opcode)
    address = address_of(lift, node.operands[0], space)
    kind = _kind(lift, source, type)
    flags = ".volatile" if "volatile" in words else ""
    call = n.Call(f"@st.{space}{flags}.{kind}", (address, lift.read(source, kind)))
    lift.types[call.function] = C_TYPES[kind]
    return [n.Evaluate(call)]


def _kind(lift: Lift, source: Node, type: str) -> str:
    """Bits are stored as what the variable is."""
    if isinstance(source, Name) and source.index in lift.webs.by_name:
        _, web = lift.variable(source)
        have = lift.type_of_web(web)
        if f"{have.bits}" == type[1:] and (type[0] == "b" or (have.is_integer and type[0] != "f")):
            return f"{'f' if have.is_float else 's' if have.signed else 'u'}{have.bits}"
    return type


def _cvta(lift: Lift, node: Instruction) -> list[n.Statement]:
    words = words_of(node)
    space = _space(words)
    if space == "global":
        return lift.write(node.operands[0], "b64", lift.read(node.operands[1], "b64"))
    name = f"@generic.{space}" if "to" not in words else f"@specific.{space}"
    call = n.Call(name, (lift.read(node.operands[1], "b64"),))
    lift.types[name] = UNSIGNED_LONG_LONG
    return lift.write(node.operands[0], "b64", call)


LIFTERS: dict[str, Lifter] = {"ld": _ld, "st": _st, "cvta": _cvta}
