"""Loops that count how many steps an index takes, as loops over that index.

``for (i = a; i < b; i += 32)`` has ``(b - a - 1) / 32 + 1`` turns, and that is what a compiler
counts down from where it has unrolled the loop. As in `roll` nothing is proved here: the verifier
decides.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial

from ptxkit.cuda import nodes as n
from ptxkit.cuda.types import INT, Type
from ptxkit.decompiler.lift.rewrite import bottom_up, read, spelled_out, written

_ONE = n.Literal(1, INT)
_JUMPS = (n.Break, n.Continue, n.Goto, n.Label, n.Return)


def roll_strided(
    body: list[n.Statement], values: Mapping[str, n.Expression], types: Mapping[str, Type]
) -> bool:
    """Rewrite one loop of a list of statements; whether there was one.

    ``values`` is what variables are set to that are set once.
    """
    for place, statement in enumerate(body):
        match statement:
            case n.If(
                n.Binary("!=", n.Name(name=count), n.Literal(value=0)) as again,
                (*setup, n.DoWhile(body=turn) as loop),
                (),
            ) if loop.condition == again:
                pass
            case _:
                continue
        down = n.Assign(n.Name(count), _ONE, "-=")
        counted = next((k for k in range(place) if _sets(body[k], count)), None)
        if counted is None or turn.count(down) != 1 or _jumps(turn):
            continue
        start = body[counted]
        assert isinstance(start, n.Assign)
        ends = _ends(start.value, values)
        turn = tuple(s for s in turn if s != down)
        if ends is None or any(count in s.names() for s in (*body[counted + 1 : place], *turn)):
            continue
        first, end, by = ends
        step = next((s for s in turn if _steps(s, by, first, body[:place], types)), None)
        changed = {name for s in turn for name in written(s)}
        if step is None or changed & set(read(end)):
            continue
        assert isinstance(step, n.Assign)
        # What moves in the middle of a turn is not what the next one begins with.
        if any(step.target.names() & s.names() for s in turn[turn.index(step) + 1 :]):
            continue
        index = step.target
        again = n.Binary("<", index, end)
        begin = n.Assign(index, first)
        between = [s for k, s in enumerate(body[:place]) if k != counted]
        at = next((k for k, s in enumerate(between) if s == begin), None)
        if at is None or any(index.names() & s.names() for s in between[at + 1 :]):
            made = n.For(None, again, step, tuple(s for s in turn if s is not step))
        else:
            setup = [bottom_up(s, partial(_instead, old=index, new=first)) for s in setup]
            made = n.For(begin, again, step, tuple(s for s in turn if s is not step))
            del between[at]
        body[: place + 1] = [*between, *setup, made]
        return True
    return False


def _instead(node: n.Node, old: n.Expression, new: n.Expression) -> n.Node:
    return new if node == old else node


def _sets(statement: n.Statement, name: str) -> bool:
    match statement:
        case n.Assign(n.Name(name=own), operator="="):
            return own == name
    return False


def _jumps(turn: tuple[n.Statement, ...]) -> bool:
    return any(isinstance(p, _JUMPS) for s in turn for p in s.walk())


def _ends(
    turns: n.Expression, values: Mapping[str, n.Expression]
) -> tuple[n.Expression, n.Expression, int] | None:
    """Where an index begins and ends, and its step, from the number of turns."""

    known = partial(spelled_out, values=values)
    match known(turns):
        case n.Binary("+", quotient, n.Literal(value=1)):
            pass
        case _:
            return None
    match known(quotient):
        case n.Binary(">>", whole, n.Literal(value=int() as bits)) if 0 < bits < 31:
            by = 1 << bits
        case n.Binary("/", whole, n.Literal(value=int() as by)) if by > 1:
            pass
        case _:
            return None
    match known(whole):
        case n.Binary("+", n.Unary("~", first), end) | n.Binary("+", end, n.Unary("~", first)):
            return first, end, by
    return None


def _steps(
    statement: n.Statement,
    by: int,
    first: n.Expression,
    before: list[n.Statement],
    types: Mapping[str, Type],
) -> bool:
    """Whether a statement moves an index on that begins there."""
    match statement:
        case n.Assign(n.Name(name=name) as index, n.Literal(value=value), "+=") if value == by:
            if types.get(name) != INT:
                return False
            start = next((s for s in reversed(before) if name in set(written(s))), None)
            return index == first or start == n.Assign(index, first)
    return False
