"""Matrix: mma."""

from ptxkit.isa.forms import form, instruction

LAYOUT = "row col"
ROW_COL = {"sync": "alayout=row & blayout=col"}
SAME_TYPE = {"dtype=f16": "ctype=f16", "dtype=f32": "ctype=f32"}

#: Registers of the accumulator, and what they may be, by its type.
C_COUNT = {"f16": "2", "f32": "4"}
C_TYPE = {"f16": "half2", "f32": "float32"}
#: Registers of the multiplicands, by shape.
A_F16 = {"m16n8k8": "2", "m16n8k16": "4"}
B_F16 = {"m16n8k8": "1", "m16n8k16": "2"}
A_TF32 = {"m16n8k4": "2", "m16n8k8": "4"}
B_TF32 = {"m16n8k4": "1", "m16n8k8": "2"}
A_F64 = {"m16n8k4": "2", "m16n8k8": "4", "m16n8k16": "8"}
B_F64 = {"m16n8k4": "1", "m16n8k8": "2", "m16n8k16": "4"}
A_F8 = {"m16n8k16": "2", "m16n8k32": "4"}
B_F8 = {"m16n8k16": "1", "m16n8k32": "2"}

FP8 = "e4m3 e5m2"
#: Types below eight bits exist on sm_120 only.
FP864 = "e4m3 e5m2 e3m2@8.7/120f e2m3@8.7/120f e2m1@8.7/120f"
#: The short product, and the f16 accumulator, of 8-bit floats came later.
FP8_GATES = {"shape=m16n8k16": "8.7", "dtype=f16": "8.7"}

INSTRUCTIONS = [
    instruction(
        "mma",
        "Multiply two small matrices spread over a warp and add a third: d = a * b + c.",
        # 16-bit and tf32 multiplicands
        form(
            "mma.sync.aligned.m8n8k4.alayout.blayout.dtype.f16.f16.ctype"
            " =d:count[dtype]*register[dtype], a:2*half2, b:2*half2,"
            " c:count[ctype]*register[ctype]",
            alayout=LAYOUT, blayout=LAYOUT, dtype="f16 f32", ctype="f16 f32",
            count={"f16": "4", "f32": "8"}, register=C_TYPE, rules={"dtype=f16": "ctype=f16"},
            needs="6.4/70",
        ),
        form(
            "mma.sync.aligned.shape.alayout.blayout.dtype.f16.f16.ctype"
            " =d:count[dtype]*register[dtype], a:na[shape]*half2, b:nb[shape]*half2,"
            " c:count[ctype]*register[ctype]",
            shape="m16n8k8 m16n8k16@7.0/80", alayout=LAYOUT, blayout=LAYOUT,
            dtype="f16 f32", ctype="f16 f32", count=C_COUNT, register=C_TYPE, na=A_F16, nb=B_F16,
            rules={**ROW_COL, **SAME_TYPE}, needs="6.5/75",
        ),
        form(
            "mma.sync.aligned.m8n8k4.alayout.blayout.f32.bf16.bf16.f32"
            " =d:8*float32, a:2*bits32, b:2*bits32, c:8*float32",
            alayout=LAYOUT, blayout=LAYOUT, needs="7.0/80",
        ),
        form(
            "mma.sync.aligned.shape.alayout.blayout.f32.bf16.bf16.f32"
            " =d:4*float32, a:na[shape]*bits32, b:nb[shape]*bits32, c:4*float32",
            shape="m16n8k8 m16n8k16", alayout=LAYOUT, blayout=LAYOUT, na=A_F16, nb=B_F16,
            rules=ROW_COL, needs="7.0/80",
        ),
        form(
            "mma.sync.aligned.m8n8k4.alayout.blayout.f32.tf32.tf32.f32"
            " =d:8*float32, a:4*bits32, b:4*bits32, c:8*float32",
            alayout=LAYOUT, blayout=LAYOUT, needs="7.0/80",
        ),
        form(
            "mma.sync.aligned.shape.alayout.blayout.f32.tf32.tf32.f32"
            " =d:4*float32, a:na[shape]*bits32, b:nb[shape]*bits32, c:4*float32",
            shape="m16n8k4 m16n8k8", alayout=LAYOUT, blayout=LAYOUT, na=A_TF32, nb=B_TF32,
            rules=ROW_COL, needs="7.0/80",
        ),
        # f64
        form(
            "mma.sync.aligned.m8n8k4.alayout.blayout{.rnd}.f64.f64.f64.f64"
            " =d:2*word64, a:1*word64, b:1*word64, c:2*word64",
            alayout=LAYOUT, blayout=LAYOUT, rnd="rn rz rm rp", rules=ROW_COL, needs="7.0/80",
        ),
        form(
            "mma.sync.aligned.shape.alayout.blayout{.rnd}.f64.f64.f64.f64"
            " =d:4*f64, a:na[shape]*word64, b:nb[shape]*word64, c:4*word64",
            shape="m16n8k4 m16n8k8 m16n8k16", alayout=LAYOUT, blayout=LAYOUT, rnd="rn rz rm rp",
            na=A_F64, nb=B_F64, rules=ROW_COL, needs="7.8/90",
        ),
        # integers
        form(
            "mma.sync.aligned.shape.alayout.blayout.s32.atype.btype.s32{.satfinite}"
            " =d:2*int32, a:1*int32, b:1*any32, c:2*int32",
            shape="m8n8k16", alayout=LAYOUT, blayout=LAYOUT, atype="s8 u8", btype="s8 u8",
            rules=ROW_COL, needs="6.5/75",
        ),
        form(
            "mma.sync.aligned.shape.alayout.blayout.s32.atype.btype.s32{.satfinite}"
            " =d:4*int32, a:na[shape]*any32, b:nb[shape]*any32, c:4*int32",
            shape="m16n8k16 m16n8k32", alayout=LAYOUT, blayout=LAYOUT,
            atype="s8 u8", btype="s8 u8", na={"m16n8k16": "2", "m16n8k32": "4"},
            nb={"m16n8k16": "1", "m16n8k32": "2"}, rules=ROW_COL, needs="7.0/80",
        ),
        form(
            "mma.sync.aligned.shape.alayout.blayout.s32.atype.btype.s32{.satfinite}"
            " =d:2*int32, a:1*any32, b:1*any32, c:2*int32",
            shape="m8n8k32", alayout=LAYOUT, blayout=LAYOUT, atype="s4 u4", btype="s4 u4",
            rules=ROW_COL, needs="6.5/75",
        ),
        form(
            "mma.sync.aligned.shape.alayout.blayout.s32.atype.btype.s32{.satfinite}"
            " =d:4*int32, a:na[shape]*any32, b:nb[shape]*any32, c:4*int32",
            shape="m16n8k32 m16n8k64", alayout=LAYOUT, blayout=LAYOUT,
            atype="s4 u4", btype="s4 u4", na={"m16n8k32": "2", "m16n8k64": "4"},
            nb={"m16n8k32": "1", "m16n8k64": "2"}, rules=ROW_COL, needs="7.0/80",
        ),
        # single bits
        form(
            "mma.sync.aligned.m8n8k128.alayout.blayout.s32.b1.b1.s32.op.popc"
            " =d:2*int32, a:1*any32, b:1*any32, c:2*int32",
            alayout=LAYOUT, blayout=LAYOUT, op="xor and@7.1/80", rules=ROW_COL, needs="7.0/75",
        ),
        form(
            "mma.sync.aligned.shape.alayout.blayout.s32.b1.b1.s32.op.popc"
            " =d:4*int32, a:na[shape]*any32, b:nb[shape]*any32, c:4*int32",
            shape="m16n8k128 m16n8k256", alayout=LAYOUT, blayout=LAYOUT, op="xor and@7.1/80",
            na={"m16n8k128": "2", "m16n8k256": "4"}, nb={"m16n8k128": "1", "m16n8k256": "2"},
            rules=ROW_COL, needs="7.0/80",
        ),
        # 8-bit, 6-bit and 4-bit floats
        form(
            "mma.sync.aligned.shape.alayout.blayout.dtype.atype.btype.ctype"
            " =d:count[dtype]*register[dtype], a:na[shape]*any32, b:nb[shape]*any32,"
            " c:count[ctype]*register[ctype]",
            shape="m16n8k16 m16n8k32", alayout=LAYOUT, blayout=LAYOUT, dtype="f16 f32",
            atype=FP8, btype=FP8, ctype="f16 f32", count=C_COUNT, register=C_TYPE,
            na=A_F8, nb=B_F8, rules={**ROW_COL, **SAME_TYPE}, gates=FP8_GATES, needs="8.4/89",
        ),
        form(
            "mma.sync.aligned.m16n8k16.alayout.blayout.kind::f8f6f4.dtype.atype.btype.ctype"
            " =d:count[dtype]*register[dtype], a:2*any32, b:1*any32,"
            " c:count[ctype]*register[ctype]",
            alayout=LAYOUT, blayout=LAYOUT, dtype="f16 f32", atype=FP8, btype=FP8,
            ctype="f16 f32", count=C_COUNT, register=C_TYPE,
            rules={**ROW_COL, **SAME_TYPE}, needs="8.7/100f 110f 120f",
        ),
        form(
            "mma.sync.aligned.m16n8k32.alayout.blayout.kind::f8f6f4.dtype.atype.btype.ctype"
            " =d:count[dtype]*register[dtype], a:4*any32, b:2*any32,"
            " c:count[ctype]*register[ctype]",
            alayout=LAYOUT, blayout=LAYOUT, dtype="f16 f32", atype=FP864, btype=FP864,
            ctype="f16 f32", count=C_COUNT, register=C_TYPE,
            rules={**ROW_COL, **SAME_TYPE}, gates={"dtype=f16": "8.7"}, needs="8.6/100f 110f 120f",
        ),
        # scaled blocks
        form(
            "mma.sync.aligned.m16n8k32.alayout.blayout.kind::mxf8f6f4.block_scale{.size}"
            ".f32.atype.btype.f32.ue8m0 =d:4*float32, a:4*any32, b:2*any32, c:4*float32,"
            " scale_a:any32, (byte_a:b16(0..3), thread_a:b16(0..1)),"
            " scale_b:any32, (byte_b:b16(0..3), thread_b:b16(0..3))",
            alayout=LAYOUT, blayout=LAYOUT, size="scale_vec::1X", atype=FP864, btype=FP864,
            rules=ROW_COL, needs="8.7/120f",
        ),
        form(
            "mma.sync.aligned.m16n8k64.alayout.blayout.kind::mxf4.block_scale{.size}"
            ".f32.e2m1.e2m1.f32.ue8m0 =d:4*float32, a:4*any32, b:2*any32, c:4*float32,"
            " scale_a:any32, (byte_a:b16(0..2/2), thread_a:b16(0..1)),"
            " scale_b:any32, (byte_b:b16(0..2/2), thread_b:b16(0..3))",
            alayout=LAYOUT, blayout=LAYOUT, size="scale_vec::2X", rules=ROW_COL, needs="8.7/120f",
        ),
        form(
            "mma.sync.aligned.m16n8k64.alayout.blayout.kind::mxf4nvf4.block_scale.scale_vec::2X"
            ".f32.e2m1.e2m1.f32.ue8m0 =d:4*float32, a:4*any32, b:2*any32, c:4*float32,"
            " scale_a:any32, (byte_a:b16(0..2/2), thread_a:b16(0..1)),"
            " scale_b:any32, (byte_b:b16(0..2/2), thread_b:b16(0..3))",
            alayout=LAYOUT, blayout=LAYOUT, rules=ROW_COL, needs="8.7/120f",
        ),
        form(
            "mma.sync.aligned.m16n8k64.alayout.blayout.kind::mxf4nvf4.block_scale.scale_vec::4X"
            ".f32.e2m1.e2m1.f32.stype =d:4*float32, a:4*any32, b:2*any32, c:4*float32,"
            " scale_a:any32, (byte_a:b16(0..0), thread_a:b16(0..1)),"
            " scale_b:any32, (byte_b:b16(0..0), thread_b:b16(0..3))",
            alayout=LAYOUT, blayout=LAYOUT, stype="ue4m3 ue8m0@9.1", rules=ROW_COL,
            needs="8.7/120f",
        ),
        effects="warp",
    ),
]
