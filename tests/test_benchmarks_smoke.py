"""The benchmarks run, on sizes too small to mean anything."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

import ptxkit

ROOT = Path(__file__).parents[1]


def run(*arguments: str) -> str:
    environment = os.environ | {"PYTHONPATH": str(ROOT)}
    command = [sys.executable, "-m", "benchmarks", *arguments]
    return subprocess.run(
        command, check=True, capture_output=True, text=True, cwd=ROOT, env=environment
    ).stdout


@pytest.fixture(scope="module")
def rows() -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = json.loads(run("parse", "--quick", "--json"))["parse"]
    return found


def test_every_measure_has_a_figure(rows: list[dict[str, Any]]) -> None:
    measures = {row["measure"] for row in rows}
    assert {"parse", "walk in Python", "memory a byte of text", "format", "check"} <= measures
    for row in rows:
        assert row["ours"] >= 0
        # A figure stands beside its peer's, with the ratio of the two.
        assert (row["ratio"] is None) == (not row["peer_value"] or not row["ours"])


def test_figures_are_shown_with_peer_and_bar(tmp_path: Path) -> None:
    written = tmp_path / "figures.json"
    shown = run("parse", "--quick", "--out", str(written))
    for word in ("measure", "ours", "peer", "ratio", "bar", "met?", "bars met"):
        assert word in shown
    assert json.loads(written.read_text())["parse"]


def test_a_wrong_name_is_refused() -> None:
    command = [sys.executable, "-m", "benchmarks", "nothing"]
    refused = subprocess.run(command, capture_output=True, text=True, cwd=ROOT)
    assert refused.returncode == 2
    assert "no benchmark is called nothing; there are: " in refused.stderr


def test_generated_text_is_sound() -> None:
    sys.path.insert(0, str(ROOT))
    try:
        from benchmarks.generate import generate
    finally:
        sys.path.remove(str(ROOT))
    text = generate(30_000)
    assert text == generate(30_000)
    assert len(text) < 45_000
    module = ptxkit.parse(text)
    assert len(module.kernels) > 3
    assert [found for found in ptxkit.check(module) if found.severity == "error"] == []


def test_everything_is_understood_and_mistakes_are_refused() -> None:
    found = json.loads(run("fidelity", "--quick", "--json"))["fidelity"]
    assert {row["measure"] for row in found} >= {"files that parse", "mistakes that are refused"}
    assert all(row["met"] for row in found)
