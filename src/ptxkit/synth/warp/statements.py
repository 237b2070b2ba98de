"""Statements of generated kernels: choices, loops, updates of variables."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from ptxkit.synth.warp import tree
from ptxkit.synth.warp.builder import Builder, apply, whole
from ptxkit.synth.warp.reals import leaf, real, reduce, test
from ptxkit.synth.warp.types import BOOL, INT

Make = Callable[[Builder, int], tree.Expression]
_COPIES = 6


def locals_of(b: Builder, count: int, depth: int, make: Make = real) -> None:
    """A few variables that keep their value."""
    for _ in range(count):
        b.local(make(b, depth))


def variable(b: Builder, value: tree.Expression | None = None) -> tree.Name:
    """A real variable that later statements change."""
    bound = b.limit / 4
    if value is None:
        value = b.constant(0.1, 2.0) if b.stream.chance(0.4) else leaf(b)
    return b.mutable(reduce(b, value, bound), bound)


def update(b: Builder, name: tree.Name, depth: int, make: Make = real) -> None:
    """Change a variable in a way that stays bounded and tame, however often it is done."""
    b.excluded.add(name.name)
    value = make(b, depth)
    b.excluded.discard(name.name)
    ways = {"add": 5, "sub": 2, "decay": 3, "min": 1, "max": 1, "select": 2}
    if b.trips == 1:
        ways["assign"] = 6
    match b.stream.weighted(ways):
        case "assign":
            b.emit(tree.Assign(name.name, reduce(b, value, name.bound)))
        case "add" | "sub" as operator:
            # A few such updates in a loop, and all its rounds, stay below the bound.
            value = reduce(b, value, max(name.bound / (6 * b.trips), 1e-3))
            if b.stream.chance(0.5):
                b.emit(tree.Assign(name.name, value, operator))
            else:
                whole_value = apply(operator, name.type, name.bound, name, value)
                b.emit(tree.Assign(name.name, whole_value))
        case "decay":
            factor = b.constant(0.2, 0.75)
            value = reduce(b, value, name.bound * 0.2)
            kept = apply("mul", name.type, name.bound * 0.75, name, factor)
            b.emit(tree.Assign(name.name, apply("add", name.type, name.bound, kept, value)))
        case "min" | "max" as operator:
            value = reduce(b, value, name.bound)
            b.emit(tree.Assign(name.name, apply(operator, name.type, name.bound, name, value)))
        case "select":
            value = reduce(b, value, name.bound)
            chosen = apply("where", name.type, name.bound, test(b, 1), value, name)
            b.emit(tree.Assign(name.name, chosen))


def choice(
    b: Builder,
    names: Sequence[tree.Name],
    branches: int,
    depth: int,
    make: Make = real,
    nested: int = 0,
) -> None:
    """An if with so many branches; every branch changes some of the variables."""
    tests = [test(b, depth - 1) for _ in range(max(1, branches - 1))]
    bodies: list[tree.Body] = []
    for _ in range(branches):
        with b.block() as body:
            for _ in range(b.stream.between(1, 2)):
                update(b, b.stream.choice(names), depth, make)
            if nested > 0 and b.stream.chance(0.4):
                choice(b, names, b.stream.between(1, 2), depth - 1, make, nested - 1)
        bodies.append(tuple(body))
    otherwise: tree.Body = bodies.pop() if branches > 1 else ()
    for condition, then in zip(reversed(tests), reversed(bodies), strict=True):
        otherwise = (tree.If(condition, then, otherwise),)
    b.emit(otherwise[0])


def loop(
    b: Builder,
    names: Sequence[tree.Name],
    levels: int,
    depth: int,
    make: Make = real,
    count: tree.Name | None = None,
    copies: int = _COPIES,
) -> None:
    """Loops inside each other that change the variables in the innermost one, or on the way.

    `copies` is how often a body may be written out: Warp does that with loops of a known number
    of rounds, and all views of a kernel grow with the product of those.
    """
    most = b.stream.between(2, max(2, min(5, copies >> (levels - 1))))
    start: tree.Expression = whole(b.stream.between(0, 2)) if b.stream.chance(0.3) else whole(0)
    step = 1
    stop: tree.Expression
    if count is not None and b.stream.chance(0.5):
        stop, most = b.read(count), int(count.bound)
    else:
        copies //= most
        stop = whole(int(start.bound) + most)
        if b.stream.chance(0.15):
            step = 2
        elif b.stream.chance(0.15):
            start, stop, step = stop, start, -1
    with b.block(most) as body:
        index = b.loop_name(max(start.bound, stop.bound))
        if b.stream.chance(0.4):
            b.local(make(b, depth - 1))
        if levels == 1 or b.stream.chance(0.3):
            update(b, b.stream.choice(names), depth, make)
        if b.stream.chance(0.25):
            choice(b, names, b.stream.between(1, 2), depth - 1, make)
        if levels > 1:
            loop(b, names, levels - 1, depth, make, count, copies)
        if b.stream.chance(0.2):
            update(b, b.stream.choice(names), depth - 1, make)
    b.emit(tree.For(index.name, start, stop, step, tuple(body)))


def while_loop(b: Builder, names: Sequence[tree.Name], depth: int, make: Make = real) -> None:
    """A while with a counter that ends it, and perhaps a break or continue on the way."""
    most = b.stream.between(3, 8)
    counter = b.mutable(whole(0), float(most + 1))
    b.excluded.add(counter.name)
    going = apply("less", BOOL, 1.0, counter, whole(most))
    if b.stream.chance(0.4):
        going = apply("and", BOOL, 1.0, going, test(b, 1))
    b.excluded.discard(counter.name)
    count_up = tree.Assign(counter.name, whole(1), "add")
    with b.block(most) as body:
        early = b.stream.chance(0.5)
        if early:
            b.emit(count_up)
        if b.stream.chance(0.4):
            b.local(make(b, depth - 1))
        for _ in range(b.stream.between(1, 2)):
            update(b, b.stream.choice(names), depth, make)
        if early and b.stream.chance(0.5):
            _leave(b, names, depth, make, tree.Continue())
            update(b, b.stream.choice(names), depth - 1, make)
        if b.stream.chance(0.6):
            _leave(b, names, depth, make, tree.Break())
        if not early:
            b.emit(count_up)
    b.emit(tree.While(going, tuple(body)))


def _leave(
    b: Builder, names: Sequence[tree.Name], depth: int, make: Make, how: tree.Statement
) -> None:
    condition = test(b, depth - 1)
    with b.block() as body:
        if b.stream.chance(0.3):
            update(b, b.stream.choice(names), depth - 1, make)
        b.emit(how)
    b.emit(tree.If(condition, tuple(body)))


def breaking_for(b: Builder, names: Sequence[tree.Name], depth: int, make: Make = real) -> None:
    """A for that may end early, or skip."""
    most = b.stream.between(3, 7)
    with b.block(most) as body:
        index = b.loop_name(most)
        update(b, b.stream.choice(names), depth, make)
        _leave(b, names, depth, make, b.stream.choice((tree.Break(), tree.Continue())))
        update(b, b.stream.choice(names), depth - 1, make)
    b.emit(tree.For(index.name, whole(0), whole(most), 1, tuple(body)))


def count_parameter(b: Builder) -> tree.Name:
    """A whole number as parameter, for the ends of loops."""
    return b.number(INT, 2, 5)
