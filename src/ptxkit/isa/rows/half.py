"""Half precision and bfloat16, and sums that mix them with .f32."""

from ptxkit.isa.forms import form, instruction

HALF = "f16 f16x2"
BRAIN = "bf16 bf16x2"
ROUND = "rn rz rm rp"
NAN = "NaN@7.0/80"
XORSIGN = "xorsign@7.2/86"
MIXED = "8.6/100"

INSTRUCTIONS = [
    instruction(
        "add",
        "Add two values; .sat clamps the sum to the range of the type.",
        form("add{.rn}{.ftz}{.sat}.type =d, a, b", type=HALF, needs="4.2/53"),
        form("add{.rn}.type =d, a, b", type=BRAIN, needs="7.8/90"),
        form("add{.rnd}{.sat}.f32.atype =d, a:atype, c", rnd=ROUND, atype="f16 bf16", needs=MIXED),
    ),
    instruction(
        "sub",
        "Subtract b from a; .sat clamps the difference to the range of the type.",
        form("sub{.rn}{.ftz}{.sat}.type =d, a, b", type=HALF, needs="4.2/53"),
        form("sub{.rn}.type =d, a, b", type=BRAIN, needs="7.8/90"),
        form("sub{.rnd}{.sat}.f32.atype =d, a:atype, c", rnd=ROUND, atype="f16 bf16", needs=MIXED),
    ),
    instruction(
        "mul",
        "Multiply two floating-point values; .sat clamps the product to [0, 1].",
        form("mul{.rn}{.ftz}{.sat}.type =d, a, b", type=HALF, needs="4.2/53"),
        form("mul{.rn}.type =d, a, b", type=BRAIN, needs="7.8/90"),
    ),
    instruction(
        "fma",
        "Multiply a by b and add c with a single rounding; .sat clamps the result to [0, 1].",
        form("fma.rn{.ftz}{.sat}.type =d, a, b, c", type=HALF, needs="4.2/53"),
        form("fma.rn{.ftz}.relu.type =d, a, b, c", type=HALF, needs="7.0/80"),
        form("fma.rn.oob{.sat}.type =d, a, b, c", type=HALF, needs="8.1/90"),
        form("fma.rn.oob.relu.type =d, a, b, c", type=HALF, needs="8.1/90"),
        form("fma.rnd{.oob}{.relu}.type =d, a, b, c", rnd=ROUND, oob="oob@8.1/90", type=BRAIN,
             needs="7.0/80"),
        form("fma.rnd{.sat}.f32.atype =d, a:atype, b:atype, c", rnd=ROUND, atype="f16 bf16",
             needs=MIXED),
    ),
    instruction(
        "abs",
        "Absolute value.",
        form("abs{.ftz}.type =d, a", type=HALF, needs="6.5/53"),
        form("abs.type =d, a", type=BRAIN, needs="7.0/80"),
    ),
    instruction(
        "neg",
        "Negate a value.",
        form("neg{.ftz}.type =d, a", type=HALF, needs="6.0/53"),
        form("neg.type =d, a", type=BRAIN, needs="7.0/80"),
    ),
    instruction(
        "min",
        "The smallest operand; .NaN passes NaN on, .xorsign.abs compares magnitudes.",
        form("min{.ftz}{.nan}{.xor.abs}.type =d, a, b", type=HALF, nan=NAN, xor=XORSIGN,
             needs="7.0/80"),
        form("min{.nan}{.xor.abs}.type =d, a, b", type=BRAIN, nan=NAN, xor=XORSIGN,
             needs="7.0/80"),
    ),
    instruction(
        "max",
        "The largest operand; .NaN passes NaN on, .xorsign.abs compares magnitudes.",
        form("max{.ftz}{.nan}{.xor.abs}.type =d, a, b", type=HALF, nan=NAN, xor=XORSIGN,
             needs="7.0/80"),
        form("max{.nan}{.xor.abs}.type =d, a, b", type=BRAIN, nan=NAN, xor=XORSIGN,
             needs="7.0/80"),
    ),
    instruction(
        "ex2",
        "Approximate 2 raised to the power a.",
        form("ex2.approx.type =d, a", type=HALF, needs="7.0/75"),
        form("ex2.approx.ftz.type =d, a", type=BRAIN, needs="7.8/90"),
    ),
    instruction(
        "tanh",
        "Approximate hyperbolic tangent of a.",
        form("tanh.approx.type =d, a", type=f"{HALF} bf16@7.8/90 bf16x2@7.8/90", needs="7.0/75"),
    ),
]  # fmt: skip
