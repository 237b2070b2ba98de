"""Warp operations."""

from ptxkit.isa.forms import form, instruction

#: Warp operations without .sync went away with independent thread scheduling.
LEGACY = "1.2/12 !6.4/70"
LEGACY_SHUFFLE = "3.0/30 !6.4/70"

INSTRUCTIONS = [
    instruction(
        "vote",
        "Combine a predicate over the lanes of a warp: all, any, all the same, or a bit mask.",
        form("vote.sync.mode.pred =d, a, mask:u32", mode="all any uni", needs="6.0/30"),
        form("vote.sync.ballot.b32 =d, a:pred, mask:u32", needs="6.0/30"),
        form("vote.mode.pred =d, a", mode="all any uni", needs=LEGACY),
        form("vote.ballot.b32 =d, a:pred", needs="2.0/20 !6.4/70"),
        effects="warp sync",
    ),
    instruction(
        "match",
        "Find the lanes of a warp that hold the same value: as this lane, or all of them.",
        form("match.any.sync.type =d:u32, a, mask:u32", type="b32 b64", needs="6.0/70"),
        form("match.all.sync.type =d_:u32{|=p_:pred}, a, mask:u32", type="b32 b64", needs="6.0/70"),
        effects="warp sync",
    ),
    instruction(
        "redux",
        "Reduce a value over the lanes of a warp that the mask names.",
        form("redux.sync.op.type =d:u32, a:u32, mask:u32", op="add min max", type="u32 s32",
             needs="7.0/80"),
        form("redux.sync.op.b32 =d:u32, a:u32, mask:u32", op="and or xor", needs="7.0/80"),
        form("redux.sync.op{.abs}{.NaN}.f32 =d, a, mask:u32", op="min max",
             needs="8.6/100a 8.8/100f"),
        effects="warp sync",
    ),
    instruction(
        "shfl",
        "Read a register of another lane: by index, above, below, or across a butterfly.",
        form("shfl.sync.mode.b32 =d{|=p_:pred}, a, b, c, mask:u32",
             mode="up down bfly idx", needs="6.0/30"),
        form("shfl.mode.b32 =d{|=p_:pred}, a, b, c",
             mode="up down bfly idx", needs=LEGACY_SHUFFLE),
        effects="warp sync",
    ),
    instruction(
        "activemask",
        "Give the mask of the lanes that execute this instruction together.",
        form("activemask.b32 =d", needs="6.2/30"),
        effects="warp state",
    ),
    instruction(
        "elect",
        "Choose one lane of the mask as leader: its number, and whether it is this lane.",
        form("elect.sync =d_:u32|=p:pred, mask:u32", needs="8.0/90"),
        effects="warp sync",
    ),
]  # fmt: skip
