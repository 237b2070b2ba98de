"""`ptxkit evaluate` on files and on a dataset."""

from __future__ import annotations

import json
import multiprocessing
import os
import signal
import time
import warnings
from pathlib import Path

import pytest
from typer.testing import CliRunner

from ptxkit.cli import build_app
from ptxkit.cuda import read
from ptxkit.decompiler import evaluate as measuring
from ptxkit.decompiler.evaluate import Item, Row, folder_items, measure, summary
from ptxkit.decompiler.metrics import tree_similarity
from ptxkit.decompiler.workers import Unfinished, limited

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


def test_kernels_of_one_file_count_each(tmp_path: Path) -> None:
    (tmp_path / "both.cu").write_text(
        "__device__ int twice(int x) {\n    return 2 * x;\n}\n\n"
        "__global__ void first(int *x) {\n    x[threadIdx.x] = twice(threadIdx.x);\n}\n\n"
        "template <class T>\n__global__ void second(T *x, T a) {\n"
        "    // scales\n    int i = threadIdx.x;\n    x[i] *= a;\n}\n"
        "template __global__ void second(float *, float);\n"
    )
    rows = measuring.evaluate(folder_items([tmp_path], "sm_90"), ["symbolic"])
    assert [(row.name, row.equivalent) for row in rows] == [
        ("both:_Z5firstPi", True),
        ("both:_Z6secondIfEvPT_S0_", True),
    ]
    # Of its own definition: 3 and 4 lines.
    assert [row.lines / row.lines_ratio for row in rows if row.lines_ratio] == [3, 4]


def test_what_is_done_is_not_lost(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Ctrl-C, or a kill, at the second program: the first one's row is there."""
    for name, text in KERNELS.items():
        (tmp_path / name).write_text(text)
    out = tmp_path / "out.json"
    seen: list[int] = []
    real = measuring.measure

    def interrupted(item: Item, *words: object) -> Row:
        if item.name == "two":
            seen.append(len(json.loads(out.read_text())["rows"]))
            raise KeyboardInterrupt
        return real(item, *words)  # type: ignore[arg-type]

    monkeypatch.setattr(measuring, "measure", interrupted)
    shown = run("evaluate", tmp_path, "--json", out, code=130)
    assert seen == [1]
    assert "programs: 0 of 2, measuring the first program" in shown
    assert "compiles      E1" in shown
    assert "interrupted: this is 1 of 2 programs" in shown
    assert json.loads(out.read_text())["summary"]["symbolic"]["all"]["count"] == 1


def test_a_split_of_a_dataset(tmp_path: Path) -> None:
    folder = tmp_path / "data"
    run("synth", "tiers", "--count", "20", "--out", folder, "--seed", "3")
    out = tmp_path / "out.json"
    assert "no split is called 'foo'; there are: train" in run(
        "evaluate", folder, "--split", "foo", code=2
    )
    run("evaluate", folder, "--split", "train", "--limit", "2", "--json", out)
    rows = json.loads(out.read_text())["rows"]
    assert len(rows) == 2
    assert len({row["group"] for row in rows}) > 1
    assert all(row["exact"] is not None for row in rows)
    assert all(0.0 <= row["similarity"] <= 1.0 for row in rows if row["similarity"] is not None)


def test_workers_start_afresh(tmp_path: Path) -> None:
    """A forked process could not use a GPU that this one has used."""
    for name, text in KERNELS.items():
        (tmp_path / name).write_text(text)
    rows = measuring.evaluate(folder_items([tmp_path], "sm_90"), ["symbolic"], workers=2)
    assert [(row.name, row.equivalent) for row in rows] == [("one", True), ("two", True)]
    assert list(limited(started_how, [None], workers=2)) == ["spawn"]


def started_how(_: None) -> str | None:
    return multiprocessing.get_start_method(allow_none=True)


def works(seconds: float) -> float:
    """A piece of work that may take too long, or end its process."""
    if seconds < 0:
        os.kill(os.getpid(), signal.SIGKILL)
    end = time.process_time() + seconds
    while time.process_time() < end:
        pass
    return seconds


def test_work_that_takes_too_long_is_ended_and_the_rest_goes_on() -> None:
    found = list(limited(works, [0, 600, 0.01, -1, 0.02], workers=2, seconds=1))
    assert [f for f in found if not isinstance(f, Unfinished)] == [0, 0.01, 0.02]
    late, died = found[1], found[3]
    assert late.overdue and late.reason == "it took longer than 1 seconds, and was ended"
    assert not died.overdue and died.reason == "its process was killed (SIGKILL)"


def test_only_computing_counts_until_it_is_much_longer_by_the_clock() -> None:
    slept, waited = limited(time.sleep, [0.3, 600], workers=2, seconds=0.1)
    assert slept is None
    assert waited.overdue and waited.seconds > 0.9


def test_a_fault_of_the_work_is_raised() -> None:
    with pytest.raises(TypeError):
        list(limited(works, ["long"], seconds=60))


def test_a_program_that_takes_too_long_has_a_row(tmp_path: Path) -> None:
    (tmp_path / "one.cu").write_text(KERNELS["one.cu"])
    items = folder_items([tmp_path], "sm_90")
    (row,) = measuring.evaluate(items, ["symbolic"], seconds=0.001)
    assert row.overdue and not row.compiles and row.instructions > 3 and "0.001" in row.reason
    assert summary([row])["symbolic"]["all"]["overdue"] == 1.0


def test_a_sample_has_all_sizes_of_all_folders(tmp_path: Path) -> None:
    lines = {"small": 5, "large": 300}
    for folder in ("a", "b"):
        (tmp_path / folder).mkdir()
        text = ".version 8.0\n.target sm_80\n.address_size 64\n"
        for size, count in lines.items():
            for number in range(30 if size == "small" else 3):
                body = "add.u32 %r1, %r1, 1; " * count
                text += f".entry {size}{number}() {{ .reg .b32 %r<2>; {body} ret; }}\n"
        (tmp_path / folder / "k.ptx").write_text(text)
    drawn = [item.group + item.name for item in folder_items([tmp_path], "sm_90", sample=8, seed=1)]
    assert len(drawn) == 8
    for start in ("ak:small", "ak:large", "bk:small", "bk:large"):
        assert sum(name.startswith(start) for name in drawn) == 2
    again = [item.group + item.name for item in folder_items([tmp_path], "sm_90", sample=8, seed=1)]
    assert drawn == again


def test_a_line_for_every_program(tmp_path: Path) -> None:
    (tmp_path / "one.cu").write_text(KERNELS["one.cu"])
    shown = run("evaluate", tmp_path, "--each", "--seconds", "100")
    assert f"{tmp_path.name}/one" in shown and "E1" in shown
    (line,) = [line for line in shown.splitlines() if f"{tmp_path.name}/one" in line]
    assert line.startswith("symbolic")
    assert "there are: auto, symbolic" in run("evaluate", tmp_path, "--engine", "foo", code=2)


def test_a_file_of_a_folder_that_does_not_compile_is_left_out(tmp_path: Path) -> None:
    (tmp_path / "good.cu").write_text(KERNELS["one.cu"])
    (tmp_path / "bad.cu").write_text("__global__ void k() { nothing(); }")
    shown = run("evaluate", tmp_path)
    assert "left out" in shown and "bad.cu" in shown
    assert "identifier" in run("evaluate", tmp_path / "bad.cu", code=2)


def test_a_file_that_needs_headers_of_the_host_is_compiled_by_nvcc(tmp_path: Path) -> None:
    source = """#include <cmath>
    #include <vector>
    __global__ void turned(float *x, uint n) { if (threadIdx.x < n) x[threadIdx.x] *= M_PI; }"""
    (tmp_path / "host.cu").write_text(source)
    (item,) = folder_items([tmp_path], "sm_90")
    assert "st.global" in item.ptx and item.lines


def test_nothing_to_measure(tmp_path: Path) -> None:
    (tmp_path / "bad.cu").write_text("__global__ void k() { nothing(); }")
    assert "there is nothing to measure" in run("evaluate", tmp_path, code=2)


def test_a_plot_that_is_no_picture_is_refused_at_once(tmp_path: Path) -> None:
    (tmp_path / "one.cu").write_text(KERNELS["one.cu"])
    shown = run("evaluate", tmp_path, "--plot", tmp_path / "x.xyz", code=2)
    assert "a plot is a .png, .svg, .pdf file" in shown


@pytest.mark.parametrize("option", ["--plot", "--json"])
def test_a_folder_that_is_not_there_is_noticed_before_the_work(
    option: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "one.cu").write_text(KERNELS["one.cu"])
    monkeypatch.setattr(measuring, "evaluate", None)
    shown = run("evaluate", tmp_path, option, tmp_path / "no" / "x.png", code=2)
    assert "there is no folder" in " ".join(shown.split())


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


def test_longer_kernels_are_left_out_of_sources_too(tmp_path: Path) -> None:
    (tmp_path / "one.cu").write_text(KERNELS["one.cu"])
    assert not list(folder_items([tmp_path], "sm_90", most=1))
    assert "more than 1 instructions" in run("evaluate", tmp_path, "--most", "1", code=2)


def test_what_is_wrong_for_all_files_is_said_once(tmp_path: Path) -> None:
    (tmp_path / "one.cu").write_text(KERNELS["one.cu"])
    for arch, said in (("sm_1", "'sm_1' is not a target"), ("sm_30", "does not compile for sm_30")):
        shown = run("evaluate", tmp_path, "--arch", arch, code=2)
        assert said in shown and "left out" not in shown
    assert "must be 1 at least" in run("evaluate", tmp_path, "--beams", "0", code=2)
    assert "--engine neural" in run("evaluate", tmp_path, "--weights", tmp_path, code=2)


def test_warnings_of_the_compiler_are_not_shown(tmp_path: Path) -> None:
    (tmp_path / "one.cu").write_text("__global__ void k(int *x) { int unused; x[0] = 1; }")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert len(list(folder_items([tmp_path], "sm_90"))) == 1
