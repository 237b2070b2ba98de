"""Steps of a loop that are computed early and taken late: taken where they are computed last.

A compiler adds to a pointer before it uses it for the last time: ``next = p + 1; ... *p ...;
p = next;``. Nobody else asks for ``next``, so that it is ``p++`` behind the uses.
"""

from __future__ import annotations

from collections import Counter

from ptxkit.cuda import nodes as n
from ptxkit.decompiler.lift.rewrite import read, rebuilt_lists, written

Body = tuple[n.Statement, ...]


def with_late_steps(body: Body) -> Body:
    """The body with such steps.

    >>> from ptxkit.cuda import print_statements, read
    >>> loop = read('''(do (< p end) (= next (+ p 1)) (= ([] out 0) ([] p 0)) (= p next))''')
    >>> print(print_statements(with_late_steps((loop, read("(= p next)")))), end="")
    do {
        out[0] = p[0];
        p++;
    } while (p < end);
    """
    reads = Counter(name for statement in body for name in read(statement))
    return _inside(body, reads)


def _inside(body: Body, reads: Counter[str]) -> Body:
    made: list[n.Statement] = []
    for statement in body:
        match statement:
            # Behind the loop both are the same.
            case n.Assign(n.Name(name=target), n.Name(name=source), "=") if (
                made
                and isinstance(made[-1], n.DoWhile)
                and _hands_on(made[-1].body, target, source)
            ):
                reads[source] -= 1
                continue
        made.append(statement)
    for place, statement in enumerate(made):
        statement = rebuilt_lists(statement, lambda inner: _inside(inner, reads))
        if isinstance(statement, n.DoWhile):
            turn = _late(statement.body, reads)
            statement = n.DoWhile(turn, statement.condition, statement.unroll)
        made[place] = statement
    return tuple(made)


def _hands_on(turn: Body, target: str, source: str) -> bool:
    """Whether a turn ends with one variable set to another, whatever else it does."""
    copy = n.Assign(n.Name(target), n.Name(source))
    if copy not in turn:
        return False
    return not any({target, source} & set(written(s)) for s in turn[turn.index(copy) + 1 :])


def _late(turn: Body, reads: Counter[str]) -> Body:
    made = list(turn)
    for early in turn:
        match early:
            case n.Assign(
                n.Name(name=ahead), n.Binary("+", n.Name(name=name), n.Literal() as by), "="
            ):
                late = n.Assign(n.Name(name), n.Name(ahead))
            case _:
                continue
        if reads[ahead] != 1 or late not in made or made.index(late) < made.index(early):
            continue
        between = made[made.index(early) + 1 : made.index(late)]
        if not any({name, ahead} & set(written(s)) for s in between):
            made[made.index(late)] = n.Assign(n.Name(name), by, "+=")
            made.remove(early)
    return tuple(made)
