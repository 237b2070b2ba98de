"""Loops that were unrolled, with the turns that are left over first: one loop again.

A compiler does ``n % 4`` turns in a loop of its own, and then four at a time. The first loop says
what a turn is, the second one when to end. Whether both do the same is for those to say who compare
what becomes of it.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

from ptxkit.cuda import nodes as n
from ptxkit.cuda.types import INT
from ptxkit.decompiler.lift.rewrite import rebuilt_lists, written

Body = tuple[n.Statement, ...]
#: How many turns are done at a time.
_TIMES = (2, 4, 8, 16)


def without_remainders(function: n.Function, take: Callable[[], bool]) -> n.Function:
    """A function with one loop for both.

    >>> from ptxkit.cuda import print_function, read
    >>> kernel = read('''(kernel k (params (param (ptr float) x) (param int n))
    ...     (let float sum 0.0f) (let int i 0)
    ...     (for (let int left (% n 2)) (!= left 0) (-= left 1) (+= sum ([] x i)) (+= i 1))
    ...     (if (>= n 2) (then
    ...         (do (< i n) (+= sum ([] x i)) (+= sum ([] x (+ i 1))) (+= i 2))))
    ...     (= ([] x 0) sum))''')
    >>> print(print_function(without_remainders(kernel, lambda: True)), end="")
    __global__ void k(float *x, int n) {
        float sum = 0.0f;
        int i = 0;
        for (; i < n; i++) sum += x[i];
        x[0] = sum;
    }
    """

    def single(body: Body) -> Body:
        made = [rebuilt_lists(s, single) for s in body]
        place = 0
        while place + 1 < len(made):
            rest = _rest(made[place])
            loop = _one_loop(rest, made[place + 1]) if rest is not None else None
            if loop is not None and take():
                made[place : place + 2] = [loop]
            place += 1
        return tuple(made)

    changed = single(function.body or ())
    if changed == function.body:
        return function
    return replace(function, body=_without_unread(changed))


@dataclass(frozen=True, slots=True)
class _Rest:
    """The loop of the turns that are left over."""

    turn: Body
    setup: Body = ()


def _rest(node: n.Statement) -> _Rest | None:
    """What a statement does in each turn, if it only counts down to 0."""
    match node:
        case n.For(
            condition=condition, step=n.Assign(n.Name(name=count), n.Literal(value=1), "-=")
        ):
            return _Rest(node.body) if _asks(condition, count) else None
        case n.While(condition=n.Binary("!=", n.Name(name=count), n.Literal(value=0))):
            return _down(node.body, count)
        case n.If(
            condition=n.Binary("!=", n.Name(name=count), n.Literal(value=0)),
            then=(*setup, n.DoWhile(body=body, condition=again)),
            otherwise=(),
        ) if _asks(again, count):
            found = _down(body, count)
            return _Rest(found.turn, tuple(setup)) if found is not None else None
    return None


def _down(body: Body, count: str) -> _Rest | None:
    steps = [s for s in body if isinstance(s, n.Assign) and moved_by(s) == (count, -1)]
    rest = tuple(s for s in body if s not in steps)
    if len(steps) != 1 or any(count in s.names() for s in rest):
        return None
    return _Rest(rest)


def _asks(condition: n.Expression | None, count: str) -> bool:
    match condition:
        case n.Binary("!=", n.Name(name=name), n.Literal(value=0)):
            return name == count
    return False


def moved_by(node: n.Statement) -> tuple[str, int] | None:
    """Which variable is moved by what number."""
    match node:
        case n.Assign(n.Name(name=name), n.Literal(value=int(by)), "+=" | "-="):
            return name, by if node.operator == "+=" else -by
        case n.Assign(
            n.Name(name=name), n.Binary("+" | "-" as sign, left, n.Literal(value=int(by))), "="
        ):
            plain = left.operand if isinstance(left, n.Cast) else left
            return (name, by if sign == "+" else -by) if plain == n.Name(name) else None
    return None


def _one_loop(rest: _Rest, many: n.Statement) -> n.Statement | None:
    """The loop of all turns, if the second one does several of the first at a time."""
    match many:
        case n.If(then=(*setup, n.DoWhile(body=body, condition=n.Binary() as again)), otherwise=()):
            pass
        case _:
            return None
    steps = dict(found for s in rest.turn if (found := moved_by(s)))
    for statement in body:
        found = moved_by(statement)
        if found is None or again.left != n.Name(found[0]):
            continue
        counter, limit = found[0], _limit(again, tuple(setup))
        if limit is None or not isinstance(limit.left, n.Name):
            return None
        by = steps.get(limit.left.name, 0)
        if not by or found[1] % by or found[1] // by not in _TIMES:
            return None
        inside = {s.name for s in (*setup, *body) if isinstance(s, n.Declare)}
        changed = {name for s in body for name in written(s)} - inside - {counter}
        if not changed <= {name for s in rest.turn for name in written(s)}:
            return None
        if rest.setup and limit.names() & {name for s in rest.setup for name in written(s)}:
            return None
        turn = tuple(s for s in rest.turn if moved_by(s) != (limit.left.name, by))
        sign = "+=" if by > 0 else "-="
        move = n.Assign(limit.left, n.Literal(abs(by), INT), sign)
        loop = n.For(None, limit, move, turn)
        return loop if not rest.setup else n.If(limit, (*rest.setup, loop))
    return None


def _limit(again: n.Binary, setup: Body) -> n.Binary | None:
    """The condition in words of a variable of the first loop, if it is of one that starts there."""
    for statement in setup:
        match statement:
            case n.Declare(name=name, value=n.Binary("+" | "-" as sign, n.Name() as of, far)) if (
                again.left == n.Name(name)
            ):
                if not (isinstance(far, n.Literal) and isinstance(again.right, n.Literal)):
                    return None
                by = int(far.value) if sign == "+" else -int(far.value)
                number = n.Literal(int(again.right.value) - by, INT)
                return n.Binary(again.operator, of, number)
            case n.Declare(name=name) if again.left == n.Name(name):
                return None
    return again


def _without_unread(body: Body) -> Body:
    """Statements without variables that nobody reads behind where they are declared."""
    while True:
        made = _kept(body)
        if made == body:
            return body
        body = made


def _kept(body: Body) -> Body:
    return tuple(
        rebuilt_lists(s, _kept) for place, s in enumerate(body)
        if not isinstance(s, n.Declare) or s.space
        or any(s.name in later.names() for later in body[place + 1 :])
        or any(isinstance(p, n.Call) for p in s.walk())
    )  # fmt: skip
