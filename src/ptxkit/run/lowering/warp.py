"""Instructions among the lanes of a warp."""

from __future__ import annotations

from ptxkit._native import NO_SLOT
from ptxkit.run.lower import Lowering
from ptxkit.run.lowering.words import Lower, plain, types_of, words_of
from ptxkit.syntax import Instruction


def _shfl(low: Lowering, node: Instruction) -> None:
    words = words_of(node)
    modes = ["up", "down", "bfly", "idx"]
    mode = next(modes.index(word) for word in words if word in modes)
    first = node.operands[0]
    parts = first.children if first.kind == "Pair" else (first,)
    slots = [low.destination(part) for part in parts]
    slots += [NO_SLOT] * (2 - len(slots))
    slots += [low.source(operand, "b32") for operand in node.operands[1:]]
    low.emit("shfl", slots, immediate=mode)


def _vote(low: Lowering, node: Instruction) -> None:
    words = words_of(node)
    kinds = ["all", "any", "uni", "ballot"]
    kind = next(kinds.index(word) for word in words if word in kinds)
    slots = [low.destination(node.operands[0]), low.predicate(node.operands[1])]
    slots += [low.source(operand, "u32") for operand in node.operands[2:]]
    low.emit("vote", slots, immediate=kind)


def _match(low: Lowering, node: Instruction) -> None:
    words = words_of(node)
    scalar = types_of(words)[-1]
    first = node.operands[0]
    parts = first.children if first.kind == "Pair" else (first,)
    slots = [low.destination(part) for part in parts] + [NO_SLOT] * (2 - len(parts))
    slots += [low.source(node.operands[1], scalar), low.source(node.operands[2], "u32")]
    low.emit(f"match.{scalar}", slots, immediate=int("all" in words))


def _redux(low: Lowering, node: Instruction) -> None:
    words = words_of(node)
    scalar = types_of(words)[-1]
    kinds = ["add", "min", "max", "and", "or", "xor"]
    kind = next(kinds.index(word) for word in words if word in kinds)
    slots = [low.destination(node.operands[0]), low.source(node.operands[1], scalar)]
    slots.append(low.source(node.operands[2], "u32"))
    flags = ("abs" in words) | ("NaN" in words) << 1
    low.emit(f"redux.{scalar.replace('b', 'u')}", slots, immediate=kind, count=flags)


def _elect(low: Lowering, node: Instruction) -> None:
    left, right = node.operands[0].children
    slots = [low.destination(left), low.destination(right), low.source(node.operands[1], "u32")]
    low.emit("elect", slots)


LOWERINGS: dict[str, Lower] = {
    "shfl": _shfl,
    "vote": _vote,
    "match": _match,
    "redux": _redux,
    "elect": _elect,
    "activemask": plain("activemask"),
}
