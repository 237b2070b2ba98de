"""Odd PTX parses, comes back byte for byte, and is not complained about where ptxas takes it."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

import ptxkit
from helpers.tree_check import check_tree, nodes_of
from isa.ptxas import find_ptxas
from syntax.odd import OURS, TAKEN
from syntax.snippets import ptxas_accepts

BYTES = {
    name: text if isinstance(text, bytes) else text.encode("utf-8", "surrogateescape")
    for name, text in (TAKEN | OURS).items()
}

by_name = pytest.mark.parametrize("name", BYTES, ids=lambda name: name.replace(" ", "-"))


def test_the_table_is_large() -> None:
    assert len(TAKEN) >= 60
    assert len(set(BYTES.values())) == len(BYTES) == len(TAKEN) + len(OURS)


@by_name
def test_it_parses_and_comes_back(name: str) -> None:
    text = BYTES[name]
    parsed = ptxkit.parse(text)
    assert parsed.emit_bytes() == text
    check_tree(text, nodes_of(parsed))


@by_name
def test_it_is_formatted_without_loss(name: str) -> None:
    once = ptxkit.format(BYTES[name])
    assert ptxkit.format(once) == once
    before = [token[:2] for token in ptxkit.parse(BYTES[name]).tokens()]
    assert [token[:2] for token in ptxkit.parse(once).tokens()] == before


@pytest.mark.parametrize("name", TAKEN, ids=lambda name: name.replace(" ", "-"))
def test_check_finds_no_error(name: str) -> None:
    found = [one.render() for one in ptxkit.check(TAKEN[name]) if one.severity == "error"]
    assert found == []


@pytest.mark.skipif(find_ptxas() is None, reason="no ptxas on this machine")
def test_ptxas_takes_every_one(tmp_path: Path) -> None:
    with ThreadPoolExecutor(2) as pool:
        accepted = pool.map(lambda name: ptxas_accepts(BYTES[name], tmp_path), TAKEN)
        assert [name for name, good in zip(TAKEN, accepted, strict=True) if not good] == []
