"""Matrix: the products of tcgen05."""

from ptxkit.isa.forms import form, instruction

#: Tensor memory exists in these families.
TENSOR = "8.6/100f 101f"
GROUP = "cta_group::1 cta_group::2"
KIND = "kind::f16 kind::tf32 kind::f8f6f4 kind::i8@8.6/100a+101a+9.0/110a"
COLLECTOR = "collector::a::fill collector::a::use collector::a::lastuse collector::a::discard"
SHIFTED = {"ashift": "collector!=collector::a::fill|collector::a::use"}
BUFFERS = " ".join(
    f"collector::b{buffer}::{usage}"
    for buffer in range(4)
    for usage in ("fill", "use", "lastuse", "discard")
)

#: The result in tensor memory; b by a descriptor; a by one, or in tensor memory too.
D = "[d:tmem/bits32]"
A = {"": "a:u64", "{.ashift}": "[a:tmem/bits32].unified"}
#: What is left of an operand list after the instruction descriptor.
LANES = {"cta_group::1": "4", "cta_group::2": "8"}
MASKS = ("", ", lanes:count[group]*word32")

#: Scaled kinds, with how many scales a row has.
SCALED = "kind::mxf8f6f4 kind::mxf4 kind::mxf4nvf4@8.7"
SCALES = "scale_vec::1X scale_vec::2X scale_vec::4X block16@8.8 block32@8.8"
SCALE_RULES = {
    "kind=kind::mxf8f6f4": "scales!=scale_vec::2X|scale_vec::4X|block16",
    "kind=kind::mxf4": "scales!=scale_vec::1X|scale_vec::4X|block16",
    "kind=kind::mxf4nvf4": "scales=scale_vec::2X|scale_vec::4X|block16|block32",
}
#: Sizes by vector, and sparse 4-bit kinds, are not for whole families.
SINGLE = "8.6/100a 101a 8.8/103a 9.0/110a"
SCALE_GATES = {"scales=scale_vec::1X|scale_vec::2X|scale_vec::4X": SINGLE}

INSTRUCTIONS = [
    instruction(
        "tcgen05.mma",
        "Start a matrix product into tensor memory: d = a * b (+ d), by one thread of the CTA.",
        *[
            form(
                f"tcgen05.mma.group.kind{shift}{{.collector}} {D}, {a}, b:u64, idesc:u32{lanes},"
                " enable:pred",
                group=GROUP, kind=KIND, collector=COLLECTOR, count=LANES, rules=SHIFTED,
                needs=TENSOR,
            )
            for shift, a in A.items()
            for lanes in MASKS
        ],
        # the result so far is divided by a power of two
        *[
            form(
                f"tcgen05.mma.group.kind{shift}{{.collector}} {D}, {a}, b:u64, idesc:u32{lanes},"
                " enable:pred, #scale:s64(0..15)",
                group=GROUP, kind="kind::f16 kind::tf32", collector=COLLECTOR, count=LANES,
                rules=SHIFTED, needs="8.6/100f",
            )
            for shift, a in A.items()
            for lanes in MASKS
        ],
        # scaled blocks
        *[
            form(
                f"tcgen05.mma.group.kind.block_scale{{.scales}}{{.collector}} {D}, {a}, b:u64,"
                " idesc:u32, [scale_a:tmem/bits32], [scale_b:tmem/bits32], enable:pred",
                group=GROUP, kind=SCALED, scales=SCALES, collector=COLLECTOR,
                rules=SCALE_RULES, gates=SCALE_GATES, needs=TENSOR,
            )
            for a in A.values()
        ],
        # a 2:4 sparse, with its metadata in tensor memory
        *[
            form(
                f"tcgen05.mma.sp.group.kind{shift}{{.collector}} {D}, {a}, b:u64,"
                f" [metadata:tmem/bits32], idesc:u32{lanes}, enable:pred",
                group=GROUP, kind=KIND, collector=COLLECTOR, count=LANES, rules=SHIFTED,
                needs=TENSOR,
            )
            for shift, a in A.items()
            for lanes in MASKS
        ],
        *[
            form(
                f"tcgen05.mma.sp.group.kind{shift}{{.collector}} {D}, {a}, b:u64,"
                f" [metadata:tmem/bits32], idesc:u32{lanes}, enable:pred, #scale:s64(0..15)",
                group=GROUP, kind="kind::f16 kind::tf32", collector=COLLECTOR, count=LANES,
                rules=SHIFTED, needs="8.6/100f",
            )
            for shift, a in A.items()
            for lanes in MASKS
        ],
        *[
            form(
                f"tcgen05.mma.sp.group.kind.block_scale{{.scales}}{{.collector}} {D}, {a}, b:u64,"
                " [metadata:tmem/bits32], idesc:u32, [scale_a:tmem/bits32],"
                " [scale_b:tmem/bits32], enable:pred",
                group=GROUP, kind=SCALED, scales=SCALES, collector=COLLECTOR, rules=SCALE_RULES,
                gates={**SCALE_GATES, "kind=kind::mxf4|kind::mxf4nvf4": SINGLE}, needs=TENSOR,
            )
            for a in A.values()
        ],
        effects="reads writes",
    ),
    instruction(
        "tcgen05.mma.ws",
        "Start a matrix product into tensor memory that keeps b in a collector buffer.",
        *[
            form(
                f"tcgen05.mma.ws.cta_group::1.kind{{.collector}} {D}, {a}, b:u64, idesc:u32,"
                " enable:pred{, columns:u64}",
                kind=KIND, collector=BUFFERS, needs=TENSOR,
            )
            for a in A.values()
        ],
        *[
            form(
                f"tcgen05.mma.ws.sp.cta_group::1.kind{{.collector}} {D}, {a}, b:u64,"
                " [metadata:tmem/bits32], idesc:u32, enable:pred{, columns:u64}",
                kind=KIND, collector=BUFFERS, needs=TENSOR,
            )
            for a in A.values()
        ],
        effects="reads writes",
    ),
]
