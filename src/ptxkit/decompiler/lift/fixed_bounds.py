"""Loops in a loop that begin and end so much further on in each of its turns, as what they count.

The copies of ``for (j = -r; j <= r; j++) s += w[r - j] * x[i * 8 + j]`` are each counted by what
stands behind ``x``: so the inner loop goes from ``i * 8 - r`` to ``i * 8 + r``. It goes from ``-r``
to ``r`` where its counter is taken from there.
"""

from __future__ import annotations

from dataclasses import replace

from ptxkit.cuda import nodes as n
from ptxkit.cuda.types import INT
from ptxkit.decompiler.lift.rewrite import rebuilt, rebuilt_lists
from ptxkit.decompiler.lift.terms import Sum

Body = tuple[n.Statement, ...]


def with_fixed_bounds(body: Body) -> Body:
    """The body with such loops from a number to a number.

    >>> from ptxkit.cuda import print_statements, read
    >>> loop = read('''(for (= j (- (* i 8) 2)) (< j (+ (* i 8) 3)) (+= j 1)
    ...     (+= s (* ([] w (- (+ (* i 8) 2) j)) ([] x (+ a j)))))''')
    >>> print(print_statements(with_fixed_bounds((loop,))), end="")
    for (j = -2; j < 3; j++) s += w[2 - j] * x[a + i * 8 + j];
    """
    return tuple(_fixed(rebuilt_lists(statement, with_fixed_bounds)) for statement in body)


def _fixed(node: n.Statement) -> n.Statement:
    match node:
        case n.For(
            n.Assign(n.Name() as index, start, "="),
            n.Binary("<", asked, limit) as condition,
            n.Assign(stepped, n.Literal(value=1), "+="),
        ) if index == asked == stepped:
            pass
        case _:
            return node
    first, last = Sum().add(start), Sum().add(limit)
    if not first.terms or first.terms != last.terms:
        return node

    def moved(part: n.Node) -> n.Node:
        if isinstance(part, n.Name | n.Binary):
            total = Sum().add(part)
            times = total.terms.get(index, 0)
            if times:
                for term, by in first.terms.items():
                    total.add(term, times * by)
                # The index is the last of the terms, as people write it.
                total.add(index, -times).add(index, times)
                return _written(total)
        return rebuilt(part, moved)

    return replace(
        node,
        start=n.Assign(index, n.Literal(first.number, INT)),
        condition=replace(condition, right=n.integer(last.number)),
        body=tuple(rebuilt(s, moved) for s in node.body),
    )


def _written(total: Sum) -> n.Expression:
    made = total.expression()
    if made is not None:
        return made
    # Nothing but a number is added: what is left is taken away from it.
    made = n.integer(total.number)
    for term, times in total.terms.items():
        part = term if times == -1 else n.Binary("*", term, n.integer(-times))
        made = n.Binary("-", made, part)
    return made
