"""Loops over the number of steps that an index takes, as loops over that index.

``for (i = 0; i < n; i += 32) s += x[i];`` has ``(n - 1) / 32 + 1`` turns where ``n`` is not 0. That
is what is left of it once a compiler has unrolled it and its copies are rolled up again.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any

from ptxkit.cuda import nodes as n
from ptxkit.decompiler.lift.rewrite import bottom_up, rebuilt_lists, written

Body = tuple[n.Statement, ...]
_ZERO, _ONE = n.integer(0), n.integer(1)


def counted_by_steps(function: n.Function, take: Callable[[], bool]) -> n.Function:
    """A function with such loops over their index, and without an ``if`` that asks for 0 before.

    >>> from ptxkit.cuda import print_function, read
    >>> kernel = read('''(kernel k (params (param (ptr float) x) (param uint n))
    ...     (let float sum 0.0f)
    ...     (if (!= n 0) (then
    ...         (let uint last (/ (- n 1) 32))
    ...         (for (let int j 0) (< j (+ last 1)) (+= j 1) (+= sum ([] x (* j 32))))))
    ...     (= ([] x 0) sum))''')
    >>> print(print_function(counted_by_steps(kernel, lambda: True)), end="")
    __global__ void k(float *x, unsigned int n) {
        float sum = 0.0f;
        for (int j = 0; j < n; j += 32) sum += x[j];
        x[0] = sum;
    }
    """
    values = {
        s.name: s.value for s in function.walk() if isinstance(s, n.Declare) and s.value is not None
    }

    def changed(body: Body) -> Body:
        made: list[n.Statement] = []
        for statement in body:
            loop = _unguarded(statement, values) or statement
            over = _by_index(loop, values) if isinstance(loop, n.For) else None
            taken = over.loop if over is not None and take() else statement
            made.append(rebuilt_lists(taken, changed))
        return tuple(made)

    return replace(function, body=changed(function.body or ()))


@dataclass(frozen=True, slots=True)
class _Whole:
    """A loop over an index."""

    loop: n.For
    end: n.Expression
    """Where the index ends."""
    count: str
    """The variable that has the number of steps."""


def _unguarded(guard: n.Statement, values: Mapping[str, n.Expression]) -> n.For | None:
    """The loop in an ``if`` that asks whether it has turns, and does nothing else."""
    match guard:
        case n.If(n.Binary("!=", asked, right), (*setup, n.For() as loop), ()) if right == _ZERO:
            over = _by_index(loop, values)
            if over is None or over.end != asked:
                return None
            own = all(isinstance(s, n.Declare) and s.name == over.count for s in setup)
            return loop if own else None
    return None


def _by_index(loop: n.For, values: Mapping[str, n.Expression]) -> _Whole | None:
    """A loop over the index, if it is over the number of its steps."""
    match loop:
        case n.For(
            n.Declare(name=counter, value=first) as start,
            n.Binary("<" | "<=" as operator, n.Name(name=asked), turns),
            n.Assign(n.Name(name=moved), step, "+="),
            body,
        ) if counter == asked == moved and first == _ZERO and step == _ONE:
            pass
        case _:
            return None
    match operator, turns:
        case "<=", n.Name() as last:
            pass
        case "<", n.Binary("+", n.Name() as last, more) if more == _ONE:
            pass
        case _:
            return None
    match values.get(last.name):
        case n.Binary(">>", n.Binary("-", end, one), n.Literal(value=int() as bits)) if one == _ONE:
            by = 1 << bits
        case n.Binary("/", n.Binary("-", end, one), n.Literal(value=int() as by)) if one == _ONE:
            pass
        case _:
            return None
    index = n.Name(counter)
    multiples = (n.Binary("*", index, n.integer(by)), n.Binary("*", n.integer(by), index))
    if by < 2 or any(counter in written(s) for s in body):
        return None
    if not all(_is_only_in(s, index, multiples) for s in body):
        return None
    changed = {name for s in body for name in written(s)}
    if changed & {last.name, *(p.name for p in end.walk() if isinstance(p, n.Name))}:
        return None
    turn = tuple(bottom_up(s, lambda p: index if p in multiples else p) for s in body)
    over = n.For(start, n.Binary("<", index, end), n.Assign(index, n.integer(by), "+="), turn)
    return _Whole(replace(over, unroll=loop.unroll), end, last.name)


def _is_only_in(node: Any, index: n.Name, multiples: tuple[n.Expression, ...]) -> bool:
    """Whether a variable is read in such multiples alone."""
    if node in multiples:
        return True
    return node != index and all(_is_only_in(part, index, multiples) for part in node.children())
