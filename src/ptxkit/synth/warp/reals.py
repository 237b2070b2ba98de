"""Real-valued expressions and tests. One function an operation, in one table."""

from __future__ import annotations

import math
from collections.abc import Callable

from ptxkit.synth.warp import tree
from ptxkit.synth.warp.builder import Builder, apply
from ptxkit.synth.warp.types import BOOL, INT

Expression = tree.Expression
Rule = Callable[[Builder, int], Expression]


def real(b: Builder, depth: int) -> Expression:
    """A real number, of at most so many levels."""
    if depth <= 0 or b.stream.chance(0.1):
        return leaf(b)
    operation = b.operation(b.palette.real)
    return reduce(b, RULES[operation](b, depth - 1), b.limit) if operation else leaf(b)


def leaf(b: Builder, constant: bool = True) -> Expression:
    """A number that is there already: an element, a variable, a parameter, a constant."""
    names = b.visible(b.real_type)
    arrays = b.arrays(b.real_type)
    counts = b.visible(INT)
    kinds = {"constant": 3} if constant or not (names or arrays or counts) else {}
    if arrays:
        kinds["array"] = 5
    if names:
        kinds["name"] = 6
    if counts:
        kinds["count"] = 1
    match b.stream.weighted(kinds):
        case "array":
            return b.own(b.stream.choice(arrays))
        case "name":
            return b.read(b.stream.choice(names))
        case "count":
            return as_real(b, b.read(b.stream.choice(counts)))
    return b.constant()


def alive(b: Builder, depth: int) -> Expression:
    """A real number that is not a mere constant."""
    value = real(b, depth)
    return leaf(b, constant=False) if isinstance(value, tree.Constant) else value


def as_real(b: Builder, value: Expression) -> Expression:
    """A whole number as a real one, not larger than the limit."""
    return reduce(b, apply("cast", b.real_type, value.bound, value), b.limit)


def reduce(b: Builder, value: Expression, limit: float) -> Expression:
    """The value, damped if it may be larger than the limit."""
    if value.bound <= limit:
        return value
    ways = ["clamp", "scale"] if value.type.shape == () else ["scale"]
    if limit >= 1 and value.type.shape == () and value.bound <= b.limit and b.trips == 1:
        ways.append("tanh")
    match b.stream.choice(ways):
        case "clamp":
            most = _rounded_down(limit)
            return apply("clamp", value.type, most, value, b.exactly(-most), b.exactly(most))
        case "tanh":
            return apply("tanh", value.type, 1.0, value)
    factor = b.exactly(_rounded_down(limit / value.bound))
    return apply("mul", value.type, value.bound * factor.bound, value, factor)


def _rounded_down(value: float) -> float:
    """A short number that is not larger."""
    digits = 1 - math.floor(math.log10(value))
    return math.floor(value * 10.0**digits) / 10.0**digits


def _positive(b: Builder, depth: int) -> tuple[Expression, float]:
    """An expression that is never near zero, and its lower limit."""
    inner = alive(b, depth)
    offset = b.constant(0.5, 2.0, sign=False)
    if b.stream.chance(0.5):
        value = apply("abs", b.real_type, inner.bound, inner)
    else:
        inner = reduce(b, inner, math.sqrt(b.limit) - 1)
        value = apply("mul", b.real_type, inner.bound**2, inner, inner)
    return apply("add", b.real_type, value.bound + offset.bound, value, offset), offset.bound


def _binary(operator: str, bound: Callable[[float, float], float]) -> Rule:
    def rule(b: Builder, depth: int) -> Expression:
        x, y = alive(b, depth), real(b, depth - b.stream.below(2))
        if b.stream.chance(0.3):
            x, y = y, x
        return apply(operator, b.real_type, bound(x.bound, y.bound), x, y)

    return rule


def _unary(operator: str, bound: Callable[[float], float], limit: float = math.inf) -> Rule:
    def rule(b: Builder, depth: int) -> Expression:
        x = reduce(b, alive(b, depth), limit)
        return apply(operator, b.real_type, bound(x.bound), x)

    return rule


def _of_positive(operator: str, bound: Callable[[float, float], float]) -> Rule:
    def rule(b: Builder, depth: int) -> Expression:
        x, least = _positive(b, depth)
        return apply(operator, b.real_type, bound(least, x.bound), x)

    return rule


def _quotient(b: Builder, depth: int) -> Expression:
    x = alive(b, depth)
    if b.stream.chance(0.4):
        divisor = b.constant(0.5, 4.0)
        return apply("div", b.real_type, x.bound / divisor.bound, x, divisor)
    y, least = _positive(b, depth - 1)
    return apply("div", b.real_type, x.bound / least, x, y)


def _clamp(b: Builder, depth: int) -> Expression:
    x, low, high = alive(b, depth), b.constant(0.1, 1.0), b.constant(1.1, 4.0, sign=False)
    return apply("clamp", b.real_type, max(low.bound, high.bound), x, low, high)


def _lerp(b: Builder, depth: int) -> Expression:
    x, y = real(b, depth), real(b, depth)
    t = b.constant(0.1, 0.9, sign=False)
    return apply("lerp", b.real_type, max(x.bound, y.bound) * 1.01, x, y, t)


def _smoothstep(b: Builder, depth: int) -> Expression:
    low, high = b.constant(0.1, 0.9), b.constant(1.1, 3.0, sign=False)
    return apply("smoothstep", b.real_type, 1.0, low, high, alive(b, depth))


def _power(b: Builder, depth: int) -> Expression:
    x, least = _positive(b, depth)
    exponent = b.constant(0.3, 1.9)
    worst = max(x.bound**exponent.value, least**exponent.value)
    return apply("pow", b.real_type, worst, x, exponent)


def _arc(operator: str, bound: float) -> Rule:
    def rule(b: Builder, depth: int) -> Expression:
        x = alive(b, depth)
        inner = apply("clamp", b.real_type, 0.9, x, b.exactly(-0.9), b.exactly(0.9))
        return apply(operator, b.real_type, bound, inner)

    return rule


def _atan2(b: Builder, depth: int) -> Expression:
    x, _ = _positive(b, depth - 1)
    return apply("atan2", b.real_type, math.pi, alive(b, depth), x)


def _where(operator: str) -> Rule:
    def rule(b: Builder, depth: int) -> Expression:
        x, y = real(b, depth), real(b, depth)
        return apply(operator, b.real_type, max(x.bound, y.bound), test(b, depth), x, y)

    return rule


def _call(b: Builder, depth: int) -> Expression:
    """A call of a function of the program, where there is one."""
    function = b.callable()
    if function is None:
        return real(b, depth)
    arguments = tuple(reduce(b, real(b, depth - 1), ARGUMENT_BOUND) for _ in function.parameters)
    return tree.Call(b.real_type, RESULT_BOUND, function.name, arguments)


#: What functions of a program may be given and may give.
ARGUMENT_BOUND = 8.0
RESULT_BOUND = 16.0

RULES: dict[str, Rule] = {
    "add": _binary("add", lambda x, y: x + y),
    "sub": _binary("sub", lambda x, y: x + y),
    "mul": _binary("mul", lambda x, y: x * y),
    "div": _quotient,
    "min": _binary("min", max),
    "max": _binary("max", max),
    "neg": _unary("neg", lambda x: x),
    "abs": _unary("abs", lambda x: x),
    "sign": _unary("sign", lambda x: 1.0),
    "step": _unary("step", lambda x: 1.0),
    "clamp": _clamp,
    "lerp": _lerp,
    "smoothstep": _smoothstep,
    "sin": _unary("sin", lambda x: 1.0),
    "cos": _unary("cos", lambda x: 1.0),
    "tan": _unary("tan", math.tan, 1.2),
    "asin": _arc("asin", 1.2),
    "acos": _arc("acos", 3.0),
    "atan": _unary("atan", lambda x: math.pi / 2),
    "atan2": _atan2,
    "sinh": _unary("sinh", math.sinh, 2.5),
    "cosh": _unary("cosh", math.cosh, 2.5),
    "tanh": _unary("tanh", lambda x: 1.0),
    "exp": _unary("exp", math.exp, 2.5),
    "log": _of_positive("log", lambda low, high: max(abs(math.log(low)), math.log(high))),
    "log2": _of_positive("log2", lambda low, high: max(abs(math.log2(low)), math.log2(high))),
    "log10": _of_positive("log10", lambda low, high: max(abs(math.log10(low)), math.log10(high))),
    "sqrt": _of_positive("sqrt", lambda low, high: math.sqrt(high)),
    "cbrt": _of_positive("cbrt", lambda low, high: high ** (1 / 3)),
    "pow": _power,
    "floor": _unary("floor", lambda x: x + 1),
    "ceil": _unary("ceil", lambda x: x + 1),
    "round": _unary("round", lambda x: x + 1),
    "rint": _unary("rint", lambda x: x + 1),
    "trunc": _unary("trunc", lambda x: x),
    "frac": _unary("frac", lambda x: 1.0),
    "degrees": _unary("degrees", lambda x: x * 57.3, 2.0),
    "radians": _unary("radians", lambda x: x * 0.0175),
    "where": _where("where"),
    "ternary": _where("ternary"),
    "call": _call,
}

_ORDERS = ("less", "less_equal", "greater", "greater_equal")


def test(b: Builder, depth: int) -> Expression:
    """Something that is true or false."""
    if depth > 0 and b.stream.chance(0.25):
        operator = b.stream.weighted({"and": 4, "or": 4, "not": 1})
        if operator == "not":
            return apply("not", BOOL, 1.0, test(b, depth - 1))
        return apply(operator, BOOL, 1.0, test(b, depth - 1), test(b, depth - 1))
    counts = [*b.indices, *b.visible(INT)]
    if counts and b.stream.chance(0.2):
        return integer_test(b, counts)
    order = b.stream.choice(_ORDERS)
    x = alive(b, min(depth, 2))
    y = leaf(b)
    if y == x or b.stream.chance(0.5):  # nothing is compared with itself
        y = b.constant(0.1, min(1.5, max(0.2, x.bound)))
    return apply(order, BOOL, 1.0, x, y)


def integer_test(b: Builder, names: list[tree.Name]) -> Expression:
    """A test of a whole number: an index, a counter."""
    x = b.read(b.stream.choice(names))
    if b.stream.chance(0.5):
        divisor = b.whole(2, 5)
        rest = apply("mod", INT, divisor.bound - 1, x, divisor)
        operator = b.stream.choice(("equal", "not_equal", "less", "greater_equal"))
        return apply(operator, BOOL, 1.0, rest, b.whole(0 if "equal" in operator else 1, 1))
    most = max(1, int(x.bound))
    return apply(b.stream.choice(_ORDERS), BOOL, 1.0, x, b.whole(1, most))
