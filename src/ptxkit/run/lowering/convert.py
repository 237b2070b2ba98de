"""cvt in all its forms."""

from __future__ import annotations

import re

from ptxkit._native import NO_SLOT, Node
from ptxkit.run.layout import scalar_bytes
from ptxkit.run.lower import Lowering
from ptxkit.run.lowering.words import ROUNDING, Lower, float_mode, types_of, words_of
from ptxkit.syntax import Instruction

#: The numbers of types in native/sim/convert.hpp.
_SCALARS = {
    name: number
    for number, name in enumerate("u8 s8 u16 s16 u32 s32 u64 s64 f16 bf16 f32 f64".split())
}
#: The numbers of formats in native/sim/ops_tiny.cpp.
_PAIRS = {
    name: number
    for number, name in enumerate(
        "f32 f16x2 bf16x2 e4m3x2 e5m2x2 e2m3x2 e3m2x2 e2m1x2 ue8m0x2".split()
    )
}
#: Conversions that have an operation of their own, which a GPU was compared with.
_MEASURED = {
    ("tf32", "f32"), ("f16x2", "f32"), ("bf16x2", "f32"),
    *((to, source) for to in ("e4m3x2", "e5m2x2") for source in ("f32", "f16x2")),
    *(("f16x2", source) for source in ("e4m3x2", "e5m2x2")),
}  # fmt: skip
_FLOATS = ("f16", "bf16", "f32", "f64")


def _cvt(low: Lowering, node: Instruction) -> None:
    words = words_of(node)
    if "pack" in words:
        return _pack(low, node, words)
    to, source = types_of(words)[-2:]
    if to in _SCALARS and source in _SCALARS:
        return _scalar(low, node, words)
    if "rs" in words:
        raise ValueError("stochastic rounding")
    if "s2f6x2" in words:
        raise ValueError("this fixed-point format")
    if (to, source) not in _MEASURED:
        return _pairs(low, node, words)
    away = "rna." if "rna" in words else ""
    slots = [low.destination(node.operands[0])]
    slots += [low.source(operand, source) for operand in node.operands[1:]]
    low.emit(f"cvt.{away}{to}.{source}", slots, immediate=float_mode(words))
    return None


def _pairs(low: Lowering, node: Instruction, words: list[str]) -> None:
    """Pairs in the formats of the Blackwell generation."""
    to, source = types_of(words)[-2:]
    target, *operands = node.operands
    scale = operands.pop() if any(word.startswith("scaled") for word in words) else None
    slots = [low.source(operand, source) for operand in operands]
    slots += [NO_SLOT] * (2 - len(slots))
    slots.append(NO_SLOT if scale is None else low.source(scale, "b16"))
    register = low.register(target)
    low.emit(
        "cvt.pairs", [register.slot, *slots], immediate=float_mode(words),
        target=_PAIRS[source] | _PAIRS[to] << 8, width=register.bytes,
        count=low.operand_bytes(operands[0]) or scalar_bytes(source),
    )  # fmt: skip


def _scalar(low: Lowering, node: Instruction, words: list[str]) -> None:
    to, source = types_of(words)[-2:]
    mode = float_mode(words)
    if to not in _FLOATS and source in _FLOATS and not any(word in ROUNDING for word in words):
        mode |= ROUNDING["rz"]
    target = low.register(node.operands[0])
    slot, size = _source(low, node.operands[1], source)
    types = _SCALARS[source] | _SCALARS[to] << 8
    low.emit(
        "cvt", [target.slot, slot], immediate=mode, target=types, width=target.bytes, count=size
    )


def _source(low: Lowering, node: Node, scalar: str) -> tuple[int, int]:
    """The slot and the bytes of a source: its register may be wider than the type."""
    if low.operand_bytes(node):
        register = low.register(node)
        return register.slot, register.bytes
    return low.source(node, scalar), scalar_bytes(scalar)


def _pack(low: Lowering, node: Instruction, words: list[str]) -> None:
    """cvt.pack: two integers saturated into the low bits, a third moved up above them."""
    small = next(match for word in words if (match := re.fullmatch(r"([us])(2|4|8|16)", word)))
    sources = [low.source(operand, "s32") for operand in node.operands[1:]]
    if len(sources) == 2:
        sources.append(low.constant(0, 4))
    low.emit(
        "cvt.pack",
        [low.destination(node.operands[0]), *sources],
        immediate=int(small[1] == "s"),
        width=int(small[2]),
    )


LOWERINGS: dict[str, Lower] = {"cvt": _cvt}
