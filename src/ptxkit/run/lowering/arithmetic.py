"""Arithmetic of integers and floats."""

from __future__ import annotations

from ptxkit._native import NO_SLOT
from ptxkit.isa.types import SCALAR_TYPES
from ptxkit.run.lower import Lowering
from ptxkit.run.lowering.words import Lower, bits_type, float_mode, types_of, words_of
from ptxkit.syntax import Instruction

#: Modifiers that name another operation on integers.
_INTEGER_WORDS = ("lo", "hi", "wide", "relu", "sat")
_OLD_APPROXIMATIONS = frozenset("sin cos lg2 ex2".split())
_FLOATS = frozenset("f16 f16x2 bf16 bf16x2 f32 f64".split())


def _arithmetic(low: Lowering, node: Instruction) -> None:
    """``name.type d, a, b[, c]`` with an operation of the same name and type."""
    words = words_of(node)
    scalar = types_of(words)[-1]
    if "cc" in words:
        return _carry(low, node)
    if scalar == "f32x2":
        return _pairs(low, node, words)
    if scalar == "s8x4" and node.name == "neg":
        slots = [low.destination(node.operands[0]), low.constant(0, 4)]
        low.emit("sub.s8x4", [*slots, low.source(node.operands[1], "b32")])
        return None
    if scalar == "f32" and node.name in _OLD_APPROXIMATIONS and "approx" not in words:
        words = [*words, "approx", "ftz"]  # what PTX 1.x meant by it
    if scalar in _FLOATS:
        name, mode = _float_operation(node.name, words, scalar), float_mode(words)
    else:
        parts = [word for word in _INTEGER_WORDS if word in words]
        name, mode = ".".join([node.name, *parts, scalar]), 0
    if scalar == "bf16" and node.name == "fma" and mode & 3:
        return _fma_as_half(low, node, words)
    if scalar == "bf16x2":
        mode &= ~3  # only .rn is in the ISA; ptxas drops the others here
    destination = low.destination(node.operands[0])
    sources = []
    for position, operand in enumerate(node.operands[1:], 1):
        third = "wide" in words and position == 3
        kind = f"{scalar[0]}{2 * SCALAR_TYPES[scalar].width}" if third else scalar
        sources.append(low.source(operand, kind))
    if node.name in ("min", "max") and len(sources) == 3:  # the least of two, and of that and c
        first = low.new_register(scalar).slot
        low.emit(name, [first, sources[0], sources[1]], immediate=mode)
        low.emit(name, [destination, first, sources[2]], immediate=mode)
        return None
    low.emit(name, [destination, *sources], immediate=mode)
    return None


def _pairs(low: Lowering, node: Instruction, words: list[str]) -> None:
    """f32x2: the two halves of 64-bit registers, each by itself."""
    name, mode = _float_operation(node.name, words, "f32"), float_mode(words)
    halves = []
    for operand in node.operands[1:]:
        parts = [low.new_register("f32").slot for _ in range(2)]
        at = low.program.add_list(low.state.index, parts)
        slots = [NO_SLOT, low.source(operand, "b64")]
        low.emit("unpack", slots, list=at, list_size=2, width=4, count=8)
        halves.append(parts)
    results = []
    for sources in zip(*halves, strict=True):
        results.append(low.new_register("f32").slot)
        low.emit(name, [results[-1], *sources], immediate=mode)
    at = low.program.add_list(low.state.index, results)
    target = [low.destination(node.operands[0])]
    low.emit("pack", target, list=at, list_size=2, width=4, count=8)


def _fma_as_half(low: Lowering, node: Instruction, words: list[str]) -> None:
    """``fma.rz.bf16`` and its kin are not in the ISA, but ptxas takes them for half precision:
    a single-precision fma between conversions, without .relu and .oob."""
    half, single = 8, 10  # as in native/sim/convert.hpp
    slots = []
    for operand in node.operands[1:]:
        wide = low.new_register("f32").slot
        source = low.source(operand, "bf16")
        low.emit("cvt", [wide, source], target=half | single << 8, width=4, count=2)
        slots.append(wide)
    total = low.new_register("f32").slot
    low.emit("fma.f32", [total, *slots], immediate=float_mode(words) & 3)
    destination = low.destination(node.operands[0])
    low.emit("cvt", [destination, total], target=single | half << 8, width=2, count=4)


def _float_operation(name: str, words: list[str], scalar: str) -> str:
    if name == "mad":
        return f"fma.{scalar}"
    if scalar in ("f32", "f64") and ("approx" in words or "full" in words):
        form = "full" if "full" in words else "approx"
        if scalar == "f64" and name == "rsqrt":  # with .ftz it is a table, without a routine
            return "rsqrt.approx.ftz.f64" if "ftz" in words else "rsqrt.f64"
        return f"{name}.{form}.{scalar}"
    return f"{name}.{scalar}"


def _carry(low: Lowering, node: Instruction) -> None:
    """add.cc, addc, sub.cc, subc, mad.cc, madc: the carry lies in slot 0 of the frame."""
    words = words_of(node)
    scalar = types_of(words)[-1]
    name = node.name
    bits = (1 if name.endswith("c") else 0) | (2 if "cc" in words else 0)
    operands = [low.source(o, scalar) for o in node.operands[1:]]
    destination = low.destination(node.operands[0])
    if name.startswith("mad"):
        bits |= (8 if "hi" in words else 0) | (16 if scalar.startswith("s") else 0)
        low.emit(f"madcarry.{bits_type(scalar)}", [destination, *operands, 0], immediate=bits)
        return
    bits |= 4 if name.startswith("sub") else 0
    low.emit(f"carry.{bits_type(scalar)}", [destination, *operands, NO_SLOT, 0], immediate=bits)


def _dot(low: Lowering, node: Instruction) -> None:
    words = words_of(node)
    first, second = types_of(words)[-2:]
    bits = (first == "s32") | (second == "s32") << 1 | ("hi" in words) << 2
    slots = [low.destination(node.operands[0])]
    low.emit(node.name, slots + [low.source(o, "b32") for o in node.operands[1:]], immediate=bits)


LOWERINGS: dict[str, Lower] = {
    **dict.fromkeys(
        "add sub mul mad mul24 mad24 fma div rem min max abs neg sad rcp sqrt rsqrt sin cos lg2 "
        "ex2 tanh copysign".split(),
        _arithmetic,
    ),
    **dict.fromkeys(("addc", "subc", "madc"), _carry),
    **dict.fromkeys(("dp4a", "dp2a"), _dot),
}
