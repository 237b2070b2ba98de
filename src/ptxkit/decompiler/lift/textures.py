"""Texture fetches and surface accesses by object, as the functions of CUDA C++."""

from __future__ import annotations

from collections.abc import Sequence

from ptxkit.decompiler.lift.arithmetic import Lifter
from ptxkit.decompiler.lift.context import Intrinsic, Lift, NotLiftedError, types_of, words_of
from ptxkit.decompiler.lift.values import Step, Value, raw, var
from ptxkit.syntax import Address, Instruction, Node

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
    _fetched(lift, call, [lift.read(place.base, "u64"), *values], 32, target.children)


_SURFACES = {
    "1d": ("surf1D", 1), "2d": ("surf2D", 2), "3d": ("surf3D", 3),
    "a1d": ("surf1DLayered", 1), "a2d": ("surf2DLayered", 2),
}  # fmt: skip
_NUMBERS = {"b8": "unsigned char", "b16": "unsigned short", "b32": "unsigned int",
            "b64": "unsigned long long"}  # fmt: skip
#: What is said of places outside, behind everything else.
_OUTSIDE = {"trap": (), "clamp": ("cudaBoundaryModeClamp",), "zero": ("cudaBoundaryModeZero",)}
_COUNTS = {"v2": 2, "v4": 4}
#: Of these there are vectors that surfaces are made of.
_IN_VECTORS = frozenset(("b8", "b16", "b32"))


def _surface(lift: Lift, node: Instruction) -> None:
    """A number or a vector read from a surface, or written to it, by bytes."""
    words = words_of(node)
    if len(words) not in (4, 5) or words[0] != "b" or words[1] not in _SURFACES:
        raise NotLiftedError(node.opcode)
    shape, type, outside = words[1], words[-2], words[-1]
    counts = words[2:-2]
    if type not in _NUMBERS or outside not in _OUTSIDE or any(w not in _COUNTS for w in counts):
        raise NotLiftedError(node.opcode)
    place = next((o for o in node.operands if isinstance(o, Address)), None)
    if place is None or len(place.rest) != 1 or place.base.index not in lift.versions.reads:
        raise NotLiftedError(node.opcode)
    name, count = _SURFACES[shape]
    coordinates = list(place.rest[0].children if place.rest[0].kind == "Vector" else place.rest)
    layers = [coordinates.pop(0)] if shape[0] == "a" else []
    at = [lift.read(c, "s32") for c in (*coordinates[:count], *layers)]
    where = [lift.read(place.base, "u64"), *at]
    takes = ("u64", *("s32" for _ in at))
    number = node.operands[0] if node.name == "suld" else node.operands[-1]
    numbers = list(number.children) if number.kind == "Vector" else [number]
    if len(numbers) != (_COUNTS[counts[0]] if counts else 1):
        raise NotLiftedError(node.opcode)
    if counts and type not in _IN_VECTORS:
        raise NotLiftedError(node.opcode)
    written = type if type == "b32" else f"u{type[1:]}"
    ends = _OUTSIDE[outside]
    if node.name == "sust":
        # Four bytes are what they are: a float, too. Fewer would be an int without a word.
        kind = "" if type == "b32" or counts else f"<{_NUMBERS[type]}>"
        all_takes = (*(written for _ in numbers), *takes)
        packs = len(numbers) if counts else 0
        call = Intrinsic(f"{name}write{kind}", all_takes, "", packs=packs, ends=ends)
        values = [lift.read(one, type) for one in numbers]
        return lift.effect(lift.collective(call, *values, *where))
    width = int(type[1:])
    if not counts:
        call = Intrinsic(f"{name}read<{_NUMBERS[type]}>", takes, f"u{width}", ends=ends)
        return lift.write(numbers[0], f"u{width}", lift.collective(call, *where))
    call = Intrinsic(f"{name}read", takes, f"u{width}", ends=ends)
    return _fetched(lift, call, where, width, numbers)


def _fetched(
    lift: Lift, call: Intrinsic, values: list[Value], width: int, targets: Sequence[Node]
) -> None:
    """A vector that a call gives, and its parts in registers."""
    whole = lift.fresh(width * len(targets), "vector")
    whole.variable.register = call.gives
    data = (call, lift.number(), (width, len(targets)))
    value = raw("texture", width * len(targets), tuple(values), data)
    lift.steps.append(Step("set", [whole], [value], line=lift.line))
    for number, child in enumerate(targets):
        lift.write(child, call.gives, raw("component", width, (var(whole),), number))


LIFTERS: dict[str, Lifter] = {"tex": _tex, "suld": _surface, "sust": _surface}
