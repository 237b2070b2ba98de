"""Declarations: types, alignment, sizes, where each space may stand."""

from __future__ import annotations

from ptxkit._native import Node
from ptxkit.isa.directives import DIRECTIVES
from ptxkit.isa.rules.context import Context
from ptxkit.isa.rules.initializers import check_initializer
from ptxkit.isa.targets import Requirement
from ptxkit.isa.types import REGISTER_TYPES, SCALAR_TYPES
from ptxkit.syntax import Declarator, Parameter, Variable

_ATTRIBUTES = frozenset((".managed", ".unified"))
HANDLES = frozenset(("texref", "samplerref", "surfref"))
VARIABLE_TYPES = REGISTER_TYPES | HANDLES
#: Types that came later than their fellows.
_NEEDS = {"b128": Requirement.parse("8.3/70")}
#: What to declare for a type that only instructions have.
_STORED_AS = {
    "bf16": "b16", "tf32": "b32", "bf16x2": "b32", "u16x2": "b32", "s16x2": "b32",
    "e4m3x2": "b16", "e5m2x2": "b16", "b1": "pred", "f8": "b8", "f128": "b128",
    "u128": "b128", "s128": "b128", "int": "s32", "float": "f32", "double": "f64",
}  # fmt: skip


def check_variable(context: Context, node: Variable, *, in_body: bool) -> None:
    """Report what is wrong with one declaration."""
    declarators = node.declarators
    if not declarators:
        context.warning(node, "empty", "this declares nothing", "add a name, or remove it")
    if not check_type(context, node):
        return
    space, vector, scalar = node.layout
    if scalar in HANDLES and in_body:
        context.error(node, "type", f"a .{scalar} variable stands at module level only")
    elif scalar in HANDLES and space != "global":
        context.error(
            context.word(node, f".{space}"), "space", f"a .{scalar} variable is in .global space"
        )
    elif not in_body:
        _check_module_level(context, node)
    elif space in ("tex", "sreg"):
        context.error(node, "space", f"'.{space}' variables are no longer part of PTX")
    if scalar == "pred" and space != "reg":
        context.error(
            context.word(node, ".pred"), "type", "predicates live in .reg space only",
            "use .b8 in memory",
        )  # fmt: skip
    elif scalar == "pred" and vector > 1:
        context.error(node, "type", "there are no vectors of predicates")
    if vector * SCALAR_TYPES[scalar].width > 128:
        context.error(
            context.word(node, f".v{vector}"), "type",
            f"a vector may be 128 bits wide at most; .v{vector} .{scalar} has "
            f"{vector * SCALAR_TYPES[scalar].width}",
        )  # fmt: skip
    for attribute in node.attributes:
        check_attributes(context, attribute)
    for declarator in declarators:
        _check_declarator(context, node, declarator, space)


def check_attributes(context: Context, node: Node) -> None:
    """Report attributes that do not exist or come too early."""
    for _, word, start, end in node.tokens():
        row = DIRECTIVES.get(word[1:]) if word.startswith(".") else None
        if word in _ATTRIBUTES and row is not None:
            context.require((start, end), f"the attribute '{word}'", row.requirement)
        elif word.startswith(".") and word != ".attribute":
            context.error(
                (start, end), "attribute", f"there is no attribute '{word}'",
                "attributes are .managed and .unified(number, number)",
            )  # fmt: skip


def check_type(context: Context, node: Variable | Parameter) -> bool:
    """Report an unknown type or a bad alignment; False where the type is unknown."""
    scalar = node.type
    if scalar not in VARIABLE_TYPES:
        stored = _STORED_AS.get(scalar)
        context.error(
            context.word(node, f".{scalar}"), "unknown-type",
            f"'.{scalar}' is not a type a variable can have",
            f"declare it as .{stored}" if stored else
            "types are .b8 to .b128, .u8 to .u64, .s8 to .s64, .f16, .f16x2, .f32, .f64, .pred",
        )  # fmt: skip
        return False
    if scalar in _NEEDS:
        context.require(context.word(node, f".{scalar}"), f"the type .{scalar}", _NEEDS[scalar])
    independent = "texmode_independent" in context.target_options
    if scalar == "samplerref" and not independent:
        context.error(
            context.word(node, ".samplerref"), "type",
            "samplers are variables of their own in texmode_independent only",
            "write '.target sm_90, texmode_independent'",
        )  # fmt: skip
    alignment = node.alignment
    if alignment is not None and (alignment < 1 or alignment & (alignment - 1)):
        context.error(
            context.word(node, ".align", 1), "alignment",
            f"the alignment {alignment} is not a power of two",
        )  # fmt: skip
    return True


def _check_module_level(context: Context, node: Variable) -> None:
    space = node.space
    if space in ("reg", "local"):
        context.error(
            node, "space", f"a .{space} variable cannot stand at module level",
            "move it into a function",
        )  # fmt: skip
    elif space == "param":
        context.error(
            node, "space", "a parameter cannot stand at module level",
            "write it in the parentheses after a function's name",
        )  # fmt: skip
    elif space in ("tex", "sreg"):
        context.error(node, "space", f"'.{space}' variables are no longer part of PTX")
    if node.linkage == ".common" and space != "global":
        context.error(node, "space", ".common variables live in .global space only")


def _check_declarator(context: Context, node: Variable, one: Declarator, space: str) -> None:
    dimensions = one.dimensions
    initializer = one.initializer
    if space == "reg" and dimensions:
        context.error(
            one, "type", f"'{one.name}' is an array, which registers cannot be",
            f"declare several registers: {one.name}<{dimensions[0] or 8}>",
        )  # fmt: skip
        return
    if one.count is not None and one.count >= 1 << 32:
        context.error(one, "type", "a range has fewer than 2^32 registers")
    if initializer is not None and (space not in ("global", "const") or node.linkage == ".extern"):
        what = "an .extern variable" if node.linkage == ".extern" else f".{space} space"
        context.error(
            initializer, "initializer", f"{what} takes no initial value",
            "assign it in a function, by an instruction",
        )  # fmt: skip
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
        check_initializer(context, node.type, sizes, initializer)
