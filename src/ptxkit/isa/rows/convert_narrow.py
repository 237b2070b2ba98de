"""Conversions from and to the packed formats of 8, 6 and 4 bits."""

from ptxkit.isa.forms import form, instruction

#: The formats of the Blackwell generation, and the targets that have them.
NARROW = "8.6/100a 101a 8.7/120a 8.8/100f 101f 120f"
NARROW_9_1 = "9.1/100f 110f 120f"
NARROW_9_2 = "9.2/100f 110f 120f"
STOCHASTIC = "8.7/100a 8.8/103a"
FIXED_POINT = "9.1/100a 103a 110a 120a 121a"
SCALE = "scaled::n2::ue8m0"
BYTES = "e4m3x2 e5m2x2"
SIXES = "e2m3x2 e3m2x2"

INSTRUCTIONS = [
    instruction(
        "cvt",
        "Convert a value to another type, rounding and saturating as the modifiers say.",
        form("cvt.rn.satfinite{.relu}.dtype.f32 =d:dtype, a:f32, b:f32", dtype=BYTES,
             needs="8.1/89"),
        form("cvt.rn.satfinite{.relu}.dtype.f32 =d:dtype, a:f32, b:f32",
             dtype=f"{SIXES} e2m1x2", needs=NARROW),
        form("cvt.rn.satfinite{.relu}.dtype.f16x2 =d:dtype, a:f16x2", dtype=BYTES,
             needs="8.1/89"),
        form("cvt.rn.satfinite{.relu}.e2m1x2.f16x2 =d:e2m1x2, a:f16x2", needs=NARROW),
        form("cvt.rn.satfinite{.relu}.dtype.f16x2 =d:dtype, a:f16x2", dtype=SIXES,
             needs=NARROW_9_1),
        form("cvt.rn.satfinite{.relu}.dtype.bf16x2 =d:dtype, a:bf16x2",
             dtype=f"{BYTES} {SIXES} e2m1x2", needs=NARROW_9_1),
        form("cvt.rn{.relu}.f16x2.atype =d:f16x2, a:atype", atype=BYTES, needs="8.1/89"),
        form("cvt.rn{.relu}.f16x2.atype =d:f16x2, a:atype", atype=f"{SIXES} e2m1x2",
             needs=NARROW),
        form("cvt.rn{.relu}{.satfinite}{.scale}.bf16x2.atype"
             " =d:bf16x2, a:atype{?scale, s:ue8m0x2}", atype=f"{BYTES} {SIXES} e2m1x2",
             scale=SCALE, needs=NARROW_9_2),
        form("cvt.rnd{.satfinite}.ue8m0x2.f32 =d:ue8m0x2, a:f32, b:f32", rnd="rz rp",
             needs=NARROW),
        form("cvt.rnd{.satfinite}.ue8m0x2.bf16x2 =d:ue8m0x2, a:bf16x2", rnd="rz rp",
             needs=NARROW),
        form("cvt.rn.bf16x2.ue8m0x2 =d:bf16x2, a:ue8m0x2", needs=NARROW),
        form("cvt.rs.satfinite{.relu}.dtype.f32 =d:dtype, a:4*f32, r%:b32",
             dtype="e4m3x4 e5m2x4 e2m3x4 e3m2x4 e2m1x4", needs=STOCHASTIC),
        form("cvt.rn.satfinite{.relu}{.scale}.s2f6x2.f32"
             " =d:s2f6x2, a:f32, b:f32{?scale, s:ue8m0x2}", scale=SCALE, needs=FIXED_POINT),
        form("cvt.rn.satfinite{.relu}{.scale}.s2f6x2.bf16x2"
             " =d:s2f6x2, a:bf16x2{?scale, s:ue8m0x2}", scale=SCALE, needs=FIXED_POINT),
        form("cvt.rn{.relu}{.satfinite}{.scale}.bf16x2.s2f6x2"
             " =d:bf16x2, a:s2f6x2{?scale, s:ue8m0x2}", scale=SCALE, needs=FIXED_POINT),
    ),
]  # fmt: skip
