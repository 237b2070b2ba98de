"""Comparison and selection."""

from ptxkit.isa.forms import form, instruction

EQUAL = "eq ne"
SIGNED_ORDER = "eq ne lt le gt ge"
UNSIGNED_ORDER = SIGNED_ORDER + " lo ls hi hs"
FLOAT_ORDER = SIGNED_ORDER + " equ neu ltu leu gtu geu num nan"
BITS = "b16 b32 b64"
UNSIGNED = "u16 u32 u64"
SIGNED = "s16 s32 s64"
BOOLEAN = "and or xor"
SCALAR = f"{BITS} {UNSIGNED} {SIGNED} f32 f64"

#: What ``set`` may write for a comparison of values other than halves.
RESULT = "u32 s32 f32 f16@4.2/53"

INSTRUCTIONS = [
    instruction(
        "setp",
        "Compare a with b into a predicate, optionally combined with a third one; q receives"
        " the negated comparison, or the upper lane's for packed types.",
        form("setp.cmp{.bool}.type =p_:pred{|q_:pred}, a, b{?bool, c:pred}", cmp=EQUAL,
             bool=BOOLEAN, type=BITS),
        form("setp.cmp{.bool}.type =p_:pred{|q_:pred}, a, b{?bool, c:pred}", cmp=UNSIGNED_ORDER,
             bool=BOOLEAN, type=UNSIGNED),
        form("setp.cmp{.bool}.type =p_:pred{|q_:pred}, a, b{?bool, c:pred}", cmp=SIGNED_ORDER,
             bool=BOOLEAN, type=SIGNED),
        form("setp.cmp{.bool}{.ftz}.f32 =p_:pred{|q_:pred}, a, b{?bool, c:pred}", cmp=FLOAT_ORDER,
             bool=BOOLEAN, ftz="ftz@1.4"),
        form("setp.cmp{.bool}.f64 =p_:pred{|q_:pred}, a, b{?bool, c:pred}", cmp=FLOAT_ORDER,
             bool=BOOLEAN),
        form("setp.cmp{.bool}{.ftz}.f16 =p_:pred, a, b{?bool, c:pred}", cmp=FLOAT_ORDER,
             bool=BOOLEAN, needs="4.2/53"),
        form("setp.cmp{.bool}{.ftz}.f16x2 =p_:pred{|q_:pred}, a, b{?bool, c:pred}",
             cmp=FLOAT_ORDER, bool=BOOLEAN, needs="4.2/53"),
        form("setp.cmp{.bool}.bf16 =p_:pred, a, b{?bool, c%:pred}", cmp=FLOAT_ORDER,
             bool=BOOLEAN, needs="7.8/90"),
        form("setp.cmp{.bool}.bf16x2 =p_:pred{|q_:pred}, a, b{?bool, c%:pred}", cmp=FLOAT_ORDER,
             bool=BOOLEAN, needs="7.8/90"),
        ignores="pred",
    ),
    instruction(
        "set",
        "Compare a with b, optionally combined with a predicate, into all ones (1.0 for float"
        " results) or zero.",
        form("set.cmp{.bool}.dtype.stype =d:dtype, a:stype, b:stype{?bool, c:pred}", cmp=EQUAL,
             bool=BOOLEAN, dtype=RESULT, stype=BITS),
        form("set.cmp{.bool}.dtype.stype =d:dtype, a:stype, b:stype{?bool, c:pred}",
             cmp=UNSIGNED_ORDER, bool=BOOLEAN, dtype=RESULT, stype=UNSIGNED),
        form("set.cmp{.bool}.dtype.stype =d:dtype, a:stype, b:stype{?bool, c:pred}",
             cmp=SIGNED_ORDER, bool=BOOLEAN, dtype=RESULT, stype=SIGNED),
        form("set.cmp{.bool}{.ftz}.dtype.f32 =d:dtype, a, b{?bool, c:pred}", cmp=FLOAT_ORDER,
             bool=BOOLEAN, dtype=RESULT, ftz="ftz@1.4"),
        form("set.cmp{.bool}.dtype.f64 =d:dtype, a, b{?bool, c:pred}", cmp=FLOAT_ORDER,
             bool=BOOLEAN, dtype=RESULT),
        form("set.cmp{.bool}{.ftz}.dtype.f16 =d:dtype, a, b{?bool, c:pred}", cmp=FLOAT_ORDER,
             bool=BOOLEAN, dtype="f16 u16@6.5/53 s16@6.5/53 u32@6.5/53 s32@6.5/53",
             needs="4.2/53"),
        form("set.cmp{.bool}{.ftz}.dtype.f16x2 =d:dtype, a, b{?bool, c:pred}", cmp=FLOAT_ORDER,
             bool=BOOLEAN, dtype="f16x2 u32@6.5/53 s32@6.5/53", needs="4.2/53"),
        form("set.cmp{.bool}.dtype.bf16 =d:dtype, a, b{?bool, c%:pred}", cmp=FLOAT_ORDER,
             bool=BOOLEAN, dtype="u16 s16 u32 s32", needs="7.8/90"),
        form("set.cmp{.bool}.dtype.bf16x2 =d:dtype, a, b{?bool, c%:pred}", cmp=FLOAT_ORDER,
             bool=BOOLEAN, dtype="u32 s32", needs="7.8/90"),
        form("set.cmp{.bool}.dtype.stype =d:dtype, a:stype, b:stype{?bool, c%:pred}", cmp=EQUAL,
             bool=BOOLEAN, dtype="bf16", stype=BITS, needs="7.8/90"),
        form("set.cmp{.bool}.dtype.stype =d:dtype, a:stype, b:stype{?bool, c%:pred}",
             cmp=UNSIGNED_ORDER, bool=BOOLEAN, dtype="bf16", stype=UNSIGNED, needs="7.8/90"),
        form("set.cmp{.bool}.dtype.stype =d:dtype, a:stype, b:stype{?bool, c%:pred}",
             cmp=SIGNED_ORDER, bool=BOOLEAN, dtype="bf16", stype=SIGNED, needs="7.8/90"),
        form("set.cmp{.bool}.dtype.stype =d:dtype, a:stype, b:stype{?bool, c%:pred}",
             cmp=FLOAT_ORDER, bool=BOOLEAN, dtype="bf16", stype="f16 bf16 f32 f64", needs="7.8/90"),
        form("set.cmp{.bool}.dtype.stype =d:dtype, a:stype, b:stype{?bool, c%:pred}",
             cmp=FLOAT_ORDER, bool=BOOLEAN, dtype="bf16x2", stype="bf16x2", needs="7.8/90"),
        ignores="pred",
    ),
    instruction(
        "selp",
        "Select a where the predicate c holds, else b.",
        form("selp.type =d, a, b, c:pred", type=SCALAR),
    ),
    instruction(
        "slct",
        "Select a where c is at least zero, else b.",
        form("slct.type.stype =d, a, b, c:stype", type=SCALAR, stype="s32"),
        form("slct{.ftz}.type.stype =d, a, b, c:stype", type=SCALAR, stype="f32", ftz="ftz@1.4"),
    ),
]  # fmt: skip
