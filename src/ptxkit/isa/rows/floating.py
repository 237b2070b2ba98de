"""Floating point of 32 and 64 bits."""

from ptxkit.isa.forms import form, instruction

#: Rounding of sums and products; the directed modes of .f32 came with sm_20.
ROUND = "rn rz rm@2.0/20 rp@2.0/20"
ROUND64 = "rn rz rm@1.0/13 rp@1.0/13"
#: Quotients and roots of .f64 round to nearest only before sm_20.
ROOT64 = "rn rz@2.0/20 rm@2.0/20 rp@2.0/20"
ALL_ROUND = "rn rz rm rp"
#: Flushing subnormals is said since PTX 1.4; before, .f32 always flushed.
FTZ = "ftz@1.4"
#: Forms without a rounding mode or .approx, as PTX had them before 1.4.
OLD = "1.0 !1.4/10"
DIRECTED = "2.0/20"
#: Two .f32 lanes in one 64-bit register.
PACKED = "8.6/100"
NAN = "NaN@7.0/80"
XORSIGN = "xorsign@7.2/86"
THREE = "8.8/100"
#: ptxas takes testp without a class too.
CLASSES = "finite infinite number notanumber normal subnormal"

INSTRUCTIONS = [
    instruction(
        "testp",
        "Test whether a belongs to a class of floating-point numbers.",
        form("testp{.class}.type =p:pred, a", **{"class": CLASSES}, type="f32 f64", needs="2.0/20"),
    ),
    instruction(
        "copysign",
        "The magnitude of b with the sign of a.",
        form("copysign.type =d, a, b", type="f32 f64", needs="2.0/20"),
    ),
    instruction(
        "add",
        "Add two values; .sat clamps the sum to the range of the type.",
        form("add{.rnd}{.ftz}{.sat}.f32 =d, a, b", rnd=ROUND, ftz=FTZ),
        form("add{.rnd}.f64 =d, a, b", rnd=ROUND64),
        form("add{.rnd}{.ftz}.f32x2 =d, a, b", rnd=ALL_ROUND, needs=PACKED),
    ),
    instruction(
        "sub",
        "Subtract b from a; .sat clamps the difference to the range of the type.",
        form("sub{.rnd}{.ftz}{.sat}.f32 =d, a, b", rnd=ROUND, ftz=FTZ),
        form("sub{.rnd}.f64 =d, a, b", rnd=ROUND64),
        form("sub{.rnd}{.ftz}.f32x2 =d, a, b", rnd=ALL_ROUND, needs=PACKED),
    ),
    instruction(
        "mul",
        "Multiply two floating-point values; .sat clamps the product to [0, 1].",
        form("mul{.rnd}{.ftz}{.sat}.f32 =d, a, b", rnd=ROUND, ftz=FTZ),
        form("mul{.rnd}.f64 =d, a, b", rnd=ROUND64),
        form("mul{.rnd}{.ftz}.f32x2 =d, a, b", rnd=ALL_ROUND, needs=PACKED),
        ignores="pred",
    ),
    instruction(
        "fma",
        "Multiply a by b and add c with a single rounding; .sat clamps the result to [0, 1].",
        form("fma.rnd{.ftz}{.sat}.f32 =d, a, b, c", rnd=ROUND64, needs="2.0/20"),
        form("fma.rnd.f64 =d, a, b, c", rnd=ROUND64, needs="1.4"),
        form("fma.rnd{.ftz}.f32x2 =d, a, b, c", rnd=ALL_ROUND, needs=PACKED),
        ignores="pred",
    ),
    instruction(
        "mad",
        "Multiply a by b and add c; the same as fma since sm_20.",
        form("mad.rnd{.ftz}{.sat}.f32 =d, a, b, c", rnd=ROUND64, needs="2.0/20"),
        form("mad.rnd.f64 =d, a, b, c", rnd=ROUND64),
        form("mad{.ftz}{.sat}.f32 =d, a, b, c", ftz=FTZ, needs="1.0 !3.2/20"),
        form("mad.f64 =d, a, b, c", needs=OLD),
    ),
    instruction(
        "div",
        "Divide a by b; .approx is fast and not correctly rounded.",
        form("div.approx{.ftz}.f32 =d, a, b", needs="1.4"),
        form("div.rnd{.ftz}.f32 =d, a, b", rnd=ROUND64, needs=DIRECTED),
        form("div.rnd.f64 =d, a, b", rnd=ROOT64),
        form("div.type =d, a, b", type="f32 f64", needs=OLD),
    ),
    instruction(
        "div.full",
        "Divide a by b, fast and within 2 units in the last place over the full range.",
        form("div.full{.ftz}.f32 =d, a, b", needs="1.4"),
    ),
    instruction(
        "abs",
        "Absolute value.",
        form("abs{.ftz}.f32 =d, a", ftz=FTZ),
        form("abs.f64 =d, a"),
    ),
    instruction(
        "neg",
        "Negate a value.",
        form("neg{.ftz}.f32 =d, a", ftz=FTZ),
        form("neg.f64 =d, a"),
    ),
    instruction(
        "min",
        "The smallest operand; .NaN passes NaN on, .xorsign.abs compares magnitudes.",
        form("min{.ftz}{.nan}{.xor.abs}.f32 =d, a, b", ftz=FTZ, nan=NAN, xor=XORSIGN),
        form("min{.ftz}{.NaN}{.abs}.f32 =d, a, b, c", needs=THREE),
        form("min.f64 =d, a, b"),
    ),
    instruction(
        "max",
        "The largest operand; .NaN passes NaN on, .xorsign.abs compares magnitudes.",
        form("max{.ftz}{.nan}{.xor.abs}.f32 =d, a, b", ftz=FTZ, nan=NAN, xor=XORSIGN),
        form("max{.ftz}{.NaN}{.abs}.f32 =d, a, b, c", needs=THREE),
        form("max.f64 =d, a, b"),
    ),
    instruction(
        "rcp",
        "Reciprocal of a.",
        form("rcp.approx{.ftz}.f32 =d, a", needs="1.4"),
        form("rcp.rnd{.ftz}.f32 =d, a", rnd=ROUND64, needs=DIRECTED),
        form("rcp.rnd{.ftz}.f64 =d, a", rnd=ROOT64, needs="1.4"),
        form("rcp.approx.ftz.f64 =d, a", needs="2.1/20"),
        form("rcp.f32 =d, a", needs=OLD),
        ignores="pred",
    ),
    instruction(
        "sqrt",
        "Square root of a.",
        form("sqrt.approx{.ftz}.f32 =d, a", needs="1.4"),
        form("sqrt.rnd{.ftz}.f32 =d, a", rnd=ROUND64, needs=DIRECTED),
        form("sqrt.rnd.f64 =d, a", rnd=ROOT64),
        form("sqrt.type =d, a", type="f32 f64", needs=OLD),
        ignores="pred",
    ),
    instruction(
        "rsqrt",
        "Approximate reciprocal of the square root of a.",
        form("rsqrt.approx{.ftz}.f32 =d, a", needs="1.4"),
        form("rsqrt.approx.f64 =d, a", needs="1.4"),
        form("rsqrt.approx.ftz.f64 =d, a", needs="4.0/20"),
        form("rsqrt.type =d, a", type="f32 f64", needs=OLD),
        ignores="pred",
    ),
    instruction(
        "sin",
        "Approximate sine of a in radians.",
        form("sin.approx{.ftz}.f32 =d, a", needs="1.4"),
        form("sin.f32 =d, a", needs=OLD),
        ignores="pred",
    ),
    instruction(
        "cos",
        "Approximate cosine of a in radians.",
        form("cos.approx{.ftz}.f32 =d, a", needs="1.4"),
        form("cos.f32 =d, a", needs=OLD),
        ignores="pred",
    ),
    instruction(
        "lg2",
        "Approximate logarithm of a to base 2.",
        form("lg2.approx{.ftz}.f32 =d, a", needs="1.4"),
        form("lg2.f32 =d, a", needs=OLD),
        ignores="pred",
    ),
    instruction(
        "ex2",
        "Approximate 2 raised to the power a.",
        form("ex2.approx{.ftz}.f32 =d, a", needs="1.4"),
        form("ex2.f32 =d, a", needs=OLD),
        ignores="pred",
    ),
    instruction(
        "tanh",
        "Approximate hyperbolic tangent of a.",
        form("tanh.approx.f32 =d, a", needs="7.0/75"),
        ignores="pred",
    ),
]
