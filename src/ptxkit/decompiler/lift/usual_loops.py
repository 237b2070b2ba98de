"""Loops that a compiler made of one, for what a function asks about what stays the same in it.

``for (...) s += powf(x[i], y)`` becomes ``if (y != 0.0f) ... else ...``, with a loop each: in one
of them the function gives something simple. It gives that by itself, too. As in `roll` nothing is
proved here: the verifier decides.
"""

from __future__ import annotations

from collections.abc import Iterator

from ptxkit.cuda import nodes as n
from ptxkit.decompiler.lift.mathlib.miner import FUNCTIONS
from ptxkit.decompiler.lift.rewrite import rebuilt_lists, statements_of, written

Body = tuple[n.Statement, ...]
_LOOPS = n.For, n.While, n.DoWhile


def with_usual_loops(body: Body) -> Body:
    """The body with the loops alone that call a function.

    >>> from ptxkit.cuda import print_statements, read
    >>> loops = read('''(if (!= y 0.0f)
    ...     (then (for (= i 0) (< i n) (+= i 1) (+= s (call powf ([] x i) y))))
    ...     (else (for (= j 0) (< j n) (+= j 1) (+= s 1.0f))))''')
    >>> print(print_statements(with_usual_loops((loops,))), end="")
    for (i = 0; i < n; i++) s += powf(x[i], y);
    """
    made: list[n.Statement] = []
    for statement in body:
        inside = rebuilt_lists(statement, with_usual_loops)
        usual = _usual(inside) if isinstance(inside, n.If) else None
        made += (inside,) if usual is None else usual
    return tuple(made)


def _usual(asked: n.If) -> Body | None:
    """The side of a question that has a loop for every answer."""
    match asked.condition:
        # Whether a power is 1, or whether an argument is a number at all.
        case n.Binary("==" | "!=", n.Name(name=name), n.Literal(value=0 | 1)):
            pass
        case n.Binary("<=" | ">", n.Call("fabsf" | "fabs", (n.Name(name=name),))):
            pass
        case _:
            return None
    for one, other in ((asked.then, asked.otherwise), (asked.otherwise, asked.then)):
        loops = _has_loop(one) and _has_loop(other)
        # What is simple calls nothing.
        if loops and _asks(one, name) and not any(_calls(other)):
            return one
    return None


def _has_loop(body: Body) -> bool:
    return any(isinstance(part, _LOOPS) for part in statements_of(body))


def _asks(body: Body, name: str) -> bool:
    """Whether a function of several arguments is called with a variable that stays the same."""
    if any(name in written(statement) for statement in body):
        return False
    calls = (call for call in _calls(body) if len(call.arguments) > 1)
    return any(n.Name(name) in call.arguments for call in calls)


def _calls(body: Body) -> Iterator[n.Call]:
    """The calls of functions of the library."""
    for statement in body:
        for part in statement.walk():
            if isinstance(part, n.Call) and part.function in FUNCTIONS:
                yield part
