"""Loops that count, and may end before, as ``for``.

A loop that is left in two ways, one of them with all turns done, is lifted as one without an end
whose last statements ask for both: ``while (true) { ...; i++; if (x || i >= n) { a; return; } }``.
People count in its head, and write what follows all turns behind it.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from ptxkit.cuda import nodes as n
from ptxkit.decompiler.lift.rewrite import written

Body = tuple[n.Statement, ...]
#: What a loop asks that is over when this holds.
_GOES_ON = {">=": "<", ">": "<=", "==": "!=", "<=": ">", "<": ">="}


def counted_to_the_end(function: n.Function, take: Callable[[], bool]) -> n.Function:
    """A function with such loops as ``for``, and what follows all turns behind them.

    >>> from ptxkit.cuda import print_function, read
    >>> kernel = read('''(kernel k (params (param (ptr float) x) (param float y))
    ...     (let float s 0.0f) (let int i 0)
    ...     (while true
    ...         (if (> ([] x i) y) (then (break)))
    ...         (+= s ([] x i)) (+= i 1)
    ...         (if (|| (> s 9.0f) (>= i 64)) (then (= ([] x 0) 0.0f) (return))))
    ...     (= ([] x 0) s))''')
    >>> print(print_function(counted_to_the_end(kernel, lambda: True)), end="")
    __global__ void k(float *x, float y) {
        float s = 0.0f;
        int i = 0;
        for (; i < 64; i++) {
            if (x[i] > y) {
                x[0] = s;
                return;
            }
            s += x[i];
            if (s > 9.0f) break;
        }
        x[0] = 0.0f;
    }
    """

    def last(body: Body) -> Body:
        """Statements that nothing follows."""
        for place, statement in enumerate(body):
            if isinstance(statement, n.While):
                made = _counted(statement, body[place + 1 :])
                if made is not None and take():
                    return (*body[:place], *made)
        match body:
            case (*before, n.If() as choice):
                both = replace(choice, then=last(choice.then), otherwise=last(choice.otherwise))
                return (*before, both)
        return body

    return replace(function, body=last(function.body or ()))


def _counted(loop: n.While, after: Body) -> Body | None:
    match loop:
        case n.While(
            condition=n.Literal(value=True | 1),
            body=(*turn, n.If(condition=over, then=(*at_end, n.Return(value=None)), otherwise=())),
        ):
            pass
        case _:
            return None
    for asked, other in _parts(over):
        match asked:
            case n.Binary(operator, n.Name(name=name), bound) if operator in _GOES_ON:
                pass
            case _:
                continue
        steps = [k for k, s in enumerate(turn) if name in written(s)]
        if len(steps) != 1 or not isinstance(turn[steps[0]], n.Assign):
            continue
        step, later = turn[steps[0]], turn[steps[0] + 1 :]
        changed = {x for s in turn for x in written(s)}
        if any(name in s.names() for s in later) or bound.names() & changed:
            continue
        if name in {x for s in (*after, *at_end) for x in s.names()}:
            continue
        body: list[n.Statement] = []
        left = False
        for s in (*turn[: steps[0]], *later):
            match s:
                case n.If(then=(*then, n.Break()), otherwise=()) if not left:
                    left = True
                    body.append(replace(s, then=(*then, *_with_return(after))))
                case _:
                    body.append(s)
        if not left or any(_leaves(s) for s in body):
            return None
        if other is not None:
            body.append(n.If(other, (n.Break(),)))
        goes_on = n.Binary(_GOES_ON[asked.operator], asked.left, asked.right)
        return (n.For(None, goes_on, step, tuple(body), loop.unroll), *at_end)
    return None


def _parts(over: n.Expression) -> list[tuple[n.Expression, n.Expression | None]]:
    """What may ask whether all turns are done, and what else ends a loop."""
    match over:
        case n.Binary("||", left, right):
            return [(right, left), (left, right)]
    return [(over, None)]


def _with_return(body: Body) -> Body:
    return body if body and isinstance(body[-1], n.Return) else (*body, n.Return())


def _leaves(statement: n.Statement) -> bool:
    """Whether a statement leaves its loop, or goes on with the next turn, in another way."""
    if isinstance(statement, n.For | n.While | n.DoWhile):
        return any(isinstance(p, n.Goto | n.Label) for p in statement.walk())
    return any(isinstance(p, n.Break | n.Continue | n.Goto | n.Label) for p in statement.walk())
