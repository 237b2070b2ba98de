"""atom, red, and the asynchronous reductions."""

from __future__ import annotations

from ptxkit._native import NO_SLOT
from ptxkit.run.layout import scalar_bytes
from ptxkit.run.lower import Lowering
from ptxkit.run.lowering.memory import address_operand, address_slot, elements, space_of
from ptxkit.run.lowering.words import Lower, types_of, words_of
from ptxkit.syntax import Instruction

#: The numbers of AtomicKind in native/sim/atomics.hpp.
_KINDS = {
    name: number for number, name in enumerate("and or xor exch add inc dec min max cas".split())
}
#: The numbers of the types of asynchronous reductions there.
_REDUCTION_TYPES = {
    **{name: number for number, name in enumerate("u32 s32 u64 s64 f32 f64 f16 bf16".split())},
    "b32": 0, "b64": 2,
}  # fmt: skip


def update_of(words: list[str]) -> int:
    """The number of the update that modifiers name."""
    return next(_KINDS[word] for word in words if word in _KINDS)


def reduction_of(words: list[str]) -> int:
    """The number of the type that an asynchronous reduction works on."""
    return _REDUCTION_TYPES[types_of(words)[-1]]


def _type(words: list[str], scalar: str) -> str:
    if scalar == "f32" and "noftz" in words:
        return "noftz.f32"
    return f"u{scalar[1:]}" if scalar in ("b16", "b32", "b64", "b128") else scalar


def _atom(low: Lowering, node: Instruction) -> None:
    words = words_of(node)
    if "async" in words:
        return _async(low, node)
    scalar = types_of(words)[-1]
    operands = list(node.operands)
    target = operands.pop(0) if node.name == "atom" else None
    slot, offset, bits = address_operand(low, operands[0], space_of(words), scalar_bytes(scalar))
    kind = _type(words, scalar)
    common = {"immediate": offset, "target": bits, "count": update_of(words)}
    if operands[1].kind == "Vector":
        values = [low.source(one, scalar) for one in elements(operands[1])]
        results = [NO_SLOT] * len(values)
        if target is not None and target.kind == "Vector":
            results = [low.destination(one) for one in elements(target)]
        at = low.program.add_list(low.state.index, [*values, *results])
        low.emit(f"atom.vector.{kind}", [slot], list=at, list_size=2 * len(values), **common)
        return None
    result = NO_SLOT if target is None else low.destination(target)
    swaps = "cas" in words
    values = [low.source(operand, scalar) for operand in operands[1 : 3 if swaps else 2]]
    low.emit(f"atom.{kind}", [slot, result, *values], **common)
    return None


def _async(low: Lowering, node: Instruction) -> None:
    """red.async: into shared memory of the cluster, or into global memory."""
    words = words_of(node)
    address, value, *rest = node.operands
    space = space_of(words)
    place, where = address_slot(low, address, space)
    barrier, barrier_space = address_slot(low, rest[0], space) if rest else (NO_SLOT, 0)
    low.emit(
        "red.async",
        [place, low.source(value, types_of(words)[-1]), barrier],
        target=where | barrier_space << 8, count=update_of(words), width=reduction_of(words),
    )  # fmt: skip


LOWERINGS: dict[str, Lower] = {"atom": _atom, "red": _atom}
