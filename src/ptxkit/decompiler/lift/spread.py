"""Sums that copies of a text add to, written where each of the copies is.

A compiler computes what several turns of a loop add up, and the lifter writes the sum of it all
where the last of them is known: ``s = s + a0 * b0 + a1 * b1``. As ``s += a0 * b0`` behind what
computes ``a0`` and ``b0``, and so on, the turns are copies of one another.
"""

from __future__ import annotations

from ptxkit.cuda import nodes as n
from ptxkit.decompiler.lift.rewrite import read, written

#: A sum of fewer turns is left as it is.
_LEAST = 3


def spread(body: list[n.Statement]) -> list[n.Statement] | None:
    """Statements with their long sums taken apart; None where there are none.

    >>> from ptxkit.cuda.printer import print_statements
    >>> s, a, b, c = map(n.Name, "sabc")
    >>> sets = [n.Assign(one, n.Call("f", (n.integer(k),))) for k, one in enumerate((a, b, c))]
    >>> whole = n.Assign(s, n.Binary("+", n.Binary("+", n.Binary("+", s, a), b), c))
    >>> print(*print_statements(spread([*sets, whole])).splitlines())
    a = f(0); s += a; b = f(1); s += b; c = f(2); s += c;
    """
    after: dict[int, list[n.Statement]] = {}
    gone: set[int] = set()
    sums = {
        place: found
        for place, statement in enumerate(body)
        if (found := _steps(statement)) is not None and len(found[1]) >= _LEAST
    }
    # What nested statements set is only looked for where there is something to take apart.
    sets = [set(written(s)) for s in body] if sums else []
    for place, (name, terms) in sums.items():
        places = [
            max((k for k in range(place) if not sets[k].isdisjoint(read(term))), default=-1)
            for term in terms
        ]
        if places[0] < 0 or places != sorted(places) or len(set(places)) < len(places):
            continue
        if any(name in sets[k] or name in set(read(body[k])) for k in range(places[0], place)):
            continue
        gone.add(place)
        for at, term in zip(places, terms, strict=True):
            after.setdefault(at, []).append(n.Assign(n.Name(name), term, "+="))
    if not gone:
        return None
    made: list[n.Statement] = []
    for place, statement in enumerate(body):
        if place not in gone:
            made.append(statement)
        made += after.get(place, [])
    return made


def _steps(statement: n.Statement) -> tuple[str, list[n.Expression]] | None:
    """The variable that a statement adds to, and what it adds one after another."""
    match statement:
        case n.Assign(n.Name(name=name), value, "="):
            pass
        case n.Assign(n.Name(name=name), value, "+="):
            value = n.Binary("+", n.Name(name), value)
        case _:
            return None
    terms: list[n.Expression] = []
    while value != n.Name(name):
        match value:
            case n.Binary("+", left, right) if name in left.names() and name not in right.names():
                terms.append(right)
                value = left
            case n.Binary("+", left, right) if name in right.names() and name not in left.names():
                terms.append(left)
                value = right
            case _:
                return None
    return name, terms[::-1]
