"""Texture fetches and surface accesses by object, as the functions of CUDA C++."""

from __future__ import annotations

from ptxkit.decompiler.lift.arithmetic import Lifter
from ptxkit.decompiler.lift.context import Intrinsic, Lift, NotLiftedError, types_of, words_of
from ptxkit.decompiler.lift.values import Step, raw, var
from ptxkit.syntax import Address, Instruction

#: The function that fetches from a texture of a shape, and how many coordinates it takes.
_FETCH = {
    "1d": ("tex1D", 1), "2d": ("tex2D", 2), "3d": ("tex3D", 3), "cube": ("texCubemap", 3),
    "a1d": ("tex1DLayered", 1), "a2d": ("tex2DLayered", 2), "acube": ("texCubemapLayered", 3),
}  # fmt: skip
_VECTORS = {"f32": "float4", "s32": "int4", "u32": "uint4"}


def _tex(lift: Lift, node: Instruction) -> None:
    """tex by an object, with coordinates in floating point or, for 1D, whole."""
    words = words_of(node)
    shape = next((w for w in words if w in _FETCH), "")
    types = types_of(words)
    place = node.operands[1]
    levels = node.operands[2:] if "level" in words else ()
    if not shape or "v4" not in words or types[0] not in _VECTORS or node.name != "tex":
        raise NotLiftedError(node.opcode)
    if len(node.operands) != 2 + len(levels) or not isinstance(place, Address):
        raise NotLiftedError(node.opcode)
    if len(place.rest) != 1 or place.base.index not in lift.versions.reads or "grad" in words:
        raise NotLiftedError(node.opcode)
    name, count = _FETCH[shape]
    if types[1] == "s32":
        if shape != "1d" or levels:
            raise NotLiftedError(node.opcode)
        name = "tex1Dfetch"
    name += "Lod" * len(levels)
    coordinates = list(place.rest[0].children if place.rest[0].kind == "Vector" else place.rest)
    # PTX has the layer first, C++ after the coordinates.
    layers = [coordinates.pop(0)] if shape[0] == "a" else []
    operands = [*((c, types[1]) for c in coordinates[:count]), *((one, "s32") for one in layers)]
    operands += [(one, "f32") for one in levels]
    values = [lift.read(one, type) for one, type in operands]
    takes = ("u64", *(type for _, type in operands))
    call = Intrinsic(f"{name}<{_VECTORS[types[0]]}>", takes, types[0])
    target = node.operands[0]
    if target.kind != "Vector":
        raise NotLiftedError(node.opcode)
    whole = lift.fresh(128, "vector")
    whole.variable.register = types[0]
    value = raw("texture", 128, (lift.read(place.base, "u64"), *values), (call, lift.number()))
    lift.steps.append(Step("set", [whole], [value], line=lift.line))
    for number, child in enumerate(target.children):
        lift.write(child, types[0], raw("component", 32, (var(whole),), number))


_SURFACES = {"1d": ("surf1D", 1), "2d": ("surf2D", 2), "3d": ("surf3D", 3)}
_NUMBERS = {"b8": "unsigned char", "b16": "unsigned short", "b32": "unsigned int",
            "b64": "unsigned long long"}  # fmt: skip


def _surface(lift: Lift, node: Instruction) -> None:
    """One number read from a surface, or written to it, by bytes."""
    words = words_of(node)
    shape = next((w for w in words if w in _SURFACES), "")
    type = words[-2] if words[-1] == "trap" else ""
    place = next((o for o in node.operands if isinstance(o, Address)), None)
    if not shape or type not in _NUMBERS or words[:2] != ["b", shape] or len(words) != 4:
        raise NotLiftedError(node.opcode)
    if place is None or len(place.rest) != 1 or place.base.index not in lift.versions.reads:
        raise NotLiftedError(node.opcode)
    name, count = _SURFACES[shape]
    coordinates = place.rest[0].children if place.rest[0].kind == "Vector" else place.rest
    where = [lift.read(place.base, "u64"), *(lift.read(c, "s32") for c in coordinates[:count])]
    takes = ("u64", *("s32" for _ in where[1:]))
    number = node.operands[0] if node.name == "suld" else node.operands[-1]
    number = number.children[0] if number.kind == "Vector" else number
    if node.name == "sust":
        written = type if type == "b32" else f"u{type[1:]}"
        # Four bytes are what they are: a float, too. Fewer would be an int without a word.
        kind = "" if type == "b32" else f"<{_NUMBERS[type]}>"
        call = Intrinsic(f"{name}write{kind}", (written, *takes), "")
        return lift.effect(lift.collective(call, lift.read(number, type), *where))
    call = Intrinsic(f"{name}read<{_NUMBERS[type]}>", takes, f"u{type[1:]}")
    return lift.write(number, f"u{type[1:]}", lift.collective(call, *where))


LIFTERS: dict[str, Lifter] = {"tex": _tex, "suld": _surface, "sust": _surface}
