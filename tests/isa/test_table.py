"""The instruction table against ptxas: what it lists is accepted, near misses agree."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from ptxkit.isa.page import page
from ptxkit.isa.registry import FAMILIES, table
from tests.isa import oracle

ROOTS = list(table())
DOCS = Path(__file__).parents[2] / "docs"


def _family(title: str) -> list[str]:
    return [root for root, row in table().items() if row.family == title]


#: Families with instructions of their own; others add rows to those.
TITLES = [title for title in FAMILIES.values() if _family(title)]


@pytest.mark.parametrize("title", TITLES)
def test_every_variant_is_accepted(title: str) -> None:
    answers = oracle.ask(oracle.accepted_questions(_family(title), 60))
    assert answers
    wrong = [f"{q.text} [{q.target}] ours: {q.ours} ptxas: {t}" for q, t in answers if q.ours or t]
    assert not wrong, "\n".join(wrong[:10])


def test_near_misses_agree() -> None:
    """A sample over the whole table; ``python -m tests.isa.agreement`` asks many more."""
    answers = oracle.ask(oracle.miss_questions(ROOTS, 1))
    wrong = [
        f"{q.kind}: {q.text} [{q.version} {q.target}] ours: {q.ours or 'ok'} ptxas: {t or 'ok'}"
        for q, t in answers
        if bool(q.ours) != bool(t)
    ]
    assert len(answers) > 5_000
    assert len(wrong) <= 0.01 * len(answers), "\n".join(wrong[:20])


def test_an_error_in_the_table_is_seen() -> None:
    """The comparison can fail: a form that does not exist is rejected by ptxas."""
    from ptxkit.isa.forms import form, instruction
    from ptxkit.isa.variants import combinations, render

    wrong = instruction("add", "Wrong on purpose.", form("add.sat.type =d, a, b", type="u32 s32"))
    texts = [render(found).text for found in combinations(wrong.forms[0])]
    replies = oracle.ptxas.verdicts(texts, "8.0", "sm_90")
    assert [bool(reply) for reply in replies] == [True, False]


def test_every_instruction_is_documented() -> None:
    for root, row in table().items():
        assert row.summary.endswith("."), root
        assert row.forms, root


def test_the_page_is_up_to_date() -> None:
    agreement = json.loads((DOCS / "isa-agreement.json").read_text())
    assert (DOCS / "isa.md").read_text() == page(agreement), (
        "run: python -m ptxkit.isa.page docs/isa.md"
    )
    for run in agreement["runs"]:
        assert run["accepted"] == run["variants"]
        assert run["agreed"] >= 0.99 * run["misses"]
