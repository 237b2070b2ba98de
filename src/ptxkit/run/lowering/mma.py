"""mma and mma.sp: products of small matrices by a warp."""

from __future__ import annotations

import re

from ptxkit.run.lower import Lowering
from ptxkit.run.lowering.memory import elements
from ptxkit.run.lowering.words import Lower, words_of
from ptxkit.syntax import Instruction, Node, evaluate

#: The multiplicands of float products, numbered as in native/sim/narrow_formats.hpp.
NARROW = {
    name: number
    for number, name in enumerate("f16 bf16 tf32 e4m3 e5m2 e3m2 e2m3 e2m1 nibble".split())
}
#: Eight-bit floats of sm_90: widened to halves, multiplied in two steps, c added at the end.
_WIDENED = ("e4m3", "e5m2")
_INTEGERS = ("s8", "u8", "s4", "u4")
_ROUNDING = {"rn": 0, "rz": 1, "rm": 2, "rp": 3}
_TYPES = frozenset([*NARROW, *_INTEGERS, "b1", "f32", "f64", "s32"])


def shape_of(words: list[str]) -> tuple[int, int, int]:
    """M, N and K.

    >>> shape_of(["sync", "aligned", "m16n8k8", "row", "col"])
    (16, 8, 8)
    """
    shape = next(word for word in words if re.fullmatch(r"m\d+n\d+k\d+", word))
    m, n, k = (int(part) for part in re.findall(r"\d+", shape))
    return m, n, k


def product_types(words: list[str]) -> list[str]:
    """The types of d, a, b and c.

    >>> product_types("sync aligned m16n8k8 row col f32 tf32 tf32 f32".split())
    ['f32', 'tf32', 'tf32', 'f32']
    """
    return [word for word in words if word in _TYPES]


def float_mode(types: list[str], step: int, *, eight_bits: bool = True) -> int:
    """The mode of a product of floats: see Mode in native/sim/ops_mma.cpp."""
    d, a, b, c = types
    late = eight_bits and a in _WIDENED
    half_sums = d == "f16" and c == "f16"
    return (
        NARROW[a] | NARROW[b] << 4 | (c == "f16") << 8 | (d == "f16") << 9 | half_sums << 10
        | late << 11 | late << 12 | step << 16
    )  # fmt: skip


def emit_product(
    low: Lowering,
    operation: str,
    groups: list[list[int]],
    mode: int,
    scales: list[int] | None = None,
) -> None:
    """One product; the slots of d, a, b, c and, where there is one, the metadata."""
    at = low.program.add_list(low.state.index, [slot for group in groups for slot in group])
    counts = sum(len(group) << 8 * place for place, group in enumerate(groups[:4]))
    size = sum(len(group) for group in groups)
    low.emit(operation, scales or [], immediate=mode, target=counts, list=at, list_size=size)


def selected(node: Node, allowed: range) -> int:
    """The value of a selector, a constant with few values."""
    value = evaluate(node)
    if value not in allowed:
        raise ValueError(f"the selector {node.text} must be one of {', '.join(map(str, allowed))}")
    return int(value or 0)


def integer_mode(words: list[str], types: list[str], rows: int) -> tuple[str, int]:
    """The operation of a product of integers or single bits, and its mode."""
    few = (rows == 8) << 5
    if types[1] == "b1":
        return "mma.bits", ("xor" in words) | few
    a, b = types[1:3]
    mode = (a[0] == "s") | (b[0] == "s") << 1 | (a[1] == "4") << 2 | ("satfinite" in words) << 3
    return "mma.integer", mode | few


def operand_slots(low: Lowering, node: Instruction, types: list[str]) -> list[list[int]]:
    """The slots of d, a, b and c."""
    registers = ["b64" if scalar == "f64" else "b32" for scalar in types]
    d, *sources = node.operands[:4]
    return [
        [low.destination(one) for one in elements(d)],
        *(
            [low.source(one, register) for one in elements(operand)]
            for operand, register in zip(sources, registers[1:], strict=True)
        ),
    ]


def _mma(low: Lowering, node: Instruction) -> None:
    words = words_of(node)
    types = product_types(words)
    m, _, k = shape_of(words)
    groups = operand_slots(low, node, types)
    sparse = words[0].startswith("sp")
    selector = 0
    if sparse:
        groups.append([low.source(node.operands[4], "b32")])
        selector = selected(node.operands[5], range(4))
    if types[1] == "f64":
        rounding = next((_ROUNDING[word] for word in words if word in _ROUNDING), 0)
        emit_product(low, "mma.double", groups, rounding | (m == 8) << 5)
    elif types[0] == "s32":
        operation, mode = integer_mode(words, types, m)
        emit_product(low, operation, groups, mode | sparse << 4 | selector << 6)
    elif m == 8:
        if types[1] != "f16":
            raise ValueError("ptxas takes it and makes no code of it")
        mode = (words[3] == "col") | (words[4] == "row") << 1
        mode |= (types[3] == "f16") << 2 | (types[0] == "f16") << 3
        emit_product(low, "mma.quads", groups, mode)
    else:
        _floats(low, node, words, types, groups, k, sparse, selector)


def _floats(
    low: Lowering,
    node: Instruction,
    words: list[str],
    types: list[str],
    groups: list[list[int]],
    depth: int,
    sparse: bool,
    selector: int,
) -> None:
    kind = next((word[6:] for word in words if word.startswith("kind::")), "")
    products = depth // 2 if sparse else depth
    if kind.startswith("mxf4"):
        types = [types[0], "nibble", "nibble", types[3]]
    widened = not kind and types[1] in _WIDENED
    mode = float_mode(types, products // 2 if widened else products, eight_bits=widened)
    mode |= sparse << 13 | selector << 14
    if "block_scale" not in words:
        emit_product(low, "mma.float", groups, mode)
        return
    scale_a, which_a, scale_b, which_b = node.operands[-4:]
    scales = [low.source(scale_a, "b32"), low.source(scale_b, "b32")]
    sizes = {"mxf8f6f4": 1, "mxf4": 2}
    size = next((int(word[11]) for word in words if word.startswith("scale_vec::")), 0)
    size = size or sizes[kind]
    # The scales of a thread are bytes of one word; which byte, and which thread's word.
    rules = [
        (28, which_a.children[0], range(0, 5 - size, size)), (30, which_a.children[1], range(2)),
        (32, which_b.children[0], range(0, 5 - size, size)), (34, which_b.children[1], range(4)),
    ]  # fmt: skip
    for place, one, allowed in rules:
        mode |= selected(one, allowed) << place
    mode |= size << 24 | (words[-1] == "ue8m0") << 27
    emit_product(low, "mma.float", groups, mode, scales)


LOWERINGS: dict[str, Lower] = {"mma": _mma}
