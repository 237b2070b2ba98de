"""Loops of a pointer that walks up to another one, and that the compiler unrolled: as written.

``for (p = first; p != last; p++)`` becomes a loop of the turns that are left over, ``r`` of them,
and one of four turns at a time, which counts down how many bytes ``p`` is away from ``last``. The
first is the loop as it was written. As in `roll` nothing is proved here: the verifier decides.
"""

from __future__ import annotations

from collections.abc import Mapping

from ptxkit.cuda import nodes as n
from ptxkit.cuda.types import INT, Pointer
from ptxkit.decompiler.lift.many_turns import Rest
from ptxkit.decompiler.lift.rewrite import accesses, read, written

Body = tuple[n.Statement, ...]
_ONE = n.Literal(1, INT)


def roll_walks(body: list[n.Statement], known: Mapping[str, Rest]) -> bool:
    """Roll up one loop of a list of statements; whether there was one."""
    for place in range(1, len(body)):
        match body[place - 1], body[place]:
            case (
                n.If(
                    n.Binary("!=", n.Name(name=rest), n.Literal(value=0)),
                    (*before, n.DoWhile(body=turn)),
                    (),
                ),
                n.If(then=then, otherwise=()),
            ) if rest in known:
                pass
            case _:
                continue
        counted = n.Assign(n.Name(rest), _ONE, "-=")
        ends = _many(then)
        if ends is None or counted not in turn:
            continue
        pointer, end, many = ends
        turn = tuple(s for s in turn if s != counted)
        step = next((s for s in turn if _moves(s, pointer)), None)
        changed = {name for s in turn for name in written(s)}
        times = known[rest].mask + 1
        alike = sum(map(accesses, many)) == times * sum(map(accesses, turn))
        if step is None or not alike or changed & set(read(end)):
            continue
        again = n.Binary("!=", n.Name(pointer), end)
        start = _start(body[: place - 1], pointer)
        loop = n.For(start, again, step, tuple(s for s in turn if s is not step))
        # Both ways into the loop of many turns begin with the same numbers.
        before = [s for s in before if not (isinstance(s, n.Assign) and _is_number(s.value))]
        first = [s for s in body[: place - 1] if s is not start]
        body[: place + 1] = [*first, *before, loop]
        return True
    return False


def _start(before: list[n.Statement], pointer: str) -> n.Assign | None:
    """Where a pointer is set that nothing reads until the loop."""
    for statement in reversed(before):
        match statement:
            case n.Assign(n.Name(name=name), operator="=") if name == pointer:
                return statement
        if pointer in (*read(statement), *written(statement)):
            return None
    return None


def _is_number(value: n.Expression) -> bool:
    return isinstance(value, n.Literal)


def _many(then: Body) -> tuple[str, n.Expression, Body] | None:
    """What walks up to where, and the turns of the loop of many turns that it does it in."""
    if not then or not isinstance(then[-1], n.DoWhile):
        return None
    loop = then[-1]
    for statement in then[:-1]:
        match statement:
            case n.Assign(
                n.Name(name=left),
                n.Binary(
                    "-",
                    n.Cast(type=Pointer(), operand=end),
                    n.Cast(type=Pointer(), operand=n.Name(name=pointer)),
                ),
            ) if loop.condition == n.Binary("!=", n.Name(left), n.Literal(0, INT)):
                return pointer, end, loop.body
    return None


def _moves(node: n.Statement, pointer: str) -> bool:
    match node:
        case n.Assign(n.Name(name=name), n.Literal(), "+="):
            return name == pointer
    return False
