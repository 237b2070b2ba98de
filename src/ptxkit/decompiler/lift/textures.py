"""Texture fetches and surface accesses by object, as the functions of CUDA C++."""

from __future__ import annotations

from ptxkit.decompiler.lift.arithmetic import Lifter
from ptxkit.decompiler.lift.context import Intrinsic, Lift, NotLiftedError, types_of, words_of
from ptxkit.decompiler.lift.values import Step, raw, var
from ptxkit.syntax import Address, Instruction

_FETCH = {"1d": ("tex1D", 1), "2d": ("tex2D", 2), "3d": ("tex3D", 3)}
_VECTORS = {"f32": "float4", "s32": "int4", "u32": "uint4"}


def _tex(lift: Lift, node: Instruction) -> None:
    """tex by an object, with coordinates in floating point or, for 1D, whole."""
    words = words_of(node)
    shape = next((w for w in words if w in _FETCH), "")
    types = types_of(words)
    place = node.operands[1]
    if not shape or "v4" not in words or types[0] not in _VECTORS or node.name != "tex":
        raise NotLiftedError(node.opcode)
    if len(node.operands) != 2 or not isinstance(place, Address) or len(place.rest) != 1:
        raise NotLiftedError(node.opcode)
    if place.base.index not in lift.versions.reads or "level" in words or "grad" in words:
        raise NotLiftedError(node.opcode)
    name, count = _FETCH[shape]
    if types[1] == "s32":
        if shape != "1d":
            raise NotLiftedError(node.opcode)
        name = "tex1Dfetch"
    coordinates = place.rest[0].children if place.rest[0].kind == "Vector" else [place.rest[0]]
    values = [lift.read(c, types[1]) for c in coordinates[:count]]
    takes = ("u64", *(types[1] for _ in values))
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


LIFTERS: dict[str, Lifter] = {"tex": _tex}
