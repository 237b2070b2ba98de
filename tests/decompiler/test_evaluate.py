"""`ptxkit evaluate` on files and on a dataset."""

from __future__ import annotations

import json
from concurrent.futures import ProcessPoolExecutor
from multiprocessing.context import BaseContext
from pathlib import Path

import pytest
from typer.testing import CliRunner

from ptxkit.cli import build_app
from ptxkit.cuda import read
from ptxkit.decompiler import evaluate as measuring
from ptxkit.decompiler.evaluate import Item, Row, folder_items, measure, summary
from ptxkit.decompiler.metrics import tree_similarity

KERNELS = {
    "one.cu": 'extern "C" __global__ void one(int *x) {\n    x[threadIdx.x] = 1;\n}\n',
    "two.cu": 'extern "C" __global__ void two(float *x, float a) {\n    x[threadIdx.x] *= a;\n}\n',
}


def run(*words: str | Path, code: int = 0) -> str:
    found = CliRunner().invoke(build_app(), [str(w) for w in words])
    assert found.exit_code == code, found.output
    assert "Traceback" not in found.output
    return found.output


def test_a_folder(tmp_path: Path) -> None:
    for name, text in KERNELS.items():
        (tmp_path / name).write_text(text)
    out, picture = tmp_path / "out.json", tmp_path / "out.png"
    shown = run("evaluate", tmp_path, "--json", out, "--plot", picture)
    assert "symbolic" in shown and "compiles" in shown
    data = json.loads(out.read_text())
    numbers = data["summary"]["symbolic"]["all"]
    assert numbers["count"] == 2 and numbers["compiles"] == 1.0 and numbers["equivalent"] == 1.0
    assert numbers["exact"] is None  # there is no tree to compare with
    assert numbers["lines_ratio"] <= 1.5
    assert [row["name"] for row in data["rows"]] == ["one", "two"]
    assert picture.read_bytes().startswith(b"\x89PNG")


def test_a_split_of_a_dataset(tmp_path: Path) -> None:
    folder = tmp_path / "data"
    run("synth", "tiers", "--count", "20", "--out", folder, "--seed", "3")
    out = tmp_path / "out.json"
    run("evaluate", folder, "--split", "train", "--limit", "6", "--json", out)
    rows = json.loads(out.read_text())["rows"]
    assert len(rows) == 6
    assert len({row["group"] for row in rows}) > 1
    assert all(row["exact"] is not None for row in rows)
    assert all(0.0 <= row["similarity"] <= 1.0 for row in rows if row["similarity"] is not None)


def test_workers_start_afresh(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A forked process could not use a GPU that this one has used."""
    for name, text in KERNELS.items():
        (tmp_path / name).write_text(text)
    contexts = []

    class Pool(ProcessPoolExecutor):
        def __init__(self, workers: int, mp_context: BaseContext) -> None:
            contexts.append(mp_context.get_start_method())
            super().__init__(workers, mp_context)

    monkeypatch.setattr(measuring, "ProcessPoolExecutor", Pool)
    rows = measuring.evaluate(folder_items([tmp_path], "sm_90"), ["symbolic"], workers=2)
    assert contexts == ["spawn"]
    assert [(row.name, row.equivalent) for row in rows] == [("one", True), ("two", True)]


def test_a_file_of_a_folder_that_does_not_compile_is_left_out(tmp_path: Path) -> None:
    (tmp_path / "good.cu").write_text(KERNELS["one.cu"])
    (tmp_path / "bad.cu").write_text("__global__ void k() { nothing(); }")
    shown = run("evaluate", tmp_path)
    assert "left out" in shown and "bad.cu" in shown
    assert "identifier" in run("evaluate", tmp_path / "bad.cu", code=2)


def test_nothing_to_measure(tmp_path: Path) -> None:
    (tmp_path / "bad.cu").write_text("__global__ void k() { nothing(); }")
    assert "there is nothing to measure" in run("evaluate", tmp_path, code=2)


def test_a_plot_that_is_no_picture_is_refused_at_once(tmp_path: Path) -> None:
    (tmp_path / "one.cu").write_text(KERNELS["one.cu"])
    shown = run("evaluate", tmp_path, "--plot", tmp_path / "x.xyz", code=2)
    assert "a plot is a .png, .svg, .pdf file" in shown


@pytest.mark.parametrize("words", [("nothing",), (".",)])
def test_inputs_that_are_none(
    words: tuple[str, ...], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    assert "ptxkit: error:" in run("evaluate", *words, code=2)


def test_a_fault_in_one_program_is_a_row(monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(*words: object, **options: object) -> None:
        raise KeyError("place")

    monkeypatch.setattr("ptxkit.decompiler.evaluate.decompile", broken)
    row = measure(Item("k", "g", ".version 8.0 .target sm_90 .entry k() { ret; }"), "symbolic")
    assert row.level == "none"
    assert row.reason == "ptxkit failed (KeyError: 'place'); please report it"


def test_shares_are_of_the_rows_they_belong_to() -> None:
    rows = [
        Row("a", "x", "symbolic", "E1", True, True, True, 1.0, 0, 1, 10, 5, 1.0),
        Row("b", "x", "symbolic", "none", reason="does not lift"),
        Row("c", "y", "neural", "E3", True, True, False, 0.5, 1, 0, 10, 5, 2.0),
    ]
    found = summary(rows)
    assert found["symbolic"]["all"]["count"] == 2
    assert found["symbolic"]["x"]["E1"] == 0.5
    assert found["symbolic"]["all"]["without_goto"] == 0.5
    assert found["symbolic"]["all"]["assembly"] == 0.1
    assert found["neural"]["y"]["exact"] == 0.0
    assert found["neural"]["all"]["without_goto"] == 0.0


def test_the_distance_is_that_of_trees() -> None:
    flat = read("(= x (+ (+ a b) c))")
    assert tree_similarity(flat, flat) == 1.0
    # One leaf renamed costs one of seven nodes; a subtree deleted costs its nodes.
    renamed = read("(= x (+ (+ a b) d))")
    shorter = read("(= x (+ a c))")
    assert tree_similarity(flat, renamed) == pytest.approx(1 - 1 / 7)
    assert tree_similarity(flat, shorter) == pytest.approx(1 - 2 / 7)
