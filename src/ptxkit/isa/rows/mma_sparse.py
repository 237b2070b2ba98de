"""Matrix: mma.sp."""

from ptxkit.isa.forms import form, instruction

LAYOUT = "row col"
ROW_COL = {"sync": "alayout=row & blayout=col"}
SAME_TYPE = {"dtype=f16": "ctype=f16", "dtype=f32": "ctype=f32"}
#: With plain ``.sp`` the order of the metadata is up to the hardware.
SPARSE = "sp sp::ordered_metadata@8.5"
ORDERED = "sp::ordered_metadata"

C_COUNT = {"f16": "2", "f32": "4"}
C_TYPE = {"f16": "half2", "f32": "any32"}
FP8 = "e4m3 e5m2"
FP864 = "e4m3 e5m2 e3m2@8.7/120f e2m3@8.7/120f e2m1@8.7/120f"

INSTRUCTIONS = [
    instruction(
        "mma",
        "Multiply two small matrices spread over a warp and add a third: d = a * b + c.",
        # 16-bit and tf32 multiplicands
        form(
            "mma.sp.sync.aligned.m16n8k16.alayout.blayout.dtype.f16.f16.ctype"
            " =d:count[dtype]*register[dtype], a:2*half2, b:2*half2,"
            " c:count[ctype]*register[ctype], e:any32, #f:u32(0..3)",
            sp=SPARSE, alayout=LAYOUT, blayout=LAYOUT, dtype="f16 f32", ctype="f16 f32",
            count=C_COUNT, register=C_TYPE, rules={**ROW_COL, **SAME_TYPE}, needs="7.1/80",
        ),
        form(
            "mma.sp.sync.aligned.m16n8k32.alayout.blayout.dtype.f16.f16.ctype"
            " =d:count[dtype]*register[dtype], a:4*half2, b:4*half2,"
            " c:count[ctype]*register[ctype], e:any32, #f:u32(0..1)",
            sp=SPARSE, alayout=LAYOUT, blayout=LAYOUT, dtype="f16 f32", ctype="f16 f32",
            count=C_COUNT, register=C_TYPE, rules={**ROW_COL, **SAME_TYPE}, needs="7.1/80",
        ),
        form(
            "mma.sp.sync.aligned.m16n8k16.alayout.blayout.f32.bf16.bf16.f32"
            " =d:4*any32, a:2*any32, b:2*any32, c:4*any32, e:any32, #f:u32(0..3)",
            sp=SPARSE, alayout=LAYOUT, blayout=LAYOUT, rules=ROW_COL, needs="7.1/80",
        ),
        form(
            "mma.sp.sync.aligned.m16n8k32.alayout.blayout.f32.bf16.bf16.f32"
            " =d:4*any32, a:4*any32, b:4*any32, c:4*any32, e:any32, #f:u32(0..1)",
            sp=SPARSE, alayout=LAYOUT, blayout=LAYOUT, rules=ROW_COL, needs="7.1/80",
        ),
        form(
            "mma.sp.sync.aligned.m16n8k8.alayout.blayout.f32.tf32.tf32.f32"
            " =d:4*any32, a:2*any32, b:2*any32, c:4*any32, e:any32, #f:u32(0..3)",
            sp=SPARSE, alayout=LAYOUT, blayout=LAYOUT, rules=ROW_COL, needs="7.1/80",
        ),
        form(
            "mma.sp.sync.aligned.m16n8k16.alayout.blayout.f32.tf32.tf32.f32"
            " =d:4*any32, a:4*any32, b:4*any32, c:4*any32, e:any32, #f:u32(0..1)",
            sp=SPARSE, alayout=LAYOUT, blayout=LAYOUT, rules=ROW_COL, needs="7.1/80",
        ),
        # integers
        form(
            "mma.sp.sync.aligned.m16n8k32.alayout.blayout.s32.atype.btype.s32{.satfinite}"
            " =d:4*int32, a:2*any32, b:2*any32, c:4*int32, e:any32, #f:u32(0..1)",
            sp=SPARSE, alayout=LAYOUT, blayout=LAYOUT, atype="s8 u8", btype="s8 u8",
            rules=ROW_COL, needs="7.1/80",
        ),
        form(
            "mma.sp.sync.aligned.m16n8k64.alayout.blayout.s32.atype.btype.s32{.satfinite}"
            " =d:4*int32, a:4*any32, b:4*any32, c:4*int32, e:any32, #f:u32(0..0)",
            sp=SPARSE, alayout=LAYOUT, blayout=LAYOUT, atype="s8 u8", btype="s8 u8",
            rules=ROW_COL, needs="7.1/80",
        ),
        form(
            "mma.sp.sync.aligned.m16n8k64.alayout.blayout.s32.atype.btype.s32{.satfinite}"
            " =d:4*int32, a:2*any32, b:2*any32, c:4*int32, e:any32, #f:u32(0..1)",
            sp=SPARSE, alayout=LAYOUT, blayout=LAYOUT, atype="s4 u4", btype="s4 u4",
            rules=ROW_COL, needs="7.1/80",
        ),
        form(
            "mma.sp.sync.aligned.m16n8k128.alayout.blayout.s32.atype.btype.s32{.satfinite}"
            " =d:4*int32, a:4*any32, b:4*any32, c:4*int32, e:any32, #f:u32(0..0)",
            sp=SPARSE, alayout=LAYOUT, blayout=LAYOUT, atype="s4 u4", btype="s4 u4",
            rules=ROW_COL, needs="7.1/80",
        ),
        # 8-bit, 6-bit and 4-bit floats
        form(
            "mma.sp.sync.aligned.m16n8k64.alayout.blayout.f32.atype.btype.f32"
            " =d:4*float32, a:4*any32, b:4*any32, c:4*float32, e:any32, #f:u32(0..0)",
            sp=SPARSE, alayout=LAYOUT, blayout=LAYOUT, atype=FP8, btype=FP8, rules=ROW_COL,
            needs="8.4/89",
        ),
        form(
            "mma.sp.sync.aligned.m16n8k64.alayout.blayout.f16.atype.btype.f16"
            " =d:2*half2, a:4*any32, b:4*any32, c:2*half2, e:any32, #f:u32(0..0)",
            sp=ORDERED, alayout=LAYOUT, blayout=LAYOUT, atype=FP8, btype=FP8, rules=ROW_COL,
            needs="8.7/120f",
        ),
        form(
            "mma.sp.sync.aligned.m16n8k64.alayout.blayout.kind::f8f6f4.dtype.atype.btype.ctype"
            " =d:count[dtype]*register[dtype], a:4*any32, b:4*any32,"
            " c:count[ctype]*register[ctype], e:any32, #f:u32(0..0)",
            sp=ORDERED, alayout=LAYOUT, blayout=LAYOUT, dtype="f32 f16@8.7/120f", atype=FP864,
            btype=FP864, ctype="f32 f16", count=C_COUNT,
            register={"f16": "half2", "f32": "float32"}, rules={**ROW_COL, **SAME_TYPE},
            needs="8.6/100f 110f 120f",
        ),
        # scaled blocks
        form(
            "mma.sp.sync.aligned.m16n8k64.alayout.blayout.kind::mxf8f6f4.block_scale{.size}"
            ".f32.atype.btype.f32.ue8m0 =d:4*float32, a:4*any32, b:4*any32, c:4*float32,"
            " e:any32, #f:u32(0..0),"
            " scale_a:any32, (byte_a:b16(0..3), thread_a:b16(0..1)),"
            " scale_b:any32, (byte_b:b16(0..3), thread_b:b16(0..3))",
            sp=ORDERED, alayout=LAYOUT, blayout=LAYOUT, size="scale_vec::1X",
            atype=FP864, btype=FP864, rules=ROW_COL, needs="8.7/120f",
        ),
        form(
            "mma.sp.sync.aligned.m16n8k128.alayout.blayout.kind::mxf4.block_scale{.size}"
            ".f32.e2m1.e2m1.f32.ue8m0 =d:4*float32, a:4*any32, b:4*any32, c:4*float32,"
            " e:any32, #f:u32(0..0),"
            " scale_a:any32, (byte_a:b16(0..2/2), thread_a:b16(0..1)),"
            " scale_b:any32, (byte_b:b16(0..2/2), thread_b:b16(0..3))",
            sp=ORDERED, alayout=LAYOUT, blayout=LAYOUT, size="scale_vec::2X", rules=ROW_COL,
            needs="8.7/120a 8.8/121a",
        ),
        form(
            "mma.sp.sync.aligned.m16n8k128.alayout.blayout.kind::mxf4nvf4.block_scale.scale_vec::2X"
            ".f32.e2m1.e2m1.f32.ue8m0 =d:4*float32, a:4*any32, b:4*any32, c:4*float32,"
            " e:any32, #f:u32(0..0),"
            " scale_a:any32, (byte_a:b16(0..2/2), thread_a:b16(0..1)),"
            " scale_b:any32, (byte_b:b16(0..2/2), thread_b:b16(0..3))",
            sp=ORDERED, alayout=LAYOUT, blayout=LAYOUT, rules=ROW_COL, needs="8.7/120a 8.8/121a",
        ),
        form(
            "mma.sp.sync.aligned.m16n8k128.alayout.blayout.kind::mxf4nvf4.block_scale.scale_vec::4X"
            ".f32.e2m1.e2m1.f32.stype =d:4*float32, a:4*any32, b:4*any32, c:4*float32,"
            " e:any32, #f:u32(0..0),"
            " scale_a:any32, (byte_a:b16(0..0), thread_a:b16(0..1)),"
            " scale_b:any32, (byte_b:b16(0..0), thread_b:b16(0..3))",
            sp=ORDERED, alayout=LAYOUT, blayout=LAYOUT, stype="ue4m3 ue8m0@9.1", rules=ROW_COL,
            needs="8.7/120a 8.8/121a",
        ),
        effects="warp",
    ),
]
