"""Loops to a limit that is reached: asked behind the step, as people ask.

A compiler that knows that nothing overflows asks for the last turn before it steps on.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from typing import Any

from ptxkit.cuda import nodes as n
from ptxkit.cuda.types import INT, Type
from ptxkit.decompiler.lift.rewrite import Body, bottom_up


def with_reached_limits(body: Body, types: dict[str, Type]) -> Body:
    """``do { ...; c = i < n; i++; } while (c);`` as ``do { ...; i++; } while (i <= n);``.

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

    def change(node: Any) -> Any:
        match node:
            case n.DoWhile(
                body=(
                    *turn,
                    n.Assign(
                        n.Name(name=flag),
                        n.Binary("<" | "!=", n.Name(name=index) as left, limit),
                        "=",
                    ),
                    n.Assign(n.Name(name=stepped), n.Literal(value=1), "+=") as step,
                ),
                condition=n.Name(name=asked),
            ) if (
                flag == asked
                and names[flag] == 2
                and index == stepped
                and index not in limit.names()
                and types.get(index) == INT
            ):
                return replace(node, body=(*turn, step), condition=n.Binary("<=", left, limit))
            case n.DoWhile(
                body=(
                    *turn,
                    n.Assign(n.Name(name=kept), n.Name(name=index) as counter, "="),
                    n.Assign(
                        n.Name(name=stepped),
                        n.Binary("+", n.Name(name=taken), n.Literal(value=1) as one),
                        "=",
                    ),
                ),
                condition=condition,
            ) if (
                kept == taken and index == stepped and names[kept] == 3 and types.get(index) == INT
            ):
                asked = bottom_up(condition, lambda part: _reached(part, kept, counter))
                if kept not in asked.names():
                    step = n.Assign(counter, one, "+=")
                    return replace(node, body=(*turn, step), condition=asked)
        return node

    return tuple(bottom_up(statement, change) for statement in body)


def _reached(part: Any, kept: str, counter: n.Name) -> Any:
    """What was asked of a number before it was moved on, asked of it behind that."""
    match part:
        case n.Binary("<" | "!=", n.Name(name=name), limit) if (
            name == kept and counter.name not in limit.names()
        ):
            return n.Binary("<=", counter, limit)
    return part
