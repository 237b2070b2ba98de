"""Functions: parameters, prototypes that agree, directives, duplicate names."""

from __future__ import annotations

from ptxkit.isa.rules.context import Context
from ptxkit.isa.rules.variables import check_attributes, check_type
from ptxkit.isa.targets import Requirement
from ptxkit.isa.types import SCALAR_TYPES
from ptxkit.syntax import Alias, Attribute, Declaration, Function, Parameter, Variable

#: Bytes that the parameters of a kernel may take in all, and with PTX 8.1 on sm_70.
_PARAMETER_BYTES, _MORE_PARAMETER_BYTES = 4352, 32764
_MORE_PARAMETERS = Requirement.parse("8.1/70")


def check_function_header(context: Context, node: Function) -> None:
    """Report what is wrong with a function's parameters."""
    returned = node.return_parameters
    for parameter in (*returned, *node.parameters):
        if check_type(context, parameter):
            _check_parameter(context, node, parameter)
    if len(returned) > 1 and any(parameter.space != "reg" for parameter in returned):
        context.error(returned[1], "space", "several return values must be in .reg space")
    if node.linkage == ".extern" and node.has_body:
        context.error(
            node.name_span, "linkage", "an .extern function has no body",
            "end it with ';', or write .visible",
        )  # fmt: skip
    if node.is_entry:
        _check_parameter_bytes(context, node)
    for attribute in (child for child in node.children if isinstance(child, Attribute)):
        check_attributes(context, attribute)
        if any(value.startswith(".managed") for value in attribute.values):
            context.error(attribute, "attribute", "'.managed' is an attribute of variables only")


def _check_parameter(context: Context, node: Function, parameter: Parameter) -> None:
    space, is_open = parameter.space, not all(parameter.dimensions)
    if node.is_entry and space != "param":
        context.error(
            context.word(parameter, f".{space}"), "space",
            "a kernel's parameters are in .param space",
        )  # fmt: skip
    elif space not in ("param", "reg"):
        context.error(
            context.word(parameter, f".{space}"), "space", "a parameter is in .param or .reg space"
        )
    if is_open and (node.is_entry or parameter in node.return_parameters):
        what = "a kernel's parameter" if node.is_entry else "a returned parameter"
        context.error(parameter, "type", f"{what} cannot be an array without a size")
    elif is_open and parameter != node.parameters[-1]:
        context.error(parameter, "type", "only the last parameter can be an array without a size")
    if space == "reg" and parameter.dimensions:
        context.error(parameter, "type", "an array cannot be in .reg space", "use .param")
    if space == "param" and parameter.type == "pred":
        context.error(
            context.word(parameter, ".pred"), "type", "predicates live in .reg space only",
            "pass it as .b32",
        )  # fmt: skip
    if space == "param" and parameter.vector > 1 and not parameter.dimensions:
        context.error(
            context.word(parameter, f".v{parameter.vector}"), "type",
            "a parameter in .param space cannot be a vector",
            f"pass an array: .param .{parameter.type} {parameter.name}[{parameter.vector}]",
        )  # fmt: skip
    if parameter.is_pointer and not node.is_entry:
        context.error(
            context.word(parameter, ".ptr"), "type", "'.ptr' is for the parameters of kernels only"
        )
    if parameter.name == "_" and not node.is_entry:
        context.error(
            context.word(parameter, "_"), "type", "the parameter of a function needs a name",
            "only a .callprototype has '_' for one",
        )  # fmt: skip


def _check_parameter_bytes(context: Context, node: Function) -> None:
    end, more = 0, context.meets(_MORE_PARAMETERS)
    for parameter in node.parameters:
        scalar = SCALAR_TYPES.get(parameter.type)
        own = max(1, scalar.width // 8) * parameter.vector if scalar is not None else 1
        step = own if parameter.is_pointer else parameter.alignment or own
        end = -(-end // max(1, step)) * step + byte_size(parameter)
    if end <= (_MORE_PARAMETER_BYTES if more else _PARAMETER_BYTES):
        return
    hint = f"up to {_MORE_PARAMETER_BYTES} bytes are possible with {_MORE_PARAMETERS}"
    context.error(
        node.name_span, "type",
        f"the parameters of '{node.name}' take {end} bytes; "
        f"{_MORE_PARAMETER_BYTES if more else _PARAMETER_BYTES} are the most",
        "pass a pointer to the data" if end > _MORE_PARAMETER_BYTES else hint,
    )  # fmt: skip


def check_module_names(context: Context) -> None:
    """Names at module level: declared once, prototypes agree with the definition."""
    for name, declarations in context.scopes.root.names.items():
        real = [d for d in declarations if d.kind != "label"]
        labels = [d for d in declarations if d.kind == "label"]
        if len(real) > 1:
            _check_group(context, name, real)
        if len(labels) > 1:
            context.error(
                labels[1].name_span, "duplicate",
                f"the label '{name}' is declared at line {labels[0].node.line} already",
            )  # fmt: skip
    for child in context.module.children:
        if isinstance(child, Alias):
            _check_alias(context, child)


def _check_alias(context: Context, node: Alias) -> None:
    """An alias is declared without a body; what it stands for has one, both before it."""
    functions: list[Function] = []
    for name in node.children:
        declaration = context.scopes.resolve(name)
        if declaration is None:
            context.error(
                name, "undeclared", f"the function '{name.text}' is not declared",
                "declare it before the .alias",
            )  # fmt: skip
        elif not isinstance(declaration.node, Function):
            context.error(name, "alias", f"'{name.text}' is a variable; only a .func has an alias")
        elif declaration.node.is_entry:
            context.error(name, "alias", f"'{name.text}' is a kernel; only a .func has an alias")
        else:
            functions.append(declaration.node)
    if len(functions) < 2:
        return
    alias, aliased = functions
    if alias.has_body:
        context.error(
            node.children[0], "alias", f"'{alias.name}' has a body of its own at line {alias.line}",
            "an alias is declared without one",
        )  # fmt: skip
    elif len(alias.parameters) != len(aliased.parameters):
        context.error(
            node.children[0], "alias",
            f"'{alias.name}' has {_parameters(alias)}, '{aliased.name}' {_parameters(aliased)}",
        )  # fmt: skip


def _parameters(function: Function) -> str:
    count = len(function.parameters)
    return f"{count} parameter{'' if count == 1 else 's'}"


def _check_group(context: Context, name: str, declarations: list[Declaration]) -> None:
    functions = [d.node for d in declarations if isinstance(d.node, Function)]
    if functions and len(functions) < len(declarations):
        one, other = declarations[0], declarations[1]
        context.error(
            other.name_span, "duplicate",
            f"'{name}' is a {one.kind} at line {one.node.line} already",
        )  # fmt: skip
        return
    if functions:
        _check_prototypes(context, name, functions)
        return
    variables = [d.node.parent for d in declarations]
    defining = [
        d
        for d, owner in zip(declarations, variables, strict=True)
        if isinstance(owner, Variable) and owner.linkage != ".extern"
    ]
    extern = any(isinstance(v, Variable) and v.linkage == ".extern" for v in variables)
    static = [d for d in defining if not _linkage(d)]
    first = declarations[0]
    different = next((d for d in declarations[1:] if _shape(d) != _shape(first)), None)
    if len(defining) > 1:
        context.error(
            defining[1].name_span, "duplicate",
            f"'{name}' is declared at line {defining[0].node.line} already",
        )  # fmt: skip
    elif different is not None:
        context.error(
            different.name_span, "duplicate",
            f"'{name}' has another type or space at line {first.node.line}",
        )  # fmt: skip
    elif extern and static:
        context.error(
            static[0].name_span, "linkage",
            f"'{name}' is .extern elsewhere in this file, so its definition must be seen outside",
            "write .visible before it",
        )  # fmt: skip


def _shape(declaration: Declaration) -> tuple[object, ...]:
    """What two declarations of one variable must have in common."""
    owner = declaration.node.parent
    vector = owner.vector if isinstance(owner, Variable) else 1
    return declaration.space, declaration.type, vector


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
        for ours, theirs, what in (
            (first.parameters, other.parameters, "parameters"),
            (first.return_parameters, other.return_parameters, "returned values"),
        ):
            if len(ours) != len(theirs):
                context.error(
                    other.name_span, "prototype",
                    f"the number of {what} of '{name}' is {len(theirs)} here and {len(ours)} at "
                    f"line {first.line}",
                )  # fmt: skip
            for a, b in zip(ours, theirs, strict=False):
                if byte_size(a) != byte_size(b):
                    context.error(
                        b, "prototype",
                        f"'{b.name}' has {byte_size(b)} bytes here and {byte_size(a)} in the "
                        f"declaration of '{name}' at line {first.line}",
                    )  # fmt: skip
                    break


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
