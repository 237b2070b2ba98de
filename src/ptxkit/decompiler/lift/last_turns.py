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
    return tuple(made)


def _longer(loop: n.For, turn: list[n.Statement]) -> n.For | None:
    match loop:
        case n.For(
            condition=n.Binary(">=", n.Name() as index, n.Literal(value=2)),
            step=n.Assign(target, n.Literal(value=1), ">>="),
        ) if target == index:
            pass
        case _:
            return None

    def last(node: n.Node) -> n.Node:
        return _ONE if node == index else node

    wanted = [_known(bottom_up(s, last)) for s in loop.body]
    if wanted != [_known(s) for s in turn]:
        return None
    return replace(loop, condition=n.Binary(">", index, _ZERO))


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
