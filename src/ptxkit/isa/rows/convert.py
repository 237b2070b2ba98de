"""Data movement and conversion."""

from ptxkit.isa.forms import form, instruction

INTEGER = "u8 u16 u32 u64 s8 s16 s32 s64"
WIDE_INTEGER = "u16 u32 u64 s16 s32 s64"
MOVED = "b16 b32 b64 u16 u32 u64 s16 s32 s64 f32 f64"
ROUND = "rn rz rm rp"
#: Flushing subnormals is said since PTX 1.4.
FTZ = "ftz@1.4"
TO_INTEGER = "rni rzi rmi rpi"

#: Where a source of any value fits in the destination, nothing can saturate.
SATURATES = {
    "sat&dtype=u8": "atype!=u8",
    "sat&dtype=s8": "atype!=s8",
    "sat&dtype=u16": "atype!=u8|u16",
    "sat&dtype=s16": "atype!=u8|s8|s16",
    "sat&dtype=u32": "atype!=u8|u16|u32",
    "sat&dtype=s32": "atype!=u8|s8|u16|s16|s32",
    "sat&dtype=u64": "atype!=u8|u16|u32|u64",
    "sat&dtype=s64": "atype=u64",
}

#: Stochastic rounding.
STOCHASTIC = "8.7/100a 8.8/103a"

INSTRUCTIONS = [
    instruction(
        "mov",
        "Copy a value, a constant, a special register or an address; pack a vector into one"
        " register or unpack it.",
        form("mov.type =d, a$&", type=MOVED),
        form("mov.pred =d, a$"),
        form("mov.b128 =d, a&", needs="8.3/70"),
        form("mov.type =d, a:2*half[type]", type="b16 b32 b64 b128@8.3/70",
             half={"b16": "b8", "b32": "b16", "b64": "b32", "b128": "b64"}),
        form("mov.type =d, a:4*quarter[type]", type="b32 b64 b128@8.3/70",
             quarter={"b32": "b8", "b64": "b16", "b128": "b32"}),
        form("mov.type =d:2*half[type], a$&", type="b16 b32 b64 b128@8.3/70",
             half={"b16": "b8", "b32": "b16", "b64": "b32", "b128": "b64"}),
        form("mov.type =d:4*quarter[type], a$&", type="b32 b64 b128@8.3/70",
             quarter={"b32": "b8", "b64": "b16", "b128": "b32"}),
        form("mov.v2.type =d:2*type, a$:2*type", type=MOVED),
        form("mov.v4.type =d:4*type, a$:4*type", type="b16 b32 u16 u32 s16 s32 f32"),
    ),
    instruction(
        "prmt",
        "Pick four bytes out of the eight of b:a, by a selector of four nibbles or by a mode.",
        form("prmt.b32{.mode} =d, a, b, c", mode="f4e b4e rc8 ecl ecr rc16", needs="2.0/20"),
    ),
    instruction(
        "cvt",
        "Convert a value to another type, rounding and saturating as the modifiers say.",
        form("cvt{.sat}.dtype.atype =d:dtype~, a$:atype~", dtype=INTEGER, atype=INTEGER,
             rules=SATURATES),
        form("cvt.irnd{.ftz}{.sat}.dtype.atype =d:dtype~, a:atype~", ftz=FTZ, irnd=TO_INTEGER,
             dtype=INTEGER, atype="f16 f32 f64", rules={"ftz": "atype=f32"}),
        form("cvt.irnd.dtype.atype =d:dtype, a:atype", irnd=TO_INTEGER, dtype=WIDE_INTEGER,
             atype="bf16", needs="7.8/90"),
        form("cvt.rnd{.ftz}{.sat}.dtype.atype =d:dtype~, a:atype~", ftz=FTZ, rnd=ROUND,
             dtype="f16 f32 f64", atype=INTEGER, rules={"ftz": "dtype=f32"}),
        form("cvt.rnd.dtype.atype =d:dtype, a:atype", rnd=ROUND, dtype="bf16",
             atype=WIDE_INTEGER, needs="7.8/90"),
        form("cvt{.irnd}{.ftz}{.sat}.f32.f32 =d:f32~, a:f32~", ftz=FTZ, irnd=TO_INTEGER),
        form("cvt{.irnd}{.sat}.f64.f64 =d:f64~, a:f64~", irnd=TO_INTEGER),
        form("cvt{.irnd}{.sat}.f16.f16 =d:f16~, a:f16~", irnd=TO_INTEGER),
        form("cvt{.irnd}.bf16.bf16 =d:bf16, a:bf16", irnd=TO_INTEGER, needs="7.8/90"),
        form("cvt{.ftz}{.sat}.f32.f16 =d:f32~, a:f16~", ftz=FTZ),
        form("cvt{.ftz}{.sat}.f64.f32 =d:f64~, a:f32~", ftz="ftz@2.0"),
        form("cvt{.sat}.f64.f16 =d:f64~, a:f16~"),
        form("cvt.rnd{.ftz}{.sat}.f32.f64 =d:f32~, a:f64~", ftz=FTZ, rnd=ROUND),
        form("cvt.rnd{.sat}.f16.f64 =d:f16~, a:f64~", rnd=ROUND),
        form("cvt.rnd{.ftz}{.sat}.f16.f32 =d:f16~, a:f32~", ftz=FTZ, rnd=ROUND),
        form("cvt.rnd{.ftz}.bf16.f32 =d:bf16, a:f32", ftz=FTZ, rnd=ROUND, needs="7.0/80"),
        form("cvt.rnd.bf16.f64 =d:bf16, a:f64", rnd=ROUND, needs="7.8/90"),
        form("cvt{.rnd}.bf16.f16 =d:bf16, a:f16", rnd=ROUND, needs="7.8/90"),
        form("cvt{.rnd}.f16.bf16 =d:f16, a:bf16", rnd=ROUND, needs="7.8/90"),
        form("cvt{.rnd}{.ftz}.f32.bf16 =d:f32, a:bf16", rnd=ROUND, ftz="ftz@7.8/90",
             needs="7.1/80"),
        form("cvt{.rnd}.f64.bf16 =d:f64, a:bf16", rnd=ROUND, needs="7.8/90"),
        form("cvt.rnd.relu{.satfinite}.f16.f32 =d:f16~, a:f32~", rnd="rn rz",
             satfinite="satfinite@8.1/80", needs="7.0/80"),
        form("cvt.rnd.satfinite.f16.f32 =d:f16~, a:f32~", rnd="rn rz", needs="8.1/70"),
        form("cvt.rnd{.relu}{.satfinite}.bf16.f32 =d:bf16, a:f32", rnd="rn rz",
             satfinite="satfinite@8.1/80", needs="7.0/80"),
        form("cvt.rnd{.relu}{.satfinite}.f16x2.f32 =d:f16x2~, a:f32~, b:f32~", rnd="rn rz",
             satfinite="satfinite@8.1/80", needs="7.0/80"),
        form("cvt.rnd{.relu}{.satfinite}.bf16x2.f32 =d:bf16x2, a:f32, b:f32", rnd="rn rz",
             satfinite="satfinite@8.1/80", needs="7.0/80"),
        form("cvt.rs{.relu}{.satfinite}.f16x2.f32 =d:f16x2~, a:f32~, b:f32~, r%:b32",
             needs=STOCHASTIC),
        form("cvt.rs{.relu}{.satfinite}.bf16x2.f32 =d:bf16x2, a:f32, b:f32, r%:b32",
             needs=STOCHASTIC),
        form("cvt.rna{.satfinite}.tf32.f32 =d:tf32, a:f32", satfinite="satfinite@8.1/80",
             needs="7.0/80"),
        form("cvt.rnd{.relu}{.satfinite}.tf32.f32 =d:tf32, a:f32", rnd="rn rz",
             satfinite="satfinite@8.6/100", needs="7.8/90"),
        ignores="pred",
    ),
    instruction(
        "cvt.pack",
        "Convert two integers to a narrower type with saturation and pack them, above the low"
        " bits of c where there is one.",
        form("cvt.pack.sat.dtype.atype =d:atype~, a:atype~, b:atype~", dtype="u16 s16",
             atype="s32", needs="6.5/72"),
        form("cvt.pack.sat.dtype.atype.ctype =d:atype~, a:atype~, b:atype~, c:ctype~",
             dtype="u8 s8 u4@6.5/75 s4@6.5/75 u2@6.5/75 s2@6.5/75", atype="s32", ctype="b32",
             needs="6.5/72"),
        ignores="pred",
    ),
]  # fmt: skip
