"""Tiers 1 to 6: what a thread does with its own element."""

from __future__ import annotations

from ptxkit.cuda import nodes as n
from ptxkit.cuda.types import (
    DOUBLE,
    FLOAT,
    HALF,
    INT,
    VECTOR_FIELDS,
    VECTORS,
    Pointer,
    Scalar,
)
from ptxkit.synth.streams import Stream
from ptxkit.synth.tiers import words
from ptxkit.synth.tiers.expressions import ALL_TYPES, SMALL_INTEGERS, Palette
from ptxkit.synth.tiers.kernels import (
    THREADS,
    Frame,
    Made,
    at,
    float_palette,
    one_kernel,
    value_range,
)
from ptxkit.synth.tiers.sample import ArraySpec
from ptxkit.synth.tiers.tidy import live_names

_GUARDS = frozenset(("fabsf", "fabs"))  # what keeps divisors from zero says nothing of a tier


def simple_binary(draw: Stream) -> Made:
    """One operator on two operands."""
    frame = Frame(draw)
    type = draw.choice((FLOAT, FLOAT, FLOAT, INT))
    output = frame.array(type, written=True)

    def body(i: n.Name) -> tuple[n.Statement, ...]:
        left = at(frame.array(type), i)
        palette = Palette(draw, {})
        kind = draw.weighted({"array": 30, "scalar": 10, "literal": 10})
        right: n.Expression = palette.literal(type)
        if kind == "array":
            right = at(frame.array(type), i)
        elif kind == "scalar":
            right = frame.scalar(type)
        operators = "+-*/" if type.is_float else "+-*&|^"
        pair = (left, right) if draw.chance(0.8) else (right, left)
        return (n.Assign(at(output, i), palette.operator(draw.choice(operators), *pair)),)

    return one_kernel(frame, frame.guarded(body))


def _expression_kernel(draw: Stream, depth: tuple[int, int], **options: float) -> Made:
    frame = Frame(draw)
    output = frame.array(FLOAT, written=True)

    def body(i: n.Name) -> tuple[n.Statement, ...]:
        palette = float_palette(frame, i, draw.between(1, 4), **options)
        arrays = [leaf for leaf in palette.leaves[FLOAT] if isinstance(leaf, n.Index)]
        value = palette.using(FLOAT, draw.between(*depth), arrays)
        called = {part.function for part in value.walk() if isinstance(part, n.Call)}
        if palette.math and not called - _GUARDS:
            value = n.Call(draw.choice(("sinf", "cosf", "tanhf", "atanf", "floorf")), (value,))
        elif not palette.math and not isinstance(value, n.Binary | n.Unary):
            value = palette.operator(draw.choice("+-*"), value, palette.expression(FLOAT, 1))
        return (n.Assign(at(output, i), value),)

    return one_kernel(frame, frame.guarded(body))


def nested_arithmetic(draw: Stream) -> Made:
    """Operators inside operators."""
    return _expression_kernel(draw, (2, 5))


def unary_math(draw: Stream) -> Made:
    """Functions such as sinf and sqrtf among the operators."""
    return _expression_kernel(draw, (1, 4), math=0.5)


def ternary_and_compare(draw: Stream) -> Made:
    """Comparisons and ``?:``."""
    frame = Frame(draw)
    output = frame.array(FLOAT, written=True)

    def body(i: n.Name) -> tuple[n.Statement, ...]:
        palette = float_palette(frame, i, draw.between(1, 3), ternary=0.35, math=0.1)
        depth = draw.between(1, 3)
        then = palette.expression(FLOAT, depth - 1)
        choice = n.Conditional(
            palette.condition(2),
            then,
            palette.partner(FLOAT, draw.between(0, depth), then),
        )
        if draw.chance(0.3):
            choice = n.Conditional(palette.condition(1), choice, palette.expression(FLOAT, 1))
        value: n.Expression = choice
        if draw.chance(0.3):
            value = palette.operator(draw.choice("+-*"), choice, palette.leaf(FLOAT))
        return (n.Assign(at(output, i), value),)

    return one_kernel(frame, frame.guarded(body))


# ---- types -------------------------------------------------------------------------------


def type_diversity(draw: Stream) -> Made:
    """Types other than float, vectors, and conversions between them."""
    return _vectors(draw) if draw.chance(0.15) else _scalars(draw)


def _scalars(draw: Stream) -> Made:
    frame = Frame(draw)
    others = [t for t in ALL_TYPES if t != FLOAT]
    result = FLOAT if draw.chance(0.1) else draw.choice(others)
    output = frame.array(result, written=True)

    def body(i: n.Name) -> tuple[n.Statement, ...]:
        leaves: dict[Scalar, list[n.Expression]] = {}
        least = 1 if result == FLOAT else 0
        more = draw.shuffled([t for t in ALL_TYPES if t != result])[: draw.between(least, 2)]
        types = [result, *more]
        if HALF in types:
            # CUDA has no implicit way between half and integers; keep to float beside it.
            with_half = result in (HALF, FLOAT)
            types = [t for t in types if (t in (HALF, FLOAT) if with_half else t != HALF)]
        for type in types:
            leaves[type] = [at(frame.array(type), i) for _ in range(draw.between(1, 2))]
        palette = Palette(draw, leaves, math=0.1, bitwise=0.35, casts=0.3, ternary=0.08)
        value = palette.reading(result, draw.between(1, 3))
        if result == FLOAT and not any(isinstance(part, n.Cast) for part in value.walk()):
            other = n.Cast(FLOAT, draw.choice(leaves[types[-1]]))
            value = palette.operator(draw.choice("+-*"), value, other)
        if result in SMALL_INTEGERS and not isinstance(value, n.Cast | n.Index):
            value = n.Cast(result, value)
        return (n.Assign(at(output, i), value),)

    return one_kernel(frame, frame.guarded(body))


def _vectors(draw: Stream) -> Made:
    """Vectors such as float4: loaded whole, used by their fields, stored whole."""
    frame = Frame(draw)
    element = draw.choice((FLOAT, FLOAT, INT, DOUBLE))
    count = 2 if element == DOUBLE else draw.choice((2, 4, 4))
    type = VECTORS[f"{element.word}{count}"]
    arrays = []
    for written in (True, *[False] * draw.between(1, 2)):
        name = frame.name(words.OUTPUTS if written else words.INPUTS)
        const = not written and draw.chance(0.7)
        pointer = Pointer(type, const=const, restrict=draw.chance(0.2))
        frame.parameters.append(n.Parameter(pointer, name))
        low, high = value_range(element)
        frame.arguments.append(ArraySpec(element, THREADS * count, low, high, written))
        arrays.append(n.Name(name))
    output, *inputs = arrays

    def body(i: n.Name) -> tuple[n.Statement, ...]:
        loads, names = [], []
        for array in inputs:
            name = n.Name(frame.name(words.LOCALS))
            loads.append(n.Declare(type, name.name, at(array, i)))
            names.append(name)
        number = [frame.scalar(element)] if draw.chance(0.3) else []
        values = []
        same = draw.chance(0.5)
        for field in VECTOR_FIELDS[:count]:
            fields = VECTOR_FIELDS[:count] if not same and draw.chance(0.3) else (field,)
            leaves: list[n.Expression] = [n.Member(v, draw.choice(fields)) for v in names]
            palette = Palette(draw, {element: [*leaves, *number]}, math=0.05)
            values.append(palette.using(element, draw.between(1, 2), leaves))
        if same:
            # Mostly every field is treated alike.
            values = [_of_field(values[0], "x", field) for field in VECTOR_FIELDS[:count]]
        return (*loads, n.Assign(at(output, i), n.Call(f"make_{type.word}", tuple(values))))

    return one_kernel(frame, frame.guarded(body))


def _of_field(value: n.Expression, old: str, new: str) -> n.Expression:
    match value:
        case n.Member(base=base, field=field) if field == old:
            return n.Member(base, new)
        case n.Unary():
            return n.Unary(value.operator, _of_field(value.operand, old, new))
        case n.Binary():
            return n.Binary(
                value.operator, _of_field(value.left, old, new), _of_field(value.right, old, new)
            )
        case n.Call():
            return n.Call(value.function, tuple(_of_field(a, old, new) for a in value.arguments))
    return value


# ---- statements --------------------------------------------------------------------------


def _assignments(
    frame: Frame, palette: Palette, count: int, type: Scalar
) -> tuple[list[n.Statement], list[n.Name]]:
    draw = frame.draw
    statements: list[n.Statement] = []
    variables: list[n.Name] = []
    for _ in range(count):
        kind = draw.weighted({"new": 40, "update": 20, "branch": 15})
        if kind == "new" or not variables:
            declare, name = frame.local(type, palette.reading(type, draw.between(1, 2)))
            statements.append(declare)
            variables.append(name)
            palette.leaves[type].append(name)
        elif kind == "update":
            statements.append(_update(draw, palette, variables, type, draw.between(1, 2)))
        else:
            then = tuple(_update(draw, palette, variables, type) for _ in range(draw.between(1, 2)))
            otherwise = (_update(draw, palette, variables, type),) if draw.chance(0.5) else ()
            statements.append(n.If(palette.condition(2), then, otherwise))
    return statements, variables


def _update(
    draw: Stream, palette: Palette, variables: list[n.Name], type: Scalar, depth: int = 1
) -> n.Assign:
    # Products of integers would overflow when they are repeated.
    operator = draw.choice(("=", "+=", "-=", "*=") if type.is_float else ("=", "+=", "-=", "+="))
    return n.Assign(draw.choice(variables), palette.reading(type, depth), operator)


def several_statements(draw: Stream) -> Made:
    """Local variables, updates, branches and more than one output."""
    frame = Frame(draw)
    type = draw.choice((FLOAT, FLOAT, FLOAT, INT, DOUBLE))
    outputs = [frame.array(type, written=True) for _ in range(draw.between(1, 3))]

    def body(i: n.Name) -> tuple[n.Statement, ...]:
        leaves = [at(frame.array(type), i) for _ in range(draw.between(1, 3))]
        palette = Palette(draw, {type: list(leaves)}, math=0.12, ternary=0.05)
        statements, variables = _assignments(frame, palette, draw.between(2, 5), type)
        for number, output in enumerate(outputs):
            value = (
                variables[-1 - number % len(variables)]
                if draw.chance(0.5)
                else palette.reading(type, draw.between(1, 2))
            )
            statements.append(n.Assign(at(output, i), value))
        # What no output depends on would not be in the code: the last one takes it in.
        while unused := [v for v in variables if v.name not in live_names(statements)]:
            last = statements.pop()
            assert isinstance(last, n.Assign)
            value = n.Binary(draw.choice("+-"), last.value, unused[-1])
            statements.append(n.Assign(last.target, value))
        return tuple(statements)

    return one_kernel(frame, frame.guarded(body))
