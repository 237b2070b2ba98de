"""Texture fetches, surface accesses and questions about both."""

from __future__ import annotations

from ptxkit._native import NO_SLOT, Node
from ptxkit.run.lower import Lowering
from ptxkit.run.lowering.memory import elements
from ptxkit.run.lowering.words import Lower, types_of, words_of
from ptxkit.syntax import Address, Instruction, Name

#: Dimensions, and whether a layer comes first.
_GEOMETRIES = {
    "1d": (1, False), "2d": (2, False), "3d": (3, False), "a1d": (1, True), "a2d": (2, True),
}  # fmt: skip
_BOUNDS = {"trap": 0, "clamp": 1, "zero": 2}
_QUERIES = {
    "width": 0, "height": 1, "depth": 2, "array_size": 3, "normalized_coords": 4,
    "num_mipmap_levels": 5, "num_samples": 5,
}  # fmt: skip
_REDUCTIONS = {"add": 0, "min": 1, "max": 2, "and": 3, "or": 4}
#: Operands between the address and the offsets: the level, or two derivatives.
_LEVELS = {"level": 1, "grad": 2}


def _handle(low: Lowering, node: Node) -> tuple[int, tuple[Node, ...]]:
    """The slot of the handle in an address, and the operands beside it."""
    if not isinstance(node, Address):
        raise ValueError("this operand")
    base = node.base
    beside = tuple(child for child in node.children if child.index != base.index)
    declaration = low.scopes.resolve(base) if isinstance(base, Name) else None
    if declaration is not None and declaration.kind == "register":
        return low.register(base).slot, beside
    _, place = low.symbol(base, declaration)
    fresh = low.new_register("b64")
    at = low.program.add_list(low.state.index, [fresh.slot])
    low.emit("ld", [NO_SLOT], immediate=place, target=8 << 4 | 1, list=at, list_size=1, width=8)
    return fresh.slot, beside


def _geometry(words: list[str]) -> tuple[int, bool]:
    shape = next((word for word in words if word in _GEOMETRIES or word in ("cube", "acube")), "")
    if shape not in _GEOMETRIES:
        raise ValueError("only textures of one to three dimensions and layers of such are")
    return _GEOMETRIES[shape]


def _coordinates(low: Lowering, words: list[str], beside: tuple[Node, ...]) -> list[int]:
    if len(beside) != 1:
        raise ValueError("samplers apart from textures are not")
    dimensions, layered = _geometry(words)
    parts = elements(beside[0])[: dimensions + layered]
    return [low.source(part, "b32") for part in parts]


def _tex(low: Lowering, node: Instruction) -> None:
    words = words_of(node)
    dimensions, layered = _geometry(words)
    result, coordinate = types_of(words)[-2:]
    if result not in ("f32", "u32", "s32"):
        raise ValueError("results of half precision are not")
    target = node.operands[0]
    predicate = NO_SLOT
    if target.kind == "Pair":
        target, which = target.children
        predicate = low.destination(which)
    destinations = [low.destination(one) for one in elements(target)]
    handle, beside = _handle(low, node.operands[1])
    coordinates = _coordinates(low, words, beside)
    more = node.operands[2 + next((_LEVELS[word] for word in words if word in _LEVELS), 0) :]
    offsets: list[int] = []
    for operand in more:
        first = elements(operand)[0]
        if operand.kind != "Vector" and isinstance(first, Name) and _is_float(low, first):
            raise ValueError("comparisons of depth are not")
        offsets = [low.source(one, "s32") for one in elements(operand)[:dimensions]]
    component = 0
    if node.name == "tld4":
        component = 1 + "rgba".index(words[0])
    slots = [*destinations, *coordinates, *offsets]
    at = low.program.add_list(low.state.index, slots)
    by_index = coordinate == "s32"
    low.emit(
        "tex",
        [handle, predicate],
        immediate=component,
        list=at,
        list_size=len(slots),
        count=dimensions | layered << 2 | by_index << 3 | bool(offsets) << 4,
    )


def _is_float(low: Lowering, node: Name) -> bool:
    declaration = low.scopes.resolve(node)
    return declaration is not None and declaration.type == "f32"


def _query(low: Lowering, node: Instruction) -> None:
    words = words_of(node)
    which = next((_QUERIES[word] for word in words if word in _QUERIES), None)
    if which is None:
        raise ValueError("this question is not")
    handle, _ = _handle(low, node.operands[1])
    low.emit("txq", [low.destination(node.operands[0]), handle], immediate=which)


def _surface(low: Lowering, node: Instruction) -> None:
    """suld, sust and sured."""
    words = words_of(node)
    dimensions, layered = _geometry(words)
    scalar = types_of(words)[-1]
    load = node.name == "suld"
    formatted = "p" in words
    if formatted and node.name == "sured":
        raise ValueError("reductions by texels are not")
    value, place = node.operands if load else reversed(node.operands)
    parts = elements(value)
    size = int(scalar[1:]) // 8
    registers = [low.register(part) for part in parts if isinstance(part, Name)]
    width = registers[0].bytes if registers else max(size, 2)
    slots = [low.destination(part) if load else low.source(part, f"b{8 * width}") for part in parts]
    handle, beside = _handle(low, place)
    slots += _coordinates(low, words, beside)
    at = low.program.add_list(low.state.index, slots)
    bounds = next(_BOUNDS[word] for word in words if word in _BOUNDS)
    operation = next((_REDUCTIONS[word] for word in words if word in _REDUCTIONS), 0)
    mode = bounds | size << 2 | len(parts) << 6 | operation << 9 | (scalar[0] == "s") << 12
    low.emit(
        f"{node.name}.p" if formatted else node.name,
        [handle],
        immediate=mode,
        list=at,
        list_size=len(slots),
        count=dimensions | layered << 2 | 1 << 3,
        width=width,
        target=1,
    )


LOWERINGS: dict[str, Lower] = {
    "tex": _tex,
    "tld4": _tex,
    "txq": _query,
    "suq": _query,
    "suld": _surface,
    "sust": _surface,
    "sured": _surface,
}
