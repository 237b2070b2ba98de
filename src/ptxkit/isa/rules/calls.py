"""Calls: what is called, and whether the arguments match its parameters."""

from __future__ import annotations

from ptxkit._native import Node
from ptxkit.isa.rules.context import Context
from ptxkit.isa.rules.functions import byte_size
from ptxkit.isa.special_registers import SPECIAL_REGISTERS
from ptxkit.isa.types import BITS, FLOAT, SCALAR_TYPES, register_fits
from ptxkit.syntax import (
    CallPrototype,
    Declaration,
    Declarator,
    Function,
    Instruction,
    Name,
    Parameter,
    Variable,
    evaluate,
)


def check_call(context: Context, node: Instruction) -> None:
    """Report a call whose target or arguments are wrong."""
    operands = list(node.operands)
    results: Node | None = None
    if operands and operands[0].kind == "ArgumentList":
        results = operands.pop(0)
    if not operands or not isinstance(operands[0], Name):
        return
    target = operands[0]
    arguments = next((o for o in operands[1:] if o.kind == "ArgumentList"), None)
    callee = _callee(context, target, operands[1:])
    if isinstance(callee, Function) and callee.is_entry:
        context.error(
            target, "call", f"'{target.text}' is a kernel; only a .func can be called",
            "kernels are launched by the host",
        )  # fmt: skip
        return
    if callee is not None:
        _check_list(context, target, results, callee.return_parameters, "returns")
        _check_list(context, target, arguments, callee.parameters, "takes")


def _callee(context: Context, target: Name, rest: list[Node]) -> Function | CallPrototype | None:
    """The function or prototype that says what a call takes."""
    declaration = context.scopes.resolve(target)
    if declaration is None:
        return None
    if isinstance(declaration.node, Function):
        return declaration.node
    if declaration.kind == "register" and rest:
        table = context.scopes.resolve(rest[-1]) if rest[-1].kind == "Name" else None
        following = table.node.next_sibling if table is not None else None
        return following if isinstance(following, CallPrototype) else None
    if declaration.kind == "register":
        context.error(
            target, "call", "an indirect call needs a prototype or a list of targets",
            "declare one with 'name: .callprototype ...;' and put its name last",
        )  # fmt: skip
    return None


def _check_list(
    context: Context,
    target: Name,
    given: Node | None,
    wanted: tuple[Parameter, ...],
    verb: str,
) -> None:
    values = given.children if given is not None else ()
    if len(values) != len(wanted):
        noun = "value" if verb == "returns" else "argument"
        plural = "" if len(wanted) == 1 else "s"
        context.error(
            given or target, "call",
            f"'{target.text}' {verb} {len(wanted)} {noun}{plural}; the call has {len(values)}",
            "the form is: call (results), function, (arguments)",
        )  # fmt: skip
        return
    for value, parameter in zip(values, wanted, strict=True):
        if value.kind != "Sink" or verb == "takes":
            _check_argument(context, value, parameter)


def _check_argument(context: Context, value: Node, parameter: Parameter) -> None:
    if not isinstance(value, Name) or value.text == "WARP_SZ":
        _check_constant(context, value, parameter)
        return
    declaration = context.scopes.resolve(value)
    if declaration is None:
        if value.identifier in SPECIAL_REGISTERS:
            context.error(
                value, "call", f"the special register '{value.text}' cannot be an argument",
                "copy it with mov first",
            )  # fmt: skip
        return  # else reported as undeclared
    if declaration.kind == "register":
        scalar = declaration.type
        # Predicates are passed in registers, and to parameters that are registers themselves.
        is_predicate = "pred" in (scalar, parameter.type)
        fits = scalar == parameter.type if is_predicate else register_fits(parameter.type, scalar)
        if parameter.dimensions or not fits:
            context.error(
                value, "call",
                f"'{value.text}' is a .{scalar} register, the parameter '{parameter.name}' is "
                f"{_describe(parameter, parameter.dimensions)}",
            )  # fmt: skip
    elif declaration.space != "param":
        what = f"in .{declaration.space} space" if declaration.space else f"a {declaration.kind}"
        context.error(
            value, "call", f"'{value.text}' is {what}, so it cannot be an argument",
            "arguments are registers, .param variables and constants",
        )  # fmt: skip
    elif isinstance(declaration.node, Parameter):
        context.error(
            value, "call", f"the parameter '{value.text}' of this function cannot be passed on",
            "copy it into a .param variable first",
        )  # fmt: skip
    else:
        _check_variable(context, value, declaration, parameter)


def _check_variable(
    context: Context, value: Node, declaration: Declaration, parameter: Parameter
) -> None:
    node = declaration.node
    if not isinstance(node, Declarator) or parameter.type not in SCALAR_TYPES:
        return
    owner = node.variable
    if owner.type not in SCALAR_TYPES:
        return
    is_open = not all(parameter.dimensions)
    same_size = is_open or byte_size(owner, node.dimensions) == byte_size(parameter)
    same_shape = bool(node.dimensions) == bool(parameter.dimensions)
    kinds = {SCALAR_TYPES[owner.type].kind, SCALAR_TYPES[parameter.type].kind}
    same_kind = BITS in kinds or FLOAT not in kinds or len(kinds) == 1
    if not (same_size and same_shape and same_kind and _alignment(owner) == _alignment(parameter)):
        context.error(
            value, "call",
            f"'{value.text}' is {_describe(owner, node.dimensions)}, the parameter "
            f"'{parameter.name}' is {_describe(parameter, parameter.dimensions)}",
            "declare both alike",
        )  # fmt: skip


def _check_constant(context: Context, value: Node, parameter: Parameter) -> None:
    number = evaluate(value)
    scalar = SCALAR_TYPES.get(parameter.type)
    if number is None or scalar is None:
        return
    is_float = isinstance(number, float)
    fits = scalar.kind == BITS or is_float == (scalar.kind == FLOAT)
    if parameter.dimensions or not fits:
        context.error(
            value, "call",
            f"the constant does not fit: the parameter '{parameter.name}' is "
            f"{_describe(parameter, parameter.dimensions)}",
        )  # fmt: skip


def _alignment(node: Parameter | Variable) -> int:
    return max(node.alignment or 1, SCALAR_TYPES[node.type].width // 8)


def _describe(node: Parameter | Variable, dimensions: tuple[int | None, ...]) -> str:
    align = f".align {node.alignment} " if node.alignment else ""
    sizes = "".join(f"[{'' if size is None else size}]" for size in dimensions)
    return f"{align}.{node.type}{sizes}"
