"""wmma: loads, stores and products of whole matrices, in the fragments that hardware uses.

A fragment is one or two tiles of mma's: sixteen rows by K on one side, eight columns on the
other. m8n32k16 is multiplied turned, so that its long side is the one with sixteen rows.
"""

from __future__ import annotations

from ptxkit._native import NO_SLOT
from ptxkit.run.layout import scalar_bytes
from ptxkit.run.lower import Lowering
from ptxkit.run.lowering.memory import address_operand, elements, space_of
from ptxkit.run.lowering.mma import (
    NARROW,
    emit_product,
    float_mode,
    integer_mode,
    operand_slots,
    product_types,
    shape_of,
)
from ptxkit.run.lowering.words import Lower, words_of
from ptxkit.syntax import Instruction

_LEFT, _RIGHT, _SUMS = range(3)
#: Elements in a word, where a word is the least that is loaded.
_PACKED = {"s4": (3, 1), "u4": (3, 1), "b1": (5, 2)}
_ROUNDING = {"rn": 0, "rz": 1, "rm": 2, "rp": 3}


def _bytes(scalar: str) -> int:
    return 4 if scalar in (*_PACKED, "tf32") else scalar_bytes(scalar)


def _move(low: Lowering, node: Instruction, words: list[str]) -> None:
    """wmma.load and wmma.store."""
    which = words[1]
    rows, columns, depth = shape_of(words)
    scalar = product_types(words)[-1]
    size = _bytes(scalar)
    store = words[0] == "store"
    place, value = node.operands[:2] if store else reversed(node.operands[:2])
    registers = elements(value)
    turned = columns == 32  # m8n32k16
    along_rows = "row" in words
    shift, code = _PACKED.get(scalar, (0, 0))
    words_deep = max(1, (depth >> shift) * size // 16)  # registers along K
    if which in "ab":
        tall = rows if which == "a" else columns
        left = tall > 8 and (which == "b") == turned
        per_tile = words_deep * (2 if left else 1)
        distinct = per_tile * (tall // (16 if left else 8))
        style = _LEFT if left else _RIGHT
        swapped = along_rows == (which == "b")
        side_by_side = False
    else:
        style, per_tile, distinct = _SUMS, 1, len(registers)
        swapped = along_rows == turned
        side_by_side = columns == 16
    if scalar == "f64":
        per_tile = distinct = 1 if which in "ab" else 2
    slot, offset, bits = address_operand(low, place, space_of(words), size)
    leading = {"a": (depth, rows), "b": (columns, depth)}.get(which, (columns, rows))
    stride = (
        low.source(node.operands[2], "u32")
        if len(node.operands) > 2
        else low.constant(leading[0] if along_rows else leading[1], 4)
    )
    get = low.source if store else None
    slots = [low.destination(one) if get is None else get(one, "b32") for one in registers]
    at = low.program.add_list(low.state.index, slots)
    low.emit(
        "wmma.store" if store else "wmma.load",
        [slot, stride],
        immediate=offset,
        target=bits,
        list=at,
        list_size=len(slots),
        count=style | swapped << 2 | side_by_side << 3,
        width=(min(per_tile, distinct) - 1) | (distinct - 1) << 2 | (shift if code else 0) << 5,
    )


def _product(low: Lowering, node: Instruction, words: list[str]) -> None:
    types = product_types(words)
    if len(types) == 2:
        types = [types[0], "f16", "f16", types[1]]
    rows, columns, depth = shape_of(words)
    groups = operand_slots(low, node, types)
    if rows == 8 and columns == 8:
        if types[1] == "f64":
            rounding = next((_ROUNDING[word] for word in words if word in _ROUNDING), 0)
            emit_product(low, "mma.double", groups, rounding | 1 << 5)
        else:
            operation, mode = integer_mode(words, types, 8)
            emit_product(low, operation, groups, mode)
        return
    d, a, b, c = groups
    if columns == 32:  # turned: the right matrix is on the side of sixteen rows
        a, b = b, a
        types = [types[0], types[2], types[1], types[3]]
    each = {"f16": 2, "bf16": 2, "tf32": 1}.get(types[1], 4)
    words_deep = depth // (4 * each)  # registers along K
    if types[1] in NARROW:
        # ptxas splits tf32 into steps of four; every other product is one step.
        operation = "mma.float"
        mode = float_mode(types, 4 if types[1] == "tf32" else depth)
    else:
        operation, mode = integer_mode(words, types, 16)
    # Two tiles share one side. What the first writes, the second must not read.
    results = [low.new_register("b32").slot for _ in d]
    for tile in range(2):
        half = slice(tile * len(d) // 2, (tile + 1) * len(d) // 2)
        sums = slice(tile * len(c) // 2, (tile + 1) * len(c) // 2)
        if columns == 16:
            left = a[: 2 * words_deep]
            right = b[tile * words_deep : (tile + 1) * words_deep]
        else:
            left = a[tile * 2 * words_deep : (tile + 1) * 2 * words_deep]
            right = b[:words_deep]
        emit_product(low, operation, [results[half], left, right, c[sums]], mode)
    for slot, result in zip(d, results, strict=True):
        if slot != NO_SLOT:
            low.emit("mov.b32", [slot, result])


def _wmma(low: Lowering, node: Instruction) -> None:
    words = words_of(node)
    if words[0] == "mma":
        _product(low, node, words)
    else:
        _move(low, node, words)


LOWERINGS: dict[str, Lower] = {"wmma": _wmma}
