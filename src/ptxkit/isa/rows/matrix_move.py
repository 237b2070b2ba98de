"""Matrix: ldmatrix, stmatrix, movmatrix."""

from ptxkit.isa.forms import form, instruction

#: Without a space the address is generic, and must point into shared memory.
SPACE = "shared shared::cta@7.8"
COUNT = {"x1": "1", "x2": "2", "x4": "4"}
TWICE = {"x1": "2", "x2": "4"}
#: Matrices of bytes.
BYTES = "8.6/100f 110f 120f"

INSTRUCTIONS = [
    instruction(
        "ldmatrix",
        "Load one, two or four small matrices from shared memory into a warp's registers.",
        form(
            "ldmatrix.sync.aligned.m8n8.num{.trans}{.space}.b16 =r:count[num]*any32,"
            " [p:space].unified",
            num="x1 x2 x4", space=SPACE, count=COUNT, needs="6.5/75",
        ),
        form(
            "ldmatrix.sync.aligned.m16n16.num.trans{.space}.b8 =r:count[num]*any32,"
            " [p:space].unified",
            num="x1 x2", space=SPACE, count=TWICE, needs=BYTES,
        ),
        form(
            "ldmatrix.sync.aligned.m16n16.num.trans{.space}.b8x16.source"
            " =r:count[num]*any32, [p:space].unified",
            num="x1 x2", space=SPACE, source="b6x16_p32 b4x16_p64", count=TWICE, needs=BYTES,
        ),
        form(
            "ldmatrix.sync.aligned.m8n16.num{.space}.b8x16.source =r:count[num]*any32,"
            " [p:space].unified",
            num="x1 x2 x4", space=SPACE, source="b6x16_p32 b4x16_p64", count=COUNT, needs=BYTES,
        ),
        effects="reads warp",
        ignores="row col",
    ),
    instruction(
        "stmatrix",
        "Store one, two or four small matrices from a warp's registers to shared memory.",
        form(
            "stmatrix.sync.aligned.m8n8.num{.trans}{.space}.b16 [p:space], r:count[num]*any32",
            num="x1 x2 x4", space=SPACE, count=COUNT, needs="7.8/90",
        ),
        form(
            "stmatrix.sync.aligned.m16n8.num.trans{.space}.b8 [p:space], r:count[num]*any32",
            num="x1 x2 x4", space=SPACE, count=COUNT, needs=BYTES,
        ),
        effects="writes warp",
        ignores="row col",
    ),
    instruction(
        "movmatrix",
        "Transpose an 8 by 8 matrix of 16-bit elements spread over a warp's registers.",
        form("movmatrix.sync.aligned.m8n8.trans.b16 =d:any32, a:any32", needs="7.8/75"),
        effects="warp",
    ),
]
