"""ldmatrix, stmatrix, movmatrix: small matrices between shared memory and a warp."""

from __future__ import annotations

from ptxkit.run.lower import Lowering
from ptxkit.run.lowering.memory import address_operand, elements, space_of
from ptxkit.run.lowering.words import Lower, words_of
from ptxkit.syntax import Instruction

_PLAIN, _TURNED, _TURNED_BYTES = range(3)
#: Bits of the elements that a load widens to bytes.
_WIDENED = {"b6x16_p32": 6, "b4x16_p64": 4}


def _kind(words: list[str]) -> int:
    if "trans" not in words:
        return _PLAIN
    return _TURNED if "m8n8" in words else _TURNED_BYTES


def _ldmatrix(low: Lowering, node: Instruction) -> None:
    words = words_of(node)
    slots = [low.destination(one) for one in elements(node.operands[0])]
    slot, offset, bits = address_operand(low, node.operands[1], space_of(words), 16)
    at = low.program.add_list(low.state.index, slots)
    low.emit(
        "ldmatrix",
        [slot],
        immediate=offset,
        target=bits,
        list=at,
        list_size=len(slots),
        count=_kind(words),
        width=_WIDENED.get(words[-1], 0),
    )


def _stmatrix(low: Lowering, node: Instruction) -> None:
    words = words_of(node)
    slots = [low.source(one, "b32") for one in elements(node.operands[1])]
    slot, offset, bits = address_operand(low, node.operands[0], space_of(words), 16)
    at = low.program.add_list(low.state.index, slots)
    low.emit(
        "stmatrix",
        [slot],
        immediate=offset,
        target=bits,
        list=at,
        list_size=len(slots),
        count=_kind(words),
    )


def _movmatrix(low: Lowering, node: Instruction) -> None:
    first, second = node.operands
    low.emit("movmatrix", [low.destination(first), low.source(second, "b32")])


LOWERINGS: dict[str, Lower] = {
    "ldmatrix": _ldmatrix,
    "stmatrix": _stmatrix,
    "movmatrix": _movmatrix,
}
