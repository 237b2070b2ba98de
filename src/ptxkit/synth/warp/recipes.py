"""The categories of generated kernels: what makes each of them what its name says."""

from __future__ import annotations

from collections.abc import Callable

from ptxkit.synth.streams import Stream
from ptxkit.synth.warp import tree
from ptxkit.synth.warp.builder import Builder, Palette, apply, whole
from ptxkit.synth.warp.integers import integer, natural
from ptxkit.synth.warp.reals import ARGUMENT_BOUND, RESULT_BOUND, alive, leaf, real, reduce, test
from ptxkit.synth.warp.statements import (
    breaking_for,
    choice,
    count_parameter,
    locals_of,
    loop,
    update,
    variable,
    while_loop,
)
from ptxkit.synth.warp.tiles import tile_kernel
from ptxkit.synth.warp.types import (
    BOOL,
    DOUBLE,
    FLOAT32,
    HALF,
    INT,
    LONG,
    REAL,
    UINT,
    Type,
    matrix,
    vector,
)
from ptxkit.synth.warp.vectors import compound, number_of

ARITHMETIC = {
    "add": 8, "sub": 7, "mul": 8, "div": 3, "min": 2, "max": 2, "neg": 1, "abs": 2, "clamp": 1,
}  # fmt: skip
MATH = {
    "add": 5, "sub": 4, "mul": 5, "div": 2, "sin": 4, "cos": 4, "tan": 1, "asin": 1, "acos": 1,
    "atan": 1, "atan2": 1, "sinh": 1, "cosh": 1, "tanh": 2, "exp": 3, "log": 2, "log2": 1,
    "log10": 1, "sqrt": 3, "cbrt": 1, "pow": 2, "floor": 1, "ceil": 1, "round": 1, "rint": 1,
    "trunc": 1, "frac": 1, "sign": 1, "step": 1, "degrees": 1, "radians": 1, "smoothstep": 1,
    "lerp": 1,
}  # fmt: skip
MIXED = {**ARITHMETIC, "sin": 1, "cos": 1, "exp": 1, "sqrt": 1, "where": 1, "ternary": 1}
_FUNCTION_BUDGET = (2, 6)
#: Of kernels with vectors and with matrices: an operation is one for every component.
_COMPOUND_BUDGETS = {1: (5, 12), 2: (3, 8)}
#: Half precision has no room for what grows fast.
CAUTIOUS = {"add": 6, "sub": 6, "mul": 4, "min": 2, "max": 2, "abs": 1, "neg": 1, "clamp": 1}


def _start(
    stream: Stream, real_weights: dict[str, int], type: Type = REAL, rank: int = 1
) -> Builder:
    b = Builder(stream, Palette(real_weights), type.scalar, rank)
    for _ in range(stream.between(1, 3)):
        b.input()
    if stream.chance(0.3):
        b.number()
    return b


def _finish(b: Builder, names: list[tree.Name], depth: int) -> None:
    """Store a value made of the variables."""
    value: tree.Expression = b.read(b.stream.choice(names)) if names else real(b, depth)
    for name in names:
        if b.stream.chance(0.5) and name != value:
            value = apply(
                b.stream.choice(("add", "sub", "max")),
                b.real_type,
                value.bound + name.bound,
                value,
                name,
            )
    if b.stream.chance(0.4):
        value = reduce(b, apply("mul", b.real_type, value.bound * 4, value, leaf(b)), b.limit)
    b.store(b.output(), value)


def _arithmetic(stream: Stream) -> Builder:
    b = _start(stream, ARITHMETIC)
    locals_of(b, stream.between(0, 3), 2)
    b.store(b.output(), alive(b, 3))
    if stream.chance(0.25):
        b.store(b.output(), alive(b, 2))
    return b


def _math(stream: Stream) -> Builder:
    b = _start(stream, MATH)
    locals_of(b, stream.between(0, 2), 2)
    b.store(b.output(), alive(b, 3))
    return b


def _compound(type_of: Callable[[Stream], Type], depth: int) -> Callable[[Stream], Builder]:
    def recipe(stream: Stream) -> Builder:
        type = type_of(stream)
        b = Builder(stream, Palette(MIXED), budget=_COMPOUND_BUDGETS[len(type.shape)])
        for _ in range(stream.between(1, 3)):
            b.input(type)
        for _ in range(stream.between(0, 2)):
            b.input()
        if stream.chance(0.3):
            b.input(vector(FLOAT32, type.shape[0]))
        locals_of(b, stream.between(0, 2), depth - 1, lambda b, d: compound(b, type, d))
        if stream.chance(0.6):
            b.store(b.output(type), compound(b, type, depth))
            if stream.chance(0.3):
                b.store(b.output(), number_of(b, type, depth - 1))
        else:
            locals_of(b, 1, depth - 1, lambda b, d: number_of(b, type, d))
            value = number_of(b, type, depth)
            other = real(b, 2)
            total = apply(stream.choice(("add", "sub")), REAL, value.bound * 2, value, other)
            b.store(b.output(), total)
        return b

    return recipe


def _control_flow(stream: Stream) -> Builder:
    b = _start(stream, MIXED)
    names = [variable(b) for _ in range(stream.between(1, 2))]
    for _ in range(stream.between(1, 2)):
        match stream.weighted({"if": 5, "for": 3, "break": 2}):
            case "if":
                choice(b, names, stream.between(1, 3), 2, nested=1)
            case "for":
                loop(b, names, 1, 2)
            case "break":
                breaking_for(b, names, 2)
    _finish(b, names, 2)
    return b


def _multi_conditional(stream: Stream) -> Builder:
    b = _start(stream, ARITHMETIC)
    names = [variable(b) for _ in range(stream.between(1, 2))]
    choice(b, names, stream.between(3, 5), 2, nested=stream.below(2))
    if stream.chance(0.3):
        choice(b, names, stream.between(2, 3), 2)
    _finish(b, names, 1)
    return b


def _nested_loop(stream: Stream) -> Builder:
    b = _start(stream, ARITHMETIC)
    count = count_parameter(b) if stream.chance(0.5) else None
    names = [variable(b) for _ in range(stream.between(1, 2))]
    loop(b, names, stream.weighted({2: 4, 3: 1}), 2, count=count)
    _finish(b, names, 1)
    return b


def _while(stream: Stream) -> Builder:
    b = _start(stream, ARITHMETIC)
    names = [variable(b) for _ in range(stream.between(1, 2))]
    while_loop(b, names, 2)
    if stream.chance(0.3):
        breaking_for(b, names, 2)
    _finish(b, names, 1)
    return b


def _scalar_param(stream: Stream) -> Builder:
    b = _start(stream, MIXED)
    for _ in range(stream.between(2, 4)):
        b.number()
    if stream.chance(0.5):
        b.number(INT, 1, 9)
    locals_of(b, stream.between(0, 2), 2)
    names: list[tree.Name] = []
    if stream.chance(0.4):
        names = [variable(b)]
        choice(b, names, stream.between(1, 2), 2)
    value = real(b, 3)
    if names:
        value = apply("add", REAL, value.bound + names[0].bound, value, names[0])
    b.store(b.output(), value)
    return b


def _atomic(stream: Stream) -> Builder:
    b = _start(stream, MIXED)
    locals_of(b, stream.between(0, 2), 2)
    places = stream.between(1, 7)
    for _ in range(stream.between(1, 2)):
        if stream.chance(0.3):
            item = b.output(INT, (places,))
            operator = stream.choice(("add", "max", "min"))
            value: tree.Expression = integer(b, INT, 2)
        else:
            item = b.output(shape=(places,))
            operator = stream.weighted({"add": 5, "sub": 2, "max": 1, "min": 1})
            value = reduce(b, real(b, 2), 8.0)
        place: tree.Expression = whole(0)
        if places > 1:
            index = natural(b, INT, 1)
            place = apply("mod", INT, places - 1, index, whole(places))
        atomic = tree.Atomic(operator, item.name, (place,), value)
        if stream.chance(0.4):
            b.emit(tree.If(test(b, 2), (atomic,)))
        else:
            b.emit(atomic)
    if stream.chance(0.4):
        b.store(b.output(), alive(b, 2))
    return b


def _combined(stream: Stream) -> Builder:
    b = _start(stream, {**MIXED, "tanh": 1, "log": 1})
    type = vector(FLOAT32, stream.choice((2, 3, 4)))
    b.input(type)
    names = [variable(b, number_of(b, type, 2))]
    for _ in range(2):
        match stream.weighted({"if": 3, "for": 3, "while": 1, "local": 2}):
            case "if":
                choice(b, names, stream.between(1, 3), 2)
            case "for":
                loop(b, names, stream.between(1, 2), 2)
            case "while":
                while_loop(b, names, 2)
            case "local":
                b.local(number_of(b, type, 2))
    if stream.chance(0.3):
        item = b.output(shape=(1,))
        value = reduce(b, b.read(names[0]), 8.0)
        b.emit(tree.Atomic("add", item.name, (whole(0),), value))
    _finish(b, names, 2)
    return b


def _integer(stream: Stream) -> Builder:
    type = stream.weighted({INT: 5, UINT: 3, LONG: 2})
    b = Builder(stream, Palette(ARITHMETIC))
    for _ in range(stream.between(1, 3)):
        b.input(type, 0 if type == UINT else -1000, 1000)
    locals_of(b, stream.between(1, 3), 2, lambda b, d: integer(b, type, d))
    b.store(b.output(type), integer(b, type, 3))
    return b


def _precision(type: Type, weights: dict[str, int]) -> Callable[[Stream], Builder]:
    def recipe(stream: Stream) -> Builder:
        b = _start(stream, weights, type)
        locals_of(b, stream.between(0, 2), 2)
        names: list[tree.Name] = []
        match stream.weighted({"plain": 4, "if": 3, "for": 2, "vector": 2}):
            case "if":
                names = [variable(b)]
                choice(b, names, stream.between(1, 3), 2)
            case "for":
                names = [variable(b)]
                loop(b, names, 1, 2)
            case "vector":
                own = vector(type.scalar, stream.choice((2, 3, 4)))
                b.input(own, -1.0, 1.0)
                b.local(number_of(b, own, 2))
        if names:
            _finish(b, names, 2)
        else:
            b.store(b.output(), alive(b, 3))
        return b

    return recipe


def _multi_dim(stream: Stream) -> Builder:
    rank = stream.weighted({2: 5, 3: 3, 4: 2})
    b = _start(stream, MIXED, rank=rank)
    line = b.input(shape=(b.launch[-1],))
    locals_of(b, stream.between(0, 2), 2)
    if stream.chance(0.5):
        b.local(b.load(line, (b.indices[-1],)))
    if stream.chance(0.5):
        # A neighbour along one dimension, kept inside.
        item = b.stream.choice(b.arrays(REAL))
        at = stream.below(rank)
        offset = whole(stream.choice((-1, 1)))
        moved = apply("add", INT, b.launch[at], b.indices[at], offset)
        last = apply(
            "sub", INT, b.launch[at], tree.Extent(INT, b.launch[at], item.name, at), whole(1)
        )
        kept = apply("clamp", INT, b.launch[at] - 1, moved, whole(0), last)
        place = (*b.indices[:at], kept, *b.indices[at + 1 :])
        b.local(b.load(item, place))
    if stream.chance(0.4):
        names = [variable(b)]
        choice(b, names, stream.between(1, 3), 2)
        _finish(b, names, 2)
    else:
        b.store(b.output(), alive(b, 3))
    return b


def _function(stream: Stream) -> Builder:
    b = _start(stream, {**MIXED, "call": 6})
    for _ in range(stream.between(1, 2)):
        b.functions.append(_make_function(b))
    names: list[tree.Name] = []
    if stream.chance(0.4):
        names = [variable(b)]
        match stream.choice(("if", "for")):
            case "if":
                choice(b, names, stream.between(1, 2), 2)
            case "for":
                loop(b, names, 1, 2)
    function, _ = b.functions[-1]
    arguments = tuple(reduce(b, real(b, 2), ARGUMENT_BOUND) for _ in function.parameters)
    value: tree.Expression = tree.Call(REAL, RESULT_BOUND, function.name, arguments)
    other: tree.Expression = names[0] if names else real(b, 2)
    value = apply(stream.choice(("add", "sub", "mul")), REAL, b.limit, value, other)
    b.store(b.output(), value)
    return b


def _make_function(outer: Builder) -> tuple[tree.Function, int]:
    """A function of one to three real numbers; it may call those made before."""
    stream = outer.stream
    b = Builder(stream, outer.palette, budget=_FUNCTION_BUDGET)
    budget = b.budget
    b.functions = list(outer.functions)
    b.indices = ()
    parameters = []
    for _ in range(stream.between(1, 3)):
        name = b.fresh(("x", "y", "z", "s", "t"))
        parameters.append((name, REAL))
        b.declare(tree.Name(REAL, ARGUMENT_BOUND, name))
    locals_of(b, stream.between(0, 2), 2)
    if stream.chance(0.4):
        with b.block() as body:
            b.emit(tree.Return(reduce(b, real(b, 2), RESULT_BOUND)))
        b.emit(tree.If(_real_test(b), tuple(body)))
    b.emit(tree.Return(reduce(b, real(b, 3), RESULT_BOUND)))
    made = b.program("", "")
    function = tree.Function(outer.function_name(), tuple(parameters), REAL, made.body)
    return function, budget - b.budget


def _real_test(b: Builder) -> tree.Expression:
    return apply(b.stream.choice(("less", "greater")), BOOL, 1.0, alive(b, 1), b.constant())


def _struct(stream: Stream) -> Builder:
    b = _start(stream, MIXED)
    struct_name = b.fresh(("Params", "Config", "Material", "State"))
    fields = []
    for _ in range(stream.between(2, 4)):
        type = stream.weighted({REAL: 5, vector(FLOAT32, 3): 2, INT: 1})
        low, high = (1, 5) if type == INT else (0.25, 2.0)
        name = b.fresh(("gain", "offset", "drag", "axis", "power", "level", "mode", "width"))
        fields.append(tree.Parameter(name, type, (), "input", low, high))
    struct = tree.Struct(struct_name, tuple(fields))
    b.structs.append(struct)
    holder = b.fresh(("params", "cfg", "info", "st"))
    b.parameters.append(tree.Parameter(holder, REAL, struct=struct_name))
    b.used.add(holder)
    for part in fields:
        b.declare(tree.Name(part.type, part.high, f"{holder}.{part.name}"))
    own = vector(FLOAT32, 3)
    if b.visible(own) and stream.chance(0.7):
        b.local(number_of(b, own, 2))
    if stream.chance(0.4):
        copy = b.fresh(("work", "copy", "cell"))
        b.emit(tree.NewStruct(copy, struct_name))
        for part in fields:
            if part.type == REAL:
                value = reduce(b, real(b, 2), 16.0)
                b.emit(tree.Assign(f"{copy}.{part.name}", value))
                b.declare(tree.Name(REAL, 16.0, f"{copy}.{part.name}"))
    reals = [name for name in b.visible(REAL) if "." in name.name]
    value = real(b, 3)
    if reals:
        part_name = b.read(stream.choice(reals))
        value = apply(stream.choice(("add", "mul")), REAL, b.limit, value, part_name)
    b.store(b.output(), reduce(b, value, b.limit))
    return b


def _random(stream: Stream) -> Builder:
    b = _start(stream, MIXED)
    seed = b.number(INT, 1, 9999) if stream.chance(0.5) else whole(stream.between(1, 9999))
    state = b.fresh(("rng", "state", "seed_state"))
    b.used.add(seed.name if isinstance(seed, tree.Name) else "")
    offset = b.indices[0]
    b.emit(tree.Assign(state, tree.Operation(UINT, 0, "rand_init", (seed, offset))))
    for _ in range(stream.between(1, 3)):
        _draw(b, state)
    names = [variable(b)]
    if stream.chance(0.5):
        rounds = stream.between(2, 5)
        with b.block(rounds) as body:
            index = b.loop_name(rounds)
            _draw(b, state)
            update(b, names[0], 2)
        b.emit(tree.For(index.name, whole(0), whole(rounds), 1, tuple(body)))
    else:
        choice(b, names, stream.between(1, 2), 2)
    locals_of(b, stream.between(0, 1), 2)
    _finish(b, names, 2)
    return b


def _draw(b: Builder, state: str) -> None:
    name = b.fresh(("r", "xi", "noise", "pick", "jitter"))
    match b.stream.weighted({"unit": 4, "range": 3, "whole": 2}):
        case "unit":
            b.emit(tree.Draw(name, "randf", state, ()))
            b.declare(tree.Name(REAL, 1.0, name))
        case "range":
            low, high = b.constant(0.1, 1.0), b.constant(1.1, 3.0, sign=False)
            b.emit(tree.Draw(name, "randf", state, (low, high)))
            b.declare(tree.Name(REAL, 3.0, name))
        case "whole":
            high_end = b.whole(2, 9)
            b.emit(tree.Draw(name, "randi", state, (whole(0), high_end)))
            b.declare(tree.Name(INT, high_end.bound, name))


def _gather_scatter(stream: Stream) -> Builder:
    b = _start(stream, MIXED)
    count = b.launch[0]
    source = b.input(shape=(stream.between(8, 40),))
    where = b.input(INT, 0, source.shape[0] - 1)
    place: tree.Expression = b.own(where)
    if stream.chance(0.4):
        moved = apply("add", INT, source.shape[0], place, b.whole(1, 7))
        place = apply("mod", INT, source.shape[0] - 1, moved, whole(source.shape[0]))
    b.local(b.load(source, (place,)))
    if stream.chance(0.5):
        # Two neighbours, only where there are both.
        names = [variable(b)]
        index, item = b.indices[0], b.input()
        inside = apply(
            "and",
            BOOL,
            1.0,
            apply("greater", BOOL, 1.0, index, whole(0)),
            apply("less", BOOL, 1.0, index, whole(count - 1)),
        )
        before = b.load(item, (apply("sub", INT, count, index, whole(1)),))
        after = b.load(item, (apply("add", INT, count, index, whole(1)),))
        with b.block() as body:
            b.local(apply(stream.choice(("add", "sub")), REAL, 4.0, before, after))
            update(b, names[0], 2)
        b.emit(tree.If(inside, tuple(body)))
    locals_of(b, stream.between(0, 2), 2)
    value = real(b, 3)
    for name in b.visible(REAL)[-2:]:
        if stream.chance(0.7):
            value = apply("add", REAL, value.bound + name.bound, value, b.read(name))
    value = reduce(b, value, b.limit)
    if stream.chance(0.5):
        target = b.input(INT, role="permutation")
        b.used.add(target.name)
        b.emit(tree.Store(b.output().name, (tree.Load(INT, count, target.name, b.indices),), value))
    else:
        b.store(b.output(), value)
    return b


RECIPES: dict[str, Callable[[Stream], Builder]] = {
    "arithmetic": _arithmetic,
    "vector": _compound(lambda s: vector(FLOAT32, s.choice((2, 3, 3, 4))), 3),
    "matrix": _compound(lambda s: matrix(FLOAT32, s.choice((2, 3, 3))), 3),
    "control_flow": _control_flow,
    "math": _math,
    "atomic": _atomic,
    "nested_loop": _nested_loop,
    "multi_conditional": _multi_conditional,
    "combined": _combined,
    "scalar_param": _scalar_param,
    "integer": _integer,
    "half": _precision(HALF, CAUTIOUS),
    "double": _precision(DOUBLE, {**MIXED, "log": 1, "tanh": 1}),
    "multi_dim": _multi_dim,
    "while_loop": _while,
    "function": _function,
    "struct": _struct,
    "tile": tile_kernel,
    "random": _random,
    "gather_scatter": _gather_scatter,
}
