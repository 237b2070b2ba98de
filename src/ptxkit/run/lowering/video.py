"""Video instructions: parts of registers, and two or four lanes in one."""

from __future__ import annotations

import re
from collections.abc import Iterator

from ptxkit._native import Node
from ptxkit.run.lower import Lowering
from ptxkit.run.lowering.words import Lower, types_of, words_of
from ptxkit.syntax import Instruction

_PRIMARY = {
    name: number
    for number, name in enumerate("vadd vsub vabsdiff vmin vmax vshl vshr vset vavrg".split())
}
_COMPARISONS = {name: n for n, name in enumerate("eq ne lt le gt ge".split())}
_SECONDARY = {"add": 1, "min": 2, "max": 3}
_PARTS = {name: n for n, name in enumerate(("", ".b0", ".b1", ".b2", ".b3", ".h0", ".h1"))}
_SCALES = {"shr7": 7, "shr15": 15}


def _fields(*fields: tuple[int, int]) -> int:
    """Values and their widths in bits, packed from the lowest bit up."""
    word = at = 0
    for value, width in fields:
        word |= int(value) << at
        at += width
    return word


def _mode(
    words: list[str], primary: int, parts: tuple[str, str, str], merge: bool
) -> list[tuple[int, int]]:
    """The fields of VideoMode in native/sim/ops_video.cpp, up to the parts."""
    comparing = any(word in _COMPARISONS for word in words)
    types = types_of(words)
    if comparing:  # vset names no type of its result, and takes a's for it
        types = [types[0], *types]
    signed = [int(scalar == "s32") for scalar in types[:3]]
    comparison = next((_COMPARISONS[word] for word in words if word in _COMPARISONS), 0)
    secondary = next((_SECONDARY[word] for word in words if word in _SECONDARY), 0)
    return [
        (primary, 4), (comparison, 3), (secondary, 2), *((one, 1) for one in signed),
        (int("sat" in words), 1), (int("wrap" in words), 1), (int(merge), 1),
        *((_PARTS[part], 3) for part in parts),
    ]  # fmt: skip


def _strip(node: Node) -> tuple[Node, bool]:
    """An operand without its minus sign, and whether it had one."""
    return (node.children[0], True) if node.kind == "Unary" else (node, False)


def _scalar(low: Lowering, node: Instruction) -> None:
    """vadd, vsub, vabsdiff, vmin, vmax, vshl, vshr, vset, vmad."""
    words = words_of(node)
    stripped = [_strip(operand) for operand in node.operands]
    operands = [low.selected(operand) for operand, _ in stripped]
    slots = [slot for slot, _ in operands]
    parts = (operands[0][1], operands[1][1], operands[2][1])
    if len(slots) == 3:
        slots.append(low.constant(0, 4))
    fields = _mode(words, _PRIMARY.get(node.name, 0), parts, merge=len(operands) == 4)
    if node.name == "vmad":
        negative = [minus for _, minus in stripped]
        scale = next((_SCALES[word] for word in words if word in _SCALES), 0)
        fields += [
            (int("po" in words), 1), (int(negative[1] != negative[2]), 1), (int(negative[3]), 1),
            (scale, 4),
        ]  # fmt: skip
    low.emit("vmad" if node.name == "vmad" else "video", slots, immediate=_fields(*fields))


def _elements(selector: str, lanes: int, first: int) -> Iterator[int]:
    """Which elements the lanes take, lane 0 first: ``.h10``, ``.b7654``, or those of a or b."""
    digits = selector[2:][::-1]
    return iter([int(digit) for digit in digits] if digits else range(first, first + lanes))


def _lanes(low: Lowering, node: Instruction) -> None:
    """vadd2, vadd4 and their kin."""
    words = words_of(node)
    lanes = int(node.name[-1])
    operands = [low.selected(operand) for operand in node.operands]
    mask = operands[0][1]
    chosen = sum(1 << int(digit) for digit in re.sub(r"\D", "", mask)) if mask else (1 << lanes) - 1
    elements = 0
    for at, (_, selector) in enumerate(operands[1:3]):
        for lane, element in enumerate(_elements(selector, lanes, at * lanes)):
            elements |= element << (4 * lane + 16 * at)
    fields = _mode(words, _PRIMARY[node.name[:-1]], ("", "", ""), merge=False)
    slots = [slot for slot, _ in operands]
    low.emit(
        "video.lanes", slots, immediate=_fields(*fields), count=lanes, target=elements, width=chosen
    )


_LANE_NAMES = "vadd vsub vavrg vabsdiff vmin vmax vset".split()

LOWERINGS: dict[str, Lower] = {
    **dict.fromkeys("vadd vsub vabsdiff vmin vmax vshl vshr vset vmad".split(), _scalar),
    **{f"{name}{lanes}": _lanes for name in _LANE_NAMES for lanes in (2, 4)},
}
