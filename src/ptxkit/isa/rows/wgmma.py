"""Matrix: wgmma."""

from ptxkit.isa.forms import form, instruction

#: The widths of the result: any multiple of 8 for floats, fewer for integers and bits.
FLOAT = range(8, 257, 8)
INTEGER = (8, 16, 24, *range(32, 257, 16))
K8, K16, K32, K64 = (
    " ".join(f"m64n{n}k{k}" for n in FLOAT) for k in (8, 16, 32, 64)
)  # fmt: skip
I32, I64, I256 = (
    " ".join(f"m64n{n}k{k}" for n in INTEGER) for k in (32, 64, 256)
)  # fmt: skip

#: Registers of the result, by shape (and type).
WORDS = {f"m64n{n}k{k}": str(n // 2) for n in FLOAT for k in (8, 16, 32, 64, 256)}
COUNT = {f"{shape},f32": count for shape, count in WORDS.items()} | {
    f"{shape},f16": str(int(count) // 2) for shape, count in WORDS.items()
}
REGISTER = {"f16": "half2", "f32": "float32"}
FP8 = "e4m3 e5m2"

INSTRUCTIONS = [
    instruction(
        "wgmma.mma_async",
        "Start a matrix product of a warpgroup, d = a * b (+ d), with b in shared memory.",
        # both multiplicands in shared memory, given by descriptors
        form(
            "wgmma.mma_async.sync{.aligned}.shape.dtype.f16.f16"
            " +d:count[shape,dtype]*register[dtype],"
            " a:u64, b:u64, scale_d:pred(0..1), #scale_a:s32(-1..1/2), #scale_b:s32(-1..1/2),"
            " #trans_a:s32(0..1), #trans_b:s32(0..1)",
            shape=K16, dtype="f16 f32", count=COUNT, register=REGISTER, needs="8.0/90a",
        ),
        form(
            "wgmma.mma_async.sync{.aligned}.shape.f32.bf16.bf16 +d:count[shape]*float32,"
            " a:u64, b:u64, scale_d:pred(0..1), #scale_a:s32(-1..1/2), #scale_b:s32(-1..1/2),"
            " #trans_a:s32(0..1), #trans_b:s32(0..1)",
            shape=K16, count=WORDS, needs="8.0/90a",
        ),
        form(
            "wgmma.mma_async.sync{.aligned}.shape.f32.tf32.tf32 +d:count[shape]*float32,"
            " a:u64, b:u64, scale_d:pred(0..1), #scale_a:s32(-1..1/2), #scale_b:s32(-1..1/2)",
            shape=K8, count=WORDS, needs="8.0/90a",
        ),
        form(
            "wgmma.mma_async.sync{.aligned}.shape.dtype.atype.btype"
            " +d:count[shape,dtype]*register[dtype], a:u64, b:u64, scale_d:pred(0..1),"
            " #scale_a:s32(-1..1/2), #scale_b:s32(-1..1/2)",
            shape=K32, dtype="f16 f32", atype=FP8, btype=FP8, count=COUNT, register=REGISTER,
            needs="8.0/90a",
        ),
        form(
            "wgmma.mma_async.sync{.aligned}.shape.s32.atype.btype{.satfinite}"
            " +d:count[shape]*int32, a:u64, b:u64, scale_d:pred(0..1)",
            shape=I32, atype="s8 u8", btype="s8 u8", count=WORDS, needs="8.0/90a",
        ),
        form(
            "wgmma.mma_async.sync{.aligned}.shape.s32.b1.b1.and.popc"
            " +d:count[shape]*int32, a:u64, b:u64, scale_d:pred(0..1)",
            shape=I256, count=WORDS, needs="8.0/90a",
        ),
        # the left multiplicand in registers
        form(
            "wgmma.mma_async.sync{.aligned}.shape.dtype.f16.f16"
            " +d:count[shape,dtype]*register[dtype],"
            " a:4*half2, b:u64, scale_d:pred(0..1), #scale_a:s32(-1..1/2), #scale_b:s32(-1..1/2),"
            " #trans_b:s32(0..1)",
            shape=K16, dtype="f16 f32", count=COUNT, register=REGISTER, needs="8.0/90a",
        ),
        form(
            "wgmma.mma_async.sync{.aligned}.shape.f32.bf16.bf16 +d:count[shape]*float32,"
            " a:4*half2, b:u64, scale_d:pred(0..1), #scale_a:s32(-1..1/2), #scale_b:s32(-1..1/2),"
            " #trans_b:s32(0..1)",
            shape=K16, count=WORDS, needs="8.0/90a",
        ),
        form(
            "wgmma.mma_async.sync{.aligned}.shape.f32.tf32.tf32 +d:count[shape]*float32,"
            " a:4*half2, b:u64, scale_d:pred(0..1), #scale_a:s32(-1..1/2), #scale_b:s32(-1..1/2)",
            shape=K8, count=WORDS, needs="8.0/90a",
        ),
        form(
            "wgmma.mma_async.sync{.aligned}.shape.dtype.atype.btype"
            " +d:count[shape,dtype]*register[dtype], a:4*half2, b:u64, scale_d:pred(0..1),"
            " #scale_a:s32(-1..1/2), #scale_b:s32(-1..1/2)",
            shape=K32, dtype="f16 f32", atype=FP8, btype=FP8, count=COUNT, register=REGISTER,
            needs="8.0/90a",
        ),
        form(
            "wgmma.mma_async.sync{.aligned}.shape.s32.atype.btype{.satfinite}"
            " +d:count[shape]*int32, a:4*any32, b:u64, scale_d:pred(0..1)",
            shape=I32, atype="s8 u8", btype="s8 u8", count=WORDS, needs="8.0/90a",
        ),
        form(
            "wgmma.mma_async.sync{.aligned}.shape.s32.b1.b1.and.popc"
            " +d:count[shape]*int32, a:4*any32, b:u64, scale_d:pred(0..1)",
            shape=I256, count=WORDS, needs="8.0/90a",
        ),
        # a 2:4 sparse left multiplicand in shared memory
        form(
            "wgmma.mma_async.sp.sync{.aligned}.shape.dtype.f16.f16"
            " +d:count[shape,dtype]*register[dtype], a:u64, b:u64, metadata:any32,"
            " #selector:s32(0..1), scale_d:pred(0..1), #scale_a:s32(-1..1/2),"
            " #scale_b:s32(-1..1/2),"
            " #trans_a:s32(0..1), #trans_b:s32(0..1)",
            shape=K32, dtype="f16 f32", count=COUNT, register=REGISTER, needs="8.2/90a",
        ),
        form(
            "wgmma.mma_async.sp.sync{.aligned}.shape.f32.bf16.bf16 +d:count[shape]*float32,"
            " a:u64, b:u64, metadata:any32, #selector:s32(0..1), scale_d:pred(0..1),"
            " #scale_a:s32(-1..1/2), #scale_b:s32(-1..1/2), #trans_a:s32(0..1), #trans_b:s32(0..1)",
            shape=K32, count=WORDS, needs="8.2/90a",
        ),
        form(
            "wgmma.mma_async.sp.sync{.aligned}.shape.f32.tf32.tf32 +d:count[shape]*float32,"
            " a:u64, b:u64, metadata:any32, #selector:s32(0..1), scale_d:pred(0..1),"
            " #scale_a:s32(-1..1/2), #scale_b:s32(-1..1/2)",
            shape=K16, count=WORDS, needs="8.2/90a",
        ),
        form(
            "wgmma.mma_async.sp.sync{.aligned}.shape.dtype.atype.btype"
            " +d:count[shape,dtype]*register[dtype], a:u64, b:u64, metadata:any32,"
            " #selector:s32(0..0), scale_d:pred(0..1), #scale_a:s32(-1..1/2),"
            " #scale_b:s32(-1..1/2)",
            shape=K64, dtype="f16 f32", atype=FP8, btype=FP8, count=COUNT, register=REGISTER,
            needs="8.2/90a",
        ),
        form(
            "wgmma.mma_async.sp.sync{.aligned}.shape.s32.atype.btype{.satfinite}"
            " +d:count[shape]*int32, a:u64, b:u64, metadata:any32, #selector:s32(0..0),"
            " scale_d:pred(0..1)",
            shape=I64, atype="s8 u8", btype="s8 u8", count=WORDS, needs="8.2/90a",
        ),
        # a 2:4 sparse left multiplicand in registers
        form(
            "wgmma.mma_async.sp.sync{.aligned}.shape.dtype.f16.f16"
            " +d:count[shape,dtype]*register[dtype], a:4*half2, b:u64, metadata:any32,"
            " #selector:s32(0..1), scale_d:pred(0..1), #scale_a:s32(-1..1/2),"
            " #scale_b:s32(-1..1/2),"
            " #trans_b:s32(0..1)",
            shape=K32, dtype="f16 f32", count=COUNT, register=REGISTER, needs="8.2/90a",
        ),
        form(
            "wgmma.mma_async.sp.sync{.aligned}.shape.f32.bf16.bf16 +d:count[shape]*float32,"
            " a:4*half2, b:u64, metadata:any32, #selector:s32(0..1), scale_d:pred(0..1),"
            " #scale_a:s32(-1..1/2), #scale_b:s32(-1..1/2), #trans_b:s32(0..1)",
            shape=K32, count=WORDS, needs="8.2/90a",
        ),
        form(
            "wgmma.mma_async.sp.sync{.aligned}.shape.f32.tf32.tf32 +d:count[shape]*float32,"
            " a:4*half2, b:u64, metadata:any32, #selector:s32(0..1), scale_d:pred(0..1),"
            " #scale_a:s32(-1..1/2), #scale_b:s32(-1..1/2)",
            shape=K16, count=WORDS, needs="8.2/90a",
        ),
        form(
            "wgmma.mma_async.sp.sync{.aligned}.shape.dtype.atype.btype"
            " +d:count[shape,dtype]*register[dtype], a:4*half2, b:u64, metadata:any32,"
            " #selector:s32(0..0), scale_d:pred(0..1), #scale_a:s32(-1..1/2),"
            " #scale_b:s32(-1..1/2)",
            shape=K64, dtype="f16 f32", atype=FP8, btype=FP8, count=COUNT, register=REGISTER,
            needs="8.2/90a",
        ),
        form(
            "wgmma.mma_async.sp.sync{.aligned}.shape.s32.atype.btype{.satfinite}"
            " +d:count[shape]*int32, a:4*any32, b:u64, metadata:any32, #selector:s32(0..0),"
            " scale_d:pred(0..1)",
            shape=I64, atype="s8 u8", btype="s8 u8", count=WORDS, needs="8.2/90a",
        ),
        effects="reads warp state",
        ignores="row col pred",
    ),
    instruction(
        "wgmma.fence",
        "Order register and shared memory accesses before later wgmma.mma_async of the warpgroup.",
        form("wgmma.fence.sync{.aligned}", needs="8.0/90a"),
        effects="sync",
    ),
    instruction(
        "wgmma.commit_group",
        "Gather all wgmma.mma_async started so far into a new group.",
        form("wgmma.commit_group.sync{.aligned}", needs="8.0/90a"),
        effects="state",
    ),
    instruction(
        "wgmma.wait_group",
        "Wait until at most n of the latest wgmma groups are still running.",
        form("wgmma.wait_group.sync{.aligned} #n:u64(0..9223372036854775807)", needs="8.0/90a"),
        effects="sync state",
    ),
]
