"""Unrolled loops with an odd number of turns: the first one, two more if need be, then the rest.

A loop from ``-r`` to ``r`` has ``2 * r + 1`` turns: of four at a time one is left over, or three.
So one is done without a question, and the other two are one piece. As in `roll` nothing is proved
here: the verifier decides.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from ptxkit.cuda import nodes as n
from ptxkit.cuda.types import INT
from ptxkit.decompiler.lift.first_turns import does, goes_on
from ptxkit.decompiler.lift.many_turns import loop_of, target_of
from ptxkit.decompiler.lift.odd_counts import is_odd_rest
from ptxkit.decompiler.lift.rewrite import spelled_out, terms_of
from ptxkit.decompiler.lift.terms import Sum
from ptxkit.decompiler.lift.window_turns import Moving, Turns

Body = tuple[n.Statement, ...]
#: How many turns are done at once.
_TIMES = 4


def roll_odd(body: list[n.Statement], values: Mapping[str, n.Expression]) -> str:
    """Roll up one loop of a list of statements: what it counts with; empty if there was none."""
    for place, statement in enumerate(body):
        match statement:
            case n.If(n.Binary("!=", rest, n.Literal(value=1)), then, ()) if is_odd_rest(
                spelled_out(rest, values), values, (_TIMES - 1,)
            ):
                index = _roll_at(body, place, then, values)
                if index:
                    return index
    return ""


def _roll_at(
    body: list[n.Statement], place: int, then: Body, values: Mapping[str, n.Expression]
) -> str:
    many = next((k for k in range(place + 1, len(body)) if loop_of(body[k]) is not None), None)
    moving = _moving(body[:place], then)
    if many is None or not moving:
        return ""
    for one in moving:
        condition = goes_on(body[many], one.name, _TIMES)
        others = [other for other in moving if other is not one]
        if condition is None or one.by != 1:
            continue
        names = {other.name for other in moving}
        two = _halved(tuple(s for s in then if target_of(s) not in names))
        early = [k for k in range(place) if target_of(body[k]) not in names]
        count = len(two[0]) if two else 0
        first = early[len(early) - count :] if 0 < count <= len(early) else []
        turns = (tuple(body[k] for k in first), *two)
        turn = Turns(one.name, one.start, values, others).turn(turns) if first else None
        if turn is None or not does(body[many], _TIMES, turn):
            continue
        steps = [n.Assign(n.Name(o.name), n.integer(o.by), "+=") for o in others]
        start = n.Assign(n.Name(one.name), one.start)
        step = n.Assign(n.Name(one.name), n.Literal(1, INT), "+=")
        gone = {*first, place, many, *(k for k in range(place) if target_of(body[k]) in names)}
        made = [n.Assign(n.Name(o.name), o.start) for o in others]
        loop = n.For(start, condition, step, (*turn, *steps))
        body[place : place + 1] = [*made, loop]
        late = len(made)
        for k in sorted(gone - {place}, reverse=True):
            del body[k if k < place else k + late]
        return one.name
    return ""


def _moving(before: Sequence[n.Statement], then: Body) -> list[Moving]:
    """What is set for one turn before a question, and for two more behind it."""
    once = {target_of(s): s.value for s in before if isinstance(s, n.Assign)}
    found: list[Moving] = []
    for statement in then:
        name = target_of(statement)
        if not isinstance(statement, n.Assign) or name not in once or statement.operator != "=":
            continue
        beside = Sum().add(statement.value).add(once[name], -1)
        by, left = divmod(beside.number, 2)
        start = Sum(number=-by).add(once[name]).expression()
        if not beside.terms and by and not left and start is not None:
            found.append(Moving(name, start, by))
    return found


def _halved(two: Body) -> tuple[Body, ...]:
    """Two turns, one after the other, as two; nothing where they are not.

    >>> from ptxkit.cuda import print_statements, read
    >>> first, second = _halved((read("(= s (+ (+ s a) b))"),))
    >>> print(print_statements((*first, *second)), end="")
    s += a;
    s += b;
    """
    match two:
        case (n.Assign(n.Name() as target, n.Binary("+") as total, "="),):
            terms = terms_of(total)
            if terms[0] == target and len(terms) == 3:
                return tuple((n.Assign(target, term, "+="),) for term in terms[1:])
    half, left = divmod(len(two), 2)
    return (two[:half], two[half:]) if half and not left else ()
