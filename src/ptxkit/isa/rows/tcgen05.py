"""Matrix: tcgen05, all but the products: tensor memory, copies and synchronisation."""

from ptxkit.isa.forms import form, instruction

#: Tensor memory exists in these families.
TENSOR = "8.6/100f 101f"
EXCLUSIVE = "9.4/100f 101f"
GROUP = "cta_group::1 cta_group::2"
NUM = [1, 2, 4, 8, 16, 32, 64, 128]
#: Registers a thread moves, by shape and repetition: never more than 128.
COUNT = {
    f"{shape},x{num}": str(num * width)
    for shape, width in {"32x32b": 1, "16x64b": 1, "16x128b": 2, "16x256b": 4}.items()
    for num in NUM
    if num * width <= 128
}
ALL = " ".join(f"x{num}" for num in NUM)
WIDTHS = {"shape=16x128b": "num!=x128", "shape=16x256b": "num!=x64|x128"}
SHAPE = "16x64b 16x128b 16x256b 32x32b"
#: Older ptxas did not insist on ``.aligned`` here.
ALIGNED = {"!aligned": "8.6 !9.1"}
REDUCTION = "8.8/103f 101f"

INSTRUCTIONS = [
    instruction(
        "tcgen05.alloc",
        "Allocate columns of tensor memory, wait until they are free, and store their address.",
        form(
            "tcgen05.alloc.group.sync.aligned{.space}.b32"
            " =[p:space/pointer], columns:u32(32..512*2)",
            group=GROUP, space="shared::cta", needs=TENSOR,
        ),
        form(
            "tcgen05.alloc.exclusive.group.sync.aligned{.space}.b32"
            " =[p:space/pointer], columns:u32(32..4294967264/32)",
            group=GROUP, space="shared::cta", needs=EXCLUSIVE,
        ),
        effects="writes sync state",
    ),
    instruction(
        "tcgen05.dealloc",
        "Free columns of tensor memory.",
        form(
            "tcgen05.dealloc.group.sync.aligned.b32 address:u32, columns:u32(32..512*2)",
            group=GROUP, needs=TENSOR,
        ),
        form(
            "tcgen05.dealloc.exclusive.group.sync.aligned.b32"
            " address:u32, columns:u32(32..4294967264/32)",
            group=GROUP, needs=EXCLUSIVE,
        ),
        effects="sync state",
    ),
    instruction(
        "tcgen05.relinquish_alloc_permit",
        "Give up the right of this CTA to allocate tensor memory.",
        form("tcgen05.relinquish_alloc_permit.group.sync.aligned", group=GROUP, needs=TENSOR),
        effects="sync state",
    ),
    instruction(
        "tcgen05.ld",
        "Start to load rows of tensor memory into the registers of a warp.",
        form(
            "tcgen05.ld.sync{.aligned}.shape.num{.pack::16b}.b32"
            " =r%:count[shape,num]*word32, [a:tmem/tmem].unified",
            shape=SHAPE, num=ALL, count=COUNT, rules=WIDTHS, gates=ALIGNED,
            needs=TENSOR,
        ),
        form(
            "tcgen05.ld.sync{.aligned}.16x32bx2.num{.pack::16b}.b32"
            " =r%:num*word32, [a:tmem/tmem].unified, #half:s64",
            num=ALL, gates=ALIGNED, needs=TENSOR,
        ),
        effects="reads warp",
        ignores="row col",
    ),
    instruction(
        "tcgen05.ld.red",
        "Load rows of tensor memory, and the least or greatest of what each thread loads.",
        form(
            "tcgen05.ld.red.sync{.aligned}.32x32b.num.op{.abs}{.NaN}.f32"
            " =r%:num*word32, =s:loose32, [a:tmem/tmem]",
            num=ALL.removeprefix("x1 "), op="min max", gates=ALIGNED, needs=REDUCTION,
        ),
        form(
            "tcgen05.ld.red.sync{.aligned}.32x32b.num.op.type"
            " =r%:num*word32, =s:loose32, [a:tmem/tmem]",
            num=ALL.removeprefix("x1 "), op="min max", type="u32 s32", gates=ALIGNED,
            needs=REDUCTION,
        ),
        form(
            "tcgen05.ld.red.sync{.aligned}.16x32bx2.num.op{.abs}{.NaN}.f32"
            " =r%:num*word32, =s:loose32, [a:tmem/tmem], #half:s64",
            num=ALL.removeprefix("x1 "), op="min max", gates=ALIGNED, needs=REDUCTION,
        ),
        form(
            "tcgen05.ld.red.sync{.aligned}.16x32bx2.num.op.type"
            " =r%:num*word32, =s:loose32, [a:tmem/tmem], #half:s64",
            num=ALL.removeprefix("x1 "), op="min max", type="u32 s32", gates=ALIGNED,
            needs=REDUCTION,
        ),
        effects="reads warp",
        ignores="row col",
    ),
    instruction(
        "tcgen05.st",
        "Start to store the registers of a warp to rows of tensor memory.",
        form(
            "tcgen05.st.sync{.aligned}.shape.num{.unpack::16b}.b32"
            " [a:tmem/tmem], r:count[shape,num]*word32",
            shape=SHAPE, num=ALL, count=COUNT, rules=WIDTHS, gates=ALIGNED,
            needs=TENSOR,
        ),
        form(
            "tcgen05.st.sync{.aligned}.16x32bx2.num{.unpack::16b}.b32"
            " [a:tmem/tmem], #half:s64, r:num*word32",
            num=ALL, gates=ALIGNED, needs=TENSOR,
        ),
        effects="writes warp",
        ignores="row col",
    ),
    instruction(
        "tcgen05.wait::ld",
        "Wait until all earlier tcgen05.ld of this thread have finished.",
        form("tcgen05.wait::ld.sync.aligned", needs=TENSOR),
        effects="sync",
    ),
    instruction(
        "tcgen05.wait::st",
        "Wait until all earlier tcgen05.st of this thread have finished.",
        form("tcgen05.wait::st.sync.aligned", needs=TENSOR),
        effects="sync",
    ),
    instruction(
        "tcgen05.cp",
        "Start to copy a matrix from shared to tensor memory, widening its elements if asked.",
        form(
            "tcgen05.cp.group.shape{.b8x16.source} [a:tmem/tmem], descriptor:u64",
            group=GROUP, shape="128x256b 4x256b 128x128b", source="b6x16_p32 b4x16_p64",
            needs=TENSOR,
        ),
        form(
            "tcgen05.cp.group.64x128b.warps{.b8x16.source} [a:tmem/tmem], descriptor:u64",
            group=GROUP, warps="warpx2::02_13 warpx2::01_23", source="b6x16_p32 b4x16_p64",
            needs=TENSOR,
        ),
        form(
            "tcgen05.cp.group.32x128b.warpx4{.b8x16.source} [a:tmem/tmem], descriptor:u64",
            group=GROUP, source="b6x16_p32 b4x16_p64", needs=TENSOR,
        ),
        effects="reads writes",
        ignores="row col",
    ),
    instruction(
        "tcgen05.shift",
        "Start to move rows of tensor memory down by one.",
        form(
            "tcgen05.shift.group.down [a:tmem/tmem]",
            group=GROUP, needs="8.6/100a 101a 8.8/103a 9.0/110a",
        ),
        effects="reads writes",
    ),
    instruction(
        "tcgen05.commit",
        "Let an mbarrier track the completion of this thread's earlier tcgen05 operations.",
        form(
            "tcgen05.commit.group.mbarrier::arrive::one{.space}.b64 [barrier:space/pointer]",
            group=GROUP, space="shared::cluster", needs=TENSOR,
        ),
        form(
            "tcgen05.commit.group.mbarrier::arrive::one{.space}.multicast::cluster.b64"
            " [barrier:space/pointer], ctas%:u16",
            group=GROUP, space="shared::cluster", needs=TENSOR,
        ),
        effects="writes sync",
        ignores="row col",
    ),
    instruction(
        "tcgen05.fence::before_thread_sync",
        "Order earlier asynchronous tcgen05 operations before later thread synchronisation.",
        form("tcgen05.fence::before_thread_sync", needs=TENSOR),
        effects="sync",
    ),
    instruction(
        "tcgen05.fence::after_thread_sync",
        "Order later asynchronous tcgen05 operations after earlier thread synchronisation.",
        form("tcgen05.fence::after_thread_sync", needs=TENSOR),
        effects="sync",
    ),
]
