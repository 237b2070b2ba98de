"""Vector and matrix expressions, and real numbers made of them."""

from __future__ import annotations

import math
from collections.abc import Callable

from ptxkit.synth.warp import tree
from ptxkit.synth.warp.builder import Builder, apply, whole
from ptxkit.synth.warp.reals import leaf as real_leaf
from ptxkit.synth.warp.reals import real, reduce, test
from ptxkit.synth.warp.types import Type, matrix, vector

Expression = tree.Expression
Rule = Callable[[Builder, Type, int], Expression]


def compound(b: Builder, type: Type, depth: int) -> Expression:
    """A vector or matrix of a type, of at most so many levels."""
    if depth <= 0 or b.stream.chance(0.1):
        return leaf(b, type)
    weights, rules = (
        (VECTOR_WEIGHTS, VECTOR_RULES) if len(type.shape) == 1 else (MATRIX_WEIGHTS, MATRIX_RULES)
    )
    operation = b.operation(weights)
    if operation is None:
        return leaf(b, type)
    return reduce(b, rules[operation](b, type, depth - 1), b.limit / 4)


def leaf(b: Builder, type: Type) -> Expression:
    """A vector or matrix that is there already, or one built from numbers."""
    kinds = {"construct": 1}
    names, arrays = b.visible(type), b.arrays(type)
    if arrays:
        kinds["array"] = 5
    if names:
        kinds["name"] = 6
    match b.stream.weighted(kinds):
        case "array":
            return b.own(b.stream.choice(arrays))
        case "name":
            return b.read(b.stream.choice(names))
    parts = tuple(reduce(b, real_leaf(b), b.limit / 4) for _ in range(math.prod(type.shape)))
    return tree.Operation(type, max(part.bound for part in parts), "construct", parts)


def _sum(operator: str) -> Rule:
    def rule(b: Builder, type: Type, depth: int) -> Expression:
        x, y = compound(b, type, depth), compound(b, type, depth - b.stream.below(2))
        return apply(operator, type, x.bound + y.bound, x, y)

    return rule


def _scaled(b: Builder, type: Type, depth: int) -> Expression:
    x, factor = compound(b, type, depth), real(b, depth - 1)
    pair = (x, factor) if b.stream.chance(0.5) else (factor, x)
    return apply("mul", type, x.bound * factor.bound, *pair)


def _divided(b: Builder, type: Type, depth: int) -> Expression:
    x, divisor = compound(b, type, depth), b.constant(0.5, 4.0)
    return apply("div", type, x.bound / divisor.bound, x, divisor)


def _negated(b: Builder, type: Type, depth: int) -> Expression:
    x = compound(b, type, depth)
    return apply("neg", type, x.bound, x)


def _cross(b: Builder, type: Type, depth: int) -> Expression:
    if type.shape != (3,):
        return _componentwise(b, type, depth)
    x, y = compound(b, type, depth), compound(b, type, depth - 1)
    return apply("cross", type, 2 * x.bound * y.bound, x, y)


def _componentwise(b: Builder, type: Type, depth: int) -> Expression:
    x, y = compound(b, type, depth), compound(b, type, depth - 1)
    return apply("cw_mul", type, x.bound * y.bound, x, y)


def _unit(b: Builder, type: Type, depth: int) -> Expression:
    """A vector of length one, or a little less: never a quotient of two small numbers."""
    arrays = b.arrays(type)
    if arrays and b.stream.chance(0.5):
        return apply("normalize", type, 1.0, b.own(b.stream.choice(arrays)))
    x = b.local(compound(b, type, depth)) if b.stream.chance(0.5) else leaf(b, type)
    length = apply("length", type.element, x.bound * math.sqrt(type.shape[0]), x)
    offset = b.constant(0.5, 2.0, sign=False)
    below = apply("add", type.element, length.bound + offset.bound, length, offset)
    return apply("div", type, 1.0, x, below)


def _extreme(operator: str) -> Rule:
    def rule(b: Builder, type: Type, depth: int) -> Expression:
        x, y = compound(b, type, depth), compound(b, type, depth - 1)
        return apply(operator, type, max(x.bound, y.bound), x, y)

    return rule


def _transformed(b: Builder, type: Type, depth: int) -> Expression:
    (size,) = type.shape
    m, x = compound(b, matrix(type.scalar, size), depth - 1), compound(b, type, depth)
    return apply("matvec", type, size * m.bound * x.bound, m, x)


def _mixed(b: Builder, type: Type, depth: int) -> Expression:
    x, y = compound(b, type, depth), compound(b, type, depth - 1)
    t = b.constant(0.1, 0.9, sign=False)
    return apply("lerp", type, max(x.bound, y.bound) * 1.01, x, y, t)


def _chosen(b: Builder, type: Type, depth: int) -> Expression:
    x, y = compound(b, type, depth), compound(b, type, depth - 1)
    return apply("where", type, max(x.bound, y.bound), test(b, 1), x, y)


def _product(b: Builder, type: Type, depth: int) -> Expression:
    size = type.shape[0]
    x, y = compound(b, type, depth), compound(b, type, depth - 1)
    return apply("matmul", type, size * x.bound * y.bound, x, y)


def _transpose(b: Builder, type: Type, depth: int) -> Expression:
    x = compound(b, type, depth)
    return apply("transpose", type, x.bound, x)


def _outer(b: Builder, type: Type, depth: int) -> Expression:
    own = vector(type.scalar, type.shape[0])
    x, y = compound(b, own, depth), compound(b, own, depth - 1)
    return apply("outer", type, x.bound * y.bound, x, y)


def _diagonal(b: Builder, type: Type, depth: int) -> Expression:
    x = compound(b, vector(type.scalar, type.shape[0]), depth)
    return apply("diag", type, x.bound, x)


VECTOR_RULES: dict[str, Rule] = {
    "add": _sum("add"), "sub": _sum("sub"), "scale": _scaled, "divide": _divided,
    "neg": _negated, "cross": _cross, "cw_mul": _componentwise, "unit": _unit,
    "min": _extreme("min"), "max": _extreme("max"), "matvec": _transformed,
    "lerp": _mixed, "where": _chosen,
}  # fmt: skip
VECTOR_WEIGHTS = {
    "add": 6, "sub": 5, "scale": 6, "divide": 1, "neg": 1, "cross": 4, "cw_mul": 3, "unit": 2,
    "min": 1, "max": 1, "matvec": 1, "lerp": 1, "where": 1,
}  # fmt: skip
MATRIX_RULES: dict[str, Rule] = {
    "add": _sum("add"), "sub": _sum("sub"), "scale": _scaled, "divide": _divided,
    "neg": _negated, "matmul": _product, "transpose": _transpose, "outer": _outer,
    "diag": _diagonal, "cw_mul": _componentwise, "where": _chosen,
}  # fmt: skip
MATRIX_WEIGHTS = {
    "add": 5, "sub": 4, "scale": 4, "divide": 1, "neg": 1, "matmul": 5, "transpose": 3,
    "outer": 1, "diag": 1, "cw_mul": 1, "where": 1,
}  # fmt: skip


def number_of(b: Builder, type: Type, depth: int) -> Expression:
    """A real number made of a vector or matrix."""
    rules = _NUMBERS[len(type.shape)]
    return reduce(b, b.stream.choice(rules)(b, type, depth), b.limit)


def _dot(b: Builder, type: Type, depth: int) -> Expression:
    x, y = compound(b, type, depth), compound(b, type, depth - 1)
    return apply("dot", type.element, type.shape[0] * x.bound * y.bound, x, y)


def _length(b: Builder, type: Type, depth: int) -> Expression:
    x = compound(b, type, depth)
    return apply("length", type.element, x.bound * math.sqrt(type.shape[0]), x)


def _square(b: Builder, type: Type, depth: int) -> Expression:
    x = compound(b, type, depth)
    return apply("length_sq", type.element, x.bound**2 * type.shape[0], x)


def _component(b: Builder, type: Type, depth: int) -> Expression:
    x = compound(b, type, depth)
    if isinstance(x, tree.Operation) and x.operator != "component":
        x = b.local(x)
    places = tuple(whole(b.stream.below(size)) for size in type.shape)
    return tree.Operation(type.element, x.bound, "component", (x, *places))


def _determinant(b: Builder, type: Type, depth: int) -> Expression:
    size = type.shape[0]
    x = compound(b, type, depth)
    return apply("determinant", type.element, math.factorial(size) * x.bound**size, x)


def _trace(b: Builder, type: Type, depth: int) -> Expression:
    x = compound(b, type, depth)
    return apply("trace", type.element, type.shape[0] * x.bound, x)


def _contraction(b: Builder, type: Type, depth: int) -> Expression:
    x, y = compound(b, type, depth), compound(b, type, depth - 1)
    return apply("ddot", type.element, type.shape[0] ** 2 * x.bound * y.bound, x, y)


_NUMBERS: dict[int, tuple[Rule, ...]] = {
    1: (_dot, _dot, _length, _square, _component),
    2: (_determinant, _trace, _contraction, _component),
}
