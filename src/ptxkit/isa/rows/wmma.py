"""Matrix: wmma."""

from ptxkit.isa.forms import form, instruction

LAYOUT = "row col"
SPACE = "global shared shared::cta@7.8"
#: The shapes of 16-bit and 8-bit multiplicands.
WIDE = "m16n16k16 m8n32k16@6.1 m32n8k16@6.1"

#: Registers of a fragment, by shape (and type).
A_BF16 = {"m16n16k16": "4", "m8n32k16": "2", "m32n8k16": "8"}
B_BF16 = {"m16n16k16": "4", "m8n32k16": "8", "m32n8k16": "2"}
A_INT8 = {"m16n16k16": "2", "m8n32k16": "1", "m32n8k16": "4"}
B_INT8 = {"m16n16k16": "2", "m8n32k16": "4", "m32n8k16": "1"}
C_FLOAT = {
    "m16n16k16,f16": "4", "m8n32k16,f16": "4", "m32n8k16,f16": "4",
    "m16n16k16,f32": "8", "m8n32k16,f32": "8", "m32n8k16,f32": "8", "m16n16k8,f32": "8",
    "m8n8k32,f32": "2", "m8n8k128,f32": "2",
}  # fmt: skip
C_INT = {
    "m16n16k16": "8", "m8n32k16": "8", "m32n8k16": "8", "m8n8k32": "2", "m8n8k128": "2",
}  # fmt: skip
C_COUNT = {"f16": "4", "f32": "8"}
C_TYPE = {"f16": "half2", "f32": "float32"}
#: The shapes of accumulators. ptxas takes f32 with those of integers too.
INTEGER = WIDE + " m8n8k32@6.3/75 m8n8k128@6.3/75"
FLOAT = INTEGER + " m16n16k8@7.0/80"
F16_SHAPES = {"type=f16": "shape=m16n16k16|m8n32k16|m32n8k16"}

#: ``.aligned`` came with PTX 6.3, and has been mandatory since.
ALIGNED = {"aligned": "6.3", "!aligned": "6.0 !6.3"}
ROW_COL = {"sync": "alayout=row & blayout=col"}

INSTRUCTIONS = [
    instruction(
        "wmma.load.a",
        "Load the left multiplicand of a warp-wide matrix product from memory.",
        form(
            "wmma.load.a.sync{.aligned}.layout.shape{.space}.f16"
            " =r:8*half2, [p:space/pointer].unified{, stride:u32}",
            layout=LAYOUT, shape=WIDE, space=SPACE, gates=ALIGNED, needs="6.0/70",
        ),
        form(
            "wmma.load.a.sync.aligned.layout.shape{.space}.bf16"
            " =r:count[shape]*bits32, [p:space/pointer].unified{, stride:u32}",
            layout=LAYOUT, shape=WIDE, space=SPACE, count=A_BF16, needs="7.0/80",
        ),
        form(
            "wmma.load.a.sync.aligned.layout.m16n16k8{.space}.tf32"
            " =r:4*bits32, [p:space/pointer].unified{, stride:u32}",
            layout=LAYOUT, space=SPACE, needs="7.0/80",
        ),
        form(
            "wmma.load.a.sync.aligned.layout.m8n8k4{.space}.f64"
            " =r:1*word64, [p:space/pointer].unified{, stride:u32}",
            layout=LAYOUT, space=SPACE, needs="7.0/80",
        ),
        form(
            "wmma.load.a.sync.aligned.layout.shape{.space}.type"
            " =r:count[shape]*int32, [p:space/pointer].unified{, stride:u32}",
            layout=LAYOUT, shape=WIDE, space=SPACE, type="s8 u8", count=A_INT8, needs="6.3/72",
        ),
        form(
            "wmma.load.a.sync.aligned.row.m8n8k32{.space}.type"
            " =r:1*word32, [p:space/pointer].unified{, stride:u32}",
            space=SPACE, type="s4 u4", needs="6.3/75",
        ),
        form(
            "wmma.load.a.sync.aligned.row.m8n8k128{.space}.b1"
            " =r:1*word32, [p:space/pointer].unified{, stride:u32}",
            space=SPACE, needs="6.3/75",
        ),
        effects="reads warp",
    ),
    instruction(
        "wmma.load.b",
        "Load the right multiplicand of a warp-wide matrix product from memory.",
        form(
            "wmma.load.b.sync{.aligned}.layout.shape{.space}.f16"
            " =r:8*half2, [p:space/pointer].unified{, stride:u32}",
            layout=LAYOUT, shape=WIDE, space=SPACE, gates=ALIGNED, needs="6.0/70",
        ),
        form(
            "wmma.load.b.sync.aligned.layout.shape{.space}.bf16"
            " =r:count[shape]*bits32, [p:space/pointer].unified{, stride:u32}",
            layout=LAYOUT, shape=WIDE, space=SPACE, count=B_BF16, needs="7.0/80",
        ),
        form(
            "wmma.load.b.sync.aligned.layout.m16n16k8{.space}.tf32"
            " =r:4*bits32, [p:space/pointer].unified{, stride:u32}",
            layout=LAYOUT, space=SPACE, needs="7.0/80",
        ),
        form(
            "wmma.load.b.sync.aligned.layout.m8n8k4{.space}.f64"
            " =r:1*word64, [p:space/pointer].unified{, stride:u32}",
            layout=LAYOUT, space=SPACE, needs="7.0/80",
        ),
        form(
            "wmma.load.b.sync.aligned.layout.shape{.space}.type"
            " =r:count[shape]*int32, [p:space/pointer].unified{, stride:u32}",
            layout=LAYOUT, shape=WIDE, space=SPACE, type="s8 u8", count=B_INT8, needs="6.3/72",
        ),
        form(
            "wmma.load.b.sync.aligned.col.m8n8k32{.space}.type"
            " =r:1*word32, [p:space/pointer].unified{, stride:u32}",
            space=SPACE, type="s4 u4", needs="6.3/75",
        ),
        form(
            "wmma.load.b.sync.aligned.col.m8n8k128{.space}.b1"
            " =r:1*word32, [p:space/pointer].unified{, stride:u32}",
            space=SPACE, needs="6.3/75",
        ),
        effects="reads warp",
    ),
    instruction(
        "wmma.load.c",
        "Load the accumulator of a warp-wide matrix product from memory.",
        form(
            "wmma.load.c.sync{.aligned}.layout.shape{.space}.type"
            " =r:count[shape,type]*register[type], [p:space/pointer].unified{, stride:u32}",
            layout=LAYOUT, shape=FLOAT, space=SPACE, type="f16 f32",
            count=C_FLOAT, register=C_TYPE, rules=F16_SHAPES, gates=ALIGNED, needs="6.0/70",
        ),
        form(
            "wmma.load.c.sync.aligned.layout.shape{.space}.s32"
            " =r:count[shape]*int32, [p:space/pointer].unified{, stride:u32}",
            layout=LAYOUT, shape=INTEGER, space=SPACE, count=C_INT, needs="6.3/72",
        ),
        form(
            "wmma.load.c.sync.aligned.layout.m8n8k4{.space}.f64"
            " =r:2*word64, [p:space/pointer].unified{, stride:u32}",
            layout=LAYOUT, space=SPACE, needs="7.0/80",
        ),
        effects="reads warp",
    ),
    instruction(
        "wmma.store.d",
        "Store the result of a warp-wide matrix product to memory.",
        form(
            "wmma.store.d.sync{.aligned}.layout.shape{.space}.type"
            " [p:space/pointer], r:count[shape,type]*register[type]{, stride:u32}",
            layout=LAYOUT, shape=FLOAT, space=SPACE, type="f16 f32",
            count=C_FLOAT, register=C_TYPE, rules=F16_SHAPES, gates=ALIGNED, needs="6.0/70",
        ),
        form(
            "wmma.store.d.sync.aligned.layout.shape{.space}.s32"
            " [p:space/pointer], r:count[shape]*int32{, stride:u32}",
            layout=LAYOUT, shape=INTEGER, space=SPACE, count=C_INT, needs="6.3/72",
        ),
        form(
            "wmma.store.d.sync.aligned.layout.m8n8k4{.space}.f64"
            " [p:space/pointer], r:2*word64{, stride:u32}",
            layout=LAYOUT, space=SPACE, needs="7.0/80",
        ),
        effects="writes warp",
    ),
    instruction(
        "wmma.mma",
        "Multiply two matrices held by a warp and add a third: d = a * b + c.",
        form(
            "wmma.mma.sync{.aligned}.alayout.blayout.shape.dtype.ctype{.satfinite}"
            " =d:count[dtype]*register[dtype], a:8*half2, b:8*half2,"
            " c:count[ctype]*register[ctype]",
            alayout=LAYOUT, blayout=LAYOUT, shape=WIDE, dtype="f16 f32", ctype="f16 f32",
            satfinite="satfinite@6.0+!6.5", count=C_COUNT, register=C_TYPE, gates=ALIGNED,
            needs="6.0/70",
        ),
        form(
            "wmma.mma.sync.aligned.alayout.blayout.shape.f32.bf16.bf16.f32"
            " =d:8*float32, a:na[shape]*bits32, b:nb[shape]*bits32, c:8*float32",
            alayout=LAYOUT, blayout=LAYOUT, shape=WIDE, na=A_BF16, nb=B_BF16, needs="7.0/80",
        ),
        form(
            "wmma.mma.sync.aligned.alayout.blayout.m16n16k8.f32.tf32.tf32.f32"
            " =d:8*float32, a:4*bits32, b:4*bits32, c:8*float32",
            alayout=LAYOUT, blayout=LAYOUT, needs="7.0/80",
        ),
        form(
            "wmma.mma.sync.aligned.alayout.blayout.m8n8k4{.rnd}.f64.f64.f64.f64"
            " =d:2*word64, a:1*word64, b:1*word64, c:2*word64",
            alayout=LAYOUT, blayout=LAYOUT, rnd="rn rz rm rp", needs="7.0/80",
        ),
        form(
            "wmma.mma.sync.aligned.alayout.blayout.shape.s32.atype.btype.s32{.satfinite}"
            " =d:8*int32, a:na[shape]*int32, b:nb[shape]*int32, c:8*int32",
            alayout=LAYOUT, blayout=LAYOUT, shape=WIDE, atype="s8 u8", btype="s8 u8",
            na=A_INT8, nb=B_INT8, rules={"atype=s8": "btype=s8", "atype=u8": "btype=u8"},
            needs="6.3/72",
        ),
        form(
            "wmma.mma.sync.aligned.alayout.blayout.m8n8k32.s32.atype.btype.s32{.satfinite}"
            " =d:2*int32, a:1*int32, b:1*int32, c:2*int32",
            alayout=LAYOUT, blayout=LAYOUT, atype="s4 u4", btype="s4 u4",
            rules={"atype=s4": "btype=s4", "atype=u4": "btype=u4", **ROW_COL}, needs="6.3/75",
        ),
        form(
            "wmma.mma.op.popc.sync.aligned.alayout.blayout.m8n8k128.s32.b1.b1.s32"
            " =d:2*int32, a:1*int32, b:1*int32, c:2*int32",
            op="xor and@7.1/80", alayout=LAYOUT, blayout=LAYOUT, rules=ROW_COL, needs="6.3/75",
        ),
        effects="warp",
    ),
]
