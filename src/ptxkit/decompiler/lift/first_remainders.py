"""Remainders in front of the quotients that they are computed from: ``x = i % n; y = i / n;``.

A compiler divides once, and takes the remainder from the quotient. Where it does that at once, the
remainder was asked for first: behind a quotient that others read, it is computed where it is used.
"""

from __future__ import annotations

from itertools import pairwise

from ptxkit.cuda import nodes as n
from ptxkit.decompiler.lift.rewrite import Body, rebuilt_lists


def with_first_remainders(body: Body) -> Body:
    """The body with each remainder in front of the quotient that it is next to.

    >>> from ptxkit.cuda import print_statements, read
    >>> body = read("(let int y (/ i n))"), read("(let int x (% i n))")
    >>> print(print_statements(with_first_remainders(body)), end="")
    int x = i % n;
    int y = i / n;
    """
    made = [rebuilt_lists(statement, with_first_remainders) for statement in body]
    for place, (first, second) in enumerate(pairwise(tuple(made))):
        match first, second:
            case (
                n.Declare(value=n.Binary("/", whole, by)),
                n.Declare(value=n.Binary("%", same, by_same)),
            ) if (whole, by) == (same, by_same) and isinstance(by, n.Name | n.Member):
                made[place : place + 2] = [second, first]
    return tuple(made)
