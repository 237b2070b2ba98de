"""Loops to a limit that is reached: asked behind the step, as people ask.

A compiler that knows that nothing overflows asks for the last turn before it steps on.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from functools import partial
from typing import Any

from ptxkit.cuda import nodes as n
from ptxkit.cuda.types import INT, Type
from ptxkit.decompiler.lift.many_turns import with_instead
from ptxkit.decompiler.lift.rewrite import Body, bottom_up, written

Steps = dict[n.Index, tuple[n.Expression, ...]]
"""What is known of elements."""


def with_reached_limits(body: Body, types: dict[str, Type], steps: Steps | None = None) -> Body:
    """``do { ...; c = i < n; i++; } while (c);`` as ``do { ...; i++; } while (i <= n);``.

    What is known of elements, ``steps``, is known of them under their new names, too.

    >>> from ptxkit.cuda.printer import print_function
    >>> from ptxkit.cuda.types import BOOL, VOID
    >>> i, c, size = map(n.Name, ("i", "c", "n"))
    >>> turn = n.Assign(n.Index(n.Name("x"), i), i)
    >>> asks, steps = n.Assign(c, n.Binary("<", i, size)), n.Assign(i, n.integer(1), "+=")
    >>> loop = n.DoWhile((turn, asks, steps), c)
    >>> made = with_reached_limits((loop,), {"i": INT, "n": INT, "c": BOOL})
    >>> print(print_function(n.Function("f", (), made, VOID)), end="")
    __global__ void f() {
        do {
            x[i] = i;
            i++;
        } while (i <= n);
    }
    """
    names = Counter(p.name for s in body for p in s.walk() if isinstance(p, n.Name))
    known = {} if steps is None else steps

    def change(node: Any) -> Any:
        if not isinstance(node, n.DoWhile):
            return node
        return _asked_before(node, names, types) or _kept_before(node, names, types, known) or node

    return tuple(bottom_up(statement, change) for statement in body)


def _asked_before(node: n.DoWhile, names: Counter[str], types: dict[str, Type]) -> n.DoWhile | None:
    """A loop that asks, steps on, and goes on if the answer was yes."""
    for place, statement in enumerate(node.body):
        match statement:
            case n.Assign(
                n.Name(name=flag) as own,
                n.Binary("<" | "!=" | "<=" as operator, n.Name(name=index) as left, limit),
                "=",
            ) if own == node.condition and names[flag] == 2 and types.get(index) == INT:
                pass
            case _:
                continue
        step = n.Assign(left, n.Literal(1, INT), "+=")
        behind = node.body[place + 1 :]
        others = [s for s in behind if s != step]
        touched = {name for s in others for name in (*s.names(), *written(s))}
        if behind.count(step) != 1 or index in limit.names() or index in touched:
            return None
        if touched & limit.names():
            return None
        asked = n.Binary("<=", left, limit)
        if operator == "<=":
            asked = n.Binary("<", left, n.Binary("+", limit, n.Literal(2, INT)))
        return replace(node, body=(*node.body[:place], *others, step), condition=asked)
    return None


def _kept_before(
    node: n.DoWhile, names: Counter[str], types: dict[str, Type], known: Steps
) -> n.DoWhile | None:
    """A loop that keeps the number of a turn, and asks that whether to go on."""
    match node.body:
        case (
            *turn,
            n.Assign(
                n.Name(name=index) as counter,
                n.Binary("+", n.Name(name=kept) as old, n.Literal(value=1) as one),
                "=",
            ),
        ) if index != kept and types.get(index) == INT:
            pass
        case _:
            return None
    keeps = n.Assign(old, counter)
    if keeps not in (turn[0], turn[-1]) if turn else True:
        return None
    inside = Counter(p.name for p in node.walk() if isinstance(p, n.Name))
    others = [s for s in turn if s != keeps]
    if inside[kept] != names[kept] or {kept, index} & {x for s in others for x in written(s)}:
        return None
    asked = bottom_up(node.condition, lambda part: _reached(part, kept, counter))
    if kept in asked.names():
        return None
    use = partial(with_instead, old=old, new=counter)
    turned = tuple(bottom_up(s, use) for s in others)
    for element, steps in list(known.items()):
        if kept in element.names():
            known[bottom_up(element, use)] = tuple(bottom_up(step, use) for step in steps)
    step = n.Assign(counter, one, "+=")
    return replace(node, body=(*turned, step), condition=asked)


def _reached(part: Any, kept: str, counter: n.Name) -> Any:
    """What was asked of a number before it was moved on, asked of it behind that."""
    match part:
        case n.Binary("<" | "!=", n.Name(name=name), limit) if (
            name == kept and counter.name not in limit.names()
        ):
            return n.Binary("<=", counter, limit)
    return part
