"""Counters of which a loop keeps the number before: ``old = i; ...; i = old + 1``.

What is read behind the loop is the counter itself. Whether that is so is for those to say who
compare what becomes of it.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

from ptxkit.cuda import nodes as n
from ptxkit.decompiler.lift.rewrite import bottom_up, rebuilt_lists, written

Body = tuple[n.Statement, ...]


def without_old_counts(function: n.Function, take: Callable[[], bool]) -> n.Function:
    """A function whose loops keep no number from before a step.

    >>> from ptxkit.cuda import print_function, read
    >>> kernel = read('''(kernel k (params (param (ptr int) x) (param int n))
    ...     (let int i 0) (let int old)
    ...     (do (< i n) (= old i) (= ([] x i) 7) (= i (+ old 1)))
    ...     (= ([] x 0) (+ old 1)))''')
    >>> print(print_function(without_old_counts(kernel, lambda: True)), end="")
    __global__ void k(int *x, int n) {
        int i = 0;
        do {
            x[i] = 7;
            i++;
        } while (i < n);
        x[0] = i;
    }
    """

    def changed(body: Body) -> Body:
        made = [rebuilt_lists(s, changed) for s in body]
        for place, loop in enumerate(made):
            if isinstance(loop, n.DoWhile):
                after = _without(made, place)
                if after is not None and take():
                    made = after
        return tuple(made)

    return replace(function, body=changed(function.body or ()))


def _without(body: list[n.Statement], place: int) -> list[n.Statement] | None:
    """A list without what the loop at a place keeps; None where it keeps nothing."""
    loop = body[place]
    assert isinstance(loop, n.DoWhile)
    for at, statement in enumerate(loop.body):
        match statement:
            case n.Assign(n.Name() as old, n.Name() as counter, "="):
                pass
            case _:
                continue
        steps = [
            (k, s.value) for k, s in enumerate(loop.body)
            if isinstance(s, n.Assign) and s.target == counter and _is_next(s, old)
        ]  # fmt: skip
        declared = next((k for k in range(place) if _declares(body[k], old.name)), None)
        if len(steps) != 1 or declared is None or _sets(loop, old) + _sets(loop, counter) != 2:
            continue
        moved, following = steps[0]
        if moved < at or any(counter.name in s.names() for s in loop.body[:at]):
            continue
        # Behind its step the counter is another number.
        if any(old.name in s.names() for s in loop.body[moved + 1 :]):
            continue
        assert isinstance(following, n.Binary)
        step = n.Assign(counter, following.right, "+=")
        inside = [_instead(s, old, counter) for s in loop.body]
        inside[moved] = step
        del inside[at]
        condition = _instead(_instead(loop.condition, following, counter), old, counter)
        rest = [_instead(s, following, counter) for s in body[place + 1 :]]
        if old.name in loop.condition.names() or any(old.name in s.names() for s in rest):
            continue
        whole = replace(loop, body=tuple(inside), condition=condition)
        before = [s for k, s in enumerate(body[:place]) if k != declared]
        return [*before, whole, *rest]
    return None


def _is_next(statement: n.Assign, old: n.Name) -> bool:
    match statement:
        case n.Assign(value=n.Binary("+", left, n.Literal()), operator="="):
            return left == old
    return False


def _declares(statement: n.Statement, name: str) -> bool:
    match statement:
        case n.Declare(name=own, value=None, space=""):
            return own == name
    return False


def _sets(loop: n.DoWhile, variable: n.Name) -> int:
    return sum(name == variable.name for s in loop.body for name in written(s))


def _instead(node: Any, old: n.Expression, new: n.Expression) -> Any:
    return bottom_up(node, lambda part: new if part == old else part)
