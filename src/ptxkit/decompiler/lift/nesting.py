"""Calls with an effect whose value only the next statement uses, written inside of that.

``t = __shfl_down_sync(m, x, 8); x += t;`` is ``x += __shfl_down_sync(m, x, 8);``. Nothing happens
between the two, and what else the second computes has no effect, so nothing changes its place.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import replace

from ptxkit.cuda import nodes as n
from ptxkit.decompiler.lift.rewrite import bottom_up, has_effect, read

Body = tuple[n.Statement, ...]


def nested(body: Body) -> Body:
    """The body with such calls where their values are used.

    >>> from ptxkit.cuda.types import INT
    >>> x, t, one = n.Name("x"), n.Name("t"), n.Literal(1, INT)
    >>> first = n.Assign(t, n.Call("__shfl_down_sync", (one, x, one)))
    >>> made = nested((first, n.Assign(x, t, "+=")))
    >>> made == (n.Assign(x, first.value, "+="),)
    True
    """
    reads = Counter(name for statement in body for name in read(statement))
    return _list(body, reads)


def _list(body: Body, reads: Counter[str]) -> Body:
    made: list[n.Statement] = []
    for statement in body:
        statement = _inside(statement, reads)
        joined = _joined(made[-1], statement, reads) if made else None
        if joined is None:
            made.append(statement)
        else:
            made[-1] = joined
    return tuple(made)


def _inside(node: n.Statement, reads: Counter[str]) -> n.Statement:
    match node:
        case n.If(condition, then, otherwise):
            return n.If(condition, _list(then, reads), _list(otherwise, reads))
        case n.While(body=body) | n.DoWhile(body=body) | n.For(body=body) | n.Block(body=body):
            return replace(node, body=_list(body, reads))
        case n.Switch(value, cases):
            return n.Switch(value, tuple(replace(c, body=_list(c.body, reads)) for c in cases))
    return node


def _joined(first: n.Statement, second: n.Statement, reads: Counter[str]) -> n.Assign | None:
    match first, second:
        case (
            n.Assign(n.Name(name=name), n.Call() as call, "="),
            n.Assign(n.Name(), value, operator),
        ):
            pass
        case _:
            return None
    uses = sum(part == n.Name(name) for part in value.walk())
    if reads[name] != 1 or uses != 1 or not has_effect(call) or has_effect(value):
        return None
    if any(_may_skip(part) for part in value.walk()):
        return None
    inner = bottom_up(value, lambda part: call if part == n.Name(name) else part)
    return n.Assign(second.target, inner, operator)


def _may_skip(node: n.Node) -> bool:
    """Whether C++ computes a part of it only sometimes."""
    return isinstance(node, n.Conditional) or (
        isinstance(node, n.Binary) and node.operator in ("&&", "||")
    )
