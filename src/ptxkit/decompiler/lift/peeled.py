"""Unrolled loops whose rest is not a loop after it: rolled up again.

With ``r = n & 3`` turns left over, NVVM either writes these out behind the loop of many turns,
``if (r != 0) { a turn; if (r != 1) { a turn; ... } }``, or does them first, in a loop of their
own from which the index goes on. Either way one turn is there as it was written. As in `roll`
nothing is proved here: the verifier decides.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass

from ptxkit.cuda import nodes as n
from ptxkit.cuda.types import INT
from ptxkit.decompiler.lift.rewrite import bottom_up, written

Body = tuple[n.Statement, ...]
_LOOPS = (n.DoWhile, n.While, n.For)
_ONE, _ZERO = n.Literal(1, INT), n.Literal(0, INT)


@dataclass(frozen=True, slots=True)
class Rest:
    """A variable that holds how many turns are left over: ``turns & mask``."""

    turns: n.Expression
    mask: int


def rests(body: Body) -> dict[str, Rest]:
    """The variables that are set once, to a number of turns that are left over."""
    sets: Counter[str] = Counter()
    found: dict[str, Rest] = {}
    for statement in body:
        sets.update(written(statement))
        for part in statement.walk():
            match part:
                case n.Assign(
                    n.Name(name=name), n.Binary("&", turns, n.Literal(value=mask)), "="
                ) if mask in (1, 3, 7):
                    found[name] = Rest(turns, int(mask))
    # A rest that is counted down is set twice.
    return {name: rest for name, rest in found.items() if sets[name] <= 2}


def roll_peeled(body: list[n.Statement], known: dict[str, Rest]) -> bool:
    """Roll up one loop of a list of statements; whether there was one."""
    for place, statement in enumerate(body):
        match statement:
            case n.If(n.Binary("!=", n.Name(name=name), n.Literal(value=0)), then, ()):
                if name not in known:
                    continue
                if then and isinstance(then[-1], n.DoWhile):
                    made = _rest_first(body, place, name, known[name])
                else:
                    made = _rest_written_out(body, place, name, known[name])
                if made:
                    return True
    return False


# ---- the rest behind, written out -----------------------------------------------------------


def _rest_written_out(body: list[n.Statement], place: int, name: str, rest: Rest) -> bool:
    last = body[place]
    assert isinstance(last, n.If)
    turn = last.then
    if rest.mask > 1:
        match turn[-1]:
            case n.If(n.Binary("!=", n.Name(name=again), n.Literal(value=1)), _, ()):
                if again != name:
                    return False
            case _:
                return False
        turn = turn[:-1]
    many = next((k for k in range(place - 1, -1, -1) if _loop_of(body[k]) is not None), None)
    if many is None or not turn or any(isinstance(p, _LOOPS) for s in turn for p in s.walk()):
        return False
    moved, mine = set(written(body[many])), {x for s in turn for x in written(s)}
    read = {p.name for s in turn for p in s.walk() if isinstance(p, n.Name)}
    starts = {_target(body[k]): k for k in range(many) if _is_number(body[k])}
    found = [x for x in read & moved - mine if x in starts]
    if len(found) != 1:
        return False
    index = found[0]
    start = body[starts[index]]
    step = n.Assign(n.Name(index), _ONE, "+=")
    condition = n.Binary("<", n.Name(index), rest.turns)
    body[place] = n.For(start, condition, step, turn)
    for gone in sorted((many, starts[index]), reverse=True):
        del body[gone]
    return True


def _loop_of(node: n.Statement) -> n.Statement | None:
    match node:
        case n.If(then=(*_, last), otherwise=()) if isinstance(last, _LOOPS):
            return last
    return node if isinstance(node, _LOOPS) else None


def _target(node: n.Statement) -> str:
    if isinstance(node, n.Assign) and isinstance(node.target, n.Name):
        return node.target.name
    return ""


def _is_number(node: n.Statement) -> bool:
    return isinstance(node, n.Assign) and node.value == _ZERO and node.operator == "="


# ---- the rest first, in a loop --------------------------------------------------------------


def _rest_first(body: list[n.Statement], place: int, name: str, rest: Rest) -> bool:
    match rest.turns:
        case n.Binary("-", _, first):
            pass
        case _:
            return False
    node = body[place]
    assert isinstance(node, n.If)
    *setup, loop = node.then
    assert isinstance(loop, n.DoWhile)
    steps = {_target(s): s for s in loop.body if _is_step(s)}
    if name not in {_target(s) for s in loop.body} or loop.condition != node.condition:
        return False
    values = {_target(s): s.value for s in (*body[:place], *setup) if isinstance(s, n.Assign)}
    indices = [x for x in steps if values.get(x) == first]
    many = next((k for k in range(place + 1, len(body)) if _loop_of(body[k]) is not None), None)
    if many is None or len(indices) != 1:
        return False
    index = indices[0]
    limit = _limit(body[many], index)
    if limit is None:
        return False
    bases = {x: base for x in steps if (base := _base(values.get(x), first)) is not None}
    gone = {index, name, *bases}
    turn = tuple(_at(s, bases, index) for s in loop.body if _target(s) not in gone)
    if any(p.name in bases for s in turn for p in s.walk() if isinstance(p, n.Name)):
        return False
    start = n.Assign(n.Name(index), first)
    condition = n.Binary("<", n.Name(index), limit)
    body[place] = n.For(start, condition, n.Assign(n.Name(index), _ONE, "+="), turn)
    del body[many]
    body[:] = [s for s in body if _target(s) not in (index, name)]
    return True


def _is_step(node: n.Statement) -> bool:
    return isinstance(node, n.Assign) and node.operator == "+=" and node.value == _ONE


def _limit(many: n.Statement, index: str) -> n.Expression | None:
    """Where the loop of many turns ends."""
    loop = _loop_of(many)
    assert isinstance(loop, _LOOPS)
    match loop.condition:
        case n.Binary("<", n.Name(name=own), limit) if own == index:
            return limit
    return None


def _base(value: n.Expression | None, first: n.Expression) -> n.Expression | None:
    """The array of a pointer that begins at an index."""
    match value:
        case n.Binary("+", n.Name() as base, offset) if offset == first:
            return base
        case n.Unary("&", n.Index(n.Name() as base, offset)) if offset == first:
            return base
    return None


def _at(node: n.Statement, bases: dict[str, n.Expression], index: str) -> n.Statement:
    """A statement with elements of arrays in the place of what pointers point to."""

    def change(part: n.Node) -> n.Node:
        match part:
            case n.Unary("*", n.Name(name=name)) if name in bases:
                return n.Index(bases[name], n.Name(index))
            case n.Index(n.Name(name=name), offset) if name in bases:
                return n.Index(bases[name], n.Binary("+", n.Name(index), offset))
        return part

    return bottom_up(node, change)  # type: ignore[no-any-return]
