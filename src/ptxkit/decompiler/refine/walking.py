"""Pointers that walk through a loop, as indices that are counted up.

A compiler moves an address on by a row in every turn where the source counted the row's first
element: ``x[b + y * w + t]``, ``b += w * 16``. What threads add to it stays in the index, as people
write it. Nothing here is trusted: who takes a change compiles it and compares the PTX.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

from ptxkit.cuda import nodes as n
from ptxkit.cuda.types import INT, Pointer
from ptxkit.decompiler.lift.one_counter import element, split
from ptxkit.decompiler.lift.rewrite import Body, bottom_up, rebuilt_lists, written
from ptxkit.decompiler.refine.places import NewNames, nodes_in
from ptxkit.decompiler.refine.polynomials import (
    Polynomial,
    difference,
    polynomial,
    product,
    summed,
)
from ptxkit.decompiler.refine.rows import single_values

_LOOPS = n.For | n.While | n.DoWhile


def walking(function: n.Function) -> Iterator[tuple[str, n.Function]]:
    """The function with indices in the place of pointers that walk, of all of them at once.

    >>> from ptxkit.cuda import print_function, read
    >>> kernel = read('''(kernel k (params (param (ptr float) x) (param (ptr float) out)
    ...     (param int w) (param int n))
    ...     (let int i 0)
    ...     (let (ptr float) p (+ x (+ (* blockIdx.x 16) threadIdx.x)))
    ...     (while (< i n)
    ...       (= ([] out i) ([] p i))
    ...       (+= p w)
    ...       (+= i 1)))''')
    >>> for _, made in walking(kernel):
    ...     print(print_function(made), end="")
    __global__ void k(float *x, float *out, int w, int n) {
        int i = 0;
        int first = blockIdx.x * 16;
        while (i < n) {
            out[i] = x[first + threadIdx.x + i];
            first += w;
            i++;
        }
    }
    """
    if function.body is None:
        return
    made = replace(function, body=_Walks(function).body(function.body))
    if made != function:
        yield "index", made


@dataclass(frozen=True, slots=True)
class _Walk:
    """A pointer, what it walks through, where it starts there, and what it moves on by."""

    name: str
    base: n.Expression
    start: n.Expression
    step: n.Expression


class _Walks:
    """Finds what walks in the loops of one function."""

    def __init__(self, function: n.Function) -> None:
        self.names = NewNames(function)
        nodes = [node for _, node in nodes_in(function)]
        self.uses = [node.name for node in nodes if isinstance(node, n.Name)]
        self.values = {
            node.name: node.value
            for node in nodes
            if isinstance(node, n.Declare) and node.value is not None
        }
        self.of_threads = {"threadIdx"} | {
            name for name, value in single_values(function).items() if "threadIdx" in value.names()
        }

    def body(self, body: Body) -> Body:
        """A list of statements, and those inside of them."""
        made = [rebuilt_lists(statement, self.body) for statement in body]
        place = 0
        while place < len(made):
            declared = made[place]
            if isinstance(declared, n.Declare) and isinstance(declared.type, Pointer):
                found = self._indexed(declared, made[place + 1 :])
                if found is not None:
                    made[place:] = found
            place += 1
        return tuple(made)

    def _indexed(self, declared: n.Declare, after: list[n.Statement]) -> list[n.Statement] | None:
        """What follows a pointer's declaration without the pointer; None where that is needed."""
        at = next((k for k, s in enumerate(after) if declared.name in s.names()), None)
        if at is None or declared.value is None:
            return None
        loop = after[at]
        base, start = split(declared.value)
        if base is None or not isinstance(loop, _LOOPS):
            return None
        step = _step(declared.name, loop.body)
        changed = {name for s in (*after[:at], loop) for name in written(s)}
        fixed = not changed & ({*start.names()} | ({*step.names()} if step else set()))
        if step is None or not fixed:
            return None
        inside = sum(p == n.Name(declared.name) for p in loop.walk())
        if inside != self.uses.count(declared.name):
            return None
        walk = _Walk(declared.name, base, start, step)
        return self._by_counter(walk, loop, after, at) or self._by_start(walk, loop, after, at)

    def _by_counter(
        self, walk: _Walk, loop: Any, after: list[n.Statement], at: int
    ) -> list[n.Statement] | None:
        """By a number that takes the same steps, where its start is a part of the pointer's."""
        total = polynomial(_plain(walk.start))
        steps = (*loop.body, loop.step) if isinstance(loop, n.For) and loop.step else loop.body
        for statement in steps:
            match statement:
                case n.Assign(n.Name(name=name), step, "+=") if step == walk.step:
                    begun = self.values.get(name)
                case _:
                    continue
            if name == walk.name or begun is None or total is None:
                continue
            start = polynomial(_plain(begun))
            if not start or sum(name in written_to for written_to in map(written, steps)) != 1:
                continue
            left = difference(total, start)
            if len(left) < len([by for by in total.values() if by]):
                index = _cast_as(walk.start, summed(n.Name(name), left))
                body = _without_step(walk, loop, index)
                return None if body is None else [*after[:at], body, *after[at + 1 :]]
        return None

    def _by_start(
        self, walk: _Walk, loop: Any, after: list[n.Statement], at: int
    ) -> list[n.Statement] | None:
        """By a number of its own, which starts with what all threads of a block have."""
        total = polynomial(_plain(walk.start))
        if total is None:
            return None
        total = {factors: by for factors, by in total.items() if by}
        own: Polynomial = {
            factors: by
            for factors, by in total.items()
            if any(not self.of_threads.isdisjoint(one.names()) for one in factors)
        }
        shared = {factors: by for factors, by in total.items() if factors not in own}
        if not shared:
            own, shared = {}, own
        name = self.names.take("first")
        index = _cast_as(walk.start, summed(n.Name(name), own))
        body = _without_step(walk, loop, index, n.Assign(n.Name(name), walk.step, "+="))
        if body is None:
            return None
        first = n.Declare(INT, name, _written(shared))
        return [first, *after[:at], body, *after[at + 1 :]]


def _step(name: str, body: Body) -> n.Expression | None:
    """What a pointer moves on by at the end of a turn, if nothing else changes it."""
    for place, statement in enumerate(body):
        match statement:
            case n.Assign(n.Name(name=own), step, "+=") if own == name:
                rest = (*body[:place], *body[place + 1 :])
                if any(name in s.names() for s in body[place + 1 :]):
                    return None
                return None if any(name in written(s) for s in rest) else step
    return None


def _without_step(
    walk: _Walk, loop: Any, index: n.Expression, instead: n.Statement | None = None
) -> n.Statement | None:
    """A loop with elements in the place of what a pointer points to; None where it needs it."""
    own = n.Assign(n.Name(walk.name), walk.step, "+=")
    use = element(walk.name, walk.base, index)
    body: list[n.Statement] = []
    for statement in loop.body:
        if statement == own:
            body += [instead] if instead is not None else []
        else:
            body.append(bottom_up(statement, use))
    made = replace(loop, body=tuple(body))
    return None if walk.name in made.names() else made


def _plain(value: n.Expression) -> n.Expression:
    """A sum without conversions to ``int``."""
    return bottom_up(value, _without_cast)  # type: ignore[no-any-return]


def _without_cast(node: Any) -> Any:
    return node.operand if isinstance(node, n.Cast) and node.type == INT else node


def _cast_as(start: n.Expression, index: n.Expression) -> n.Expression:
    """An index with the conversion that the start of a pointer had."""
    return n.Cast(INT, index) if isinstance(start, n.Cast) and start.type == INT else index


def _written(total: Polynomial) -> n.Expression:
    if not total:
        return n.integer(0)
    first = next((factors for factors, by in total.items() if factors and by > 0), None)
    if first is None:
        return summed(n.integer(0), total)
    rest = {factors: by for factors, by in total.items() if factors != first}
    return summed(product(first, total[first]), rest)
