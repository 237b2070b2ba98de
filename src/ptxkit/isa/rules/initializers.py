"""Initial values: their shape, their types, and the names that stand in them."""

from __future__ import annotations

from ptxkit._native import Node
from ptxkit.isa.rules.constants import check_constants
from ptxkit.isa.rules.context import Context
from ptxkit.syntax import FieldInitializer, Function, evaluate

_COMMON = frozenset("width height depth channel_data_type channel_order array_size".split())
_ADDRESSING = frozenset("addr_mode_0 addr_mode_1 addr_mode_2 filter_mode".split())
#: The fields of the types that stand for textures, samplers and surfaces.
FIELDS: dict[str, frozenset[str]] = {
    "texref": _COMMON
    | _ADDRESSING
    | frozenset("normalized_coords num_mipmap_levels num_samples".split()),
    "samplerref": _ADDRESSING | {"force_unnormalized_coords"},
    "surfref": _COMMON | {"memory_layout"},
}
#: Types that can hold an address, and those that can hold a byte of one.
_ADDRESS = frozenset(("u32", "u64"))
_BYTE = frozenset(("u8", "u32", "u64"))
_MASKS = frozenset(0xFF << shift for shift in range(0, 64, 8))


def check_initializer(
    context: Context, scalar: str, sizes: tuple[int | None, ...], value: Node
) -> None:
    """Report what is wrong with the initial value of a variable of this type and shape."""
    pending = [(sizes, value)]
    while pending:
        shape, node = pending.pop()
        if node.kind == "InitializerList" and (shape or scalar in FIELDS):
            if not shape:
                _check_fields(context, scalar, node)
                continue
            elements = node.children
            if shape[0] is not None and len(elements) > shape[0]:
                context.error(
                    elements[shape[0]], "initializer",
                    f"{len(elements)} values for {shape[0]} elements",
                )  # fmt: skip
                continue
            pending += [(shape[1:], element) for element in reversed(elements)]
        elif node.kind == "InitializerList":
            context.error(node, "initializer", "a scalar takes a value without braces")
        elif shape:
            context.error(
                node, "initializer", "an array or vector takes its values in braces",
                f"write {{{node.text[:40]}}}",
            )  # fmt: skip
        else:
            _check_value(context, scalar, node)


def _check_fields(context: Context, scalar: str, node: Node) -> None:
    known = FIELDS[scalar]
    for field in node.children:
        if not isinstance(field, FieldInitializer):
            context.error(
                field, "initializer", f"a .{scalar} is initialised by fields",
                f"write 'name = value' with one of {' '.join(sorted(known))}",
            )  # fmt: skip
        elif field.name not in known:
            place = context.word(field, field.name)
            context.error(
                place, "initializer", f"a .{scalar} has no field '{field.name}'",
                "its fields are " + " ".join(sorted(known)),
            )  # fmt: skip


def _check_value(context: Context, scalar: str, value: Node) -> None:
    if scalar in FIELDS:
        context.error(
            value, "initializer", f"a .{scalar} is initialised by fields in braces",
            "write {width = 64, height = 64}",
        )  # fmt: skip
        return
    if scalar in ("f16", "f16x2"):
        context.error(
            value, "initializer", f"a .{scalar} variable takes no initial value",
            "declare it as " + (".b16" if scalar == "f16" else ".b32") + " and give its bits",
        )  # fmt: skip
        return
    is_float = scalar in ("f32", "f64")
    # Tables are long, and nearly all of them are plain numbers of the right kind.
    if value.kind == "Integer" and not is_float:
        return
    if value.kind == "Float" and (is_float or scalar.startswith("b")):
        return
    names = [value] if value.kind == "Name" else list(value.find("Name"))
    names = [name for name in names if name.text != "WARP_SZ" and not _is_operator(name)]
    if names:
        _check_symbol(context, scalar, value, names[0])
        return
    if not check_constants(context, value):
        return
    number = evaluate(value)
    if isinstance(number, int) and is_float:
        context.error(
            value, "initializer", f"a .{scalar} needs a float",
            f"write {number}.0" if abs(number) < 1 << 53 else "write it with a decimal point",
        )  # fmt: skip
    elif isinstance(number, float) and not is_float and not scalar.startswith("b"):
        context.error(value, "initializer", f"a .{scalar} needs an integer")


def _is_operator(name: Node) -> bool:
    """True for the word ``generic`` of ``generic(x)``."""
    return (
        name.text == "generic"
        and name.parent.kind == "Application"
        and (name.next_sibling is not None)
    )


def _check_symbol(context: Context, scalar: str, value: Node, name: Node) -> None:
    declaration = context.scopes.resolve(name)
    if declaration is None:
        later = context.scopes.root.resolve(name.identifier, 1 << 62)
        hint = (
            f"it is declared at line {later.node.line}; move that up"
            if later is not None and later.node.line > name.line
            else None
        )
        context.error(name, "undeclared", f"'{name.identifier}' is not declared", hint)
        return
    mask = value.children[0] if value.kind == "Application" else None
    is_mask = mask is not None and mask.kind == "Integer"
    if is_mask and mask is not None and evaluate(mask) not in _MASKS:
        context.error(
            mask, "initializer", f"the mask {mask.text} does not choose one byte",
            "write 0xFF, 0xFF00, 0xFF0000 ...",
        )  # fmt: skip
    elif scalar not in (_BYTE if is_mask else _ADDRESS):
        context.error(
            value, "initializer",
            f"a .{scalar} cannot hold {'a byte of an' if is_mask else 'an'} address",
            "use .u8" if is_mask else "use .u64",
        )  # fmt: skip
    elif declaration.kind != "function" and declaration.space not in ("global", "const"):
        context.error(
            name, "initializer",
            f"'{name.identifier}' is in .{declaration.space} space; an initial value names a "
            "variable in .global or .const space, or a function",
        )  # fmt: skip
    elif isinstance(declaration.node, Function) and value.kind != "Name" and not is_mask:
        context.error(
            value, "initializer", "a function's name stands alone in an initial value",
            f"write {name.identifier}",
        )  # fmt: skip
