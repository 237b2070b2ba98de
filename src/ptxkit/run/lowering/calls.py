"""Calls: of functions of the module, through addresses, and of what CUDA gives to kernels."""

from __future__ import annotations

from ptxkit._native import NO_SLOT, Node
from ptxkit.run.function_state import Register
from ptxkit.run.layout import parameter_layout, scalar_bytes
from ptxkit.run.lower import Lowering
from ptxkit.run.lowering.words import Lower
from ptxkit.syntax import Function, Instruction, Parameter

#: Functions without a body that the simulator has; see native/sim/ops_runtime.cpp.
RUNTIME = frozenset("vprintf __assertfail malloc free".split())


def _call(low: Lowering, node: Instruction) -> None:
    operands = list(node.operands)
    results = operands.pop(0).children if operands[0].kind == "ArgumentList" else ()
    target = operands.pop(0)
    arguments = operands.pop(0).children if operands and operands[0].kind == "ArgumentList" else ()
    declaration = low.scopes.resolve(target)
    callee = None
    if declaration is not None and isinstance(declaration.node, Function):
        callee = low.module[declaration.name]
    formals = callee if callee is not None else _prototype(low, operands[0] if operands else None)
    given = (*results, *arguments)
    wanted = (*formals.return_parameters, *formals.parameters)
    if len(wanted) != len(given) or len(formals.return_parameters) != len(results):
        raise ValueError("other arguments than the function takes")
    places = []
    for number, (one, formal) in enumerate(zip(given, wanted, strict=True)):
        places.append(_place(low, one, formal, number >= len(results)))
    at = low.program.add_list(low.state.index, places)
    fields = {"list": at, "list_size": len(places)}
    if callee is None:
        low.emit("call.indirect", [low.source(target, "u64")], **fields)
    elif callee.body is None and callee.name in RUNTIME:
        low.program.prints = low.program.prints or callee.name == "vprintf"
        low.emit(f"call.{callee.name}", [], immediate=len(results), **fields)
    else:
        low.emit("call", [], target=low.function_number(callee), **fields)
    for one, place in zip(results, places, strict=False):
        if low.operand_bytes(one):
            low.load_place(low.register(one), place)


def _prototype(low: Lowering, node: Node | None) -> Function:
    """What a call through an address takes: from its prototype or the list of its targets."""
    declaration = low.scopes.resolve(node) if node is not None else None
    found = declaration.node.next_sibling if declaration is not None else None
    if found is not None and found.kind == "CallPrototype":
        return found  # type: ignore[no-any-return]
    if found is not None and found.kind == "CallTargets":
        for name in found.children:
            low.function_number(low.module[name.text])
        return low.module[found.children[0].text]
    raise ValueError("this prototype")


def _place(low: Lowering, one: Node, formal: Parameter, is_argument: bool) -> int:
    """Where in the frame an argument or result lies; registers and constants are copied there."""
    items, size = parameter_layout((formal,))
    declaration = low.scopes.resolve(one) if one.kind == "Name" else None
    if declaration is not None and declaration.kind in ("variable", "parameter"):
        where, place = low.symbol(one, declaration)
        if where == "local":
            return place
        if where != "param":
            raise ValueError("arguments in this space")
        return _copy_parameter(low, place, size, items[0].alignment)
    place = low.local_place(size, items[0].alignment)
    if is_argument:
        low.store_place(_value(low, one, formal), place)
    return place


def _value(low: Lowering, one: Node, formal: Parameter) -> Register:
    if low.operand_bytes(one):
        return low.register(one)
    return Register(low.source(one, formal.type), scalar_bytes(formal.type), formal.type)


def _copy_parameter(low: Lowering, offset: int, size: int, alignment: int) -> int:
    """A parameter of the kernel that is passed on, copied into the frame."""
    place = low.local_place(size, alignment)
    at = 0
    while at < size:
        step = next(step for step in (8, 4, 2, 1) if at % step == 0 and at + step <= size)
        step = min(step, alignment)
        register = low.new_register(f"b{8 * step}")
        slots = low.program.add_list(low.state.index, [register.slot])
        low.emit("ld", [NO_SLOT], immediate=offset + at, target=step << 4 | 4, list=slots,
                 list_size=1, width=step)  # fmt: skip
        low.store_place(register, place + at)
        at += step
    return place


LOWERINGS: dict[str, Lower] = {"call": _call}
