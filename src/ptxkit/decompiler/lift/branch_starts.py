"""Numbers that variables begin with, in the branch that they are for.

A compiler sets ``i = 0`` once, before an ``if``, where it has such a number in a register anyway.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import replace

from ptxkit.cuda import nodes as n
from ptxkit.decompiler.lift.rewrite import Body, rebuilt_lists


def with_starts_in_branches(body: Body) -> Body:
    """A function's body with such numbers where they are asked for.

    >>> from ptxkit.cuda.printer import print_statements
    >>> i, t, x = map(n.Name, "itx")
    >>> inner = n.If(n.Binary("==", t, n.integer(0)), (n.Assign(x, i), n.Assign(i, x)))
    >>> print(print_statements(with_starts_in_branches((n.Assign(i, n.integer(0)), inner))), end="")
    if (t == 0) {
        i = 0;
        x = i;
        i = x;
    }
    """
    return _late(body, Counter(_names(body)))


def _late(body: Body, total: Counter[str]) -> Body:
    made = list(body)
    for place in range(len(made) - 1, -1, -1):
        match made[place]:
            case n.Assign(n.Name(name=name), n.Literal(), "="):
                pass
            case _:
                continue
        user = next((k for k in range(place + 1, len(made)) if name in made[k].names()), None)
        later = made[user] if user is not None else None
        if user is None or not isinstance(later, n.If):
            continue
        start = made[place]
        if _names(later.then).count(name) == total[name] - 1:
            made[user] = replace(later, then=(start, *later.then))
        elif _names(later.otherwise).count(name) == total[name] - 1:
            made[user] = replace(later, otherwise=(start, *later.otherwise))
        else:
            continue
        del made[place]
    return tuple(rebuilt_lists(s, lambda inner: _late(inner, total)) for s in made)


def _names(body: Body) -> list[str]:
    return [part.name for s in body for part in s.walk() if isinstance(part, n.Name)]
