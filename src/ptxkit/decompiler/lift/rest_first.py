"""Unrolled loops whose rest is a loop in front of them, which hands on the index: see `peeled`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial

from ptxkit.cuda import nodes as n
from ptxkit.cuda.types import INT
from ptxkit.decompiler.lift.many_turns import (
    Rest,
    index_from,
    loop_of,
    steps_by,
    target_of,
    with_instead,
)
from ptxkit.decompiler.lift.one_counter import product, ratio, remainder, split
from ptxkit.decompiler.lift.rewrite import (
    bottom_up,
    loads_from,
    spelled_out,
    written,
)
from ptxkit.decompiler.lift.terms import Sum

_LOOPS = (n.DoWhile, n.While, n.For)
_UNSIGNED = frozenset("threadIdx blockIdx blockDim gridDim".split())
_ONE, _ZERO = n.Literal(1, INT), n.Literal(0, INT)


def rest_first(
    body: list[n.Statement],
    place: int,
    name: str,
    rest: Rest,
    known: Mapping[str, n.Expression],
) -> str:
    """The turns that are left over come first, in a loop from which the index goes on."""
    node = body[place]
    assert isinstance(node, n.If)
    *setup, loop = node.then
    assert isinstance(loop, n.DoWhile)
    if name not in {target_of(s) for s in loop.body} or loop.condition != node.condition:
        return ""
    many = next((k for k in range(place + 1, len(body)) if loop_of(body[k]) is not None), None)
    if many is None:
        return ""
    changed = {x for s in loop.body for x in written(s)}
    steps = {target_of(s): by for s in loop.body if (by := _step(s, changed)) is not None}
    bound = _bound(body[many])
    if bound is None:
        return ""
    counter, operator, limit = bound
    index = stepping = counter
    if counter not in steps:
        index, operator, limit = _beside(body[many], counter, limit)
    if not index and (last := _last_of(body[many], counter, rest.mask)):
        index, stepping, operator, limit = last, last, "<=", bound[2]
    if index not in steps or not steps_by(body[many], stepping, steps[index], rest.mask + 1):
        return ""
    values = {target_of(s): s.value for s in (*body[:place], *setup) if isinstance(s, n.Assign)}
    first = values.get(index) or _begin(rest.turns, known)
    begun_late = _one_before(first) if operator == "<" else None
    if begun_late is not None and not _is_read(index, loop.body):
        # What counts is one behind the index, of which nothing else is left.
        first, operator = begun_late, "<="
        values[index] = first
    # What moves may begin where something else does that moves.
    moving = {x: values[x] for x in steps if x in values and x != index}
    starts = {x: _resolved(value, moving) for x, value in moving.items()}
    # A pointer begins where the index does: there by its name, or by what it is set to.
    places: dict[str, tuple[n.Expression, n.Expression]] = {}
    numbers: dict[str, n.Expression] = {}
    for x in steps:
        times = ratio(steps[x], steps[index]) if x != index else None
        if times is None:
            continue
        for begin in (first, n.Name(index)):
            at = None if begin is None else _element(starts.get(x), begin, index, times)
            if at is not None:
                places[x] = at
            elif begin is not None and x in starts:
                number = _moved_along(starts[x], begin, index, times)
                if number is not None:
                    numbers[x] = number
        if first is not None and x in starts and x not in places and x not in numbers:
            far = _far(starts[x], first, index) if times == _ONE else None
            if far is not None:
                places[x] = far
    gone = {index, name, *places, *numbers}
    turn = tuple(_at(s, places) for s in loop.body if target_of(s) not in gone)
    for x, number in numbers.items():
        use = partial(with_instead, old=n.Name(x), new=_signed(number))
        turn = tuple(bottom_up(bottom_up(s, use), _shortened) for s in turn)
    used = {p.name for s in turn for p in s.walk() if isinstance(p, n.Name)}
    # What is set up before the rest, and not by a number, must be gone.
    begun = {target_of(s) for s in setup if isinstance(s, n.Assign) and not _is_literal(s.value)}
    if used & (places.keys() | (begun - {index})):
        return ""
    step = n.Assign(n.Name(index), steps[index], "+=")
    condition = n.Binary(operator, n.Name(index), limit)
    start = n.Assign(n.Name(index), values[index]) if index in values else None
    body[place] = n.For(start, condition, step, turn)
    del body[many]
    body[:] = [s for s in body if target_of(s) not in (index, name)]
    return index


def _signed(number: n.Expression) -> n.Expression:
    """A number that was an ``int``, though it is written with others now that have no sign."""
    return n.Cast(INT, number) if not _UNSIGNED.isdisjoint(number.names()) else number


def _shortened(node: n.Node) -> n.Node:
    """``a + 3 + i - 3`` as ``a + i``."""
    match node:
        case n.Binary("+" | "-", n.Cast(type=type, operand=total), n.Literal() as by) if (
            type == INT
        ):
            made = Sum().add(n.Binary(node.operator, total, by)).expression()
            return n.Cast(INT, made) if made is not None else node
    return node


def _one_before(first: n.Expression | None) -> n.Expression | None:
    """What ``~x`` is one before: ``-x``."""
    match first:
        case n.Unary("~", operand):
            return n.Unary("-", operand)
    return None


def _is_read(name: str, body: Sequence[n.Statement]) -> bool:
    """Whether a variable does more than count."""
    return any(name in s.names() for s in body if target_of(s) != name)


def _far(
    start: n.Expression, first: n.Expression, index: str
) -> tuple[n.Expression, n.Expression] | None:
    """The element that a pointer is at that moves along with an index from where both begin."""
    base, offset = split(start)
    if base is None or not isinstance(first, n.Unary) or first.operator != "-":
        return None
    done = n.Binary("+", n.Name(index), first.operand)
    return base, done if offset == _ZERO else n.Binary("+", offset, done)


def _is_literal(value: n.Expression) -> bool:
    return isinstance(value, n.Literal)


def _step(node: n.Statement, changed: set[str]) -> n.Expression | None:
    """By how much a statement moves a variable on, the same in every turn."""
    match node:
        case n.Assign(n.Name(), by, "+="):
            loads = any(isinstance(p, n.Index | n.Call | n.Unary) for p in by.walk())
            return None if loads or changed & set(by.names()) else by
    return None


def _bound(many: n.Statement) -> tuple[str, str, n.Expression] | None:
    """What the loop of many turns counts with, how that is compared, and where it ends."""
    loop = loop_of(many)
    assert isinstance(loop, _LOOPS)
    match loop.condition:
        case n.Binary("<", n.Name(name=index), limit):
            return index, "<", limit
    return None


def _resolved(value: n.Expression, moving: Mapping[str, n.Expression]) -> n.Expression:
    """What a pointer is set to, with the numbers in it that others are set to."""
    match value:
        case n.Binary("+", base, n.Name(name=name)) if name in moving:
            return n.Binary("+", base, moving[name])
    return value


def _begin(turns: n.Expression, known: Mapping[str, n.Expression]) -> n.Expression | None:
    """Where a loop begins whose turns are ``max(first, last) - first + 1``, or ``2 * last | 1``."""
    match turns:
        case n.Binary("|" | "+", twice, n.Literal(value=1)):
            match spelled_out(twice, known):
                case n.Binary("<<", last, n.Literal(value=1)):
                    return n.Unary("-", last)
    match turns:
        case n.Binary("+", n.Name(name=name), n.Literal(value=1)) if name in known:
            turns = known[name]
    match turns:
        case n.Binary("+", n.Call("max"), less):
            return n.Unary("-", less)
        case n.Binary("-", n.Call("max"), less):
            return less
    return None


def _beside(many: n.Statement, counter: str, limit: n.Expression) -> tuple[str, str, n.Expression]:
    """The index that a variable is set beside before a loop, and how it is compared with what.

    Empty if there is none. Where the last turn is that of the limit, the variable is the one
    before; compilers also like to count up to 0.
    """
    for statement in many.then if isinstance(many, n.If) else ():
        match statement:
            case n.Assign(
                n.Name(name=name),
                n.Binary("+" | "-" as sign, n.Name(name=index), n.Literal(value=int() as number)),
                "=",
            ) if name == counter:
                by = number if sign == "+" else -number
                match limit:
                    case n.Literal(value=int() as end):
                        return index, "<", n.integer(end - by)
                if by == -1:
                    return index, "<=", limit
    return "", "", limit


def _last_of(many: n.Statement, counter: str, before: int) -> str:
    """The index that a variable is set to in every turn, as it is in the last of so many more."""
    for statement in getattr(loop_of(many), "body", ()):
        match statement:
            case n.Assign(
                n.Name(name=name), n.Binary("+", n.Name(name=index), n.Literal(value=by)), "="
            ) if (name, by) == (counter, before):
                return index
    return ""


def _element(
    start: n.Expression | None, first: n.Expression, index: str, times: n.Expression
) -> tuple[n.Expression, n.Expression] | None:
    """The array that a pointer moves along, and what it points to, by the index."""
    base, offset = split(start) if start is not None else (None, n.integer(0))
    if base is None:
        return None
    if times != _ONE:
        rest = remainder(offset, times, first)
        moved = product(n.Name(index), times)
        if rest is None:
            return None
        return base, moved if rest == _ZERO else n.Binary("+", moved, rest)
    found = index_from(offset, first, index)
    return None if found is None else (base, found)


def _moved_along(
    start: n.Expression, first: n.Expression, index: str, times: n.Expression
) -> n.Expression | None:
    """A number that moves on by some times as much as the index, by the index."""
    if times == _ONE:
        return index_from(start, first, index)
    rest = remainder(start, times, first)
    moved = product(n.Name(index), times)
    if rest is None:
        return None
    return moved if rest == _ZERO else n.Binary("+", moved, rest)


def _at(node: n.Statement, places: dict[str, tuple[n.Expression, n.Expression]]) -> n.Statement:
    """A statement with elements of arrays in the place of what pointers point to."""

    def change(part: n.Node) -> n.Node:
        match part:
            case n.Unary("*", n.Name(name=name)) if name in places:
                return n.Index(*places[name])
            case n.Index(n.Name(name=name), offset) if name in places:
                base, at = places[name]
                return n.Index(base, n.Binary("+", at, offset))
            case n.Call(function, (n.Name(name=name),)) if loads_from(function) and name in places:
                return n.Call(function, (n.Unary("&", n.Index(*places[name])),))
            case n.Call(function, (n.Name(name=name), *others)) if (
                function.startswith("atomic") and name in places
            ):
                return n.Call(function, (n.Unary("&", n.Index(*places[name])), *others))
        return part

    return bottom_up(node, change)  # type: ignore[no-any-return]
