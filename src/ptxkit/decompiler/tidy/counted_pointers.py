"""Pointers that move along with a counter from where that begins: ``row[i]`` with the counter.

``p = row + t``, and then ``i = t``; in every turn ``i += 32`` and ``p += 32``: it is ``row[i]``.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from dataclasses import replace
from typing import Any

from ptxkit.cuda import nodes as n
from ptxkit.cuda.types import Pointer, Scalar, Type, Vector
from ptxkit.decompiler.lift.matrices import parsed, sum_of_terms
from ptxkit.decompiler.lift.rewrite import bottom_up, rebuilt_lists
from ptxkit.decompiler.tidy.remainders import moved_by

Body = tuple[n.Statement, ...]


def pointers_by_counters(function: n.Function, take: Callable[[], bool]) -> n.Function:
    """A function with such pointers where they begin, and indices.

    >>> from ptxkit.cuda import print_function, read
    >>> kernel = read('''(kernel k (params (param (ptr float) x) (param int n))
    ...     (let int t (& threadIdx.x 31))
    ...     (let (ptr float) p (+ x (+ (* n blockIdx.x) (% threadIdx.x 32))))
    ...     (for (let int i t) (< i n) (+= i 32) (= (deref p) 0.0f) (+= p 32)))''')
    >>> print(print_function(pointers_by_counters(kernel, lambda: True)), end="")
    __global__ void k(float *x, int n) {
        int t = threadIdx.x & 31;
        float *p = x + n * blockIdx.x;
        for (int i = t; i < n; i += 32) p[i] = 0.0f;
    }
    """
    body = function.body or ()
    declared = Counter(p.name for s in body for p in s.walk() if isinstance(p, n.Declare))
    values = {
        p.name: p.value for s in body for p in s.walk()
        if isinstance(p, n.Declare) and p.value is not None and declared[p.name] == 1
    }  # fmt: skip
    types: dict[str, Type] = {p.name: p.type for p in function.parameters}

    def plain(node: n.Expression) -> n.Expression:
        """A number as what it was computed from, in one way of writing it."""

        def change(part: Any) -> Any:
            match part:
                case n.Cast(type=Scalar(), operand=operand):
                    return operand
                case n.Binary("%", left, n.Literal(value=int(by))) if by > 0 and not by & (by - 1):
                    return n.Binary("&", left, n.integer(by - 1))
            return part

        made: n.Expression = bottom_up(node, change)
        if isinstance(made, n.Name) and made.name in values:
            return plain(values[made.name])
        return made

    def counted(inner: Body) -> Body:
        made = [rebuilt_lists(s, counted) for s in inner]
        for place, loop in enumerate(made):
            if not isinstance(loop, n.For):
                continue
            step = moved_by(loop.step) if loop.step is not None else None
            if step is None:
                continue
            counter, by = step
            first = loop.start.value if isinstance(loop.start, n.Declare) else n.Name(counter)
            if first is None:
                continue
            for before, pointer in enumerate(made[:place]):
                if not isinstance(pointer, n.Declare) or not isinstance(pointer.type, Pointer):
                    continue
                found = [k for k, s in enumerate(loop.body) if moved_by(s) == (pointer.name, by)]
                later = (*made[before + 1 : place], *made[place + 1 :])
                if len(found) != 1 or any(pointer.name in s.names() for s in later):
                    continue
                if any(pointer.name in s.names() for s in loop.body[found[0] + 1 :]):
                    continue
                base = _without(pointer, plain(first), plain, types)
                if base is None or not take():
                    continue
                rest = (*loop.body[: found[0]], *loop.body[found[0] + 1 :])
                index = _indexed(pointer.name, n.Name(counter))
                loop = replace(loop, body=tuple(index(s) for s in rest))
                made[before], made[place] = replace(pointer, value=base), loop
        return tuple(made)

    return replace(function, body=counted(body))


def _without(
    pointer: n.Declare,
    first: n.Expression,
    plain: Callable[[n.Expression], n.Expression],
    types: dict[str, Type],
) -> n.Expression | None:
    """Where a pointer points to without the elements that a counter begins with."""
    cast, value = None, pointer.value
    if isinstance(value, n.Cast):
        cast, value = value, value.operand
    match value:
        case n.Binary("+", n.Name(name=name) as array, far):
            pass
        case _:
            return None
    size = 1
    if cast is not None:
        own, others = cast.type, types.get(name)
        if not (isinstance(own, Pointer) and isinstance(others, Pointer)):
            return None
        if not (isinstance(own.target, Vector) and own.target.element == others.target):
            return None
        size = own.target.count
    total = parsed(far)
    for place, (term, times) in enumerate(total.terms):
        if times == size and plain(term) == first:
            left = [t for k, t in enumerate(total.terms) if k != place]
            made: n.Expression = array
            if left or total.constant:
                made = n.Binary("+", array, sum_of_terms(left, total.constant))
            return made if cast is None else replace(cast, operand=made)
    return None


def _indexed(name: str, counter: n.Name) -> Callable[[Any], Any]:
    own = n.Name(name)

    def change(node: Any) -> Any:
        match node:
            case n.Unary("*", operand) if operand == own:
                return n.Index(own, counter)
            case n.Index(base, index) if base == own:
                return n.Index(own, n.Binary("+", counter, change(index)))
        return node.rebuilt(change)

    return change
