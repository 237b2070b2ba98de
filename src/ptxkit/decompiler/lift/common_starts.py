"""What variables begin with on both ways of an ``if``: set once, before it.

A compiler that knows there is more to come says in both ways what a loop starts with, that of its
many turns and that of the rest alone.
"""

from __future__ import annotations

from ptxkit.cuda import nodes as n
from ptxkit.decompiler.lift.conditions import negate
from ptxkit.decompiler.lift.rewrite import Body, rebuilt_lists, written


def with_common_starts(body: Body) -> Body:
    """The body with a question for the way that has a loop alone.

    >>> from ptxkit.cuda import print_function, read
    >>> kernel = read('''(kernel k (params (param int n))
    ...     (if (< n 3) (then (= sum 0.0f) (= i 0))
    ...         (else (= p (+ n 3)) (= sum 0.0f) (= i 0) (do (< i n) (+= sum 1.0f) (+= i 4)))))''')
    >>> made = with_common_starts(kernel.body)
    >>> print(print_function(n.Function("k", (), made, kernel.returns)), end="")
    __global__ void k() {
        sum = 0.0f;
        i = 0;
        if (n >= 3) {
            p = n + 3;
            do {
                sum += 1.0f;
                i += 4;
            } while (i < n);
        }
    }
    """
    made: list[n.Statement] = []
    for one in body:
        statement = rebuilt_lists(one, with_common_starts)
        match statement:
            case n.If(condition, then, (*_, n.DoWhile()) as otherwise) if _are_common(
                then, otherwise, condition
            ):
                rest = tuple(s for s in otherwise if s not in then)
                made += (*then, n.If(negate(condition), rest))
            case _:
                made.append(statement)
    return tuple(made)


def _are_common(starts: Body, other: Body, condition: n.Expression) -> bool:
    """Whether the other way begins with the same, which nobody asks for before."""
    if not starts or not _is_whole(condition):
        return False
    names = set()
    for start in starts:
        match start:
            case n.Assign(n.Name(name=name), n.Literal(), "=") if start in other[:-1]:
                names.add(name)
            case _:
                return False
    before = [s for s in other[:-1] if s not in starts]
    told = {name for s in before for name in (*s.names(), *written(s))}
    return not names & (told | {*condition.names()})


def _is_whole(condition: n.Expression) -> bool:
    """Whether it compares with a number of a type for which there is one opposite."""
    match condition:
        case n.Binary(right=n.Literal(value=int())):
            return True
    return False
