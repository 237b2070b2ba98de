"""Rows of the source `warp`: views without leaks, verified three ways, one batch for all."""

import gc
import re
import weakref
from dataclasses import replace
from pathlib import Path

import pytest

import ptxkit
from ptxkit.synth import Made, Plan, Rejected, Sample, Settings, find, generate
from ptxkit.synth.warp import grammar
from ptxkit.synth.warp.grammar import CATEGORIES
from ptxkit.synth.warp.printer import source

pytest.importorskip("warp")
SEED = 21
Row = tuple[Sample, Made]


@pytest.fixture(scope="module")
def workspace(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("warp")


@pytest.fixture(scope="module")
def rows(workspace: Path) -> list[Row]:
    """One kernel of every category, forward and backward."""
    warp, settings = find("warp"), Settings()
    samples = [warp.sample(SEED, index, settings) for index in range(len(CATEGORIES))]
    made = warp.make(SEED, samples, settings, workspace)
    refused = [(s.name, r) for s, r in zip(samples, made, strict=True) if isinstance(r, Rejected)]
    assert not refused
    return [(s, r) for s, r in zip(samples, made, strict=True) if isinstance(r, Made)]


def test_every_category_is_verified_three_ways(rows: list[Row]) -> None:
    assert [sample.category for sample, _ in rows] == list(CATEGORIES)
    for _, made in rows:
        assert made.verification.verdict == "verified"
        assert made.verification.checks == (
            "ptx sm_90 assembled",
            "warp-cpu = numpy",
            "ptx sm_90 = numpy",
            "ptx sm_90 gradient = wp.Tape",
        )


def test_no_line_of_python_is_in_a_target(rows: list[Row]) -> None:
    for sample, made in rows:
        lines = [line.strip() for line in sample.text.splitlines()]
        lines = [line for line in lines if len(line) > 12 and not line.startswith("@")]
        target = made.targets[0]
        texts = [text for view, text in made.views.items() if view != "python_source"]
        texts += [target.ptx_forward, target.ptx_backward]
        for text in texts:
            assert text
            assert "//" not in text and "/*" not in text
            for line in lines:
                assert line not in text


def test_views_are_the_kernel_s_own(rows: list[Row]) -> None:
    names = {sample.name for sample, _ in rows}
    for sample, made in rows:
        for view, text in made.views.items():
            assert text is not None
            assert sample.name in text
            assert not [n for n in names - {sample.name} if re.search(rf"\b{n}_", text)], view
        assert "__global__" in made.views["cuda_forward"]
        assert "_cpu_kernel_forward(" in made.views["cpp_forward"]
        assert "adj_" in made.views["cuda_backward"]
        assert "_backward(" not in made.views["cuda_forward"]


def test_ptx_is_canonical_and_raw_assembles(rows: list[Row]) -> None:
    for _, made in rows[:6]:
        target = made.targets[0]
        assert ".visible .entry forward(" in target.ptx_forward
        assert ".visible .entry backward(" in target.ptx_backward
        kernels = ptxkit.assemble(target.ptx_raw, "sm_90", cache=False).resources
        assert len(kernels) == 2
        forward = kernels[next(name for name in kernels if name.endswith("forward"))]
        assert forward.registers == target.registers


def test_another_batch_gives_the_same_row(rows: list[Row], workspace: Path) -> None:
    warp, settings = find("warp"), Settings()
    index = CATEGORIES.index("function")
    samples = [warp.sample(SEED, n, settings) for n in (index, 0)]
    again = warp.make(SEED, samples, settings, workspace)
    first, second = rows[index][1], again[0]
    assert isinstance(second, Made)
    assert (first.views, first.verification) == (second.views, second.verification)
    assert replace(first.targets[0], ptx_raw="") == replace(second.targets[0], ptx_raw="")


def test_a_batch_of_one_gives_the_same_row(rows: list[Row], workspace: Path) -> None:
    warp, settings = find("warp"), Settings()
    (alone,) = warp.make(SEED, [rows[0][0]], settings, workspace)
    assert isinstance(alone, Made)
    assert alone.targets[0].ptx_backward == rows[0][1].targets[0].ptx_backward
    assert alone.verification == rows[0][1].verification


def test_replay_finds_a_changed_kernel(rows: list[Row]) -> None:
    from ptxkit.synth.schema import row

    warp = find("warp")
    sample, made = rows[0]
    good = row(warp, SEED, sample, made)
    assert warp.replay(SEED, sample, good) is None
    text = good["targets"][0]["ptx_forward"]
    swapped = re.sub(r"\b(add|sub|mul|max|min)\.f32", "max.f32", text)
    assert swapped != text
    good["targets"][0]["ptx_forward"] = swapped
    assert warp.replay(SEED, sample, good) is not None


def test_a_kernel_that_does_not_compile_is_alone_to_blame(workspace: Path) -> None:
    warp, settings = find("warp"), Settings(backward=False, categories=("arithmetic",))
    samples = [warp.sample(SEED, index, settings) for index in range(4)]
    bad = samples[2]
    broken = bad.text.replace("wp.tid()", "wp.tid() + no_such_name")
    samples[2] = Sample(bad.index, bad.name, bad.category, broken, bad.shape, bad.program)
    made = warp.make(SEED, samples, settings, workspace)
    assert [type(result) for result in made] == [Made, Made, Rejected, Made]
    assert isinstance(made[2], Rejected) and made[2].stage == "compile"
    assert "no_such_name" in made[2].reason


def test_a_machine_that_compiles_nothing_is_no_reason_to_reject(
    workspace: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from ptxkit.synth.warp.adapter import Warp, WarpError

    def fail(*arguments: object, **options: object) -> None:
        raise WarpError("no space left")

    warp, settings = find("warp"), Settings(backward=False)
    monkeypatch.setattr(Warp, "compile_cuda", fail)
    with pytest.raises(ptxkit.PtxkitError, match="Warp compiles nothing any more: no space left"):
        warp.make(SEED, [warp.sample(SEED, 0, settings)], settings, workspace)


def test_source_only_gives_the_same_views(rows: list[Row], workspace: Path) -> None:
    warp, settings = find("warp"), Settings(views="source")
    made = warp.make(SEED, [sample for sample, _ in rows], settings, workspace)
    for (sample, full), quick in zip(rows, made, strict=True):
        assert isinstance(quick, Made)
        assert quick.verification.verdict == "not executed"
        if sample.category != "tile":  # the blocks of tiles are another option of Warp
            assert quick.views == full.views


def test_nothing_of_a_batch_stays(rows: list[Row], workspace: Path) -> None:
    from ptxkit.synth.warp.adapter import Warp

    warp, sample = Warp(workspace), rows[0][0]
    batch = warp.batch([sample.text], backward=False)
    warp.compile_cpu(batch)
    kernel = weakref.ref(batch.names[0][sample.name])
    assert kernel() is not None
    warp.forget(batch)
    del batch
    gc.collect()
    assert kernel() is None


def test_ray_gives_the_same_bytes(tmp_path: Path) -> None:
    pytest.importorskip("ray")
    plan = Plan("warp", SEED, 9, Settings(views="source"), shard_size=3)
    manifests = [
        generate(plan, tmp_path / engine, workers=2, engine=engine) for engine in ("local", "ray")
    ]
    assert manifests[0] == manifests[1]
    assert all(about["sha256"] for about in manifests[0]["files"].values())


def test_sources_are_files_that_python_runs() -> None:
    for index in range(len(CATEGORIES)):
        text = source(grammar.generate(1, index))
        assert text.startswith("import warp as wp\n")
        compile(text, "kernel.py", "exec")
