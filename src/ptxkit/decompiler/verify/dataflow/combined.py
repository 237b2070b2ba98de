"""What one function has computed already, and the other one computes of one or two registers later.

One compiler adds two numbers before it waits for other threads, another one afterwards. The sum
that one of them holds is then the sum of what the other one holds, whatever the cases are.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from functools import partial
from itertools import combinations_with_replacement
from typing import TypeVar

from ptxkit.decompiler.verify.dataflow.decisions import LEAF, Decisions, Diagram
from ptxkit.decompiler.verify.dataflow.rewrite import Rewriter
from ptxkit.decompiler.verify.dataflow.terms import Term
from ptxkit.decompiler.verify.dataflow.timeless import Timeless

Key = TypeVar("Key")
Operation = Callable[[Diagram, Diagram], Diagram]
Function = Callable[[Diagram], Diagram]


def combinations(
    decisions: Decisions,
    timeless: Timeless,
    width: int,
    value: Diagram,
    held: Mapping[Key, Diagram],
) -> Iterator[tuple[Key, Key, Operation]]:
    """Pairs of which a value may be made, and how: those of which it is made in one case.

    >>> from ptxkit.decompiler.verify.dataflow.terms import Terms
    >>> t = Terms()
    >>> d = Decisions(t)
    >>> p, x, y, z = d.ask(t.make("p")), t.make("x"), t.make("y"), t.make("z")
    >>> held = {"a": d.choose(p, d.leaf(x), d.leaf(y)), "b": d.leaf(z)}
    >>> both = d.choose(p, d.leaf(t.multiply(32, x, z)), d.leaf(t.multiply(32, y, z)))
    >>> found = combinations(d, Timeless(d), 32, both, held)
    >>> [(a, b, make(held[a], held[b]) == both) for a, b, make in found]
    [('a', 'b', True)]

    Of a sum, the two may be all but what is the same at any time:

    >>> sums = d.leaf(t.add(32, t.add(32, x, z), t.constant(32, 5)))
    >>> held = {"a": d.leaf(x), "b": d.leaf(z), "c": d.leaf(y)}
    >>> found = combinations(d, Timeless(d), 32, sums, held)
    >>> [(a, b, make(held[a], held[b]) == sums) for a, b, make in found]
    [('a', 'b', True)]
    """
    facts: dict[Term, bool] = {}
    whole = _in_case(decisions, value, facts)
    combine = _operation(decisions, width, whole)
    if combine is None:
        return
    leaves = {key: _in_case(decisions, one, facts) for key, one in held.items()}
    key, function = combine
    terms = decisions.terms

    def make(beside: Term, a: Diagram, b: Diagram) -> Diagram:
        return decisions.apply(
            ("combined", key, beside),
            lambda x, y: decisions.leaf(terms.add(width, function(x, y), beside)),
            (a, b),
        )

    for a, b in combinations_with_replacement(leaves, 2):
        made = function(leaves[a], leaves[b])
        left = terms.add(width, whole, made, -1) if key == ("add", width) else None
        if made == whole or (left is not None and timeless.term(left)):
            beside = terms.constant(width, 0) if left is None else left
            yield a, b, partial(make, beside)


def functions(
    decisions: Decisions, timeless: Timeless, value: Diagram, held: Mapping[Key, Diagram]
) -> Iterator[tuple[Key, Function]]:
    """Of what else a value may be a function, and of which: one that gives it in one case.

    >>> from ptxkit.decompiler.verify.dataflow.terms import Terms
    >>> t = Terms()
    >>> d = Decisions(t)
    >>> p, x, y = d.ask(t.make("p")), t.make("result", "x"), t.make("result", "y")
    >>> held = {"a": d.choose(p, d.leaf(x), d.leaf(y)), "b": d.leaf(t.make("result", "z"))}
    >>> moved = d.choose(p, d.leaf(t.scale(32, x, 4)), d.leaf(t.scale(32, y, 4)))
    >>> found = functions(d, Timeless(d), moved, held)
    >>> [(name, make(held[name]) == moved) for name, make in found]
    [('a', True)]

    In one case it may be the same at any time, and in another one not:

    >>> x = t.make("special", "%tid.x")
    >>> held = {"a": d.choose(p, d.leaf(x), d.leaf(y))}
    >>> moved = d.choose(p, d.leaf(t.scale(32, x, 4)), d.leaf(t.scale(32, y, 4)))
    >>> [name for name, make in functions(d, Timeless(d), moved, held) if make(held[name]) == moved]
    ['a']
    """
    hole = decisions.terms.make("hole")
    left = dict(held)
    for holds in (True, False):
        facts: dict[Term, bool] = {}
        whole = _in_case(decisions, value, facts, holds)
        parts = timeless.made_of(whole)
        for key, one in list(left.items()):
            leaf = _in_case(decisions, one, facts, holds)
            if timeless.term(leaf) or not timeless.made_of(leaf) <= (parts or {leaf}):
                continue
            made = Rewriter(decisions, timeless, {leaf: hole}).term(whole)
            if made is not None:
                del left[key]
                yield key, partial(_filled, decisions, timeless, hole, made)
        if not facts:
            break  # there are no other cases


def _filled(
    decisions: Decisions, timeless: Timeless, hole: Term, made: Term, value: Diagram
) -> Diagram:
    """What is made of a number, of all cases of a value in its place."""

    def put(one: Term) -> Diagram:
        found = Rewriter(decisions, timeless, {hole: one}, everything=True).term(made)
        assert found is not None
        return decisions.leaf(found)

    return decisions.apply(("filled", made), put, (value,))


def _in_case(
    decisions: Decisions, diagram: Diagram, facts: dict[Term, bool], holds: bool = True
) -> Term:
    """What a value is in one case, which is noted: that in which all questions have one answer."""
    top, yes, no = decisions.nodes[diagram]
    while top != LEAF:
        top, yes, no = decisions.nodes[yes if facts.setdefault(top, holds) else no]
    return yes


def _operation(
    decisions: Decisions, width: int, term: Term
) -> tuple[object, Callable[[Term, Term], Term]] | None:
    """What made a term of two others, if that is seen from it."""
    terms = decisions.terms
    row = terms.rows[term]
    if row[0] == "multiply" and row[1] == width:
        return ("multiply", width), lambda a, b: terms.multiply(width, a, b)
    if row[0] == "sum" and row[1] == width and len(row[3]) > 1:
        return ("add", width), lambda a, b: terms.add(width, a, b)
    if row[0] == "op" and len(row) == 5 and terms.constant_of(row[4]) is None:
        return row[:3], lambda a, b: terms.operation(row[1], row[2], (a, b))
    return None
