"""Steps of which each does the same with half the distance, as the loop that they were.

``f1 = f + __shfl_xor_sync(m, f, 16); f2 = f1 + __shfl_xor_sync(m, f1, 8); ...`` is a loop over
distances. The compiler writes it out, and may put the last step into what follows.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, replace
from itertools import chain, count
from typing import Any

from ptxkit.cuda import nodes as n
from ptxkit.cuda.types import INT
from ptxkit.decompiler.lift.rewrite import bottom_up, rebuilt_lists, written

Body = tuple[n.Statement, ...]
#: How many steps make a loop, and how far behind them the last one may be.
_LEAST, _NEAR = 3, 4


def rolled_steps(function: n.Function, take: Callable[[], bool]) -> n.Function:
    """A function with loops in the place of such steps.

    >>> from ptxkit.cuda import print_function, read
    >>> kernel = read('''(kernel k (params (param (ptr float) x))
    ...     (let float a ([] x 0))
    ...     (let float b (+ a (call __shfl_xor_sync -1 a 4)))
    ...     (let float c (+ b (call __shfl_xor_sync -1 b 2)))
    ...     (= ([] x 0) (* 2.0f (+ c (call __shfl_xor_sync -1 c 1)))))''')
    >>> print(print_function(rolled_steps(kernel, lambda: True)), end="")
    __global__ void k(float *x) {
        float a = x[0];
        float b = a;
        for (int stride = 4; stride > 0; stride >>= 1) b = b + __shfl_xor_sync(-1, b, stride);
        x[0] = 2.0f * b;
    }
    """
    body = function.body or ()
    uses = Counter(p.name for s in body for p in s.walk() if isinstance(p, n.Name))
    sets = Counter(name for s in body for name in written(s))
    taken = set(uses) | set(sets) | {p.name for p in function.parameters}

    def rolled(inner: Body) -> Body:
        made = tuple(rebuilt_lists(s, rolled) for s in inner)
        place = 0
        while place < len(made):
            found = _steps(made, place, uses, sets)
            if found is not None and take():
                index = next(x for x in chain(["stride"], (f"stride{k}" for k in count(1)))
                             if x not in taken)  # fmt: skip
                taken.add(index)
                made = (*made[:place], *_loop(found, index), *found.after)
            place += 1
        return made

    return replace(function, body=rolled(body))


@dataclass(frozen=True, slots=True)
class _Found:
    first: n.Declare
    before: n.Name
    """What the first step begins with."""
    distance: int
    after: Body


def _steps(body: Body, place: int, uses: Counter[str], sets: Counter[str]) -> _Found | None:
    """The steps that begin with a statement, down to a distance of 1."""
    first = body[place]
    if not isinstance(first, n.Declare) or first.value is None or first.space:
        return None
    for before, distance in _starts(first.value):
        name, value, at = first.name, first.value, place + 1
        left = distance
        while left > 1 and at < len(body):
            step = body[at]
            wanted = _next(value, before, n.Name(name), left)
            if not (isinstance(step, n.Declare) and step.value == wanted and sets[name] == 1):
                break
            if uses[name] != _times(wanted, name):
                break
            name, value, before = step.name, wanted, n.Name(name)
            at, left = at + 1, left // 2
        if left == 1 and at - place >= _LEAST:
            rest = tuple(bottom_up(s, _put(n.Name(name), n.Name(first.name))) for s in body[at:])
            return _Found(first, *_begin(first, distance), rest)
        if left == 2 and at - place >= _LEAST - 1 and sets[name] == 1:
            last = _next(value, before, n.Name(name), left)
            after = _with_last(body[at:], name, last, first.name, uses, sets)
            if after is not None:
                return _Found(first, *_begin(first, distance), after)
    return None


def _begin(first: n.Declare, distance: int) -> tuple[n.Name, int]:
    assert first.value is not None
    return next((b, d) for b, d in _starts(first.value) if d == distance)[0], distance


def _starts(value: n.Expression) -> list[tuple[n.Name, int]]:
    """What is exchanged with which distance in a value."""
    return [
        (part.arguments[1], int(part.arguments[2].value))
        for part in value.walk()
        if isinstance(part, n.Call) and part.function.startswith("__shfl_")
        and len(part.arguments) == 3 and isinstance(part.arguments[1], n.Name)
        and isinstance(part.arguments[2], n.Literal) and part.arguments[2].value > 1
    ]  # fmt: skip


def _next(value: n.Expression, old: n.Name, new: n.Name, distance: int) -> n.Expression:
    """The same with another variable, and half the distance."""

    def change(node: Any) -> Any:
        if node == old:
            return new
        match node:
            case n.Call(arguments=(mask, what, n.Literal() as far)) if (
                node.function.startswith("__shfl_") and far.value == distance
            ):
                return replace(node, arguments=(mask, what, replace(far, value=distance // 2)))
        return node

    made: n.Expression = bottom_up(value, change)
    return made


def _times(value: n.Expression, name: str) -> int:
    return sum(part == n.Name(name) for part in value.walk())


def _with_last(
    after: Body, name: str, last: n.Expression, made: str, uses: Counter[str], sets: Counter[str]
) -> Body | None:
    """What follows, with the last step as a variable; None where it is not there."""
    near = list(after[:_NEAR])
    for place, statement in enumerate(near):
        match statement:
            # A part of the last step may have a name.
            case n.Declare(name=part, value=value, space="") if (
                value is not None
                and name in value.names()
                and uses[part] == sets[part] == 1
                and value != last
            ):
                rest = [bottom_up(s, _put(n.Name(part), value)) for s in near[place + 1 :]]
                near = [*near[:place], *rest]
                break
    total = sum(_times_of(s, last) for s in near)
    if not total or uses[name] != total * _times(last, name):
        return None
    changed = (bottom_up(s, _put(last, n.Name(made))) for s in near)
    return (*changed, *after[_NEAR:])


def _times_of(statement: n.Statement, last: n.Expression) -> int:
    return sum(part == last for part in statement.walk())


def _put(old: n.Expression, new: n.Expression) -> Callable[[Any], Any]:
    return lambda node: new if node == old else node


def _loop(found: _Found, index: str) -> Body:
    first, stride = found.first, n.Name(index)
    own = n.Name(first.name)

    def change(node: Any) -> Any:
        if node == found.before:
            return own
        match node:
            case n.Call(arguments=(mask, what, n.Literal(value=far))) if (
                node.function.startswith("__shfl_") and far == found.distance
            ):
                return replace(node, arguments=(mask, what, stride))
        return node

    assert first.value is not None
    step = n.Assign(own, bottom_up(first.value, change))
    loop = n.For(
        n.Declare(INT, index, n.integer(found.distance)),
        n.Binary(">", stride, n.integer(0)),
        n.Assign(stride, n.integer(1), ">>="),
        (step,),
    )
    return (replace(first, value=found.before), loop)
