"""PTX scalar types, and which register may stand where an instruction wants a type.

The rules were measured with ptxas over every pair of instruction type and register
type; ``tests/isa/test_types_against_ptxas.py`` measures them again.
"""

from __future__ import annotations

from dataclasses import dataclass

#: Kinds of scalar: what a value of the type is made of.
SIGNED, UNSIGNED, BITS, FLOAT = "signed", "unsigned", "bits", "float"
PREDICATE, OPAQUE, PACKED = "predicate", "opaque", "packed"


@dataclass(frozen=True, slots=True)
class ScalarType:
    """A PTX scalar type: its name without the dot, its kind and its width in bits."""

    name: str
    kind: str
    width: int

    @property
    def is_integer(self) -> bool:
        """True for ``.uN`` and ``.sN``."""
        return self.kind in (SIGNED, UNSIGNED)


_PAIRS = "e4m3x2 e5m2x2 ue8m0x2 e2m3x2 e3m2x2 s2f6x2".split()


def _scalar_types() -> dict[str, ScalarType]:
    rows: list[tuple[str, str, int]] = [("pred", PREDICATE, 1)]
    rows += [(f"u{width}", UNSIGNED, width) for width in (8, 16, 32, 64)]
    rows += [(f"s{width}", SIGNED, width) for width in (8, 16, 32, 64)]
    rows += [(f"b{width}", BITS, width) for width in (8, 16, 32, 64, 128)]
    rows += [(f"f{width}", FLOAT, width) for width in (16, 32, 64)]
    # Packed and alternative float formats live in bit registers of their width.
    rows += [("f16x2", FLOAT, 32), ("bf16", OPAQUE, 16), ("bf16x2", OPAQUE, 32)]
    rows += [("tf32", OPAQUE, 32), ("f32x2", OPAQUE, 64)]
    rows += [(name, OPAQUE, 8) for name in ("e4m3", "e5m2", "ue8m0", "e2m1x2", "ue4m3")]
    rows += [(name, OPAQUE, 16) for name in _PAIRS]
    rows += [(name, OPAQUE, 32) for name in ("e4m3x4", "e5m2x4", "e2m3x4", "e3m2x4")]
    rows += [("e2m1x4", OPAQUE, 16)]
    # Elements of matrices, several to a register.
    rows += [("b1", OPAQUE, 1), ("s4", OPAQUE, 4), ("u4", OPAQUE, 4), ("e2m1", OPAQUE, 4)]
    rows += [("e2m3", OPAQUE, 6), ("e3m2", OPAQUE, 6), ("s2", OPAQUE, 2), ("u2", OPAQUE, 2)]
    rows += [(name, PACKED, 32) for name in ("u8x4", "s8x4", "u16x2", "s16x2")]
    rows += [(name, OPAQUE, 64) for name in ("texref", "samplerref", "surfref")]
    return {name: ScalarType(name, kind, width) for name, kind, width in rows}


#: Every scalar type by its name without the dot.
SCALAR_TYPES = _scalar_types()

#: Types a ``.reg`` declaration may give a register.
REGISTER_TYPES = frozenset(
    "pred b8 b16 b32 b64 b128 u8 u16 u32 u64 s8 s16 s32 s64 f16 f16x2 f32 f64".split()
)


#: Classes of registers that an operand may ask for in place of a type: matrix
#: instructions look at the width more than at the type. Measured, like the rest.
REGISTER_CLASSES = {
    "pointer": frozenset("b32 u32 s32 b64 u64 s64".split()),
    "bits32": frozenset({"b32"}),
    "half2": frozenset({"b32", "f16x2"}),
    "float32": frozenset({"b32", "f32"}),
    "int32": frozenset({"b32", "u32", "s32"}),
    "tmem": frozenset({"b32", "u32", "s32", "f16x2"}),
    "word32": frozenset({"b32", "u32", "s32", "f32", "f16x2"}),
    "any32": frozenset({"b32", "u32", "s32", "f32", "f16x2", "pred"}),
    "loose32": frozenset({"b32", "u32", "s32", "f32", "f16x2"}),
    "word64": frozenset({"b64", "u64", "s64", "f64"}),
}


def register_fits(wanted: str, register: str, *, relaxed: bool = False) -> bool:
    """Say whether a register of type ``register`` may be an operand of type ``wanted``.

    ``relaxed`` is the rule of loads, stores and conversions, whose registers may be
    wider than the type.

    >>> register_fits("u32", "b32"), register_fits("u32", "f32"), register_fits("u8", "b32")
    (True, False, False)
    >>> register_fits("u8", "b32", relaxed=True)
    True
    """
    if wanted in REGISTER_CLASSES:
        return register in REGISTER_CLASSES[wanted]
    instruction, operand = SCALAR_TYPES[wanted], SCALAR_TYPES[register]
    if register == "f16x2" and (wanted == "pred" or instruction.width == 32):
        # ptxas takes a .f16x2 register for 32 bits of almost any kind, even for .pred.
        return instruction.kind != OPAQUE and wanted != "f32"
    if PREDICATE in (instruction.kind, operand.kind):
        return instruction.kind == operand.kind
    wider = operand.width > instruction.width
    if operand.width < instruction.width or (wider and not relaxed):
        return False
    if instruction.kind == BITS:
        return True
    if instruction.is_integer:
        return operand.kind != FLOAT or operand.name == "f16x2"
    if instruction.kind == FLOAT:
        return operand.kind == BITS or operand.name == instruction.name
    return operand.kind == BITS and not wider
