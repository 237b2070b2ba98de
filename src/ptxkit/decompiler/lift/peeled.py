"""Unrolled loops whose rest is not a loop after it: rolled up again.

With ``r = n & 3`` turns left over, NVVM either writes these out behind the loop of many turns,
``if (r != 0) { a turn; if (r != 1) { a turn; ... } }``, or does them first, written out, or in a
loop of their own from which the index goes on. Each time one turn is there as it was written. As
in `roll` nothing is proved here: the verifier decides.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from functools import partial

from ptxkit.cuda import nodes as n
from ptxkit.cuda.types import INT, Scalar
from ptxkit.decompiler.lift.first_turns import first_written_out
from ptxkit.decompiler.lift.handed_on import copies_gone, handing_on
from ptxkit.decompiler.lift.many_turns import (
    Rest,
    loop_of,
    target_of,
    with_instead,
)
from ptxkit.decompiler.lift.odd_turns import roll_odd
from ptxkit.decompiler.lift.rest_first import rest_first
from ptxkit.decompiler.lift.rewrite import (
    bottom_up,
    spelled_out,
    statements_of,
    written,
)

Body = tuple[n.Statement, ...]
_LOOPS = (n.DoWhile, n.While, n.For)
_ZERO = n.Literal(0, INT)


def rests(body: Body) -> dict[str, Rest]:
    """The variables that are set once, to a number of turns that are left over."""
    sets: Counter[str] = Counter()
    found: dict[str, Rest] = {}
    for statement in statements_of(body):
        match statement:
            case n.Assign(n.Name(name=name), n.Binary("&", turns, n.Literal(value=mask)), "=") if (
                mask in (1, 3, 7)
            ):
                found[name] = Rest(turns, int(mask))
            case n.Assign(n.Name(name=name), n.Name(name=other), "=") if other in found:
                found[name] = found[other]
    if found:
        sets.update(name for statement in body for name in written(statement))
        # A rest that is counted down is set twice; in both of two branches, once more in each.
        down = Counter(target_of(s) for s in statements_of(body) if _counts_down(s))
        sets.subtract({name: times - 1 for name, times in down.items()})
    return {name: rest for name, rest in found.items() if sets[name] <= 2}


def _counts_down(node: n.Statement) -> bool:
    match node:
        case n.Assign(n.Name(), n.Literal(value=by), "+=" | "-=" as operator):
            return by == (-1 if operator == "+=" else 1)
    return False


def roll_peeled(
    body: list[n.Statement], known: dict[str, Rest], values: Mapping[str, n.Expression]
) -> str:
    """Roll up one loop of a list of statements: what it counts with; empty if there was none.

    ``values`` is what variables are set to that are set once.
    """
    for place, statement in enumerate(body):
        match statement:
            case n.If(n.Binary("!=", n.Name(name=name), n.Literal(value=0)), then, ()):
                if name not in known:
                    continue
                if then and isinstance(then[-1], n.DoWhile):
                    made = rest_first(body, place, name, known[name], values)
                else:
                    made = _rest_written_out(body, place, name, known[name], values)
                    made = made or first_written_out(body, place, name, known[name], values)
                if made:
                    return made
    return roll_odd(body, values)


def _rest_written_out(
    body: list[n.Statement],
    place: int,
    name: str,
    rest: Rest,
    values: Mapping[str, n.Expression],
) -> str:
    many = next((k for k in range(place - 1, -1, -1) if loop_of(body[k]) is not None), None)
    last = body[place]
    assert isinstance(last, n.If)
    if many is None:
        return ""
    moved = set(written(body[many]))
    last = copies_gone(body[many + 1 : place], last, moved)
    turn = last.then
    if rest.mask > 1:
        match turn[-1]:
            case n.If(n.Binary("!=", n.Name(name=again), n.Literal(value=1)), _, ()):
                if again != name:
                    return ""
            case _:
                return ""
        turn = turn[:-1]
    if not turn or any(isinstance(p, _LOOPS) for s in turn for p in s.walk()):
        return ""
    if rest.mask > 1:  # there is another turn behind it
        turn = handing_on(turn, last.then[-1], moved - _counters(body[many]))
    mine = {x for s in turn for x in written(s)}
    read = {p.name for s in turn for p in s.walk() if isinstance(p, n.Name)}
    starts = {target_of(body[k]): k for k in range(many) if _is_number(body[k])}
    found = [x for x in read & moved - mine if x in starts]
    if len(found) != 1:
        return ""
    index = found[0]
    start = body[starts[index]]
    place_of_start = starts[index]
    counter = _handed_on(body[many], index)
    if counter is not None:
        # What the turns count with is narrower than what the rest goes on from.
        renamed = partial(with_instead, old=n.Name(index), new=n.Name(counter))
        turn = tuple(bottom_up(s, renamed) for s in turn)
        index, start = counter, n.Assign(n.Name(counter), _ZERO)
    by = next((by for p in body[many].walk() if (by := _moves(p, index))), 0) // (rest.mask + 1)
    first = start.value.value  # type: ignore[union-attr]
    if first:
        limit = _from(rest.turns, int(first), values) if by == 1 else None
    else:
        limit = rest.turns if by <= 1 else _end(rest.turns, by, values)
    if limit is None:
        return ""
    step = n.Assign(n.Name(index), n.integer(max(by, 1)), "+=")
    condition = n.Binary("<", n.Name(index), limit)
    body[place] = n.For(start, condition, step, turn)
    for gone in sorted((many, place_of_start), reverse=True):
        del body[gone]
    return index


def _from(
    turns: n.Expression, first: int, values: Mapping[str, n.Expression]
) -> n.Expression | None:
    """Where an index ends that starts at a number, from the number of turns: ``end - first``."""
    match spelled_out(turns, values):
        case n.Binary("-", end, n.Literal(value=less)) if less == first:
            return end
        case n.Binary("+", end, n.Literal(value=int() as less)) if less == -first:
            return end
    return None


def _counters(loop: n.Statement) -> set[str]:
    """What a loop counts with: what is made of it is no sum that goes on in the next turn."""
    return {
        part.target.name
        for part in loop.walk()
        if isinstance(part, n.Assign) and isinstance(part.target, n.Name)
        and part.operator == "+=" and isinstance(part.value, n.Literal)
    }  # fmt: skip


def _handed_on(many: n.Statement, index: str) -> str | None:
    """The variable that a loop counts from 0 with, and that another is set to behind it."""
    if not isinstance(many, n.If):
        return None
    loop = loop_of(many)
    for statement in many.then:
        match statement:
            case n.Assign(n.Name(name=name), n.Name(name=counter), "=") if name == index:
                begins = n.Assign(n.Name(counter), _ZERO) in many.then
                steps = loop is not None and any(_moves(p, counter) for p in loop.walk())
                return counter if begins and steps else None
    return None


def _moves(node: n.Node, index: str) -> int:
    """By which number a statement moves an index on."""
    match node:
        case n.Assign(n.Name(name=name), n.Literal(value=int() as by), "+=") if name == index:
            return by
    return 0


def _end(turns: n.Expression, by: int, values: Mapping[str, n.Expression]) -> n.Expression | None:
    """Where an index ends that starts at 0, from the number of turns: ``(end - 1) / by + 1``."""

    known = partial(spelled_out, values=values)
    match known(turns):
        case n.Binary("+", quotient, n.Literal(value=1)):
            match known(quotient):
                case n.Binary(">>", before, n.Literal(value=int() as bits)) if 1 << bits == by:
                    pass
                case n.Binary("/", before, n.Literal(value=int() as size)) if size == by:
                    pass
                case _:
                    return None
            match known(before):
                case n.Binary("-", end, n.Literal(value=1)) | n.Binary(
                    "+", end, n.Literal(value=-1)
                ):
                    return end
    return None


def _is_number(node: n.Statement) -> bool:
    match node:
        case n.Assign(n.Name(), n.Literal(value=int(), type=Scalar() as type), "="):
            return type.is_integer
    return False
