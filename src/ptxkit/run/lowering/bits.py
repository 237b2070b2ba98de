"""Logic, shifts, bit fields, permutations of bytes."""

from __future__ import annotations

from ptxkit.run.lower import Lowering
from ptxkit.run.lowering.words import Lower, bits_type, types_of, words_of
from ptxkit.syntax import Instruction


def _logic(low: Lowering, node: Instruction) -> None:
    scalar = types_of(words_of(node))[-1]
    slots = [low.destination(node.operands[0])]
    for position, operand in enumerate(node.operands[1:], 1):
        shift = node.name in ("shl", "shr") and position == 2
        slots.append(low.source(operand, "u32" if shift else scalar))
    kind = scalar if scalar == "pred" or node.name == "shr" else bits_type(scalar)
    if node.name == "shr" and scalar.startswith("b"):
        kind = "u" + scalar[1:]
    low.emit(f"{node.name}.{kind}", slots)


def _count(low: Lowering, node: Instruction) -> None:
    """popc, clz, brev, bfind: the result is 32 bits wide."""
    words = words_of(node)
    scalar = types_of(words)[-1]
    name = node.name + (".shiftamt" if "shiftamt" in words else "")
    operands = [low.destination(node.operands[0]), low.source(node.operands[1], scalar)]
    low.emit(f"{name}.{scalar}", operands)


def _field(low: Lowering, node: Instruction) -> None:
    """bfe and bfi: positions and lengths are 32 bits wide."""
    scalar = types_of(words_of(node))[-1]
    values = 1 if node.name == "bfe" else 2
    slots = [low.destination(node.operands[0])]
    slots += [low.source(o, scalar) for o in node.operands[1 : 1 + values]]
    slots += [low.source(o, "u32") for o in node.operands[1 + values :]]
    low.emit(f"{node.name}.{scalar}", slots)


def _funnel(low: Lowering, node: Instruction) -> None:
    words = words_of(node)
    bits = (1 if "l" in words else 0) | (2 if "wrap" in words else 0)
    slots = [low.destination(node.operands[0])]
    low.emit("shf.b32", slots + [low.source(o, "b32") for o in node.operands[1:]], immediate=bits)


def _lop3(low: Lowering, node: Instruction) -> None:
    """lop3: any function of three bits; with a pair, also whether the result is not 0."""
    words = words_of(node)
    first, *operands = node.operands
    value, predicate = first.children if first.kind == "Pair" else (first, None)
    target = value if predicate is None or value.kind != "Sink" else None
    slot = low.new_register("b32").slot if target is None else low.destination(target)
    slots = [slot] + [low.source(o, "b32") for o in operands[:3]]
    combining = None if predicate is None else low.predicate(operands[4])
    low.emit("lop3.b32", slots, immediate=low.literal(operands[3], "u32"))
    if predicate is not None and combining is not None:
        low.emit(
            "lop3.pred",
            [low.destination(predicate), slot, combining],
            immediate=int("and" in words),
        )


def _permute(low: Lowering, node: Instruction) -> None:
    modes = {"f4e": 1, "b4e": 2, "rc8": 3, "ecl": 4, "ecr": 5, "rc16": 6}
    mode = next((modes[word] for word in words_of(node) if word in modes), 0)
    slots = [low.destination(node.operands[0])]
    low.emit("prmt.b32", slots + [low.source(o, "b32") for o in node.operands[1:]], immediate=mode)


def _bounded(low: Lowering, node: Instruction) -> None:
    """bmsk and szext: positions past the width count as the width, or wrap."""
    words = words_of(node)
    scalar = types_of(words)[-1]
    first, second = node.operands[1:]
    slots = [
        low.destination(node.operands[0]),
        low.source(first, scalar),
        low.source(second, "u32"),
    ]
    low.emit(f"{node.name}.{scalar}", slots, immediate=int("wrap" in words))


def _nth_set(low: Lowering, node: Instruction) -> None:
    slots = [low.destination(node.operands[0])]
    low.emit("fns.b32", slots + [low.source(operand, "b32") for operand in node.operands[1:]])


LOWERINGS: dict[str, Lower] = {
    **dict.fromkeys("and or xor not cnot shl shr".split(), _logic),
    **dict.fromkeys(("popc", "clz", "brev", "bfind"), _count),
    **dict.fromkeys(("bfe", "bfi"), _field),
    **dict.fromkeys(("bmsk", "szext"), _bounded),
    "fns": _nth_set,
    "shf": _funnel,
    "lop3": _lop3,
    "prmt": _permute,
}
