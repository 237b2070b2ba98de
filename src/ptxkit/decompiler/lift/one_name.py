"""One name for a value that is set once, and for its copies.

Of the turns of a loop that was written out the first may ask for the value, and all others for a
copy of it: so they are no copies of one another.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from functools import partial

from ptxkit.cuda import nodes as n
from ptxkit.cuda.types import Type
from ptxkit.decompiler.lift.rewrite import bottom_up, read, rebuilt_lists, statements_of, written

Body = tuple[n.Statement, ...]


def with_one_name(body: Body, types: Mapping[str, Type]) -> Body:
    """The body without copies of values that do not change; the same one where there are none.

    >>> from ptxkit.cuda import print_statements, read
    >>> from ptxkit.cuda.types import INT
    >>> body = tuple(map(read, ("(= a ([] x 0))", "(= b a)", "(= ([] x 1) (+ a b))")))
    >>> print(print_statements(with_one_name(body, {"a": INT, "b": INT})), end="")
    a = x[0];
    x[1] = a + a;
    """
    sets = Counter(name for statement in body for name in written(statement))
    same: dict[str, str] = {}
    asked: set[str] = set()
    for statement in statements_of(body):
        match statement:
            # What is asked for before it is set is what the turn before left.
            case n.Assign(n.Name(name=copy), n.Name(name=name), "=") if (
                sets[copy] == 1
                and sets[name] <= 1
                and copy not in asked
                and copy in types
                and types[copy] == types.get(name)
            ):
                same[copy] = same.get(name, name)
        asked.update(read(rebuilt_lists(statement, _nothing)))
    if not same:
        return body
    return tuple(bottom_up(s, partial(_by_other_name, same)) for s in _without(body, same))


def _nothing(_: Body) -> Body:
    return ()


def _without(body: Body, names: Mapping[str, str]) -> Body:
    """Statements without those that set some variables."""
    return tuple(
        rebuilt_lists(statement, partial(_without, names=names))
        for statement in body
        if not (
            isinstance(statement, n.Assign)
            and isinstance(statement.target, n.Name)
            and statement.target.name in names
        )
    )


def _by_other_name(same: Mapping[str, str], node: n.Node) -> n.Node:
    return n.Name(same[node.name]) if isinstance(node, n.Name) and node.name in same else node
