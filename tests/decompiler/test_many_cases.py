"""Values of many cases, which are one term each, are the same where all of their cases are."""

from __future__ import annotations

import random
from functools import partial
from itertools import product

import pytest

from ptxkit.decompiler.verify.dataflow.agreement import Agreement
from ptxkit.decompiler.verify.dataflow.decisions import LEAF, Decisions
from ptxkit.decompiler.verify.dataflow.terms import Terms
from ptxkit.decompiler.verify.dataflow.timeless import Timeless

_ASKED, _HELD = 4, 3


def _random_cases(decisions: Decisions, draw: random.Random, depth: int) -> int:
    """A value of several cases; some are one term, and parts of others."""
    terms = decisions.terms
    if not depth:
        return decisions.leaf(terms.make("symbol", f"held {draw.randrange(_HELD)}"))
    asked = decisions.ask(terms.make("asks", draw.randrange(_ASKED)))
    parts = [_random_cases(decisions, draw, depth - 1) for _ in range(2)]
    if draw.random() < 0.3:
        parts = [
            decisions.leaf(
                terms.operation(
                    "neg.f32", 0, (terms.make("cases", decisions.choose(asked, *parts)),)
                )
            )
            for _ in range(2)
        ]
    return decisions.choose(asked, *parts)


def _case(decisions: Decisions, diagram: int, answers: tuple[bool, ...]) -> object:
    """What a value is where all questions have an answer."""
    top, yes, no = decisions.nodes[diagram]
    rows = decisions.terms.rows
    while top != LEAF:
        diagram = yes if answers[rows[top][1]] else no
        top, yes, no = decisions.nodes[diagram]
    row = rows[yes]
    if row[0] == "cases":
        return _case(decisions, row[1], answers)
    if row[0] == "op":
        return row[1], _case(decisions, decisions.leaf(row[3]), answers)
    return row


@pytest.mark.parametrize("seed", range(40))
def test_values_of_many_cases_are_the_same_where_all_cases_are(seed: int) -> None:
    draw = random.Random(seed)
    decisions = Decisions(Terms(), 2)
    terms = decisions.terms
    every = list(product((False, True), repeat=_ASKED))
    found = 0
    for _ in range(30):
        one = _random_cases(decisions, draw, 3)
        asked = decisions.ask(terms.make("asks", draw.randrange(_ASKED)))
        halves = [decisions.within(way, one) for way in (asked, decisions.negate(asked))]
        whole, other = (
            decisions.leaf(terms.make("cases", value))
            for value in (decisions.choose(asked, *halves), _random_cases(decisions, draw, 2))
        )
        agreement = partial(Agreement, decisions, Timeless(decisions))
        assert agreement().same(one, whole)
        assert agreement().same(decisions.choose(asked, one, whole), one)
        for second in (other, decisions.choose(asked, one, other)):
            same = all(_case(decisions, one, a) == _case(decisions, second, a) for a in every)
            assert same or not agreement().same(one, second)
            found += not same
    assert found
