"""mov: between registers, vectors and their parts, from special registers."""

from __future__ import annotations

from ptxkit._native import NO_SLOT, Node
from ptxkit.run.layout import scalar_bytes
from ptxkit.run.lower import Lowering
from ptxkit.run.lowering.words import Lower, bits_type, types_of, words_of
from ptxkit.syntax import Instruction


def _mov(low: Lowering, node: Instruction) -> None:
    scalar = types_of(words_of(node))[-1]
    target, source = node.operands
    if target.kind == "Vector" and source.kind == "Vector":
        _vector(low, target.children, source.children, scalar)
        return
    if target.kind == "Vector":
        parts = [low.destination(one) for one in target.children]
        size = scalar_bytes(scalar)
        at = low.program.add_list(low.state.index, parts)
        slots = [NO_SLOT, low.source(source, scalar)]
        low.emit(
            "unpack", slots, list=at, list_size=len(parts), width=size // len(parts), count=size
        )
        return
    if source.kind == "Vector":
        size = scalar_bytes(scalar)
        part = size // len(source.children)
        slots = [low.source(one, f"b{8 * part}") for one in source.children]
        at = low.program.add_list(low.state.index, slots)
        low.emit(
            "pack", [low.destination(target)], list=at, list_size=len(slots), width=part, count=size
        )
        return
    if scalar != "pred" and low.is_special(source):
        register = low.register(target)
        low.special(source, scalar, register)
        return
    kind = scalar if scalar == "pred" else bits_type(scalar)
    low.emit(f"mov.{kind}", [low.destination(target), low.source(source, scalar)])


def _vector(
    low: Lowering, targets: tuple[Node, ...], sources: tuple[Node, ...], scalar: str
) -> None:
    """Element by element, through fresh registers: the two vectors may share some."""
    kind = bits_type(scalar)
    moved = [
        (target, low.source(source, scalar))
        for target, source in zip(targets, sources, strict=True)
    ]
    fresh = [low.new_register(kind).slot for _ in moved]
    for slot, (_, source) in zip(fresh, moved, strict=True):
        low.emit(f"mov.{kind}", [slot, source])
    for slot, (target, _) in zip(fresh, moved, strict=True):
        if target.kind != "Sink":
            low.emit(f"mov.{kind}", [low.destination(target), slot])


LOWERINGS: dict[str, Lower] = {"mov": _mov}
