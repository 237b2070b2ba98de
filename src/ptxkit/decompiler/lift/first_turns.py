"""Unrolled loops whose first turns are written out in front of them: see `peeled`."""

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
from ptxkit.decompiler.lift.rewrite import (
    accesses,
    bottom_up,
    terms_of,
)
from ptxkit.decompiler.lift.window_turns import Turns

Body = tuple[n.Statement, ...]
_LOOPS = (n.DoWhile, n.While, n.For)
_ONE = n.Literal(1, INT)


def first_written_out(
    body: list[n.Statement],
    place: int,
    name: str,
    rest: Rest,
    values: Mapping[str, n.Expression],
) -> str:
    """The first turns are written out, from an index that the loop of many goes on from."""
    node = body[place]
    assert isinstance(node, n.If)
    turn = list(node.then)
    second: Body = ()
    if rest.mask > 1:
        match turn[-1:]:
            case [n.If(n.Binary("!=", n.Name(name=again), n.Literal(value=1)), second, ())]:
                turn = turn[:-1] if again == name else []
            case _:
                return ""
    many = next((k for k in range(place + 1, len(body)) if loop_of(body[k]) is not None), None)
    if many is None or any(isinstance(p, _LOOPS) for s in turn for p in s.walk()):
        return ""
    for begun in range(place):
        match body[begun]:
            case n.Assign(n.Name(name=index), n.Name() | n.Binary() as first, "="):
                pass
            case _:
                continue
        following: list[n.Expression] = [n.Binary("+", first, _ONE)]
        number = values.get(first.name) if isinstance(first, n.Name) else first
        if isinstance(number, n.Unary) and number.operator == "-":
            following.append(n.Binary("-", _ONE, number.operand))
        names = [n.Name(x) for x, value in values.items() if value in following]
        moves = [n.Assign(n.Name(index), value) for value in (*following, *names)]
        condition = goes_on(body[many], index, rest.mask + 1)
        kept = [s for s in turn if s not in moves]
        strided = _strided(turn, second, index, first, values) if condition is None else None
        if strided is not None:
            by, text = strided
            condition = goes_on(body[many], index, rest.mask + 1, by)
            if condition is None or not does(body[many], rest.mask + 1, text):
                continue
            body[place] = n.For(body[begun], condition, n.Assign(n.Name(index), by, "+="), text)
            for gone in (many, begun):
                del body[gone]
            return index
        if condition is None or len(kept) + 1 != len(turn):
            continue
        if not does(body[many], rest.mask + 1, kept):
            continue
        step = n.Assign(n.Name(index), _ONE, "+=")
        turns = (tuple(kept), *_following(second, name, index))
        # The first turn may know what the others do not: what a sum begins with.
        ahead = (
            Turns(index, first, values).turn(turns)
            or Turns(index, following[0], values).turn(turns[1:])
            or _second_turn(second, name, index, (*following, *names), len(kept))
        )
        if ahead and does(body[many], rest.mask + 1, ahead):
            ahead = _counting_on(ahead, body[many], rest.mask + 1, 2)
            body[place] = n.For(body[begun], condition, step, ahead)
            for gone in (many, begun):
                del body[gone]
            return index
        loop = tuple(kept)
        for x in {p.name for s in kept for p in s.walk() if isinstance(p, n.Name)} & values.keys():
            # What was computed before, from where the index begins.
            at = index_from(values[x], number, index) if number is not None else None
            if at is not None and n.Name(x) != first:
                loop = tuple(
                    bottom_up(s, partial(with_instead, old=n.Name(x), new=at)) for s in loop
                )
        use = partial(with_instead, old=first, new=n.Name(index))
        loop = _moving_on(tuple(bottom_up(s, use) for s in loop), body[:place])
        loop = _counting_on(loop, body[many], rest.mask + 1, 1)
        body[place] = n.For(body[begun], condition, step, loop)
        for gone in (many, begun):
            del body[gone]
        return index
    return ""


def _following(second: Body, rest: str, index: str) -> list[Body]:
    """The turns behind the first one, without what moves the index on."""
    found: list[Body] = []
    while second:
        inner: Body = ()
        match second[-1]:
            case n.If(n.Binary("!=", n.Name(name=name), n.Literal()), inner, ()) if name == rest:
                second = second[:-1]
        found.append(tuple(s for s in second if target_of(s) != index))
        second = inner
    return found


def _moving_on(turn: Body, before: Sequence[n.Statement]) -> Body:
    """A first turn in which more than the index moves on, as every turn: ``count += 1``.

    The first one knows where that began.
    """
    begins = {target_of(s): s.value for s in before if isinstance(s, n.Assign)}
    for place, statement in enumerate(turn):
        match statement:
            case n.Assign(n.Name(name=name) as moved, n.Binary("+", first, by), "=") if (
                isinstance(by, n.Literal) and begins.get(name) == first and first != moved
            ):
                use = partial(with_instead, old=first, new=moved)
                early = tuple(bottom_up(s, use) for s in turn[:place])
                turn = (*early, n.Assign(moved, by, "+="), *turn[place + 1 :])
    return turn


def _counting_on(turn: Body, many: n.Statement, times: int, number: int) -> Body:
    """A turn that knows its number, as every turn: ``count = before + 2`` as ``count += 1``."""

    def change(statement: n.Statement) -> n.Statement:
        match statement:
            case n.Assign(
                n.Name() as moved,
                n.Binary("+", n.Name() as before, n.Literal(value=int() as by)),
                "=",
            ) if before != moved and by % number == 0:
                step = n.Literal(by // number, INT)
                all = n.Assign(moved, n.Literal(by // number * times, INT), "+=")
                if any(part == all for part in many.walk()):
                    return n.Assign(moved, step, "+=")
        return statement

    return tuple(map(change, turn))


def _second_turn(
    second: Body, rest: str, index: str, following: Sequence[n.Expression], count: int
) -> Body:
    """What the second turn does, by the index, if it says where it is; else nothing.

    Where the first turn is, may be computed in other ways: ``x - r`` for ``x + -r``.
    """
    asks = n.Binary("!=", n.Name(rest), n.Literal(2, INT))
    kept = [s for s in second if target_of(s) != index
            and not (isinstance(s, n.If) and s.condition == asks)]  # fmt: skip

    def change(node: n.Node) -> n.Node:
        return n.Name(index) if node in following else node

    made = tuple(bottom_up(s, change) for s in kept)
    return made if made != tuple(kept) and len(made) == count else ()


def _strided(
    first_turn: list[n.Statement],
    second: Body,
    index: str,
    first: n.Expression,
    values: Mapping[str, n.Expression],
) -> tuple[n.Expression, Body] | None:
    """By how much an index moves on in every turn, and what the second turn does, by the index.

    The first turn knows more: what it adds up may begin at 0.
    """
    moves = [s.value for s in first_turn if isinstance(s, n.Assign) and target_of(s) == index]
    if len(moves) != 1:
        return None
    (next,) = moves  # It may have been computed before, and have a name.
    match values.get(next.name) if isinstance(next, n.Name) else next:
        case n.Binary("+", start, n.Literal(value=int()) as by) if start == first:
            pass
        case _:
            return None
    kept = tuple(s for s in second if target_of(s) != index and not isinstance(s, n.If))
    made = tuple(bottom_up(s, partial(with_instead, old=next, new=n.Name(index))) for s in kept)
    back = partial(_moved_back, first=first, by=by.value, index=index)
    made = tuple(bottom_up(s, back) for s in made)
    if len(kept) + 1 != len(first_turn) or any(p == first for s in made for p in s.walk()):
        return None
    return by, made


def _moved_back(node: n.Node, first: n.Expression, by: int | float, index: str) -> n.Node:
    """An element of the second turn, ``x[first + a + by]``, by the index: ``x[index + a]``."""
    if not isinstance(node, n.Index):
        return node
    terms = terms_of(node.index)
    numbers = [t.value for t in terms if isinstance(t, n.Literal)]
    if terms.count(first) != 1 or numbers != [by]:
        return node
    left = [n.Name(index) if t == first else t for t in terms if not isinstance(t, n.Literal)]
    total = left[0]
    for term in left[1:]:
        total = n.Binary("+", total, term)
    return n.Index(node.base, total)


def does(many: n.Statement, times: int, turn: Sequence[n.Statement]) -> bool:
    """Whether a loop does, by the count of its accesses, so many turns at once."""
    return _accesses([many]) == times * _accesses(turn)


def goes_on(
    many: n.Statement, index: str, times: int, by: n.Expression = _ONE
) -> n.Expression | None:
    """Whether the loop of many turns goes on, asked of the index itself."""
    loop = loop_of(many)
    last_one = n.Binary("+", n.Name(index), n.Literal(times - 1, INT))
    match getattr(loop, "condition", None):
        case n.Name() as flag:
            for statement in getattr(loop, "body", ()):
                match statement:
                    case n.Assign(target, n.Binary("<", asked, limit), "=") if (
                        target == flag and asked == last_one and steps_by(many, index, _ONE, times)
                    ):
                        return n.Binary("<=", n.Name(index), limit)
        case n.Binary("<", n.Name(name=asked), limit) as condition:
            last = n.Assign(n.Name(asked), last_one)
            if last in getattr(loop, "body", ()) and steps_by(many, index, _ONE, times):
                return n.Binary("<=", n.Name(index), limit)
            if not steps_by(many, asked, by, times):
                return None
            if asked == index:
                return condition
            before = n.Assign(n.Name(asked), n.Binary("-", n.Name(index), _ONE))
            if isinstance(many, n.If) and before in many.then:
                return n.Binary("<=", n.Name(index), limit)
    return None


def _accesses(body: Sequence[n.Statement]) -> int:
    inner = [s for one in body for s in (one.then if isinstance(one, n.If) else (one,))]
    loops = [loop.body for s in inner if isinstance(loop := s, n.DoWhile | n.While | n.For)]
    return sum(accesses(s) for s in (loops[0] if loops else body))
