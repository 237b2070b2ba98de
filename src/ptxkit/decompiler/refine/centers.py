"""Elements around one: an index with a name, and the others by how far they are from it.

A compiler takes constants out of indices: where ``i`` is ``x + 1``, it computes the address of
``p + x`` and reads what is 4 bytes behind it for ``p + i``. People write ``u[center - 1]``.
Nothing here is trusted: who takes a change compiles it and compares the PTX.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

from ptxkit.cuda import nodes as n
from ptxkit.cuda.types import INT
from ptxkit.decompiler.lift.rewrite import Body, bottom_up, rebuilt_lists
from ptxkit.decompiler.refine.places import NewNames
from ptxkit.decompiler.refine.polynomials import (
    Polynomial,
    difference,
    polynomial,
    product,
    summed,
)
from ptxkit.decompiler.refine.rows import single_values, without_unread_numbers

#: Indices that are further from the center than so many terms are left as they are.
_FAR = 2


def centered(function: n.Function) -> Iterator[tuple[str, n.Function]]:
    """The function with a name for the index that the others are nearest to.

    >>> from ptxkit.cuda import print_function, read
    >>> kernel = read('''(kernel k (params (param (ptr float) u) (param (ptr float) v)
    ...     (param int w) (param int p) (param int x))
    ...     (let int i (+ x 1))
    ...     (if (< i w) (then
    ...       (= ([] v (+ (+ p x) 1)) (+ (+ ([] u (+ p x)) ([] u (+ (+ p x) 2)))
    ...         ([] u (+ (- (+ p x) w) 1)))))))''')
    >>> for _, made in centered(kernel):
    ...     print(print_function(made), end="")
    __global__ void k(float *u, float *v, int w, int p, int x) {
        int i = x + 1;
        if (i < w) {
            int center = p + i;
            v[center] = u[center - 1] + u[center + 1] + u[center - w];
        }
    }
    """
    if function.body is None:
        return
    values = single_values(function)
    moved = {
        value.left: (n.Name(name), value.right.value)
        for name, value in values.items()
        if isinstance(value, n.Binary)
        and value.operator == "+"
        and isinstance(value.left, n.Name)
        and isinstance(value.right, n.Literal)
        and isinstance(value.right.value, int)
    }
    centers = _Centers(values, moved, NewNames(function))
    made = replace(function, body=centers.body(function.body))
    if made != function:
        yield "expand", replace(made, body=without_unread_numbers(made.body or ()))


class _Centers:
    """Finds a center in each list of statements that has one."""

    def __init__(
        self,
        values: dict[str, n.Expression],
        moved: dict[n.Name, tuple[n.Name, int]],
        names: NewNames,
    ) -> None:
        self.values = values
        self.moved = moved
        self.names = names

    def body(self, body: Body) -> Body:
        """Statements with a center, where these are the innermost that have one."""
        inner = tuple(rebuilt_lists(s, self.body) for s in body)
        if inner != body:
            return inner
        sites = [
            node.index for s in body for node in s.walk()
            if isinstance(node, n.Index) and not isinstance(node.index, n.Literal)
        ]  # fmt: skip
        found = [one for site in sites if (one := self._polynomial(site)) is not None]
        if len(found) < 2:
            return body
        center = min(found, key=lambda one: sum(min(_apart(one, o), _FAR + 1) for o in found))
        if sum(_apart(center, one) <= _FAR for one in found) < 2:
            return body
        names = {name for factors in center for f in factors for name in f.names()}
        declared = {s.name: place for place, s in enumerate(body) if isinstance(s, n.Declare)}
        inside = {d.name for s in body for d in s.walk() if isinstance(d, n.Declare)}
        if any(name in inside and name not in declared for name in names):
            return body
        first = max((declared[name] + 1 for name in names if name in declared), default=0)
        used = [k for k, s in enumerate(body) if any(isinstance(p, n.Index) for p in s.walk())]
        place = max(first, min(used))
        name = self.names.take("center")

        def change(node: Any) -> Any:
            if not isinstance(node, n.Index):
                return node
            one = self._polynomial(node.index)
            if one is None or _apart(center, one) > _FAR:
                return node
            left = difference(one, center)
            return n.Index(node.base, summed(n.Name(name), left))

        made = [bottom_up(s, change) if k >= place else s for k, s in enumerate(body)]
        head = next(factors for factors, by in center.items() if factors and by == 1)
        rest = {factors: by for factors, by in center.items() if factors != head}
        start = summed(product(head), rest)
        return (*made[:place], n.Declare(INT, name, start), *made[place:])

    def _polynomial(self, index: n.Expression) -> Polynomial | None:
        """An index as a sum, in which what is one more than something has its own name."""

        def opened(node: Any) -> Any:
            value = self.values.get(node.name) if isinstance(node, n.Name) else None
            if not isinstance(value, n.Binary) or value.operator not in ("+", "-"):
                return node
            if any(isinstance(p, n.Member) for p in value.walk()):
                return node  # which thread it is
            return bottom_up(value, opened)

        found = polynomial(bottom_up(index, opened))
        if found is None:
            return None
        for atom, (name, by) in self.moved.items():
            times = found.pop((atom,), 0)
            if times:
                found[(name,)] = times
                found[()] = found.get((), 0) - times * by
        found = {factors: by for factors, by in found.items() if by}
        return found if any(factors and by == 1 for factors, by in found.items()) else None


def _apart(one: Polynomial, other: Polynomial) -> int:
    return len(difference(one, other))
