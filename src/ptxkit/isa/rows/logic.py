"""Logic and shift."""

from ptxkit.isa.forms import form, instruction

BITS = "b16 b32 b64"
LOGIC = f"pred {BITS}"

INSTRUCTIONS = [
    instruction(
        "and",
        "Bitwise and of a and b.",
        form("and.type =d, a, b", type=LOGIC),
    ),
    instruction(
        "or",
        "Bitwise or of a and b.",
        form("or.type =d, a, b", type=LOGIC),
    ),
    instruction(
        "xor",
        "Bitwise exclusive or of a and b.",
        form("xor.type =d, a, b", type=LOGIC),
    ),
    instruction(
        "not",
        "Invert every bit of a.",
        form("not.type =d, a", type=LOGIC),
    ),
    instruction(
        "cnot",
        "One where a is zero, else zero, as C's '!' does.",
        form("cnot.type =d, a", type=BITS),
    ),
    instruction(
        "lop3",
        "Any bitwise function of a, b and c, given as the eight bits of its truth table; the"
        " boolean form also writes whether the result is not zero, combined with q.",
        form("lop3.b32 =d_, a, b, c, #lut:s32", needs="4.3/50"),
        form("lop3.bool.b32 =d_|p:pred, a, b, c, #lut:s32, q:pred", bool="or and", needs="8.2/70"),
    ),
    instruction(
        "shl",
        "Shift a left by b bits; amounts above the width give zero.",
        form("shl.type =d, a, b:u32", type=BITS),
    ),
    instruction(
        "shr",
        "Shift a right by b bits, filling with the sign for signed types, else with zero.",
        form("shr.type =d, a, b:u32", type=f"{BITS} u16 u32 u64 s16 s32 s64"),
    ),
    instruction(
        "shf.l",
        "Shift the 64 bits of b:a left by c and keep the high half; c is clamped or wrapped.",
        form("shf.l.mode.b32 =d, a, b, c:u32", mode="clamp wrap", needs="3.1/32"),
    ),
    instruction(
        "shf.r",
        "Shift the 64 bits of b:a right by c and keep the low half; c is clamped or wrapped.",
        form("shf.r.mode.b32 =d, a, b, c:u32", mode="clamp wrap", needs="3.1/32"),
    ),
]
