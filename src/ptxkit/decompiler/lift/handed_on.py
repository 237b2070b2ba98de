"""A turn that is written out behind a loop, with what it leaves for the next one by its own name.

Behind a loop that leaves a sum in ``s``, the first of the turns that are left over computes ``t = s
+ a``, and the second one goes on from ``t``. As any turn of the loop it is ``s = s + a``.
"""

from __future__ import annotations

from collections.abc import Iterable, Set
from functools import partial

from ptxkit.cuda import nodes as n
from ptxkit.decompiler.lift.many_turns import with_instead
from ptxkit.decompiler.lift.rewrite import accesses, bottom_up, read, written

Body = tuple[n.Statement, ...]


def handing_on(turn: Body, following: n.Statement, moved: Set[str]) -> Body:
    """A turn that sets what the loop before it leaves, and the turn that follows goes on from.

    ``moved`` are the variables that the loop sets.

    >>> from ptxkit.cuda import print_statements, read
    >>> turn = read("(= t (+ s ([] x i)))"), read("(= ([] y i) t)")
    >>> made = handing_on(turn, read("(= u (+ t ([] x (+ i 1))))"), {"s", "i"})
    >>> print(print_statements(made), end="")
    s = s + x[i];
    y[i] = s;

    Where the turn still asks for what was there before, that comes first:

    >>> turn = read("(= t (? (> v s) v s))"), read("(= k (? (> v s) i k))")
    >>> made = handing_on(turn, read("(= k (? (> ([] x i) t) i k))"), {"s", "k", "i"})
    >>> print(print_statements(made), end="")
    k = v > s ? i : k;
    s = v > s ? v : s;
    """
    later = set(read(following))
    inside = [set(read(s)) for s in turn]
    for place, statement in enumerate(turn):
        if not isinstance(statement, n.Assign) or not isinstance(statement.target, n.Name):
            continue
        own = statement.target.name
        if own in moved or own not in later or statement.operator != "=":
            continue
        # It is computed from one variable of the loop, which nobody asks for from then on.
        from_loop = [name for name in inside[place] & moved if name not in later]
        if len(from_loop) != 1 or sum(own in set(written(s)) for s in turn) != 1:
            continue
        (name,) = from_loop
        asked = [k for k in range(place + 1, len(turn)) if name in inside[k]]
        if asked:
            behind = turn[place + 1 : asked[-1] + 1]
            if not _may_follow(statement, behind):
                continue
            moving = (*turn[:place], *behind, statement, *turn[asked[-1] + 1 :])
            return handing_on(moving, following, moved)

        def renamed(node: n.Node, own: str = own, name: str = name) -> n.Node:
            return n.Name(name) if node == n.Name(own) else node

        turn = tuple(bottom_up(s, renamed) for s in turn)
        inside = [set(read(s)) for s in turn]
    return turn


def _may_follow(statement: n.Assign, others: Body) -> bool:
    """Whether what sets a variable does the same behind some statements, and these before it."""
    if accesses(statement.value) or any(isinstance(p, n.Call) for p in statement.walk()):
        return False
    changed = {name for s in others for name in written(s)}
    asked = {name for s in others for name in read(s)}
    return changed.isdisjoint({*written(statement), *read(statement)}) and asked.isdisjoint(
        written(statement)
    )


def copies_gone(between: Iterable[n.Statement], last: n.If, moved: Set[str]) -> n.If:
    """The turns behind a loop, which go on from what it leaves and not from copies of that.

    ``q = p; if (rest) { q[0] = 1; p = q + n; }`` has the turn ``p[0] = 1; p = p + n``.

    >>> from ptxkit.cuda import print_statements, read
    >>> copy = read("(= q p)")
    >>> last = read("(if (!= rest 0) (then (= ([] q 0) 1) (= p (+ q n))))")
    >>> print(print_statements((copies_gone([copy], last, {"p"}),)), end="")
    if (rest != 0) {
        p[0] = 1;
        p = p + n;
    }
    """
    again = {name for s in last.then for name in written(s)}
    for statement in between:
        match statement:
            case n.Assign(n.Name(name=copy) as old, n.Name(name=name) as new, "=") if (
                name in moved & again and copy not in again
            ):
                renamed = partial(with_instead, old=old, new=new)
                last = bottom_up(last, renamed)
    return last
