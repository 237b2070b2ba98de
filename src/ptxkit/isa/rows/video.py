"""Video: scalar and SIMD operations on the bytes and halves of registers."""

from itertools import combinations, product

from ptxkit.isa.forms import form, instruction

WORD = "u32 s32"
ORDER = "eq ne lt le gt ge"
SECOND = "add min max"

#: Selectors of one byte or half of a register, with their width.
PART = {name: "8" if name[0] == "b" else "16" for name in "b0 b1 b2 b3 h0 h1".split()}
#: Selectors of two halves out of the four of a and b, and of the halves that are written.
HALVES = {f"h{x}{y}": "16" for x, y in product("0123", repeat=2)}
HALF_MASK = {"h0": "16", "h1": "16", "h10": "16"}
#: Selectors of four bytes out of the eight of a and b, and of the bytes that are written.
BYTES = {"b" + "".join(digits): "8" for digits in product("01234567", repeat=4)}
BYTE_MASK = {"b" + "".join(d): "8" for n in (1, 2, 3, 4) for d in combinations("3210", n)}

SCALAR = {"dtype": WORD, "atype": WORD, "btype": WORD, "part": PART, "needs": "2.0/20"}
SHIFT = {
    "dtype": WORD,
    "atype": WORD,
    "btype": "u32",
    "part": PART,
    "needs": "2.0/20",
    "mode": "clamp wrap",
}
COMPARE = {"atype": WORD, "btype": WORD, "cmp": ORDER, "part": PART, "needs": "2.0/20"}
SIMD = {"dtype": WORD, "atype": WORD, "btype": WORD, "needs": "3.0/30", "rules": {"add": "!sat"}}
SIMD_COMPARE = {"atype": WORD, "btype": WORD, "cmp": ORDER, "needs": "3.0/30"}
TWO = {"part": HALVES, "mask": HALF_MASK}
FOUR = {"part": BYTES, "mask": BYTE_MASK}


def _scalar(name: str) -> list[tuple[str, dict[str, object]]]:
    """The three shapes of a scalar video instruction."""
    head = f"{name}.dtype.atype.btype"
    return [
        form(f"{head}{{.sat}} =d:dtype, a.part:atype, b.part:btype", **SCALAR),
        form(f"{head}{{.sat}}.op =d:dtype, a.part:atype, b.part:btype, c:dtype", op=SECOND,
             **SCALAR),
        form(f"{head}{{.sat}} =d.part:dtype, a.part:atype, b.part:btype, c:dtype", **SCALAR),
    ]  # fmt: skip


def _shift(name: str) -> list[tuple[str, dict[str, object]]]:
    """The three shapes of a scalar video shift."""
    head = f"{name}.dtype.atype.btype"
    return [
        form(f"{head}{{.sat}}.mode =d:dtype, a.part:atype, b.part:btype", **SHIFT),
        form(f"{head}{{.sat}}.mode.op =d:dtype, a.part:atype, b.part:btype, c:dtype", op=SECOND,
             **SHIFT),
        form(f"{head}{{.sat}}.mode =d.part:dtype, a.part:atype, b.part:btype, c:dtype", **SHIFT),
    ]  # fmt: skip


def _simd(name: str, lanes: dict[str, dict[str, str]]) -> tuple[str, dict[str, object]]:
    """The shape of a SIMD video instruction."""
    return form(
        f"{name}.dtype.atype.btype{{.sat}}{{.add}}"
        " =d.mask:dtype, a%.part:atype, b%.part:btype, c%:dtype",
        **SIMD, **lanes,
    )  # fmt: skip


def _simd_compare(name: str, lanes: dict[str, dict[str, str]]) -> tuple[str, dict[str, object]]:
    return form(
        f"{name}.atype.btype.cmp{{.add}} =d.mask:u32, a%.part:atype, b%.part:btype, c%:u32",
        **SIMD_COMPARE, **lanes,
    )  # fmt: skip


INSTRUCTIONS = [
    instruction(
        "vadd",
        "Add a byte, half or word of a to one of b, then optionally combine with or merge into c.",
        *_scalar("vadd"),
    ),
    instruction(
        "vsub",
        "Subtract a byte, half or word of b from one of a, then optionally combine with or merge"
        " into c.",
        *_scalar("vsub"),
    ),
    instruction(
        "vabsdiff",
        "Absolute difference of a byte, half or word of a and one of b, then optionally combine"
        " with or merge into c.",
        *_scalar("vabsdiff"),
    ),
    instruction(
        "vmin",
        "The smaller of a byte, half or word of a and one of b, then optionally combine with or"
        " merge into c.",
        *_scalar("vmin"),
    ),
    instruction(
        "vmax",
        "The larger of a byte, half or word of a and one of b, then optionally combine with or"
        " merge into c.",
        *_scalar("vmax"),
    ),
    instruction(
        "vshl",
        "Shift a byte, half or word of a left by one of b, then optionally combine with or merge"
        " into c.",
        *_shift("vshl"),
    ),
    instruction(
        "vshr",
        "Shift a byte, half or word of a right by one of b, then optionally combine with or merge"
        " into c.",
        *_shift("vshr"),
    ),
    instruction(
        "vmad",
        "Multiply parts of a and b and add c, each optionally negated or with .po plus one, then"
        " shift right by 7 or 15 bits.",
        form("vmad.dtype.atype.btype{.sat}{.scale} =d:dtype, -a.part:atype, -b.part:btype, c:dtype",
             scale="shr7 shr15", **SCALAR),
        form("vmad.dtype.atype.btype{.sat}{.scale} =d:dtype, a.part:atype, b.part:btype, -c:dtype",
             scale="shr7 shr15", **SCALAR),
        form("vmad.dtype.atype.btype.po{.sat}{.scale} =d:dtype, a.part:atype, b.part:btype,"
             " c:dtype", scale="shr7 shr15", **SCALAR),
    ),
    instruction(
        "vset",
        "Compare a byte, half or word of a with one of b into 1 or 0, then optionally combine"
        " with or merge into c.",
        form("vset.atype.btype.cmp =d:u32, a.part:atype, b.part:btype", **COMPARE),
        form("vset.atype.btype.cmp.op =d:u32, a.part:atype, b.part:btype, c:u32", op=SECOND,
             **COMPARE),
        form("vset.atype.btype.cmp =d.part:u32, a.part:atype, b.part:btype, c:u32", **COMPARE),
    ),
    instruction("vadd2", "Add halves pairwise, merged into c or with .add summed onto it.",
                _simd("vadd2", TWO)),
    instruction("vsub2", "Subtract halves pairwise, merged into c or with .add summed onto it.",
                _simd("vsub2", TWO)),
    instruction("vavrg2", "Average halves pairwise, merged into c or with .add summed onto it.",
                _simd("vavrg2", TWO)),
    instruction("vabsdiff2", "Absolute difference of halves, merged into c or with .add summed"
                " onto it.", _simd("vabsdiff2", TWO)),
    instruction("vmin2", "The smaller of each pair of halves, merged into c or with .add summed"
                " onto it.", _simd("vmin2", TWO)),
    instruction("vmax2", "The larger of each pair of halves, merged into c or with .add summed"
                " onto it.", _simd("vmax2", TWO)),
    instruction("vset2", "Compare halves pairwise into 1 or 0, merged into c or with .add summed"
                " onto it.", _simd_compare("vset2", TWO)),
    instruction("vadd4", "Add bytes four at a time, merged into c or with .add summed onto it.",
                _simd("vadd4", FOUR)),
    instruction("vsub4", "Subtract bytes four at a time, merged into c or with .add summed onto"
                " it.", _simd("vsub4", FOUR)),
    instruction("vavrg4", "Average bytes four at a time, merged into c or with .add summed onto"
                " it.", _simd("vavrg4", FOUR)),
    instruction("vabsdiff4", "Absolute difference of four bytes, merged into c or with .add"
                " summed onto it.", _simd("vabsdiff4", FOUR)),
    instruction("vmin4", "The smaller of each of four pairs of bytes, merged into c or with .add"
                " summed onto it.", _simd("vmin4", FOUR)),
    instruction("vmax4", "The larger of each of four pairs of bytes, merged into c or with .add"
                " summed onto it.", _simd("vmax4", FOUR)),
    instruction("vset4", "Compare bytes four at a time into 1 or 0, merged into c or with .add"
                " summed onto it.", _simd_compare("vset4", FOUR)),
]  # fmt: skip
