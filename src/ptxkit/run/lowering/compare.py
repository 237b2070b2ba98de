"""Comparisons and what chooses by them."""

from __future__ import annotations

from ptxkit._native import NO_SLOT
from ptxkit.run.layout import scalar_bytes
from ptxkit.run.lower import Lowering
from ptxkit.run.lowering.words import Lower, bits_type, types_of, words_of
from ptxkit.syntax import Instruction

_COMPARISONS = frozenset("eq ne lt le gt ge lo ls hi hs equ neu ltu leu gtu geu num nan".split())
_BOOLEAN = {"and": 1, "or": 2, "xor": 3}
#: What ``set`` writes where the comparison holds: all ones, or 1.0 for a float.
_ONE = {"f16": 0x3C00, "bf16": 0x3F80, "f32": 0x3F800000, "f16x2": 0x3C00, "bf16x2": 0x3F80}
_PAIRS = ("f16x2", "bf16x2")


def _compare(low: Lowering, node: Instruction, slots: list[int], scalar: str) -> None:
    words = words_of(node)
    comparison = next(word for word in words if word in _COMPARISONS)
    bits = next((_BOOLEAN[word] for word in words if word in _BOOLEAN), 0)
    bits |= 4 if "ftz" in words else 0
    operands = node.operands[1:]
    slots = slots + [low.source(operand, scalar) for operand in operands[:2]]
    slots.append(low.predicate(operands[2]) if bits & 3 else NO_SLOT)
    low.emit(f"setp.{comparison}.{scalar}", slots, immediate=bits)


def _setp(low: Lowering, node: Instruction) -> None:
    first = node.operands[0]
    parts = first.children if first.kind == "Pair" else (first,)
    slots = [low.destination(part) for part in parts]
    slots += [NO_SLOT] * (2 - len(slots))
    _compare(low, node, slots, types_of(words_of(node))[-1])


def _set(low: Lowering, node: Instruction) -> None:
    target, scalar = types_of(words_of(node))[-2:]
    first, second = low.new_register("pred").slot, low.new_register("pred").slot
    one = _ONE.get(target, -1)
    destination = low.destination(node.operands[0])
    if scalar in _PAIRS:
        _compare(low, node, [first, second], scalar)
        low.emit("select.halves", [destination, first, second], immediate=one)
        return
    _compare(low, node, [first, NO_SLOT], scalar)
    size = scalar_bytes(target)
    slots = [low.constant(one, size), low.constant(0, size), first]
    low.emit(f"selp.{bits_type(target)}", [destination, *slots])


def _selp(low: Lowering, node: Instruction) -> None:
    scalar = types_of(words_of(node))[-1]
    slots = [low.destination(node.operands[0])]
    slots += [low.source(o, scalar) for o in node.operands[1:3]]
    low.emit(f"selp.{bits_type(scalar)}", [*slots, low.predicate(node.operands[3])])


def _slct(low: Lowering, node: Instruction) -> None:
    words = words_of(node)
    scalar, chooser = types_of(words)[-2:]
    slots = [low.destination(node.operands[0])]
    slots += [low.source(o, scalar) for o in node.operands[1:3]]
    slots.append(low.source(node.operands[3], chooser))
    bits = bits_type(scalar)
    name = f"slct.s32.{bits}" if chooser == "s32" else f"slct.{bits}.{chooser}"
    low.emit(name, slots, immediate=4 if "ftz" in words else 0)


def _testp(low: Lowering, node: Instruction) -> None:
    words = words_of(node)
    kinds = ["finite", "infinite", "number", "notanumber", "normal", "subnormal"]
    which = next((kinds.index(word) for word in words if word in kinds), None)
    if which is None:  # ptxas takes it without a property, and leaves the predicate alone
        low.emit("nop", [])
        return
    scalar = types_of(words)[-1]
    slots = [low.destination(node.operands[0]), low.source(node.operands[1], scalar)]
    low.emit(f"testp.{scalar}", slots, immediate=which)


LOWERINGS: dict[str, Lower] = {
    "setp": _setp,
    "set": _set,
    "selp": _selp,
    "slct": _slct,
    "testp": _testp,
}
