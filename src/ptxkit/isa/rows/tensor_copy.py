"""Bulk copies, and copies of boxes of a tensor."""

from ptxkit.isa.forms import form, instruction

#: Family-specific features of the datacentre Blackwells.
BLACKWELL = "8.6/100a 101a 8.8/100f 101f"
BLACKWELL_VALUE = BLACKWELL.replace(" ", "+")
BYTES = "mbarrier::complete_tx::bytes"
HINT = "L2::cache_hint"
POLICY = "{?hint, policy:u64}"
MULTICAST = "multicast::cluster"
MASK = "{?multicast, mask:u16}"
#: Sizes are multiples of 16 bytes.
SIZE = "size:u32(0..18446744073709551615/16)"
GROUP = f"cta_group::1@{BLACKWELL_VALUE} cta_group::2@{BLACKWELL_VALUE}"
LOAD = "shared::cluster shared::cta@8.6/90"
BLACKWELL_LOAD = f"shared::cluster@{BLACKWELL_VALUE} shared::cta"
#: Types that mean nothing to a reduction, but that ptxas lets stand there.
TYPES = "pred texref samplerref surfref"
SCOPES = "cta cluster gpu sys"
ONLY_CLUSTER = {"multicast": "to=shared::cluster"}

DIMENSIONS = "1d 2d 3d 4d 5d"
IMAGES = "3d 4d 5d"
#: How many coordinates a tensor of each rank takes, and how many offsets im2col mode.
RANK = {"1d": "1", "2d": "2", "3d": "3", "4d": "4", "5d": "5"}
OFFSETS = {"3d": "1", "4d": "2", "5d": "3"}
BOX = "[t:global, c:rank[dim]*s32]~"
ROWS = "[t:global, c:5*s32]~"
LOAD_TAIL = "." + BYTES + "{.multicast}{.group}{.hint} "

INSTRUCTIONS = [
    instruction(
        "cp.async.bulk",
        "Start a copy of a block of bytes between global and shared memory, or within a cluster.",
        form("cp.async.bulk.shared::cluster.global." + BYTES + "{.multicast}{.hint} "
             "=[d:shared], [a:global], " + SIZE + ", [m:shared]" + MASK + POLICY,
             multicast=MULTICAST, hint=HINT, ignores=SCOPES, needs="8.0/90"),
        form("cp.async.bulk.shared::cta.global." + BYTES + "{.hint} "
             "=[d:shared], [a:global], " + SIZE + ", [m:shared]" + POLICY,
             hint=HINT, ignores=SCOPES, needs="8.6/90"),
        form("cp.async.bulk.shared::cta.global." + BYTES + ".ignore_oob{.hint} "
             "=[d:shared], [a:global], " + SIZE + ", left:u32, right:u32, [m:shared]" + POLICY,
             hint=HINT, ignores=SCOPES, needs="9.2/90"),
        form("cp.async.bulk.shared::cluster.shared::cta." + BYTES +
             " =[d:shared], [a:shared], " + SIZE + ", [m:shared]", ignores=SCOPES, needs="8.0/90"),
        form("cp.async.bulk.global.shared::cta.bulk_group{.hint}{.cp_mask} "
             "=[d:global], [a:shared].unified, " + SIZE + POLICY + "{?cp_mask, mask:u16}",
             hint=HINT, cp_mask="cp_mask@8.6/100", ignores=SCOPES, needs="8.0/90"),
        effects="reads writes",
    ),
    instruction(
        "cp.reduce.async.bulk",
        "Start a reduction of a block of values in shared memory into memory elsewhere.",
        form("cp.reduce.async.bulk.shared::cluster.shared::cta." + BYTES + ".op.type "
             "=[d:shared], [a:shared], " + SIZE + ", [m:shared]",
             op="add inc dec min max", type="u32", ignores=TYPES, needs="8.0/90"),
        form("cp.reduce.async.bulk.shared::cluster.shared::cta." + BYTES + ".op.type "
             "=[d:shared], [a:shared], " + SIZE + ", [m:shared]",
             op="add min max", type="s32", ignores=TYPES, needs="8.0/90"),
        form("cp.reduce.async.bulk.shared::cluster.shared::cta." + BYTES + ".add.u64 "
             "=[d:shared], [a:shared], " + SIZE + ", [m:shared]", ignores=TYPES, needs="8.0/90"),
        form("cp.reduce.async.bulk.shared::cluster.shared::cta." + BYTES + ".op.b32 "
             "=[d:shared], [a:shared], " + SIZE + ", [m:shared]",
             op="and or xor", ignores=TYPES, needs="8.0/90"),
        form("cp.reduce.async.bulk.global.shared::cta.bulk_group{.hint}.op.type "
             "=[d:global], [a:shared].unified, " + SIZE + POLICY,
             hint=HINT, op="and or xor", type="b32 b64", ignores=TYPES, needs="8.0/90"),
        form("cp.reduce.async.bulk.global.shared::cta.bulk_group{.hint}.add.type "
             "=[d:global], [a:shared].unified, " + SIZE + POLICY,
             hint=HINT, type="u32 s32 u64 f32 f64", ignores=TYPES, needs="8.0/90"),
        form("cp.reduce.async.bulk.global.shared::cta.bulk_group{.hint}.add.noftz.type "
             "=[d:global], [a:shared].unified, " + SIZE + POLICY,
             hint=HINT, type="f16 bf16 f32@9.4/90", ignores=TYPES, needs="8.0/90"),
        form("cp.reduce.async.bulk.global.shared::cta.bulk_group{.hint}.op.type "
             "=[d:global], [a:shared].unified, " + SIZE + POLICY,
             hint=HINT, op="min max", type="u32 s32 u64 s64 f16 bf16", ignores=TYPES,
             needs="8.0/90"),
        form("cp.reduce.async.bulk.global.shared::cta.bulk_group{.hint}.op.u32 "
             "=[d:global], [a:shared].unified, " + SIZE + POLICY,
             hint=HINT, op="inc dec", ignores=TYPES, needs="8.0/90"),
        effects="reads writes",
    ),
    instruction(
        "cp.async.bulk.prefetch",
        "Ask for a block of global memory to be brought into the L2 cache.",
        form("cp.async.bulk.prefetch.L2.global{.hint} [a:global], " + SIZE + POLICY,
             hint=HINT, needs="8.0/90"),
        effects="state",
    ),
    instruction(
        "cp.async.bulk.commit_group",
        "Gather the bulk copies this thread has started so far into a group.",
        form("cp.async.bulk.commit_group", needs="8.0/90"),
        effects="state",
    ),
    instruction(
        "cp.async.bulk.wait_group",
        "Wait until at most so many of the latest bulk groups are unfinished, or still read.",
        form("cp.async.bulk.wait_group{.read} #n:u32", needs="8.0/90"),
        effects="sync",
    ),
    instruction(
        "cp.async.bulk.tensor",
        "Start a copy of a box of a tensor between global and shared memory.",
        form("cp.async.bulk.tensor.dim.to.global{.tile}" + LOAD_TAIL +
             "=[d:shared]~, " + BOX + ", [m:shared]~" + MASK + POLICY,
             dim=DIMENSIONS, to=LOAD, multicast=MULTICAST, group=GROUP, hint=HINT, rank=RANK,
             rules=ONLY_CLUSTER, needs="8.0/90"),
        form("cp.async.bulk.tensor.dim.to.global.im2col" + LOAD_TAIL +
             "=[d:shared]~, " + BOX + ", [m:shared]~, o:offsets[dim]*u16" + MASK + POLICY,
             dim=IMAGES, to=LOAD, multicast=MULTICAST, group=GROUP, hint=HINT, rank=RANK,
             offsets=OFFSETS, rules=ONLY_CLUSTER, needs="8.0/90"),
        form("cp.async.bulk.tensor.dim.to.global.mode" + LOAD_TAIL +
             "=[d:shared]~, " + BOX + ", [m:shared]~, o:2*u16" + MASK + POLICY,
             dim=IMAGES, to=BLACKWELL_LOAD, mode=f"im2col::w im2col::w::128@{BLACKWELL_VALUE}",
             multicast=MULTICAST, group=GROUP, hint=HINT, rank=RANK,
             rules=ONLY_CLUSTER, needs="8.6/100"),
        form("cp.async.bulk.tensor.2d.to.global.tile::gather4" + LOAD_TAIL +
             "=[d:shared]~, " + ROWS + ", [m:shared]~" + MASK + POLICY,
             to=BLACKWELL_LOAD, multicast=MULTICAST, group=GROUP, hint=HINT,
             rules=ONLY_CLUSTER, needs="8.6/100"),
        form("cp.async.bulk.tensor.dim.global.shared::cta{.tile}.bulk_group{.hint} "
             "=" + BOX + ", [a:shared]~" + POLICY,
             dim=DIMENSIONS, hint=HINT, rank=RANK, needs="8.0/90"),
        form("cp.async.bulk.tensor.dim.global.shared::cta.im2col_no_offs.bulk_group{.hint} "
             "=" + BOX + ", [a:shared]~" + POLICY,
             dim=IMAGES, hint=HINT, rank=RANK, needs="8.0/90"),
        form("cp.async.bulk.tensor.2d.global.shared::cta.tile::scatter4.bulk_group{.hint} "
             "=" + ROWS + ", [a:shared]~" + POLICY, hint=HINT, needs=BLACKWELL),
        effects="reads writes",
    ),
    instruction(
        "cp.reduce.async.bulk.tensor",
        "Start a reduction of a box of values in shared memory into a tensor.",
        form("cp.reduce.async.bulk.tensor.dim.global.shared::cta.op{.tile}.bulk_group{.hint} "
             "=" + BOX + ", [a:shared]~" + POLICY,
             dim=DIMENSIONS, op="add min max inc dec and or xor", hint=HINT, rank=RANK,
             needs="8.0/90"),
        form("cp.reduce.async.bulk.tensor.dim.global.shared::cta.op.im2col_no_offs.bulk_group"
             "{.hint} =" + BOX + ", [a:shared]~" + POLICY,
             dim=IMAGES, op="add min max inc dec and or xor", hint=HINT, rank=RANK,
             needs="8.0/90"),
        effects="reads writes",
    ),
    instruction(
        "cp.async.bulk.prefetch.tensor",
        "Ask for a box of a tensor to be brought into the L2 cache.",
        form("cp.async.bulk.prefetch.tensor.dim.L2.global{.tile}{.hint} " + BOX + POLICY,
             dim=DIMENSIONS, hint=HINT, rank=RANK, needs="8.0/90"),
        form("cp.async.bulk.prefetch.tensor.dim.L2.global.im2col{.hint} "
             + BOX + ", o:offsets[dim]*u16" + POLICY,
             dim=IMAGES, hint=HINT, rank=RANK, offsets=OFFSETS, needs="8.0/90"),
        form("cp.async.bulk.prefetch.tensor.dim.L2.global.mode{.hint} "
             + BOX + ", o:2*u16" + POLICY,
             dim=IMAGES, mode="im2col::w im2col::w::128", hint=HINT, rank=RANK, needs=BLACKWELL),
        form("cp.async.bulk.prefetch.tensor.2d.L2.global.tile::gather4{.hint} " + ROWS + POLICY,
             hint=HINT, needs=BLACKWELL),
        effects="state",
    ),
]  # fmt: skip
