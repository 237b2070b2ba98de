"""Integer arithmetic."""

from ptxkit.isa.forms import form, instruction

INTEGER = "u16 u32 u64 s16 s32 s64"
SIGNED = "s16 s32 s64"
WORD = "u32 s32"
#: Two 16-bit lanes in one 32-bit register.
PACKED = "u16x2@8.0/90 s16x2@8.0/90"
#: Four 8-bit lanes in one 32-bit register, of the sm_120 family only.
BYTES = "u8x4@9.2/120f s8x4@9.2/120f"
WIDE = {"u16": "u32", "s16": "s32", "u32": "u64", "s32": "s64"}

INSTRUCTIONS = [
    instruction(
        "add",
        "Add two values; .sat clamps the sum to the range of the type.",
        form("add.type =d, a, b", type=f"{INTEGER} {PACKED} {BYTES}"),
        form("add.sat.s32 =d, a, b"),
        form("add.sat.type =d, a, b", type="u32 u16x2 s16x2 u8x4 s8x4", needs="9.2/120f"),
        ignores="pred",
    ),
    instruction(
        "sub",
        "Subtract b from a; .sat clamps the difference to the range of the type.",
        form("sub.type =d, a, b", type=f"{INTEGER} {BYTES}"),
        form("sub.sat.s32 =d, a, b"),
        form("sub.sat.type =d, a, b", type="u8x4 s8x4", needs="9.2/120f"),
        ignores="pred",
    ),
    instruction(
        "mul.lo",
        "Multiply two integers and keep the low half of the product.",
        form("mul.lo.type =d, a, b", type=INTEGER),
    ),
    instruction(
        "mul.hi",
        "Multiply two integers and keep the high half of the product.",
        form("mul.hi.type =d, a, b", type=INTEGER),
    ),
    instruction(
        "mul.wide",
        "Multiply two integers into a product of twice their width.",
        form("mul.wide.type =d:wide[type], a, b", type="u16 u32 s16 s32", wide=WIDE),
    ),
    instruction(
        "mad.lo",
        "Multiply two integers and add c to the low half of the product.",
        form("mad.lo.type =d, a, b, c", type=INTEGER),
    ),
    instruction(
        "mad.hi",
        "Multiply two integers and add c to the high half of the product; .sat clamps the sum.",
        form("mad.hi.type =d, a, b, c", type=INTEGER),
        form("mad.hi.sat.s32 =d, a, b, c"),
    ),
    instruction(
        "mad.wide",
        "Multiply two integers into a product of twice their width and add c of that width.",
        form("mad.wide.type =d:wide[type], a, b, c:wide[type]", type="u16 u32 s16 s32", wide=WIDE),
    ),
    instruction(
        "mul24.lo",
        "Multiply two 24-bit integers and keep the low 32 bits of the 48-bit product.",
        form("mul24.lo.type =d, a, b", type=WORD),
    ),
    instruction(
        "mul24.hi",
        "Multiply two 24-bit integers and keep the high 32 bits of the 48-bit product.",
        form("mul24.hi.type =d, a, b", type=WORD),
    ),
    instruction(
        "mad24.lo",
        "Multiply two 24-bit integers and add c to the low 32 bits of the 48-bit product.",
        form("mad24.lo.type =d, a, b, c", type=WORD),
    ),
    instruction(
        "mad24.hi",
        "Multiply two 24-bit integers and add c to the high 32 bits of the 48-bit product.",
        form("mad24.hi.type =d, a, b, c", type=WORD),
        form("mad24.hi.sat.s32 =d, a, b, c"),
    ),
    instruction(
        "sad",
        "Add the absolute difference of a and b to c.",
        form("sad.type =d, a, b, c", type=INTEGER),
    ),
    instruction(
        "div",
        "Divide a by b; integers truncate towards zero.",
        form("div.type =d, a, b", type=INTEGER),
    ),
    instruction(
        "rem",
        "Remainder of dividing a by b, with the sign of a.",
        form("rem.type =d, a, b", type=INTEGER),
    ),
    instruction(
        "abs",
        "Absolute value.",
        form("abs.type =d, a", type=SIGNED),
        ignores="pred",
    ),
    instruction(
        "neg",
        "Negate a value.",
        form("neg.type =d, a", type=f"{SIGNED} s8x4@9.2/120f"),
        ignores="pred",
    ),
    instruction(
        "min",
        "The smallest operand; .relu clamps a negative result to zero.",
        form("min.type =d, a, b", type=f"{INTEGER} {PACKED} {BYTES}"),
        form("min.relu.type =d, a, b", type="s16x2 s32 s8x4@9.2/120f", needs="8.0/90"),
        ignores="pred",
    ),
    instruction(
        "max",
        "The largest operand; .relu clamps a negative result to zero.",
        form("max.type =d, a, b", type=f"{INTEGER} {PACKED} {BYTES}"),
        form("max.relu.type =d, a, b", type="s16x2 s32 s8x4@9.2/120f", needs="8.0/90"),
        ignores="pred",
    ),
    instruction(
        "popc",
        "Count the one bits of a.",
        form("popc.type =d:u32, a", type="b32 b64", needs="2.0/20"),
    ),
    instruction(
        "clz",
        "Count the zero bits above the highest one bit of a.",
        form("clz.type =d:u32, a", type="b32 b64", needs="2.0/20"),
    ),
    instruction(
        "bfind",
        "Position of the highest bit that is not a sign bit, or with .shiftamt the left shift"
        " that brings it to the top; all ones when there is none.",
        form("bfind{.shiftamt}.type =d:u32, a", type="u32 u64 s32 s64", needs="2.0/20"),
    ),
    instruction(
        "fns",
        "Position of the n-th one bit of the mask, counted from the base bit; all ones when"
        " there is none.",
        form("fns.b32 =d, mask, base, offset", needs="6.0/30"),
    ),
    instruction(
        "brev",
        "Reverse the order of the bits of a.",
        form("brev.type =d, a", type="b32 b64", needs="2.0/20"),
    ),
    instruction(
        "bfe",
        "Extract the field of c bits that begins at bit b of a, zero- or sign-extended.",
        form(
            "bfe.type =d, a, b:u32(0..255), c:u32(0..255)", type="u32 u64 s32 s64", needs="2.0/20"
        ),
    ),
    instruction(
        "bfi",
        "Insert the low d bits of a into b, beginning at bit c.",
        form("bfi.type =f, a, b, c:u32(0..255), d:u32(0..255)", type="b32 b64", needs="2.0/20"),
    ),
    instruction(
        "bmsk",
        "A mask of b one bits that begins at bit a; .clamp or .wrap treat values above 31.",
        form("bmsk.mode.b32 =d:u32, a:u32, b:u32", mode="clamp wrap", needs="7.6/70"),
    ),
    instruction(
        "szext",
        "Sign- or zero-extend the low b bits of a; .clamp or .wrap treat b above 31.",
        form("szext.mode.type =d, a, b:u32", mode="clamp wrap", type=WORD, needs="7.6/70"),
    ),
    instruction(
        "dp4a",
        "Multiply the four bytes of a by those of b and add the four products to c.",
        form(
            "dp4a.atype.btype =d:u32, a:atype, b:btype, c:u32",
            atype=WORD,
            btype=WORD,
            needs="5.0/61",
        ),
    ),
    instruction(
        "dp2a.lo",
        "Multiply the halves of a by the two low bytes of b and add the two products to c.",
        form(
            "dp2a.lo.atype.btype =d:u32, a:atype, b:btype, c:u32",
            atype=WORD,
            btype=WORD,
            needs="5.0/61",
        ),
    ),
    instruction(
        "dp2a.hi",
        "Multiply the halves of a by the two high bytes of b and add the two products to c.",
        form(
            "dp2a.hi.atype.btype =d:u32, a:atype, b:btype, c:u32",
            atype=WORD,
            btype=WORD,
            needs="5.0/61",
        ),
    ),
]
