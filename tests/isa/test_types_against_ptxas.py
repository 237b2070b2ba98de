"""The register/type matrix of ``types.py``, measured with ptxas again, in full.

Every register type is put where an instruction wants every type: strictly (arithmetic,
logic, moves) and relaxed (loads, stores, conversions, whose registers may be wider).
"""

from __future__ import annotations

import pytest

from ptxkit.isa.types import REGISTER_TYPES, SCALAR_TYPES, register_fits
from ptxkit.isa.variants import PREFIXES
from tests.isa import ptxas

needs_ptxas = pytest.mark.skipif(ptxas.find_ptxas() is None, reason="no ptxas on this machine")

#: Instructions that want the type exactly; ``{t}`` is the type, ``{r}`` the register.
STRICT = {
    "add.{t} {r}, {r}, {r};": "u16 s16 u32 s32 u64 s64 u16x2 s16x2 f16 f16x2 bf16 bf16x2"
    " f32 f64 f32x2",
    "sub.{t} {r}, {r}, {r};": "u16 s16 u32 s32 u64 s64 f16 f16x2 bf16 bf16x2 f32 f64 f32x2",
    "and.{t} {r}, {r}, {r};": "b16 b32 b64 pred",
    "mov.{t} {r}, {r};": "b16 u16 s16 b32 u32 s32 f32 b64 u64 s64 f64 b128 pred",
    "selp.{t} {r}, {r}, {r}, p1;": "b16 u16 s16 b32 u32 s32 f32 b64 u64 s64 f64",
    "setp.eq.{t} p1, {r}, {r};": "b16 b32 b64 u16 s16 u32 s32 u64 s64 f16 f16x2 bf16 f32 f64",
    "cvt.rna.{t}.f32 {r}, f1;": "tf32",
    "cvt.rn.satfinite.{t}.f32 {r}, f1, f2;": "e4m3x2 e5m2x2 e2m3x2 e3m2x2 e2m1x2",
    "cvt.rz.{t}.f32 {r}, f1, f2;": "ue8m0x2",
    "cvt.rs.satfinite.{t}.f32 {r}, {{f1, f2, f3, f4}}, r1;": "e4m3x4 e5m2x4 e2m3x4 e3m2x4 e2m1x4",
    "cvt.rn.f16x2.{t} r1, {r};": "e4m3x2 e5m2x2 e2m3x2 e3m2x2 e2m1x2",
}

#: Instructions whose registers may be wider than the type.
RELAXED = {
    "ld.global.{t} {r}, [d1];": "b8 u8 s8 b16 u16 s16 b32 u32 s32 f32 b64 u64 s64 f64 b128",
    "st.global.{t} [d1], {r};": "b8 u8 s8 b16 u16 s16 b32 u32 s32 f32 b64 u64 s64 f64 b128",
    "cvt.{t}.u32 {r}, r1;": "u8 s8 u16 s16 u32 s32 u64 s64",
    "cvt.u32.{t} r1, {r};": "u8 s8 u16 s16 u32 s32 u64 s64",
    "cvt.rn.{t}.u32 {r}, r1;": "f16 bf16 f32 f64",
    "cvt.rzi.u32.{t} r1, {r};": "f16 bf16 f32 f64",
    "cvt.rn.{t}.f32 {r}, f1, f2;": "f16x2 bf16x2",
}

CASES = [(form, types, False) for form, types in STRICT.items()] + [
    (form, types, True) for form, types in RELAXED.items()
]


@needs_ptxas
@pytest.mark.parametrize(("form", "types", "relaxed"), CASES, ids=[case[0] for case in CASES])
def test_registers_fit_where_ptxas_says(form: str, types: str, relaxed: bool) -> None:
    pairs = [(wanted, register) for wanted in types.split() for register in PREFIXES]
    lines = [form.format(t=wanted, r=f"{PREFIXES[register]}9") for wanted, register in pairs]
    answers = ptxas.verdicts(lines, "9.0", "sm_100a")
    wrong = [
        f"{line} ptxas: {theirs or 'yes'}"
        for (wanted, register), line, theirs in zip(pairs, lines, answers, strict=True)
        if register_fits(wanted, register, relaxed=relaxed) == bool(theirs)
    ]
    assert not wrong, "\n".join(wrong)


@needs_ptxas
def test_register_declarations() -> None:
    """``REGISTER_TYPES`` are the types that ``.reg`` takes, but for three oversights of ptxas."""
    lines = [f"{{ .reg .{name} declared; }}" for name in SCALAR_TYPES]
    answers = ptxas.verdicts(lines, "9.0", "sm_100a")
    taken = {name for name, theirs in zip(SCALAR_TYPES, answers, strict=True) if not theirs}
    assert taken - {"e2m1x4", "e2m3x4", "e3m2x4"} == REGISTER_TYPES


def test_every_register_type_is_measured() -> None:
    """u8 and s8 are b8 to ptxas in all but name, and only these two are left out."""
    assert set(PREFIXES) == REGISTER_TYPES - {"u8", "s8"}
