"""Functions: parameters, prototypes that agree, directives, duplicate names."""

from __future__ import annotations

from ptxkit.isa.rules.context import Context
from ptxkit.isa.rules.variables import check_type
from ptxkit.isa.types import SCALAR_TYPES
from ptxkit.syntax import Declaration, Function, Parameter, Variable


def check_function_header(context: Context, node: Function) -> None:
    """Report what is wrong with a function's parameters."""
    for parameter in (*node.return_parameters, *node.parameters):
        if not check_type(context, parameter):
            continue
        if node.is_entry and parameter.space != "param":
            context.error(parameter, "space", "a kernel's parameters are in .param space")
        elif parameter.space not in ("param", "reg"):
            context.error(parameter, "space", "a parameter is in .param or .reg space")
        if node.is_entry and None in parameter.dimensions:
            context.error(parameter, "type", "a kernel's parameter cannot be an open array")
    returned = node.return_parameters
    if len(returned) > 1 and any(parameter.space != "reg" for parameter in returned):
        context.error(returned[1], "space", "several return values must be in .reg space")
    if node.linkage == ".extern" and node.has_body:
        context.error(node.name_span, "linkage", "an .extern function has no body")


def check_module_names(context: Context) -> None:
    """Names at module level: declared once, prototypes agree with the definition."""
    for name, declarations in context.scopes.root.names.items():
        real = [d for d in declarations if d.kind != "label"]
        if len(real) > 1:
            _check_group(context, name, real)


def _check_group(context: Context, name: str, declarations: list[Declaration]) -> None:
    functions = [d.node for d in declarations if isinstance(d.node, Function)]
    if functions and len(functions) < len(declarations):
        other = next(d for d in declarations[1:])
        context.error(
            other.name_span, "duplicate", f"'{name}' is a function and a variable at once"
        )
        return
    if functions:
        _check_prototypes(context, name, functions)
        return
    variables = [d.node.parent for d in declarations]
    defining = [
        d
        for d, owner in zip(declarations, variables, strict=True)
        if isinstance(owner, Variable) and owner.linkage not in (".extern", ".common", ".weak")
    ]
    extern = any(isinstance(v, Variable) and v.linkage == ".extern" for v in variables)
    static = [d for d in defining if not _linkage(d)]
    if len(defining) > 1:
        context.error(
            defining[1].name_span, "duplicate",
            f"'{name}' is declared at line {defining[0].node.line} already",
        )  # fmt: skip
    elif extern and static:
        context.error(
            static[0].name_span, "linkage", f"the .extern variable '{name}' needs a .visible one"
        )


def _linkage(declaration: Declaration) -> str:
    owner = declaration.node.parent
    return owner.linkage if isinstance(owner, Variable) else ""


def _check_prototypes(context: Context, name: str, functions: list[Function]) -> None:
    defined = [f for f in functions if f.has_body]
    if len(defined) > 1:
        context.error(
            defined[1].name_span, "duplicate",
            f"the function '{name}' is defined at line {defined[0].line} already",
        )  # fmt: skip
    elif (
        defined
        and functions[-1] is not defined[0]
        and functions.index(defined[0]) + 1 < len(functions)
    ):
        after = functions[functions.index(defined[0]) + 1]
        context.error(
            after.name_span, "duplicate", f"a declaration of '{name}' follows its definition"
        )
    first = functions[0]
    for other in functions[1:]:
        for ours, theirs in (
            (first.parameters, other.parameters),
            (first.return_parameters, other.return_parameters),
        ):
            if len(ours) != len(theirs):
                context.error(
                    other.name_span, "prototype",
                    f"'{name}' has {len(theirs)} parameters here and {len(ours)} at line "
                    f"{first.line}",
                )  # fmt: skip
            elif any(byte_size(a) != byte_size(b) for a, b in zip(ours, theirs, strict=True)):
                context.error(
                    other.name_span, "prototype",
                    f"the parameters of '{name}' differ from those at line {first.line}",
                )  # fmt: skip


def byte_size(node: Parameter | Variable, dimensions: tuple[int | None, ...] | None = None) -> int:
    """The bytes a parameter (or a variable with these dimensions) takes; 0 when unknown."""
    scalar = SCALAR_TYPES.get(node.type)
    if scalar is None:
        return 0
    size = max(1, scalar.width // 8) * node.vector
    if dimensions is None:
        dimensions = node.dimensions if isinstance(node, Parameter) else ()
    for extent in dimensions:
        size *= extent or 0
    return size
