"""Loops that are asked for twice: by an ``if`` around them, and by themselves."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from dataclasses import replace
from typing import Any

from ptxkit.cuda import nodes as n
from ptxkit.decompiler.lift.rewrite import rebuilt_lists, written

Body = tuple[n.Statement, ...]
_LOOPS = n.For, n.While, n.DoWhile


def unguarded_loops(
    function: n.Function, take: Callable[[], bool], *, inside: bool = False
) -> n.Function:
    """A function with loops that ask before their first turn, and no ``if`` that asks before.

    What is computed between the two, and stays so, may be computed ``inside`` of the loop instead.

    >>> from ptxkit.cuda import print_function, read
    >>> kernel = read('''(kernel k (params (param (ptr float) x) (param int n))
    ...     (let int i threadIdx.x)
    ...     (if (> n i) (then (do (< i n) (= ([] x i) 0.0f) (+= i 32)))))''')
    >>> kernel = unguarded_loops(kernel, lambda: True)
    >>> print(print_function(started_loops(kernel, lambda: True)), end="")
    __global__ void k(float *x, int n) {
        for (int i = threadIdx.x; i < n; i += 32) x[i] = 0.0f;
    }

    So are those behind a ``return`` that asks:

    >>> kernel = read('''(kernel k (params (param (ptr float) x) (param int n))
    ...     (let int i threadIdx.x)
    ...     (if (>= i n) (then (return)))
    ...     (do (< i n) (= ([] x i) 0.0f) (+= i 32)))''')
    >>> kernel = unguarded_loops(kernel, lambda: True)
    >>> print(print_function(started_loops(kernel, lambda: True)), end="")
    __global__ void k(float *x, int n) {
        for (int i = threadIdx.x; i < n; i += 32) x[i] = 0.0f;
    }
    """
    uses = _uses(function)

    def unguarded(body: Body) -> Body:
        made: list[n.Statement] = []
        for statement in body:
            one = rebuilt_lists(statement, unguarded)
            match one:
                case n.If(condition, (*setup, loop), ()) if (
                    isinstance(loop, _LOOPS)
                    and all(_is_setup(s) for s in setup)
                    and _is_about(condition, setup, loop, made)
                    and _is_alone(setup, one, uses)
                    and (free := _without_guard(setup, loop, take, inside)) is not None
                ):
                    made += free
                    continue
            made.append(one)
        return tuple(made)

    body = function.body or ()
    *first, loop = body or (None,)
    place = next((k for k in range(len(first)) if all(map(_is_setup, first[k + 1 :]))), 0)
    match first[place : place + 1], loop:
        case [n.If(condition, (n.Return(value=None),), ())], n.DoWhile() if (
            _is_about(condition, first[place + 1 :], loop, first[:place])
            and (free := _without_guard(first[place + 1 :], loop, take, inside)) is not None
        ):
            body = (*first[:place], *free)
    return replace(function, body=unguarded(body))


def _is_setup(node: n.Statement) -> bool:
    """Whether a statement does nothing but set a variable."""
    match node:
        case n.Declare(space="", value=n.Node() as value) | n.Assign(n.Name(), value, "="):
            return not any(isinstance(p, n.Call) for p in value.walk())
    return False


def _is_about(
    condition: n.Expression, setup: list[Any], loop: Any, before: list[n.Statement]
) -> bool:
    """Whether a condition asks for anything that the loop's depends on."""
    if loop.condition is None:
        return False
    asked = loop.condition.names()
    start = loop.start if isinstance(loop, n.For) else None
    for one in reversed([*before, *setup, start]):
        match one:
            case n.Declare(name=name, value=n.Node() as value) if name in asked:
                asked |= value.names()
            case n.Assign(n.Name(name=name), value) if name in asked:
                asked |= value.names()
    return bool(condition.names() & asked)


def _is_alone(setup: list[Any], whole: n.Statement, uses: Counter[str]) -> bool:
    """Whether what is declared for a loop is nowhere else the name of anything."""
    own = {s.name for s in setup if isinstance(s, n.Declare)}
    inside = Counter(_mentioned(whole))
    return all(inside[name] == uses[name] for name in own)


def _without_guard(
    setup: list[Any], loop: Any, take: Callable[[], bool], inside: bool
) -> list[n.Statement] | None:
    """A loop without the question before it."""
    if not inside:
        return [*setup, _asking_first(loop)] if take() else None
    heads = [loop.start, loop.step] if isinstance(loop, n.For) else []
    changed = {name for s in (*loop.body, *heads) if s is not None for name in written(s)}
    asked = {x for s in (loop.condition, *heads) if s is not None for x in s.names()}
    inner = [s for s in setup if isinstance(s, n.Declare) and s.value is not None
             and s.name not in asked | changed and not s.value.names() & changed]  # fmt: skip
    if not inner or not take():
        return None
    outer = [s for s in setup if s not in inner]
    return [*outer, _asking_first(replace(loop, body=(*inner, *loop.body)))]


def _asking_first(loop: Any) -> Any:
    if isinstance(loop, n.DoWhile):
        return n.While(loop.condition, loop.body, loop.unroll)
    return loop


def _uses(function: n.Function) -> Counter[str]:
    return Counter(name for s in function.body or () for name in _mentioned(s))


def _mentioned(node: n.Node) -> list[str]:
    return [p.name for p in node.walk() if isinstance(p, n.Name | n.Declare)]


# ---- starts ----------------------------------------------------------------------------------


def started_loops(function: n.Function, take: Callable[[], bool]) -> n.Function:
    """A function with counters declared, and moved on, by the loops that alone count with them."""

    def started(body: Body) -> Body:
        made: list[n.Statement] = []
        for place, statement in enumerate(body):
            one: Any = rebuilt_lists(statement, started)
            loop = stepping(one) if isinstance(one, n.While) else one
            if isinstance(loop, n.For) and loop.start is None:
                start = _start(made, loop, body[place + 1 :])
                if start is not None and take():
                    one = replace(loop, start=made.pop(start))
            made.append(one)
        return tuple(made)

    return replace(function, body=started(function.body or ()))


def stepping(loop: n.While) -> n.For | n.While:
    """A loop that ends with a step as a ``for`` with that step."""
    asked = loop.condition.names()
    if any(isinstance(p, n.Continue | n.Goto | n.Label) for p in loop.walk()):
        return loop
    for place in range(len(loop.body) - 1, -1, -1):
        step, later = loop.body[place], loop.body[place + 1 :]
        match step:
            case n.Assign(n.Name(name=name), value, operator) if name in asked and (
                operator != "=" or name in value.names()
            ):
                inside = {d.name for s in loop.body for d in s.walk() if isinstance(d, n.Declare)}
                moved = {name, *value.names()}
                if inside & value.names() or any(
                    name in s.names() or moved & set(written(s)) for s in later
                ):
                    return loop
                if any(name in written(s) for s in (*loop.body[:place], *later)):
                    return loop
                return n.For(None, loop.condition, step, (*loop.body[:place], *later), loop.unroll)
    return loop


def _start(before: list[n.Statement], loop: n.For, after: Body) -> int | None:
    """The place of what declares the counter of a loop, if it can be declared by that."""
    asked = loop.condition.names() if loop.condition is not None else set()
    stepped = set(written(loop.step)) if loop.step is not None else set()
    between: set[str] = set()
    for place in range(len(before) - 1, -1, -1):
        match before[place]:
            case n.Declare(name=name, space="", value=n.Node() as value) if name in asked & stepped:
                later = before[place + 1 :]
                if any(name in s.names() for s in (*later, *after)) or between & value.names():
                    return None
                return place
            case n.Declare(name=name, space="", value=value) if value is None or not any(
                isinstance(p, n.Call) for p in value.walk()
            ):
                between.add(name)
            case _:
                return None
    return None
