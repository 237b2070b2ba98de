"""Extended-precision integer arithmetic: sums and products that pass on a carry."""

from ptxkit.isa.forms import form, instruction

#: The carry of 64-bit values came later than that of 32-bit ones.
CARRY = "u32 s32 u64@4.3 s64@4.3"
INTEGER = "u32 s32 u64 s64"

INSTRUCTIONS = [
    instruction(
        "add.cc",
        "Add two integers and write the carry-out to the carry flag.",
        form("add.cc.type =d, a, b", type=CARRY, needs="1.2"),
        effects="state",
        fixed=0,
        ignores="pred",
    ),
    instruction(
        "addc",
        "Add two integers and the carry flag; with .cc also write the carry-out.",
        form("addc.type =d, a, b", type=INTEGER, needs="1.2"),
        form("addc.cc.type =d, a, b", type=CARRY, needs="1.2"),
        effects="state",
    ),
    instruction(
        "sub.cc",
        "Subtract two integers and write the borrow-out to the carry flag.",
        form("sub.cc.type =d, a, b", type=CARRY, needs="1.2"),
        effects="state",
        fixed=0,
        ignores="pred",
    ),
    instruction(
        "subc",
        "Subtract two integers and the borrow in the carry flag; with .cc also write the borrow.",
        form("subc.type =d, a, b", type=INTEGER, needs="1.2"),
        form("subc.cc.type =d, a, b", type=CARRY, needs="1.2"),
        effects="state",
    ),
    instruction(
        "mad.lo.cc",
        "Add c to the low half of a product and write the carry-out to the carry flag.",
        form("mad.lo.cc.type =d, a, b, c", type=CARRY, needs="3.0/20"),
        effects="state",
        fixed=1,
    ),
    instruction(
        "mad.hi.cc",
        "Add c to the high half of a product and write the carry-out to the carry flag.",
        form("mad.hi.cc.type =d, a, b, c", type=CARRY, needs="3.0/20"),
        effects="state",
        fixed=1,
    ),
    instruction(
        "madc.lo",
        "Add c and the carry flag to the low half of a product; with .cc write the carry-out.",
        form("madc.lo.type =d, a, b, c", type=INTEGER, needs="3.0/20"),
        form("madc.lo.cc.type =d, a, b, c", type=CARRY, needs="3.0/20"),
        effects="state",
    ),
    instruction(
        "madc.hi",
        "Add c and the carry flag to the high half of a product; with .cc write the carry-out.",
        form("madc.hi.type =d, a, b, c", type=INTEGER, needs="3.0/20"),
        form("madc.hi.cc.type =d, a, b, c", type=CARRY, needs="3.0/20"),
        effects="state",
    ),
]
