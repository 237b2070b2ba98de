"""The last turn of a tree: one thread is left, and the compiler knows which.

``for (s = 32; s > 0; s >>= 1) if (t < s) x[t] += x[t + s];`` asks in its last turn whether ``t`` is
0, and reads ``x[1]``. As in `roll` nothing is proved here: the verifier decides.
"""

from __future__ import annotations

from dataclasses import replace

from ptxkit.cuda import nodes as n
from ptxkit.decompiler.lift.rewrite import bottom_up, rebuilt_lists

Body = tuple[n.Statement, ...]
#: More statements than this no turn of a tree has.
_LONGEST = 8
_ZERO, _ONE = n.integer(0), n.integer(1)
#: Where threads wait for all others; the second is what cooperative groups do.
_BARRIERS = n.Evaluate(n.Call("__syncthreads", ())), n.Evaluate(n.Call("__barrier_sync", (_ZERO,)))
#: A barrier, a loop that ends with one, and what is behind it.
_WAITING = 3


def with_last_turns(body: Body) -> Body:
    """The body with last turns inside of the loops that they stand behind."""
    made: list[n.Statement] = []
    for statement in body:
        statement = rebuilt_lists(statement, with_last_turns)
        made.append(statement)
        for size in range(1, min(len(made), _LONGEST + 1)):
            loop = made[-1 - size]
            if isinstance(loop, n.For):
                longer = _longer(loop, made[-size:]) if len(loop.body) == size else None
                if longer is not None:
                    made[-1 - size :] = [longer]
                break
        if len(made) >= _WAITING and (waiting := _waiting(*made[-_WAITING:])) is not None:
            made[-_WAITING:] = waiting
    return tuple(made)


def _longer(loop: n.For, turn: list[n.Statement]) -> n.For | None:
    index = _halved(loop)
    if index is None or _last(loop.body, index) != [_known(s) for s in turn]:
        return None
    return replace(loop, condition=n.Binary(">", index, _ZERO))


def _waiting(
    barrier: n.Statement, loop: n.Statement, then: n.Statement
) -> list[n.Statement] | None:
    """A loop whose turns begin with a barrier: behind its last one there is none.

    What the thread that is left does next is behind the same question then.
    """
    if not (isinstance(loop, n.For) and isinstance(then, n.If) and barrier in _BARRIERS):
        return None
    index = _halved(loop)
    if index is None or len(loop.body) != 2 or loop.body[-1] != barrier:
        return None
    (wanted,), found = _last(loop.body[:1], index), _known(then)
    if not (isinstance(wanted, n.If) and isinstance(found, n.If)):
        return None
    size = len(wanted.then)
    if wanted.condition != found.condition or found.then[:size] != wanted.then or then.otherwise:
        return None
    condition = n.Binary(">", index, _ZERO)
    made: list[n.Statement] = [replace(loop, condition=condition, body=(barrier, loop.body[0]))]
    return made + ([replace(then, then=then.then[size:])] if len(then.then) > size else [])


def _halved(loop: n.For) -> n.Name | None:
    """What a loop halves until it is 2."""
    match loop:
        case n.For(
            condition=n.Binary(">=", n.Name() as index, n.Literal(value=2)),
            step=n.Assign(target, n.Literal(value=1), ">>="),
        ) if target == index:
            return index
    return None


def _last(turn: Body, index: n.Name) -> list[n.Statement]:
    """A turn for 1, with what is known there."""

    def last(node: n.Node) -> n.Node:
        return _ONE if node == index else node

    return [_known(bottom_up(s, last)) for s in turn]


def _known(statement: n.Statement) -> n.Statement:
    """A statement with 0 in the place of what is asked to be 0."""
    match statement:
        case n.If(n.Binary("<" | "==" as operator, asked, n.Literal(value=limit)), then, ()) if (
            limit == (operator == "<")
        ):
            pass
        case _:
            return statement
    own = asked.operand if isinstance(asked, n.Cast) else asked

    def zero(node: n.Node) -> n.Node:
        match node:
            case n.Binary("+", left, right) if left == _ZERO:
                return right
            case n.Binary("+", left, right) if right == _ZERO:
                return left
        return _ZERO if node == own else node

    condition = n.Binary("==", own, _ZERO)
    return n.If(condition, tuple(bottom_up(s, zero) for s in then))
