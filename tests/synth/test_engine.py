"""The engine: the same bytes for any workers, engine and interruption; clear refusals."""

import errno
import hashlib
import json
import os
import random
import signal
import socket
import subprocess
import sys
import tempfile
import time
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from examples.own_source import Polynomials

from ptxkit.errors import MissingExtraError, PtxkitError, UnknownNameError, UsageError
from ptxkit.synth import FolderError, Plan, Settings, StorageError, generate, storage
from ptxkit.synth.dataset import Dataset
from ptxkit.synth.merge import json_lines
from ptxkit.synth.validation import validate

SOURCE = "examples.own_source:Polynomials"
PLAN = Plan(SOURCE, seed=3, count=90, shard_size=20, file_rows=25)


def hashes(folder: Path) -> dict[str, str]:
    return {
        str(path.relative_to(folder)): hashlib.sha256(path.read_bytes()).hexdigest()
        for path in sorted(folder.rglob("*"))
        if path.is_file()
    }


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("data") / "one"
    generate(PLAN, folder, workers=1)
    return folder


def test_two_workers_give_the_same_bytes(whole: Path, tmp_path: Path) -> None:
    seen: list[tuple[int, int]] = []
    generate(PLAN, tmp_path / "two", workers=2, progress=lambda a, b: seen.append((a, b)))
    assert hashes(tmp_path / "two") == hashes(whole)
    assert seen[0] == (0, 90) and seen[-1] == (90, 90)


def test_ray_gives_the_same_bytes(
    whole: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pytest.importorskip("ray")
    root = str(Path(__file__).parents[2])
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join([root, os.environ.get("PYTHONPATH", "")]))
    generate(PLAN, tmp_path / "ray", workers=2, engine="ray")
    assert hashes(tmp_path / "ray") == hashes(whole)


def test_killed_again_and_again_it_ends_with_the_same_bytes(whole: Path, tmp_path: Path) -> None:
    folder = tmp_path / "killed"
    command = [
        sys.executable, "-m", "ptxkit", "synth", SOURCE, "--count", "90", "--seed", "3",
        "--shard-size", "20", "--workers", "2", "--out", str(folder),
    ]  # fmt: skip
    root = Path(__file__).parents[2]
    path = os.pathsep.join([str(root / "src"), str(root), os.environ.get("PYTHONPATH", "")])
    environment = {**os.environ, "PYTHONPATH": path}
    times = random.Random(11)
    for _ in range(10):
        run = subprocess.Popen(
            command, env=environment, cwd=root, start_new_session=True, stderr=subprocess.DEVNULL
        )
        time.sleep(times.uniform(0.3, 2.0))
        os.killpg(run.pid, signal.SIGKILL)
        run.wait()
    done = subprocess.run(command, env=environment, cwd=root, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    expected = tmp_path / "expected"
    generate(replace(PLAN, file_rows=10_000), expected, workers=1)
    assert hashes(folder) == hashes(expected)


def test_a_half_written_shard_is_made_again(whole: Path, tmp_path: Path) -> None:
    from ptxkit.synth import shards
    from ptxkit.synth.plan import claim
    from ptxkit.synth.run import _tools

    folder = tmp_path / "broken"
    plan = replace(PLAN, tools=_tools(Polynomials().provenance(PLAN.settings)))
    claim(plan, folder)
    shards.commit(folder, 1, shards.build(plan, 1, tmp_path))
    rows = shards.paths(folder, 1)[0]
    rows.write_bytes(rows.read_bytes()[:-100])
    generate(PLAN, folder, workers=1)
    assert hashes(folder) == hashes(whole)


def test_two_processes_do_not_work_on_one_run(tmp_path: Path) -> None:
    from ptxkit.synth.plan import claim, locked
    from ptxkit.synth.run import _tools

    plan = replace(PLAN, tools=_tools(Polynomials().provenance(PLAN.settings)))
    claim(plan, tmp_path / "run")
    with locked(tmp_path / "run"), pytest.raises(FolderError, match="another process is working"):
        generate(PLAN, tmp_path / "run")


def test_a_complete_run_is_left_alone(whole: Path) -> None:
    before = {path: path.stat().st_mtime_ns for path in whole.rglob("*")}
    manifest = generate(PLAN, whole)
    assert manifest["counts"]["rejected"] == 0
    assert {path: path.stat().st_mtime_ns for path in whole.rglob("*")} == before


def test_the_layout_is_what_loaders_expect(whole: Path) -> None:
    names = [name for name in hashes(whole) if name.startswith("data/train-")]
    count = len(names)
    assert names == [f"data/train-{n:05d}-of-{count:05d}.parquet" for n in range(count)]
    assert count > 1 and not (whole / "shards").exists()
    card = (whole / "README.md").read_text()
    assert card.startswith("---\nlicense: mit\n") and "path: data/train-*.parquet" in card


def test_no_shape_is_in_two_splits(whole: Path) -> None:
    shapes: dict[str, set[str]] = {}
    ids = []
    for row in Dataset(whole).rows():
        shapes.setdefault(row["shape_hash"], set()).add(row["split"])
        ids.append(row["id"])
    assert len(ids) == len(set(ids)) == 90
    assert max(len(splits) for splits in shapes.values()) == 1
    assert len({split for splits in shapes.values() for split in splits}) > 1


def test_other_libraries_read_it(whole: Path) -> None:
    import pyarrow.dataset

    count = len(list(whole.glob("data/train-*")))
    rows = sum(1 for row in Dataset(whole).rows("train"))
    table = pyarrow.dataset.dataset(sorted(map(str, whole.glob("data/train-*")))).to_table()
    assert table.num_rows == rows and count
    datasets = pytest.importorskip("datasets")
    loaded = datasets.load_dataset(str(whole), cache_dir=str(whole.parent / "cache"))
    assert loaded["train"].num_rows == rows
    polars = pytest.importorskip("polars")
    assert polars.read_parquet(str(whole / "data/train-*.parquet")).height == rows
    duckdb = pytest.importorskip("duckdb")
    query = f"select count(*) from read_parquet('{whole}/data/train-*.parquet')"
    assert duckdb.sql(query).fetchall() == [(rows,)]


def test_json_lines_have_the_names_people_know(tmp_path: Path) -> None:
    row = {
        "id": "warp-1-2", "name": "math_2", "category": "math", "python_source": "p",
        "cpp_forward": "c", "cpp_backward": None, "cuda_forward": "d", "cuda_backward": "e",
        "targets": [], "launch": [3], "verification": {"verdict": "verified"}, "minhash": b"\1",
    }  # fmt: skip
    cuda, cpu = json_lines(row)
    assert cuda["ir_forward"] == "d" and cuda["ir_backward"] == "e"
    assert cuda["metadata"]["device"] == "cuda" and cuda["metadata"]["has_backward"]
    assert cpu["metadata"] | {"device": ""} == {
        "kernel_name": "math_2", "category": "math", "device": "", "has_backward": False,
        "launch": [3], "verdict": "verified",
    }  # fmt: skip
    folder = tmp_path / "lines"
    generate(replace(PLAN, count=30, format="jsonl"), folder, workers=1)
    lines = next(folder.glob("data/train-00000-*.jsonl")).read_text().splitlines()
    assert json.loads(lines[0])["expression"]
    assert not list(validate(Dataset(folder)))


def test_validate_finds_what_was_changed(whole: Path, tmp_path: Path) -> None:
    import shutil

    assert not list(validate(Dataset(whole)))
    copy = tmp_path / "copy"
    shutil.copytree(whole, copy)
    import pyarrow.parquet as pq

    path = next(iter(sorted(copy.glob("data/train-*"))))
    table = pq.read_table(path)
    rows = table.to_pylist()
    rows[0]["targets"][0]["ptx_forward"] = rows[1]["targets"][0]["ptx_forward"]
    rows[2]["targets"][0]["ptx_forward"] += "oops"
    pq.write_table(table.from_pylist(rows, schema=table.schema), path)
    found = [str(fault) for fault in validate(Dataset(copy))]
    assert any("another SHA-256" in fault for fault in found)
    assert any(fault.startswith(rows[0]["id"]) and "digest" in fault for fault in found)
    assert any(fault.startswith(rows[2]["id"]) for fault in found)
    path.unlink()
    assert [str(fault) for fault in validate(Dataset(copy))][-1].endswith("the file is missing")


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"seed": 4}, "its seed is 3, not 4"),
        ({"count": 91}, "its count is 90, not 91"),
        ({"settings": Settings(archs=("sm_80",))}, "its settings is"),
    ],
)
def test_the_folder_of_another_run_is_refused(
    whole: Path, change: dict[str, Any], message: str
) -> None:
    before = hashes(whole)
    with pytest.raises(FolderError, match=f"holds another run .*{message}"):
        generate(replace(PLAN, **change), whole)
    assert hashes(whole) == before


def test_a_folder_with_other_files_is_refused(tmp_path: Path) -> None:
    (tmp_path / "thesis.txt").write_text("mine")
    with pytest.raises(FolderError, match="is not empty and holds no run"):
        generate(PLAN, tmp_path)
    with pytest.raises(FolderError, match=r"thesis\.txt' is a file; choose a folder"):
        generate(PLAN, tmp_path / "thesis.txt")
    assert hashes(tmp_path).keys() == {"thesis.txt"}


def test_refusals_come_before_anything_is_written(tmp_path: Path) -> None:
    folder = tmp_path / "none"
    cases: list[tuple[dict[str, Any], type[Exception], str]] = [
        ({"source": "wrap"}, UnknownNameError, "no source is called 'wrap'"),
        ({"settings": Settings(categories=("tall",))}, UnknownNameError, "no category is called"),
        ({"settings": Settings(archs=("sm_7",))}, PtxkitError, "sm_7"),
        ({"count": 0}, UsageError, "--count must be at least 1"),
        ({"format": "csv"}, UsageError, "the format is parquet or jsonl"),
        ({"level": 99}, UsageError, "level is from 1 to 22"),
    ]
    for change, kind, message in cases:
        with pytest.raises(kind, match=message):
            generate(replace(PLAN, **change), folder)
    with pytest.raises(UsageError, match="the engine is one of local, ray"):
        generate(PLAN, folder, engine="spark")
    assert not folder.exists()


def test_a_cluster_that_is_not_there(tmp_path: Path) -> None:
    pytest.importorskip("ray")
    start = time.monotonic()
    with pytest.raises(PtxkitError, match=r"no Ray cluster answers at '127\.0\.0\.1:1'"):
        generate(PLAN, tmp_path / "x", engine="ray", address="127.0.0.1:1")
    assert time.monotonic() - start < 60
    assert not (tmp_path / "x").exists()


def test_a_missing_extra_is_one_sentence(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    with pytest.raises(MissingExtraError, match=r"pip install 'ptxkit\[synth\]'"):
        generate(PLAN, tmp_path / "x")


def test_a_full_disk_loses_nothing(
    whole: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = tmp_path / "full"

    def full(handle: int) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    with monkeypatch.context() as patch:
        patch.setattr("ptxkit.synth.merge.os.fsync", full)
        with pytest.raises(StorageError, match=r"disk .* is full; what is complete is kept"):
            generate(PLAN, folder, workers=1)
    assert not list(folder.rglob("*.new"))
    generate(PLAN, folder, workers=1)
    assert hashes(folder) == hashes(whole)


def test_writing_is_all_or_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "x"
    storage.write(path, b"old")
    with monkeypatch.context() as patch:
        patch.setattr("ptxkit.synth.storage.os.fsync", _raise_full)
        with pytest.raises(StorageError, match="is full"):
            storage.write(path, b"new")
    assert path.read_bytes() == b"old" and list(tmp_path.iterdir()) == [path]


def _raise_full(handle: int) -> None:
    raise OSError(errno.ENOSPC, "No space left on device")


def test_temporary_files_are_found_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from ptxkit.synth import cluster

    monkeypatch.setenv("TMPDIR", str(tmp_path))
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    ended = subprocess.Popen([sys.executable, "-c", ""])
    ended.wait()
    left = tmp_path / f"ptxkit-ray-{socket.gethostname()}-{ended.pid}"
    other = tmp_path / f"ptxkit-ray-{socket.gethostname()}-{os.getppid()}"
    for folder in (left, other):
        folder.mkdir()
    own = cluster._workspace.__wrapped__()
    assert sorted(tmp_path.iterdir()) == sorted([own, other])
    with tempfile.NamedTemporaryFile() as file:
        assert Path(file.name).parent == own
    assert os.environ["TMPDIR"] == str(own)


def test_decontamination_refuses_and_tells(tmp_path: Path) -> None:
    known = Polynomials().sample(3, 5, Settings()).text
    manifest = generate(replace(PLAN, count=20, avoid=(known,)), tmp_path / "clean", workers=1)
    rejected = list(Dataset(tmp_path / "clean").rejected())
    assert "polynomial_5" in {row["name"] for row in rejected}
    assert {row["stage"] for row in rejected} == {"decontaminate"}
    assert sum(manifest["counts"].values()) == 20


def test_raw_ptx_can_be_left_out(tmp_path: Path) -> None:
    plan = replace(PLAN, count=20, settings=Settings(raw=False))
    generate(plan, tmp_path / "small", workers=1)
    targets = [row["targets"][0] for row in Dataset(tmp_path / "small").rows()]
    assert all(target["ptx_forward"] and target["ptx_raw"] is None for target in targets)


def test_statistics_and_report(whole: Path, tmp_path: Path) -> None:
    from ptxkit.synth.report import html
    from ptxkit.synth.statistics import collect

    dataset = Dataset(whole)
    found = collect(dataset)
    assert found.rows == 90 and found.verdicts == {"verified": 90}
    assert found.opcodes["st.global.f32"] == 90
    text = html(dataset, found)
    assert "<svg" in text and "fma.rn.f32" in text and "90 rows" in text
    assert "http" not in text  # it needs nothing from elsewhere


def test_an_unfinished_run_is_no_dataset(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="is no dataset"):
        Dataset(tmp_path)
    storage.write_json(tmp_path / "run.json", {})
    with pytest.raises(UsageError, match="is not complete"):
        Dataset(tmp_path)


def _command(*arguments: str) -> Any:
    from typer.testing import CliRunner

    from ptxkit.cli import build_app

    return CliRunner().invoke(build_app(), list(arguments))


def test_the_command_line_tells_in_one_sentence(whole: Path, tmp_path: Path) -> None:
    cases = {
        ("--categories", "tall"): "no category is called 'tall'; there are: short, long",
        ("--views", "some"): "--views is all or source, not 'some'",
        ("--engine", "spark"): "the engine is one of local, ray, not 'spark'",
        ("--decontaminate", "/no/such"): "'/no/such' cannot be read",
        ("--resume",): "there is no run to resume",
    }
    for options, message in cases.items():
        result = _command("synth", SOURCE, "--out", str(tmp_path / "x"), *options)
        assert result.exit_code == 2
        assert message in result.output.replace("\n", " ")
    result = _command("synth", SOURCE, "--out", str(whole), "--seed", "9")
    assert result.exit_code == 2 and "holds another run" in result.output
    assert not (tmp_path / "x").exists()


def test_stats_and_validate_commands(whole: Path, tmp_path: Path) -> None:
    report = tmp_path / "report.html"
    result = _command("dataset", "stats", str(whole), "--html", str(report))
    assert result.exit_code == 0 and "90 rows" in result.output and "fma.rn.f32" in result.output
    assert report.read_text().startswith("<!doctype html>")
    numbers = _command("dataset", "stats", str(whole), "--html", str(report), "--json")
    assert json.loads(numbers.stdout)["duplicates"]["shapes_in_two_splits"] == 0
    result = _command("dataset", "validate", str(whole))
    assert result.exit_code == 0 and "is sound: 90 rows" in result.output
    assert _command("dataset", "stats", str(tmp_path)).exit_code == 2


def test_all_may_be_refused(tmp_path: Path) -> None:
    """As where the assembler is older than the compiler: there are no rows, and it is told why."""
    known = tuple(Polynomials().sample(3, k, Settings()).text for k in range(4))
    plan = replace(PLAN, count=4, shard_size=2, avoid=known)
    manifest = generate(plan, tmp_path / "none", workers=1)
    assert manifest["counts"] == {"train": 0, "validation": 0, "test": 0, "rejected": 4}
    assert {row["stage"] for row in Dataset(tmp_path / "none").rejected()} == {"decontaminate"}
