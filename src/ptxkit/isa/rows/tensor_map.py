"""Tensor maps, and control over the launch of clusters."""

from ptxkit.isa.forms import form, instruction

#: Architecture-specific features of Hopper and the Blackwells.
SPECIFIC = "8.3/90a 8.6/100a 101a 8.7/120a 8.8/100f 101f 120f"
BLACKWELL = "8.6/100a 101a 8.7/120a 8.8/100f 101f 120f"
SPACE = "global shared::cta"
#: These three are computed with, so they are no mere bits.
INTEGER = dict.fromkeys(("box_dim", "global_dim", "element_stride"), "u32")
MAP = "+[a:space]"

INSTRUCTIONS = [
    instruction(
        "tensormap.replace",
        "Change one field of a tensor map.",
        form("tensormap.replace.tile.global_address{.space}.b1024.b64 " + MAP + ", v",
             space=SPACE, needs=SPECIFIC),
        form("tensormap.replace.tile.rank{.space}.b1024.b32 " + MAP + ", v",
             space=SPACE, needs=SPECIFIC),
        form("tensormap.replace.tile.field{.space}.b1024.b32 " + MAP +
             ", #i:u32(0..4), v:value[field]",
             field="box_dim global_dim element_stride", value=INTEGER, space=SPACE, needs=SPECIFIC),
        form("tensormap.replace.tile.global_stride{.space}.b1024.b64 "
             + MAP + ", #i:u32(0..4), v", space=SPACE, needs=SPECIFIC),
        form("tensormap.replace.tile.elemtype{.space}.b1024.b32 " + MAP + ", #v:u32(0..12)",
             space=SPACE, needs=SPECIFIC),
        form("tensormap.replace.tile.elemtype{.space}.b1024.b32 " + MAP + ", #v:u32(13..15)",
             space=SPACE, needs="8.7/100a 101a 120a 8.8/100f 101f 120f"),
        form("tensormap.replace.tile.interleave_layout{.space}.b1024.b32 " + MAP +
             ", #v:u32(0..2)", space=SPACE, needs=SPECIFIC),
        form("tensormap.replace.tile.swizzle_mode{.space}.b1024.b32 " + MAP + ", #v:u32(0..3)",
             space=SPACE, needs=SPECIFIC),
        form("tensormap.replace.tile.swizzle_mode{.space}.b1024.b32 " + MAP + ", #v:u32(4..4)",
             space=SPACE, needs="8.8/103a"),
        form("tensormap.replace.tile.swizzle_atomicity{.space}.b1024.b32 " + MAP +
             ", #v:u32(0..3)", space=SPACE, needs=BLACKWELL),
        form("tensormap.replace.tile.fill_mode{.space}.b1024.b32 " + MAP + ", #v:u32(0..1)",
             space=SPACE, needs=SPECIFIC),
        effects="reads writes",
    ),
    instruction(
        "tensormap.cp_fenceproxy",
        "Copy a tensor map from shared to global memory, and order it before its later use.",
        form("tensormap.cp_fenceproxy.global.shared::cta.tensormap::generic.release.scope"
             ".sync.aligned =[d:global], [a:shared].unified, #size:u32(128..128)",
             scope="cta cluster gpu sys", needs="8.3/90"),
        effects="reads writes sync",
    ),
    instruction(
        "clusterlaunchcontrol.try_cancel.async",
        "Ask to cancel the launch of a cluster that has not started, to take over its work.",
        form("clusterlaunchcontrol.try_cancel.async{.space}.mbarrier::complete_tx::bytes"
             "{.multicast}.b128 =[d:shared], [m:shared].unified", space="shared::cta",
             multicast="multicast::cluster::all@" + BLACKWELL.replace(" ", "+"), needs="8.6/100"),
        effects="reads writes sync",
    ),
    instruction(
        "clusterlaunchcontrol.query_cancel",
        "Read the answer to a request for cancellation: whether, and which cluster.",
        form("clusterlaunchcontrol.query_cancel.is_canceled.pred.b128 =p:pred, a:b128",
             needs="8.6/100"),
        form("clusterlaunchcontrol.query_cancel.get_first_ctaid.v4.b32.b128 =d:4*b32, a:b128",
             needs="8.6/100"),
        form("clusterlaunchcontrol.query_cancel.axis.b32.b128 =d:b32, a:b128",
             axis="get_first_ctaid::x get_first_ctaid::y get_first_ctaid::z", needs="8.6/100"),
    ),
]  # fmt: skip
