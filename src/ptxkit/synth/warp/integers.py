"""Whole-number expressions of any width, signed and unsigned."""

from __future__ import annotations

from collections.abc import Callable

from ptxkit.synth.warp import tree
from ptxkit.synth.warp.builder import INTEGER_LIMIT, Builder, apply, whole
from ptxkit.synth.warp.types import BOOL, INT, UINT, Type

Expression = tree.Expression
Rule = Callable[[Builder, Type, int], Expression]


def integer(b: Builder, type: Type, depth: int) -> Expression:
    """A whole number of a type, of at most so many levels."""
    if depth <= 0 or b.stream.chance(0.1):
        return leaf(b, type)
    operation = b.operation(b.palette.integer or DEFAULT)
    if operation is None:
        return leaf(b, type)
    return reduce(b, RULES[operation](b, type, depth - 1), INTEGER_LIMIT)


def alive(b: Builder, type: Type, depth: int) -> Expression:
    """A whole number that is not a mere constant."""
    value = integer(b, type, depth)
    if isinstance(value, tree.Constant) and b.indices:
        index = b.stream.choice(b.indices)
        return index if type == INT else apply("cast", type, index.bound, index)
    return value


def leaf(b: Builder, type: Type) -> Expression:
    """A whole number that is there already."""
    names = b.visible(type)
    arrays = b.arrays(type)
    kinds = {"constant": 3, "index": 2}
    if arrays:
        kinds["array"] = 6
    if names:
        kinds["name"] = 5
    match b.stream.weighted(kinds):
        case "array":
            return b.own(b.stream.choice(arrays))
        case "name":
            return b.read(b.stream.choice(names))
        case "index":
            index = b.stream.choice(b.indices)
            return index if type == INT else apply("cast", type, index.bound, index)
    return b.whole(1, 31, type)


def reduce(b: Builder, value: Expression, limit: float) -> Expression:
    """The value, made smaller if it may be larger than the limit."""
    if value.bound <= limit:
        return value
    mask = (1 << int(limit).bit_length() - 1) - 1
    ways = ["mask"] if value.type == UINT else ["mask", "remainder"]
    if b.stream.choice(ways) == "mask":
        return apply("bit_and", value.type, mask, value, whole(mask, value.type))
    return apply("mod", value.type, mask, value, whole(mask, value.type))


def natural(b: Builder, type: Type, depth: int) -> Expression:
    """A whole number that is not negative."""
    value = alive(b, type, depth)
    if type == UINT or value in b.indices:
        return value
    return apply("abs", type, value.bound, value)


def _binary(operator: str, bound: Callable[[float, float], float]) -> Rule:
    def rule(b: Builder, type: Type, depth: int) -> Expression:
        x, y = alive(b, type, depth), integer(b, type, depth - b.stream.below(2))
        if type == UINT and operator == "sub":
            # Below zero an unsigned number starts again at the top.
            return apply("sub", type, float(1 << 32), x, y)
        return apply(operator, type, bound(x.bound, y.bound), x, y)

    return rule


def _mask(x: float, y: float) -> float:
    return float((1 << int(max(x, y)).bit_length()) - 1)


def _product(b: Builder, type: Type, depth: int) -> Expression:
    x = reduce(b, alive(b, type, depth), 30000)
    y = reduce(b, integer(b, type, depth - 1), 30000)
    return apply("mul", type, x.bound * y.bound, x, y)


def _division(operator: str) -> Rule:
    def rule(b: Builder, type: Type, depth: int) -> Expression:
        x, divisor = natural(b, type, depth), b.whole(2, 17, type)
        bound = x.bound / divisor.bound if operator == "floordiv" else divisor.bound - 1
        return apply(operator, type, bound, x, divisor)

    return rule


def _shift(operator: str) -> Rule:
    def rule(b: Builder, type: Type, depth: int) -> Expression:
        amount = b.whole(1, 6, type)
        x = natural(b, type, depth)
        if operator == "shift_right":
            return apply(operator, type, x.bound, x, amount)
        x = reduce(b, x, 1 << 20)
        return apply(operator, type, x.bound * 2**amount.value, x, amount)

    return rule


def _unary(operator: str) -> Rule:
    def rule(b: Builder, type: Type, depth: int) -> Expression:
        x = alive(b, type, depth)
        if type == UINT:
            return apply("invert", type, float(1 << 32), x)
        return apply(operator, type, x.bound + 1, x)

    return rule


def _clamp(b: Builder, type: Type, depth: int) -> Expression:
    low, high = b.whole(0, 7, type), b.whole(8, 63, type)
    return apply("clamp", type, high.bound, alive(b, type, depth), low, high)


def _where(b: Builder, type: Type, depth: int) -> Expression:
    order = b.stream.choice(("less", "less_equal", "greater", "equal", "not_equal"))
    x, y = integer(b, type, depth), integer(b, type, depth - 1)
    condition = apply(order, BOOL, 1.0, alive(b, type, depth - 1), leaf(b, type))
    way = b.stream.choice(("where", "ternary"))
    return apply(way, type, max(x.bound, y.bound), condition, x, y)


RULES: dict[str, Rule] = {
    "add": _binary("add", lambda x, y: x + y),
    "sub": _binary("sub", lambda x, y: x + y),
    "mul": _product,
    "floordiv": _division("floordiv"),
    "mod": _division("mod"),
    "bit_and": _binary("bit_and", _mask),
    "bit_or": _binary("bit_or", _mask),
    "bit_xor": _binary("bit_xor", _mask),
    "shift_left": _shift("shift_left"),
    "shift_right": _shift("shift_right"),
    "invert": _unary("invert"),
    "neg": _unary("neg"),
    "abs": _unary("abs"),
    "min": _binary("min", max),
    "max": _binary("max", max),
    "clamp": _clamp,
    "where": _where,
}
DEFAULT = {
    "add": 6, "sub": 4, "mul": 4, "floordiv": 2, "mod": 3, "bit_and": 3, "bit_or": 2,
    "bit_xor": 3, "shift_left": 2, "shift_right": 3, "invert": 1, "neg": 1, "abs": 1,
    "min": 2, "max": 2, "clamp": 1, "where": 2,
}  # fmt: skip
