"""Numbers that loops count from, in the branch that has the loop.

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
    >>> turn = n.Assign(x, i), n.Assign(i, n.integer(1), "+=")
    >>> loop = n.DoWhile(turn, n.Binary("<", i, n.integer(9)))
    >>> inner = n.If(n.Binary("==", t, n.integer(0)), (loop,))
    >>> print(print_statements(with_starts_in_branches((n.Assign(i, n.integer(0)), inner))), end="")
    if (t == 0) {
        i = 0;
        do {
            x = i;
            i++;
        } while (i < 9);
    }
    """
    return _late(body, Counter(_names(body)))


def _late(body: Body, total: Counter[str]) -> Body:
    made = list(body)
    for place in range(len(made) - 1, -1, -1):
        start = made[place]
        match start:
            case n.Assign(n.Name(name=name), n.Literal(value=int()), "="):
                pass
            case _:
                continue
        user = next((k for k in range(place + 1, len(made)) if name in made[k].names()), None)
        later = made[user] if user is not None else None
        if user is None or not isinstance(later, n.If):
            continue
        if _is_for(later.then, name, total[name] - 1):
            made[user] = replace(later, then=(start, *later.then))
        elif _is_for(later.otherwise, name, total[name] - 1):
            made[user] = replace(later, otherwise=(start, *later.otherwise))
        else:
            continue
        del made[place]
    return tuple(rebuilt_lists(s, lambda inner: _late(inner, total)) for s in made)


def _is_for(branch: Body, name: str, uses: int) -> bool:
    """Whether a variable is used in a branch alone, where a loop counts with it."""
    return any(isinstance(s, n.DoWhile) and _counts(s, name) for s in branch) and (
        _names(branch).count(name) == uses
    )


def _counts(loop: n.DoWhile, name: str) -> bool:
    own = n.Name(name)
    return any(
        isinstance(s, n.Assign) and s.target == own and isinstance(s.value, n.Literal)
        and s.operator == "+=" for s in loop.body
    )  # fmt: skip


def _names(body: Body) -> list[str]:
    return [part.name for s in body for part in s.walk() if isinstance(part, n.Name)]
