"""Loops over the number of steps that an index takes, as loops over that index.

``for (i = 0; i < n; i += 32) s += x[i];`` has ``(n - 1) / 32 + 1`` turns where ``n`` is not 0. That
is what is left of it once a compiler has unrolled it and its copies are rolled up again. One that
begins at ``a`` has ``(n - a - 1) / 32 + 1``, where ``a`` is less than ``n``.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any

from ptxkit.cuda import nodes as n
from ptxkit.decompiler.lift.rewrite import bottom_up, rebuilt_lists, spelled_out, written

#: The place of a turn, in place of what it is computed from.
_HERE = n.Name("")
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
    >>> kernel = read('''(kernel k (params (param (ptr float) x) (param int n))
    ...     (let int i (. threadIdx x)) (let float sum 0.0f)
    ...     (if (< i n) (then
    ...         (let uint last (/ (cast uint (+ (~ i) n)) 32))
    ...         (for (let int j 0) (<= j last) (+= j 1) (+= sum ([] x (+ (* j 32) i))))))
    ...     (= ([] x i) sum))''')
    >>> print(print_function(counted_by_steps(kernel, lambda: True)), end="")
    __global__ void k(float *x, int n) {
        int i = threadIdx.x;
        float sum = 0.0f;
        for (int j = i; j < n; j += 32) sum += x[j];
        x[i] = sum;
    }
    """
    return replace(function, body=over_indices(function.body or (), take))


def over_indices(body: Body, take: Callable[[], bool] = lambda: True) -> Body:
    """The same of a body."""
    values = {
        s.name: s.value for statement in body for s in statement.walk()
        if isinstance(s, n.Declare) and s.value is not None
    }  # fmt: skip

    def changed(body: Body) -> Body:
        made: list[n.Statement] = []
        for statement in body:
            loop = _unguarded(statement, values) or statement
            over = _by_index(loop, values) if isinstance(loop, n.For) else None
            counted = over.loop if over is not None else _from_place(statement, values)
            taken = counted if counted is not None and take() else statement
            made.append(rebuilt_lists(taken, changed))
        return tuple(made)

    return changed(body)


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


def _from_place(guard: n.Statement, values: Mapping[str, n.Expression]) -> n.For | None:
    """The loop from a place on, in an ``if`` that asks whether that is before the end."""
    match guard:
        case n.If(n.Binary("<", n.Name() as first, end), (*setup, n.For() as loop), ()):
            turns = _turns(loop)
        case _:
            return None
    own = {s.name: s.value for s in setup if isinstance(s, n.Declare) and s.value is not None}
    if turns is None or len(own) < len(setup):
        return None
    start, index, last = turns
    match spelled_out(last, values):
        case n.Binary(">>", whole, n.Literal(value=int() as bits)):
            by = 1 << bits
        case n.Binary("/", whole, n.Literal(value=int() as by)):
            pass
        case _:
            return None
    before = n.Unary("~", first)
    wholes = n.Binary("+", before, end), n.Binary("+", end, before)
    changed = {name for s in loop.body for name in written(s)}
    if by < 2 or spelled_out(whole, values) not in wholes or changed & (
        {index.name} | {p.name for p in (first, *end.walk()) if isinstance(p, n.Name)}
    ):  # fmt: skip
        return None
    steps = n.Binary("*", index, n.integer(by)), n.Binary("*", n.integer(by), index)
    begins = (first, *(n.Name(name) for name, value in own.items() if value == first))
    places = {
        n.Binary("+", *pair) for step in steps for begin in begins
        for pair in ((step, begin), (begin, step))
    }  # fmt: skip
    turn = tuple(bottom_up(s, lambda p: _HERE if p in places else p) for s in loop.body)
    if any(isinstance(p, n.Name) and p.name in (index.name, *own) for s in turn for p in s.walk()):
        return None
    turn = tuple(bottom_up(s, lambda p: index if p == _HERE else p) for s in turn)
    again = n.Binary("<", index, end)
    move = n.Assign(index, n.integer(by), "+=")
    return n.For(replace(start, value=first), again, move, turn, loop.unroll)


def _turns(loop: n.For) -> tuple[n.Declare, n.Name, n.Name] | None:
    """How a loop counts from 0, what, and up to which number: that one is a turn, too."""
    match loop:
        case n.For(
            n.Declare(name=counter, value=first) as start,
            n.Binary("<" | "<=" as operator, n.Name(name=asked) as index, turns),
            n.Assign(n.Name(name=moved), step, "+="),
        ) if counter == asked == moved and first == _ZERO and step == _ONE:
            pass
        case _:
            return None
    match operator, turns:
        case "<=", n.Name() as last:
            return start, index, last
        case "<", n.Binary("+", n.Name() as last, more) if more == _ONE:
            return start, index, last
    return None


def _by_index(loop: n.For, values: Mapping[str, n.Expression]) -> _Whole | None:
    """A loop over the index, if it is over the number of its steps."""
    turns = _turns(loop)
    if turns is None:
        return None
    start, index, last = turns
    counter, body = index.name, loop.body
    match values.get(last.name):
        case n.Binary(">>", n.Binary("-", end, one), n.Literal(value=int() as bits)) if one == _ONE:
            by = 1 << bits
        case n.Binary("/", n.Binary("-", end, one), n.Literal(value=int() as by)) if one == _ONE:
            pass
        case _:
            return None
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
