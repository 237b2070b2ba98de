"""The ten tiers. Each function makes the body of what its name says."""

from __future__ import annotations

from collections.abc import Callable

from ptxkit.cuda import nodes as n
from ptxkit.cuda.types import (
    DOUBLE,
    FLOAT,
    HALF,
    INT,
    UINT,
    Array,
    Scalar,
)
from ptxkit.synth.streams import Stream
from ptxkit.synth.tiers import words
from ptxkit.synth.tiers.expressions import ALL_TYPES, SMALL_INTEGERS, Palette, is_constant
from ptxkit.synth.tiers.kernels import BLOCK, GRID, THREADS, Frame, at, float_palette
from ptxkit.synth.tiers.sample import Launch, Sample
from ptxkit.synth.tiers.tidy import tidy, tidy_function

_FULL = n.Literal(0xFFFFFFFF, UINT)
_THREAD = n.builtin("threadIdx.x")

Made = tuple[tuple[n.Function, ...], tuple[Launch, ...]]


def _one(frame: Frame, body: tuple[n.Statement, ...], **launch: int) -> Made:
    name = frame.draw.choice(words.KERNELS)
    function, how = frame.finish(name, body, **launch)
    return (function,), (how,)


def _reading(palette: Palette, type: Scalar, depth: int) -> n.Expression:
    """An expression that is no constant."""
    found = palette.expression(type, depth)
    return palette.read(type) if is_constant(found) else found


def simple_binary(draw: Stream) -> Made:
    """One operator on two operands."""
    frame = Frame(draw)
    type = draw.choice((FLOAT, FLOAT, FLOAT, INT))
    output = frame.array(type, written=True)

    def body(i: n.Name) -> tuple[n.Statement, ...]:
        left = at(frame.array(type), i)
        kind = draw.weighted({"array": 30, "scalar": 10, "literal": 10})
        right: n.Expression = Palette(draw, {}).literal(type)
        if kind == "array":
            right = at(frame.array(type), i)
        elif kind == "scalar":
            right = frame.scalar(type)
        operators = "+-*/" if type.is_float else "+-*&|^"
        pair = (left, right) if draw.chance(0.8) else (right, left)
        return (n.Assign(at(output, i), n.Binary(draw.choice(operators), *pair)),)

    return _one(frame, frame.guarded(body))


def _expression_kernel(draw: Stream, depth: tuple[int, int], **options: float) -> Made:
    frame = Frame(draw)
    output = frame.array(FLOAT, written=True)

    def body(i: n.Name) -> tuple[n.Statement, ...]:
        palette = float_palette(frame, i, draw.between(1, 4), **options)
        value = _reading(palette, FLOAT, draw.between(*depth))
        if palette.math and not any(isinstance(part, n.Call) for part in value.walk()):
            value = n.Call(draw.choice(("sinf", "cosf", "tanhf", "atanf", "floorf")), (value,))
        return (n.Assign(at(output, i), value),)

    return _one(frame, frame.guarded(body))


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
            value = n.Binary(draw.choice("+-*"), choice, palette.leaf(FLOAT))
        return (n.Assign(at(output, i), value),)

    return _one(frame, frame.guarded(body))


def type_diversity(draw: Stream) -> Made:
    """Types other than float, and conversions between them."""
    frame = Frame(draw)
    result = draw.choice([t for t in ALL_TYPES if t != FLOAT] if draw.chance(0.85) else ALL_TYPES)
    output = frame.array(result, written=True)

    def body(i: n.Name) -> tuple[n.Statement, ...]:
        leaves: dict[Scalar, list[n.Expression]] = {}
        types = [
            result,
            *draw.shuffled([t for t in ALL_TYPES if t != result])[: draw.between(0, 2)],
        ]
        if HALF in types:
            # CUDA has no implicit way between half and integers; keep to float beside it.
            with_half = result in (HALF, FLOAT)
            types = [t for t in types if (t in (HALF, FLOAT) if with_half else t != HALF)]
        for type in types:
            leaves[type] = [at(frame.array(type), i) for _ in range(draw.between(1, 2))]
        palette = Palette(draw, leaves, math=0.1, bitwise=0.35, casts=0.3, ternary=0.08)
        value = _reading(palette, result, draw.between(1, 3))
        if result in SMALL_INTEGERS or result == HALF:
            value = n.Cast(result, value)
        return (n.Assign(at(output, i), value),)

    return _one(frame, frame.guarded(body))


def _assignments(
    frame: Frame, palette: Palette, count: int, type: Scalar
) -> tuple[list[n.Statement], list[n.Name]]:
    draw = frame.draw
    statements: list[n.Statement] = []
    variables: list[n.Name] = []
    for _ in range(count):
        kind = draw.weighted({"new": 40, "update": 20, "branch": 15})
        if kind == "new" or not variables:
            declare, name = frame.local(type, palette.expression(type, draw.between(1, 2)))
            statements.append(declare)
            variables.append(name)
            palette.leaves[type].append(name)
        elif kind == "update":
            operator = draw.choice(("=", "+=", "-=", "*="))
            value = palette.expression(type, draw.between(1, 2))
            statements.append(n.Assign(draw.choice(variables), value, operator))
        else:
            then = tuple(_update(draw, palette, variables, type) for _ in range(draw.between(1, 2)))
            otherwise = (_update(draw, palette, variables, type),) if draw.chance(0.5) else ()
            statements.append(n.If(palette.condition(2), then, otherwise))
    return statements, variables


def _update(draw: Stream, palette: Palette, variables: list[n.Name], type: Scalar) -> n.Assign:
    operator = draw.choice(("=", "+=", "-=", "*="))
    return n.Assign(draw.choice(variables), palette.expression(type, 1), operator)


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
                else palette.expression(type, draw.between(1, 2))
            )
            statements.append(n.Assign(at(output, i), value))
        return tuple(statements)

    return _one(frame, frame.guarded(body))


# ---- shared memory -----------------------------------------------------------------------


def _tile(frame: Frame, type: Scalar, *, dynamic: bool) -> tuple[n.Declare, n.Name]:
    name = frame.name(words.TILES)
    space, count = ("extern shared", 0) if dynamic else ("shared", BLOCK)
    return n.Declare(Array(type, (count,)), name, space=space), n.Name(name)


_SYNC = n.Evaluate(n.Call("__syncthreads"))


def shared_memory(draw: Stream) -> Made:
    """A tile that threads of a block fill and read across."""
    frame = Frame(draw)
    type = draw.choice((FLOAT, FLOAT, INT))
    dynamic = draw.chance(0.25)
    output = frame.array(type, written=True)
    source = frame.array(type)
    size = frame.size_parameter()
    t = n.Name(frame.name(("t", "tid", "lane", "lid", "local")))
    i = n.Name(frame.name(("i", "idx", "gid", "index")))
    declare, tile = _tile(frame, type, dynamic=dynamic)
    palette = Palette(draw, {type: [at(source, i)]}, math=0.15 if type.is_float else 0.0)
    zero: n.Expression = n.Literal(0.0 if type.is_float else 0, type)
    load = _reading(palette, type, draw.between(0, 2))
    inside = n.Binary("<", i, size)
    body: list[n.Statement] = [
        declare,
        n.Declare(INT, t.name, _THREAD),
        n.Declare(INT, i.name, frame.global_index()),
        n.Assign(at(tile, t), n.Conditional(inside, load, zero)),
        _SYNC,
    ]
    width: n.Expression = n.builtin("blockDim.x") if draw.chance(0.5) else n.integer(BLOCK)
    pattern = draw.choice(_PATTERNS)
    body += pattern(frame, type, output, tile, t, i, inside, width, palette)
    return _one(frame, tuple(body), dynamic_shared=BLOCK * type.size if dynamic else 0)


def _reversed(
    frame: Frame, type: Scalar, output: n.Name, tile: n.Name, t: n.Name, i: n.Name,
    inside: n.Expression, width: n.Expression, palette: Palette,
) -> list[n.Statement]:  # fmt: skip
    draw = frame.draw
    other: n.Expression = draw.choice((
        n.Binary("-", n.Binary("-", width, n.integer(1)), t),
        n.Binary("^", t, n.integer(draw.choice((1, 2, 4, 8)))),
        n.Binary("%", n.Binary("+", t, n.integer(draw.between(1, 30))), width),
    ))  # fmt: skip
    palette.leaves[type] = [at(tile, other), at(tile, t)]
    value = palette.expression(type, draw.between(1, 2))
    return [n.If(inside, (n.Assign(at(output, i), value),))]


def _neighbours(
    frame: Frame, type: Scalar, output: n.Name, tile: n.Name, t: n.Name, i: n.Name,
    inside: n.Expression, width: n.Expression, palette: Palette,
) -> list[n.Statement]:  # fmt: skip
    draw = frame.draw
    zero = n.Literal(0.0 if type.is_float else 0, type)
    reach = n.integer(draw.choice((1, 1, 2)))
    low = n.Conditional(n.Binary(">=", t, reach), at(tile, n.Binary("-", t, reach)), zero)
    edge = n.Binary("-", width, reach)
    high = n.Conditional(n.Binary("<", t, edge), at(tile, n.Binary("+", t, reach)), zero)
    one, left = frame.local(type, low)
    two, right = frame.local(type, high)
    palette.leaves[type] = [left, right, at(tile, t)]
    value = palette.expression(type, draw.between(2, 3))
    return [one, two, n.If(inside, (n.Assign(at(output, i), value),))]


def _folded(
    frame: Frame, type: Scalar, output: n.Name, tile: n.Name, t: n.Name, i: n.Name,
    inside: n.Expression, width: n.Expression, palette: Palette,
) -> list[n.Statement]:  # fmt: skip
    draw = frame.draw
    step = n.Name(frame.name(("s", "stride", "half", "step", "offset")))
    other = at(tile, n.Binary("+", t, step))
    if draw.chance(0.5):
        update: n.Statement = n.Assign(at(tile, t), other, "+=")
    else:
        function = draw.choice(("fminf", "fmaxf") if type.is_float else ("min", "max"))
        update = n.Assign(at(tile, t), n.Call(function, (at(tile, t), other)))
    half = n.Binary("/", width, n.integer(2)) if draw.chance(0.5) else n.integer(BLOCK // 2)
    shrink = n.Assign(step, n.integer(1), ">>=") if draw.chance(0.6) else n.Assign(
        step, n.integer(2), "/="
    )  # fmt: skip
    loop = n.For(
        n.Declare(INT, step.name, half),
        n.Binary(">", step, n.integer(0)),
        shrink,
        (n.If(n.Binary("<", t, step), (update,)), _SYNC),
    )
    palette.leaves[type] = [at(tile, n.integer(0))]
    value = palette.expression(type, 1) if draw.chance(0.4) else at(tile, n.integer(0))
    store = n.Assign(at(output, n.builtin("blockIdx.x")), value)
    return [loop, n.If(n.Binary("==", t, n.integer(0)), (store,))]


def _swept(
    frame: Frame, type: Scalar, output: n.Name, tile: n.Name, t: n.Name, i: n.Name,
    inside: n.Expression, width: n.Expression, palette: Palette,
) -> list[n.Statement]:  # fmt: skip
    draw = frame.draw
    zero = n.Literal(0.0 if type.is_float else 0, type)
    declare, total = frame.local(type, zero)
    k = n.Name(frame.name(words.LOOPS))
    palette.leaves[type] = [at(tile, k), at(tile, t)]
    until = draw.choice((width, n.Binary("+", t, n.integer(1)), n.integer(draw.between(4, 16))))
    loop = n.For(
        n.Declare(INT, k.name, n.integer(0)),
        n.Binary("<", k, until),
        n.Assign(k, n.integer(1), "+="),
        (n.Assign(total, palette.expression(type, 1), "+="),),
    )
    return [declare, loop, n.If(inside, (n.Assign(at(output, i), total),))]


_PATTERNS = (_reversed, _neighbours, _folded, _swept)


# ---- loops -------------------------------------------------------------------------------


def loops(draw: Stream) -> Made:
    """For and while loops, nested or not, with early exits."""
    frame = Frame(draw)
    type = draw.choice((FLOAT, FLOAT, INT))
    output = frame.array(type, written=True)
    length = draw.between(3, 9)

    def body(i: n.Name) -> tuple[n.Statement, ...]:
        start: n.Expression = (
            n.Literal(0.0 if type.is_float else 0, type)
            if draw.chance(0.6)
            else at(frame.array(type), i)
        )
        declare, total = frame.local(type, start)
        statements = [declare, *_loop(frame, type, total, i, length, draw.between(1, 2))]
        value: n.Expression = total
        if draw.chance(0.3):
            value = Palette(draw, {type: [total]}).expression(type, 1)
        return (*statements, n.Assign(at(output, i), value))

    return _one(frame, frame.guarded(body))


def _loop(
    frame: Frame, type: Scalar, total: n.Name, i: n.Expression, length: int, depth: int
) -> list[n.Statement]:
    draw = frame.draw
    k = n.Name(frame.name(words.LOOPS))
    bound: n.Expression = frame.size_parameter(length) if draw.chance(0.6) else n.integer(length)
    table = frame.array(type, count=THREADS * length)
    row: n.Expression = n.Binary("+", n.Binary("*", i, n.integer(length)), k)
    if draw.chance(0.3):
        row = n.Binary("+", n.Binary("*", k, n.integer(THREADS)), i)
    leaves: list[n.Expression] = [at(table, row)]
    if draw.chance(0.5):
        leaves.append(at(frame.array(type, count=length), k))
    if type == INT:
        leaves.append(k)
    elif draw.chance(0.3):
        leaves.append(n.Cast(type, k))
    palette = Palette(draw, {type: leaves}, math=0.1 if type.is_float else 0.0, ternary=0.05)
    inner: list[n.Statement] = []
    if draw.chance(0.15):
        inner.append(n.If(palette.condition(1), (n.Continue(),)))
    value = palette.expression(type, draw.between(1, 2))
    kind = draw.weighted({"sum": 40, "horner": 10, "extreme": 10})
    if kind == "sum":
        inner.append(n.Assign(total, value, draw.choice(("+=", "+=", "-="))))
    elif kind == "horner" and type.is_float:
        scaled = n.Binary("*", total, n.Literal(draw.between(1, 7) / 8, type))
        inner.append(n.Assign(total, n.Binary("+", scaled, value)))
    else:
        function = draw.choice(("fminf", "fmaxf") if type.is_float else ("min", "max"))
        inner.append(n.Assign(total, n.Call(function, (total, value))))
    if draw.chance(0.15):
        limit = n.Literal(50.0 if type.is_float else 50, type)
        inner.append(n.If(n.Binary(">", total, limit), (n.Break(),)))
    if depth > 1 and draw.chance(0.4):
        inner += _loop(frame, type, total, i, draw.between(2, 4), depth - 1)
    return _written_loop(draw, k, bound, tuple(inner))


def _written_loop(
    draw: Stream, k: n.Name, bound: n.Expression, inner: tuple[n.Statement, ...]
) -> list[n.Statement]:
    begin = n.Declare(INT, k.name, n.integer(0))
    again = n.Binary("<", k, bound)
    step = n.Assign(k, n.integer(draw.weighted({1: 50, 2: 10})), "+=")
    jumps = any(isinstance(node, n.Continue) for s in inner for node in s.walk())
    kind = "for" if jumps else draw.weighted({"for": 50, "while": 10, "do": 7})
    if kind == "while":
        return [begin, n.While(again, (*inner, step))]
    if kind == "do":
        return [begin, n.DoWhile((*inner, step), again)]
    return [n.For(begin, again, step, inner)]


# ---- warps, atomics ----------------------------------------------------------------------


def warp_and_atomic(draw: Stream) -> Made:
    """Exchanges in a warp, votes, and atomic updates."""
    frame = Frame(draw)
    type = draw.choice((FLOAT, INT, INT))
    source = frame.array(type)
    i = n.Name(frame.name(words.INDICES))
    begin: list[n.Statement] = [n.Declare(INT, i.name, frame.global_index())]
    palette = Palette(draw, {type: [at(source, i)]}, bitwise=0.2)
    declare, value = frame.local(type, _reading(palette, type, draw.between(0, 2)))
    begin.append(declare)
    kind = draw.choice((_shuffled, _voted, _counted, _accumulated))
    return _one(frame, (*begin, *kind(frame, type, value, i)))


def _shuffled(frame: Frame, type: Scalar, value: n.Name, i: n.Name) -> list[n.Statement]:
    draw = frame.draw
    output = frame.array(type, written=True)
    step = n.Name(frame.name(("offset", "d", "delta_", "mask", "o_")))
    function = draw.choice(("__shfl_xor_sync", "__shfl_down_sync", "__shfl_xor_sync"))
    other: n.Expression = n.Call(function, (_FULL, value, step))
    if draw.chance(0.5):
        update: n.Statement = n.Assign(value, other, "+=")
    else:
        extreme = draw.choice(("fminf", "fmaxf") if type.is_float else ("min", "max"))
        update = n.Assign(value, n.Call(extreme, (value, other)))
    start = n.integer(draw.choice((16, 8, 4)))
    loop = n.For(n.Declare(INT, step.name, start), n.Binary(">", step, n.integer(0)),
                 n.Assign(step, n.integer(1), ">>="), (update,))  # fmt: skip
    if draw.chance(0.4):
        warp = n.Binary("/", i, n.integer(32))
        lane = n.Binary("%", _THREAD, n.integer(32)) if draw.chance(0.5) else n.Binary(
            "&", _THREAD, n.integer(31)
        )  # fmt: skip
        store = n.If(n.Binary("==", lane, n.integer(0)), (n.Assign(at(output, warp), value),))
        return [loop, store]
    palette = Palette(draw, {type: [value]})
    return [loop, n.Assign(at(output, i), palette.expression(type, draw.between(0, 1)))]


def _voted(frame: Frame, type: Scalar, value: n.Name, i: n.Name) -> list[n.Statement]:
    draw = frame.draw
    output = frame.array(INT, written=True)
    condition = Palette(draw, {type: [value]}, literals=0.6).condition(2)
    function = draw.choice(("__ballot_sync", "__any_sync", "__all_sync"))
    vote: n.Expression = n.Call(function, (_FULL, condition))
    if function == "__ballot_sync":
        vote = n.Call("__popc", (vote,)) if draw.chance(0.7) else n.Cast(INT, vote)
    other = n.Cast(INT, value) if type.is_float else value
    leaves: list[n.Expression] = [vote, other]
    result = Palette(draw, {INT: leaves}).expression(INT, draw.between(0, 1))
    if vote not in list(result.walk()):
        result = n.Binary(draw.choice("+-^"), vote, result)
    return [n.Assign(at(output, i), result)]


def _counted(frame: Frame, type: Scalar, value: n.Name, i: n.Name) -> list[n.Statement]:
    draw = frame.draw
    bins = draw.choice((4, 8, 16, 32))
    output = frame.array(INT, written=True, count=bins)
    whole: n.Expression = n.Cast(INT, value) if type.is_float else value
    place = n.Binary("&", whole, n.integer(bins - 1))
    target = n.Unary("&", at(output, place))
    if draw.chance(0.5):
        amount: n.Expression = n.integer(draw.between(1, 3))
        return [n.Evaluate(n.Call("atomicAdd", (target, amount)))]
    name = draw.choice(("atomicMax", "atomicMin", "atomicXor", "atomicOr", "atomicAdd"))
    update = n.Evaluate(n.Call(name, (target, whole)))
    if draw.chance(0.5):
        return [update]
    palette = Palette(draw, {type: [value]}, literals=0.6)
    return [n.If(palette.condition(1), (update,))]


def _accumulated(frame: Frame, type: Scalar, value: n.Name, i: n.Name) -> list[n.Statement]:
    draw = frame.draw
    output = frame.array(type, written=True, count=GRID)
    name = frame.name(words.TILES)
    total = n.Name(name)
    zero = n.Literal(0.0 if type.is_float else 0, type)
    first = n.Binary("==", _THREAD, n.integer(0))
    place = at(total, n.integer(0))
    palette = Palette(draw, {type: [value]})
    return [
        n.Declare(Array(type, (1,)), name, space="shared"),
        n.If(first, (n.Assign(place, zero),)),
        _SYNC,
        n.Evaluate(n.Call("atomicAdd", (n.Unary("&", place), palette.expression(type, draw.between(0, 1))))),  # noqa: E501
        _SYNC,
        n.If(first, (n.Assign(at(output, n.builtin("blockIdx.x")), place),)),
    ]  # fmt: skip


# ---- several functions -------------------------------------------------------------------


def several_functions(draw: Stream) -> Made:
    """Device functions, or two kernels in one file."""
    if draw.chance(0.3):
        first = draw.choice((nested_arithmetic, ternary_and_compare, several_statements))(draw)
        second = draw.choice((loops, type_diversity, unary_math, shared_memory))(draw)
        functions, launches = list(first[0]), list(first[1])
        for function, launch in zip(*second, strict=True):
            name = function.name + "2" if function.name == functions[0].name else function.name
            functions.append(_renamed(function, name))
            launches.append(Launch(name, launch.grid, launch.block, launch.arguments,
                                   launch.dynamic_shared))  # fmt: skip
        return tuple(functions), tuple(launches)
    return _with_functions(draw)


def _renamed(function: n.Function, name: str) -> n.Function:
    return n.Function(name, function.parameters, function.body, function.returns, function.kernel,
                      function.qualifiers, function.launch_bounds, function.linkage)  # fmt: skip


def _with_functions(draw: Stream) -> Made:
    helpers: list[n.Function] = []
    names = draw.shuffled(words.FUNCTIONS)[: draw.between(1, 3)]
    for name in names:
        x = n.Name(draw.choice(("x", "v", "t", "value")))
        known = tuple(f.name for f in helpers)
        palette = Palette(draw, {FLOAT: [x]}, math=0.25, ternary=0.1, functions=known)
        body: list[n.Statement] = []
        if draw.chance(0.35):
            body.append(n.If(palette.condition(1), (n.Return(palette.expression(FLOAT, 1)),)))
        body.append(n.Return(palette.expression(FLOAT, draw.between(1, 3))))
        qualifiers = ("__noinline__",) if draw.chance(0.6) else ()
        helpers.append(
            n.Function(name, (n.Parameter(FLOAT, x.name),), tuple(body), FLOAT, False, qualifiers)
        )
    frame = Frame(draw)
    frame.used.update(names)
    output = frame.array(FLOAT, written=True)

    def inside(i: n.Name) -> tuple[n.Statement, ...]:
        palette = float_palette(frame, i, draw.between(1, 3), math=0.5)
        palette.functions = tuple(names)
        argument = palette.expression(FLOAT, draw.between(0, 1))
        call = n.Call(draw.choice(names), (argument,))
        value = n.Binary(draw.choice("+-*"), call, palette.expression(FLOAT, draw.between(0, 2)))
        return (n.Assign(at(output, i), value),)

    body_statements = frame.guarded(inside)
    # A name of the kernel must not hide a function.
    kernel = draw.choice([w for w in words.KERNELS if w not in names])
    function, launch = frame.finish(kernel, body_statements)
    return (*helpers, function), (launch,)


TIERS: dict[int, tuple[str, Callable[[Stream], Made]]] = {
    1: ("simple_binary", simple_binary),
    2: ("nested_arithmetic", nested_arithmetic),
    3: ("unary_math", unary_math),
    4: ("ternary_and_compare", ternary_and_compare),
    5: ("type_diversity", type_diversity),
    6: ("several_statements", several_statements),
    7: ("shared_memory", shared_memory),
    8: ("loops", loops),
    9: ("warp_and_atomic", warp_and_atomic),
    10: ("several_functions", several_functions),
}
"""Number of a tier: its name and what makes one of it."""


def make(seed: int, index: int, tiers: tuple[int, ...] = tuple(TIERS)) -> Sample:
    """The sample of a seed and an index; tiers take turns."""
    draw = Stream(seed, "tiers", index)
    tier = tiers[index % len(tiers)]
    functions, launches = TIERS[tier][1](draw)
    tidied = {x.kernel: tidy(f, x) for f in functions for x in launches if f.name == x.kernel}
    functions = tuple(
        tidied[f.name][0] if f.name in tidied else tidy_function(f) for f in functions
    )
    launches = tuple(tidied[x.kernel][1] for x in launches)
    halves = any(
        getattr(getattr(node, "type", None), "word", "") == "half"
        or getattr(getattr(getattr(node, "type", None), "target", None), "word", "") == "half"
        for function in functions
        for node in function.walk()
    )
    includes = ("cuda_fp16.h",) if halves else ()
    return Sample(seed, index, tier, n.CudaModule(functions, includes), launches)
