"""Calls: what is called, and whether the arguments match its parameters."""

from __future__ import annotations

from ptxkit._native import Node
from ptxkit.isa.rules.context import Context
from ptxkit.isa.rules.functions import byte_size
from ptxkit.syntax import (
    CallPrototype,
    Declarator,
    Function,
    Instruction,
    Name,
    Parameter,
    Variable,
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
        context.error(target, "call", f"'{target.text}' is a kernel; only .func can be called")
        return
    if callee is None:
        return
    for given, wanted, what in (
        (results, callee.return_parameters, "returned values"),
        (arguments, callee.parameters, "arguments"),
    ):
        _check_list(context, target, given, wanted, what)


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
    what: str,
) -> None:
    values = given.children if given is not None else ()
    if len(values) != len(wanted):
        context.error(
            given or target, "call",
            f"'{target.text}' has {len(wanted)} {what}, not {len(values)}",
        )  # fmt: skip
        return
    for value, parameter in zip(values, wanted, strict=True):
        if not isinstance(value, Name):
            continue
        declaration = context.scopes.resolve(value)
        if declaration is None or declaration.space != "param":
            continue
        if isinstance(declaration.node, Parameter):
            context.error(
                value, "call", f"the parameter '{value.text}' of this function cannot be passed on",
                "copy it into a .param variable first",
            )  # fmt: skip
        elif isinstance(declaration.node, Declarator):
            owner: Variable = declaration.node.variable
            size = byte_size(owner, declaration.node.dimensions)
            expected = byte_size(parameter)
            if size and expected and size != expected:
                context.error(
                    value, "call",
                    f"'{value.text}' has {size} bytes, the parameter '{parameter.name}' {expected}",
                )  # fmt: skip
