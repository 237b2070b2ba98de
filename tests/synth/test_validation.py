"""`validate` notices every change of a dataset, the manifest's hashes made to fit."""

import hashlib
import json
import shutil
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest

from ptxkit.errors import PtxkitError, UsageError
from ptxkit.synth import Plan, Settings, generate
from ptxkit.synth.dataset import Dataset
from ptxkit.synth.validation import validate

Row = dict[str, Any]
PTX = Plan("ptx", seed=5, count=60, settings=Settings(archs=("sm_80", "sm_90")), shard_size=30)
LINES = replace(PTX, count=20, format="jsonl")
TIERS = Plan("tiers", seed=5, count=24)


@pytest.fixture(scope="module")
def ptx(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("ptx") / "data"
    generate(PTX, folder, workers=1)
    return folder


@pytest.fixture(scope="module")
def tiers(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("tiers") / "data"
    generate(TIERS, folder, workers=1)
    return folder


@pytest.fixture(scope="module")
def lines(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("lines") / "data"
    generate(LINES, folder, workers=1)
    return folder


@pytest.fixture
def copy(ptx: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(ptx, tmp_path / "copy"))


def resealed(folder: Path, **manifest: Any) -> Dataset:
    """The hashes and sizes in the manifest as the files are now."""
    path = folder / "manifest.json"
    data = json.loads(path.read_text()) | manifest
    for name, about in data["files"].items():
        content = (folder / name).read_bytes()
        about |= {"sha256": hashlib.sha256(content).hexdigest(), "bytes": len(content)}
    path.write_text(json.dumps(data))
    return Dataset(folder)


def rewrite(folder: Path, change: Callable[[list[Row]], Any], split: str = "train") -> None:
    path = next(folder.glob(f"data/{split}-*.parquet"))
    table = pq.read_table(path)
    rows = table.to_pylist()
    change(rows)
    pq.write_table(table.from_pylist(rows, schema=table.schema), path)


def put(path: str, value: Any) -> Callable[[Row], None]:
    """Set a field, such as ``targets.0.sass``; a function is told what was there."""
    *way, last = [int(word) if word.isdecimal() else word for word in path.split(".")]

    def change(row: Any) -> None:
        for word in way:
            row = row[word]
        row[last] = value(row[last]) if callable(value) else value

    return change


def no_stores(row: Row) -> None:
    """Kernels that do nothing, in a row that says that it was not executed."""
    for target in row["targets"]:
        for column in ("ptx_forward", "ptx_raw"):
            kept = [line for line in target[column].split("\n") if "st.global" not in line]
            target[column] = "\n".join(kept)
    row["verification"]["verdict"] = "not executed"


def no_stores_but_verified(row: Row) -> None:
    no_stores(row)
    row["verification"]["verdict"] = "verified"


def both(change: Callable[[str], str]) -> Callable[[Row], None]:
    """Change the canonical and the raw PTX alike."""

    def changed(row: Row) -> None:
        for column in ("ptx_forward", "ptx_raw"):
            row["targets"][0][column] = change(row["targets"][0][column])

    return changed


def comment(text: str) -> str:
    return f"{text}// x y add.f32\n"


def more(value: int) -> int:
    return value + 1


#: What is changed in a row, how, and what must be said about it.
CHANGES: list[tuple[str, Callable[[Row], None], str]] = [
    ("a kernel without stores", no_stores, "the verdict is 'not executed', not 'verified'"),
    ("one that is called verified", no_stores_but_verified, "instead of"),
    ("no targets", put("targets", []), "the architectures are []"),
    ("null targets", put("targets", None), "no targets"),
    ("one target", put("targets", lambda targets: targets[:1]), "not ['sm_80', 'sm_90']"),
    ("other order", put("targets", lambda targets: targets[::-1]), "the architectures are"),
    ("arch", put("targets.1.arch", "sm_100"), "the architectures are"),
    ("ptx_forward null", put("targets.0.ptx_forward", None), "there is no ptx_forward"),
    ("ptx_backward", put("targets.0.ptx_backward", "// none"), "there is a ptx_backward"),
    ("ptx_raw null", put("targets.0.ptx_raw", None), "there is no ptx_raw"),
    ("ptx_raw", put("targets.0.ptx_raw", lambda t: t.replace("ret;", "exit;")), "canonical form"),
    ("a comment", put("targets.0.ptx_forward", comment), "not the canonical form of ptx_raw"),
    ("a raw comment", put("targets.0.ptx_raw", comment), "ptx_raw has a line beside its kernels"),
    ("not PTX", put("targets.0.ptx_raw", "oops"), "sm_80: ptx_forward: "),
    ("refused", both(lambda t: t.replace(".version 8.0", ".version 3.0")), "sm_80: "),
    ("assembled", put("targets.0.assembled", False), "assembled is False, not True"),
    ("registers", put("targets.0.registers", more), "the registers are"),
    ("shared_bytes", put("targets.0.shared_bytes", more), "the shared_bytes are 1, not 0"),
    ("spill_bytes", put("targets.0.spill_bytes", more), "the spill_bytes are 1, not 0"),
    ("code_bytes", put("targets.1.code_bytes", None), "the code_bytes are None"),
    ("sass", put("targets.0.sass", "NOP"), "there is a sass"),
    ("id", put("id", "ptx-5-1000"), "the id is 'ptx-5-1000'"),
    ("source", put("source", "warp"), "the source is 'warp', not 'ptx'"),
    ("seed", put("seed", 6), "the seed is 6, not 5"),
    ("name", put("name", "k"), "the name is 'k'"),
    ("category", put("category", "quadruple"), "the category is 'quadruple'"),
    ("text", put("stack_program", "x"), "the stack_program is 'x'"),
    ("launch", put("launch", [2, 64, 0]), "the launch is [2, 64, 0], not [1, 64, 0]"),
    ("launch null", put("launch", [None, 64, 0]), "the launch is [None, 64, 0]"),
    ("features", put("features", ["loops"]), "the features is ['loops'], not []"),
    ("verification", put("verification", None), "it has no verification"),
    ("checks", put("verification.checks", lambda c: c[1:]), "the checks are"),
    ("relative", put("verification.relative_tolerance", 0.5), "the relative tolerance is 0.5"),
    ("absolute", put("verification.absolute_tolerance", None), "the absolute tolerance is None"),
    ("inputs", put("verification.input_digest", "00"), "the inputs have another digest"),
    ("outputs", put("verification.output_digest", "00"), "the outputs have another digest"),
    ("gradients", put("verification.gradient_digest", "00"), "the gradients have another digest"),
    ("shape_hash", put("shape_hash", "0" * 16), "the shape_hash is"),
    ("content_hash", put("content_hash", "0" * 16), "the content_hash is"),
    ("minhash", put("minhash", b""), "the minhash is b''"),
]  # fmt: skip


@pytest.fixture(scope="module")
def told(ptx: Path, tmp_path_factory: pytest.TempPathFactory) -> dict[str, list[str]]:
    """What is said about a dataset with one change a row, by the name of the change."""
    folder = Path(shutil.copytree(ptx, tmp_path_factory.mktemp("changed") / "data"))
    names: dict[str, str] = {}

    def change(rows: list[Row]) -> None:
        for row, (name, one, _) in zip(rows, CHANGES, strict=False):
            one(row)
            names[row["id"]] = name
        assert len(names) == len(CHANGES)

    rewrite(folder, change)
    found: dict[str, list[str]] = {}
    for fault in validate(resealed(folder)):
        found.setdefault(names.get(fault.where, fault.where), []).append(fault.what)
    return found


@pytest.mark.parametrize(("name", "message"), [(name, message) for name, _, message in CHANGES])
def test_a_changed_field_is_noticed(name: str, message: str, told: dict[str, list[str]]) -> None:
    assert any(message in fault for fault in told[name]), told[name]


def test_nothing_else_is_said(told: dict[str, list[str]]) -> None:
    assert told.keys() == {name for name, *_ in CHANGES}


def faults(dataset: Dataset) -> list[str]:
    return [str(fault) for fault in validate(dataset)]


def test_sound_datasets_are_sound(ptx: Path, tiers: Path, lines: Path) -> None:
    for folder in (ptx, tiers, lines):
        assert faults(Dataset(folder)) == []


@pytest.mark.parametrize(
    ("source", "settings"),
    [
        ("ptx", {"views": "source"}),
        ("ptx", {"raw": False, "assemble": False}),
        ("ptx", {"sass": True}),
        ("tiers", {"views": "source"}),
        ("tiers", {"raw": False, "sass": True}),
        ("examples.own_source:Polynomials", {"archs": ("sm_80", "sm_90")}),
        ("examples.own_source:Polynomials", {"views": "source"}),
    ],
)
def test_whatever_was_asked_for(source: str, settings: Row, tmp_path: Path) -> None:
    count = 2 if settings.get("sass") else 6  # its rows are disassembled one by one
    generate(Plan(source, 5, count, Settings(**settings)), tmp_path / "data", workers=1)
    assert faults(Dataset(tmp_path / "data")) == []
    if settings.get("sass"):
        rewrite(tmp_path / "data", lambda rows: put("targets.0.sass", "NOP")(rows[0]))
        assert "the sass is not that of its PTX" in faults(resealed(tmp_path / "data"))[0]


def test_trees_and_launches_of_tiers(tiers: Path, tmp_path: Path) -> None:
    folder = Path(shutil.copytree(tiers, tmp_path / "copy"))
    changes = [
        (put("ast", "(module)"), "the ast is '(module)'"),
        (put("ast", None), "the ast is None"),
        (put("targets.0.ptx_forward", None), "there is no ptx_forward"),
        (put("launch.3", 1024), "the launch is"),
        (put("targets.0.registers", 16), "though none was to be measured"),
        (put("verification.relative_tolerance", 0.1), "the relative tolerance is 0.1, not None"),
        (no_stores, "the verdict is 'not executed'"),
    ]
    ids = []

    def change(rows: list[Row]) -> None:
        for row, (one, _) in zip(rows, changes, strict=False):
            ids.append(row["id"])
            one(row)

    rewrite(folder, change)
    found = faults(resealed(folder))
    for own, (_, message) in zip(ids, changes, strict=True):
        assert any(fault.startswith(f"{own}: ") and message in fault for fault in found), message


def test_rows_are_all_there_and_once(copy: Path) -> None:
    rewrite(copy, lambda rows: rows.pop())
    assert any("1 of 60 samples are missing" in fault for fault in faults(resealed(copy)))


def test_no_row_is_there_twice(copy: Path) -> None:
    rewrite(copy, lambda rows: rows.append(rows[0]))
    assert any("there are two rows of this index" in fault for fault in faults(resealed(copy)))


def test_rows_are_in_their_split(copy: Path) -> None:
    moved: list[Row] = []
    rewrite(copy, lambda rows: moved.append(rows.pop()))
    rewrite(copy, lambda rows: rows.extend(moved), "validation")
    found = faults(resealed(copy))
    assert any("the split is 'validation', not 'train'" in fault for fault in found)
    assert any(fault.startswith("manifest.json: the counts are") for fault in found)


@pytest.mark.parametrize(
    ("manifest", "message"),
    [
        ({"counts": {"train": 53, "validation": 5, "test": 2, "rejected": 0}}, "the counts are"),
        ({"duplicates": {"rows": 60, "exact_duplicates": 0, "distinct_shapes": 60,
                         "shapes_in_two_splits": 0, "near_duplicates": 59}}, "the duplicates are"),
    ],
)  # fmt: skip
def test_the_manifest_counts_right(manifest: Row, message: str, copy: Path) -> None:
    assert any(message in fault for fault in faults(resealed(copy, **manifest)))


def test_files_that_loaders_would_read(copy: Path) -> None:
    extra = copy / "data" / "train-00001-of-00002.parquet"
    shutil.copy(next(copy.glob("data/train-*")), extra)
    (found,) = faults(Dataset(copy))
    assert found.startswith("data/train-00001-of-00002.parquet: the manifest does not know")


def broken(path: Path) -> Iterator[None]:
    content = path.read_bytes()
    for damaged in (b"", content[: len(content) // 2], b"\xff\xfe" * 500):
        path.write_bytes(damaged)
        yield
    path.write_bytes(content)


def test_broken_files_are_one_sentence(copy: Path, lines: Path, tmp_path: Path) -> None:
    from ptxkit.synth.statistics import collect

    for _ in broken(next(copy.glob("data/train-*"))):
        assert any("cannot be read" in fault for fault in faults(resealed(copy)))
        with pytest.raises(PtxkitError, match="cannot be read"):
            collect(Dataset(copy))
    path = next(copy.glob("data/train-*"))
    pq.write_table(pq.read_table(path).drop_columns(["launch"]), path)
    assert any("has other columns" in fault for fault in faults(resealed(copy)))
    folder = Path(shutil.copytree(lines, tmp_path / "lines"))
    path = next(folder.glob("data/train-*"))
    for line in ("[]", "{", '{"id": 1}', "\xff"):
        path.write_text(f"{line}\n", encoding="latin-1")
        assert any(fault.startswith("data/train") for fault in faults(resealed(folder)))


def test_lines_of_json_are_there_once(lines: Path, tmp_path: Path) -> None:
    folder = Path(shutil.copytree(lines, tmp_path / "lines"))
    path = next(folder.glob("data/train-*"))
    first, *others = path.read_text().splitlines(keepends=True)
    path.write_text("".join([first, first, *others]))
    assert any("not those of one row" in fault for fault in faults(resealed(folder)))
    path.write_text("".join([first, *others, first]))
    assert any("two rows of this index" in fault for fault in faults(resealed(folder)))


@pytest.mark.parametrize("content", [b"[]", b'{"plan": 1}', b"{}", b"5"])
def test_a_damaged_manifest(content: bytes, copy: Path) -> None:
    (copy / "manifest.json").write_bytes(content)
    with pytest.raises(UsageError, match=r"manifest\.json' is damaged; give the .* command"):
        Dataset(copy)


def hashes(folder: Path) -> dict[str, str]:
    files = (path for path in sorted(folder.rglob("*")) if path.is_file())
    return {str(p.relative_to(folder)): hashlib.sha256(p.read_bytes()).hexdigest() for p in files}


def test_what_was_lost_is_made_again(lines: Path, tmp_path: Path) -> None:
    copy = Path(shutil.copytree(lines, tmp_path / "lines"))
    losses: list[Callable[[], Any]] = [
        lambda: [path.unlink() for path in copy.glob("data/train*")],
        lambda: (copy / "manifest.json").write_bytes(b'{"plan": {'),
        lambda: (copy / "manifest.json").write_bytes(b"\xff\xfe"),
        lambda: next(copy.glob("data/train-*")).write_bytes(b"{"),
    ]
    for lose in losses:
        lose()
        generate(LINES, copy, workers=1)
        assert hashes(copy) == hashes(lines)
    for content in (b"[]", b"\xff\xfe"):
        (copy / "run.json").write_bytes(content)
        with pytest.raises(PtxkitError, match=r"run\.json' is damaged|holds no run"):
            generate(LINES, copy, workers=1)


@pytest.mark.parametrize(
    ("change", "options", "message"),
    [
        ({"seed": 99999999999999999999999}, {}, "--seed must be from"),
        ({"count": 10**30}, {}, "--count must be at most"),
        ({"settings": Settings(archs=("sm_90", "sm_90"))}, {}, "sm_90 is named twice"),
        ({}, {"workers": -1}, "--workers must be at least 1, not -1"),
        ({}, {"workers": 0}, "--workers must be at least 1, not 0"),
    ],
)
def test_refusals(change: Row, options: Row, message: str, tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=message):
        generate(replace(PTX, **change), tmp_path / "x", **options)
    assert not (tmp_path / "x").exists()
