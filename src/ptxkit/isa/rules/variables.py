"""Declarations: types, alignment, sizes, initialisers, where each space may stand."""

from __future__ import annotations

from ptxkit._native import Node
from ptxkit.isa.rules.context import Context
from ptxkit.isa.types import REGISTER_TYPES, SCALAR_TYPES
from ptxkit.syntax import Declarator, Parameter, Variable, evaluate

VARIABLE_TYPES = REGISTER_TYPES | {"texref", "samplerref", "surfref"}
_HANDLES = frozenset(("texref", "samplerref", "surfref"))


def check_variable(context: Context, node: Variable, *, in_body: bool) -> None:
    """Report what is wrong with one declaration."""
    if not check_type(context, node):
        return
    space, scalar = node.space, node.type
    if not in_body:
        _check_module_level(context, node)
    elif scalar in _HANDLES:
        context.error(node, "type", f"a .{scalar} variable stands at module level only")
    if scalar == "pred" and space != "reg":
        context.error(node, "type", "predicates live in .reg space only", "use .b8 for memory")
    if scalar == "pred" and node.vector > 1:
        context.error(node, "type", "there are no vectors of predicates")
    if node.vector * SCALAR_TYPES[scalar].width > 128:
        context.error(node, "type", "a vector may be 128 bits wide at most")
    for declarator in node.declarators:
        _check_declarator(context, node, declarator)


def check_type(context: Context, node: Variable | Parameter) -> bool:
    """Report an unknown type or a bad alignment; False where the type is unknown."""
    if node.type not in VARIABLE_TYPES:
        context.error(
            node, "unknown-type", f"'.{node.type}' is not a type a variable can have",
            "types are .b8 to .b128, .u8 to .u64, .s8 to .s64, .f16, .f16x2, .f32, .f64, .pred",
        )  # fmt: skip
        return False
    alignment = node.alignment
    if alignment is not None and (alignment < 1 or alignment & (alignment - 1)):
        context.error(node, "alignment", f"the alignment {alignment} is not a power of two")
    return True


def _check_module_level(context: Context, node: Variable) -> None:
    space = node.space
    if space in ("reg", "local"):
        context.error(
            node, "space", f"a .{space} variable cannot stand at module level",
            "move it into a function",
        )  # fmt: skip
    elif space == "param":
        context.error(node, "space", "a parameter cannot stand at module level")
    elif space in ("tex", "sreg"):
        context.error(node, "space", f"'.{space}' variables are no longer part of PTX")
    if node.linkage == ".common" and space != "global":
        context.error(node, "space", ".common variables live in .global space only")


def _check_declarator(context: Context, node: Variable, one: Declarator) -> None:
    dimensions = one.dimensions
    initializer = one.initializer
    if node.space == "reg" and dimensions:
        context.error(one, "type", f"'{one.name}' is an array, which registers cannot be")
    if initializer is not None and (
        node.space not in ("global", "const") or node.linkage == ".extern"
    ):
        what = "an .extern variable" if node.linkage == ".extern" else f".{node.space} space"
        context.error(initializer, "initializer", f"{what} takes no initial value")
        return
    if any(size is None for size in dimensions[1:]):
        context.error(one, "type", "only the first array size may be left out")
    open_ended = bool(dimensions) and (dimensions[0] is None or 0 in dimensions)
    if open_ended and initializer is None and node.linkage != ".extern":
        context.error(
            one, "type", f"the array '{one.name}' has no size",
            "give it one, an initialiser, or .extern",
        )  # fmt: skip
    if initializer is not None:
        sizes = (*dimensions, node.vector) if node.vector > 1 else dimensions
        _check_initializer(context, node.type, sizes, initializer)


def _check_initializer(
    context: Context, scalar: str, sizes: tuple[int | None, ...], value: Node
) -> None:
    if scalar in _HANDLES:
        return
    if value.kind == "InitializerList":
        if not sizes:
            context.error(value, "initializer", "a scalar takes a value without braces")
            return
        elements = value.children
        if sizes[0] is not None and len(elements) > sizes[0]:
            context.error(
                elements[sizes[0]], "initializer",
                f"{len(elements)} values for {sizes[0]} elements",
            )  # fmt: skip
            return
        for element in elements:
            _check_initializer(context, scalar, sizes[1:], element)
        return
    if sizes:
        context.error(value, "initializer", "an array takes its values in braces")
        return
    _check_value(context, scalar, value)


def _check_value(context: Context, scalar: str, value: Node) -> None:
    names = [value] if value.kind == "Name" else list(value.find("Name"))
    for name in names:
        if name.text in ("generic", "WARP_SZ"):
            continue
        if context.scopes.resolve(name) is None:
            context.error(name, "undeclared", f"'{name.identifier}' is not declared")
    if names:
        return
    number = evaluate(value)
    is_float = scalar in ("f16", "f16x2", "f32", "f64")
    if isinstance(number, int) and is_float:
        context.error(value, "initializer", f"a .{scalar} needs a float such as 1.0")
    elif isinstance(number, float) and not is_float and not scalar.startswith("b"):
        context.error(value, "initializer", f"a .{scalar} needs an integer")
