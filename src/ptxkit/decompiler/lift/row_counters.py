"""Loops that count the elements of rows: from ``tile[j + 3]``, ``j += 128``, to rows.

Where a compiler has unrolled a loop over rows of 64 elements, the counter moves on by whole rows.
It counts rows again where it is nothing but a part of the indices of arrays with such rows.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import replace

from ptxkit.cuda import nodes as n
from ptxkit.decompiler.lift.reach import Reach
from ptxkit.decompiler.lift.rewrite import (
    bodies_of,
    bottom_up,
    rebuilt_lists,
    terms_of,
    written,
)

Body = tuple[n.Statement, ...]


def row_counters(body: Body, reach: Reach) -> dict[str, int]:
    """Counters that may count rows, and what their values are multiples of."""
    factors = {name: reach.common_factor(name) for name in reach.known}
    found = {name: factor for name, factor in factors.items() if factor > 1}
    uses = Counter(p.name for s in body for p in s.walk() if isinstance(p, n.Name))
    plain = Counter(name for s in body for p in s.walk() for name in _plain(p))
    return {name: factor for name, factor in found.items() if uses[name] > plain[name]}


def _plain(node: n.Node) -> tuple[str, ...]:
    """The counter that something sets, moves on or compares with a number."""
    match node:
        case n.Assign(n.Name(name=name), n.Literal(), "=" | "+=" | "-="):
            return (name,)
        case n.Binary("<" | "<=" | "!=" | ">" | ">=" | "==", n.Name(name=name), n.Literal()):
            return (name,)
    return ()


def only_indices(body: Body, names: Mapping[str, int], indexed: Counter[str]) -> set[str]:
    """Those counters of which every use is an index that was counted, or counts."""
    uses = Counter(p.name for s in body for p in s.walk() if isinstance(p, n.Name))
    plain = Counter(name for s in body for p in s.walk() for name in _plain(p))
    return {name for name in names if uses[name] == plain[name] + indexed[name]}


def spelled_out(body: Body, counters: Mapping[str, int]) -> Body:
    """Sums with a counter that are kept in a variable, where they are used instead."""
    reach = Reach(body)

    def changed(inner: Body) -> Body:
        made = [rebuilt_lists(s, changed) for s in inner]
        place = 0
        while place < len(made):
            match made[place]:
                case n.Declare(name=name, value=n.Binary("+") as value, space="") if (
                    len(reach.known[name].values) == 1
                    and not reach.known[name].steps
                    and any(isinstance(t, n.Name) and t.name in counters for t in terms_of(value))
                    and _lasts(made[place + 1 :], name, value)
                ):
                    later = [_with(s, name, value) for s in made[place + 1 :]]
                    made[place:] = later
                    continue
            place += 1
        return tuple(made)

    return changed(body)


def _lasts(later: list[n.Statement], name: str, value: n.Expression) -> bool:
    """Whether what a value is computed from stays as it is until its last use."""
    inputs = value.names()
    uses = [k for k, s in enumerate(later) if name in s.names()]
    if not uses or any(isinstance(p, n.Goto | n.Label) for s in later for p in s.walk()):
        return False
    until = later[: uses[-1] + 1]
    if any(bodies_of(s) for s in until if name in s.names()):
        return False
    return not any(inputs & set(written(s)) for s in until)


def _with(node: n.Statement, name: str, value: n.Expression) -> n.Statement:
    made = bottom_up(node, lambda part: value if part == n.Name(name) else part)
    assert isinstance(made, n.Node)
    return made  # type: ignore[return-value]


def counting_rows(body: Body, scales: Mapping[str, int]) -> Body:
    """The counters divided by so much, where they are set, moved on and compared."""

    def less(literal: n.Expression, name: str) -> n.Literal:
        assert isinstance(literal, n.Literal)
        return replace(literal, value=int(literal.value) // scales[name])

    def change(node: n.Node) -> n.Node:
        match node:
            case n.Declare(name=name, value=n.Literal() as value) if name in scales:
                return replace(node, value=less(value, name))
        for name in _plain(node):
            if name in scales and isinstance(node, n.Assign):
                return replace(node, value=less(node.value, name))
            if name in scales and isinstance(node, n.Binary):
                return replace(node, right=less(node.right, name))
        return node

    return tuple(bottom_up(s, change) for s in body)
