"""Datasets of Warp kernels: how diverse, how fast, how small, how flat in memory."""

from __future__ import annotations

import resource
import tempfile
import time
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path

from benchmarks.report import Bar, Row, Settings
from ptxkit.synth import Plan, find, generate
from ptxkit.synth import Settings as Choice
from ptxkit.synth.dataset import Dataset

SEED = 7


def benchmark(settings: Settings) -> Iterator[Row]:
    """All rows; nothing where Warp is not installed."""
    large = settings.repeat > 1
    yield shapes(100_000 if large else 500)
    if find_spec("warp") is None or find_spec("pyarrow") is None:
        return
    with tempfile.TemporaryDirectory() as folder:
        yield from source_only(Path(folder), 600 if large else 20)
        yield from executed(Path(folder), 1000 if large else 20)
        if large:
            yield memory(Path(folder), 1000, 4000)


def shapes(count: int) -> Row:
    """Distinct shapes among many samples."""
    warp, choice = find("warp"), Choice()
    found = {warp.sample(SEED, index, choice).shape for index in range(count)}
    share = 100 * len(found) / count
    # A generator by templates, measured: 4,300 shapes in 100,000 samples.
    return Row(f"distinct shapes in {count:,}", share, "%", "templates", 4.3, Bar(90, on="ours"))


def source_only(folder: Path, count: int) -> Iterator[Row]:
    """C++ and CUDA, forward and backward, on one core; the peer compiles one kernel a module."""
    warp, choice = find("warp"), Choice(views="source")
    samples = [warp.sample(SEED, index, choice) for index in range(count)]
    warp.make(SEED, samples[:2], choice, folder)
    start = time.process_time()
    samples = [warp.sample(SEED, index, choice) for index in range(count)]
    for at in range(0, count, 100):
        warp.make(SEED, samples[at : at + 100], choice, folder)
    ours = count / (time.process_time() - start)
    few = samples[: max(5, count // 10)]
    start = time.process_time()
    for sample in few:
        warp.make(SEED, [sample], choice, folder)
    peer = len(few) / (time.process_time() - start)
    yield Row(
        "kernels, source only, a core", ours, "/s", "one a module", peer,
        note="C++ and CUDA, forward and backward",
    )  # fmt: skip
    yield Row("pairs, source only, a core", 2 * ours, "/s", bar=Bar(300, on="ours"))


def executed(folder: Path, count: int) -> Iterator[Row]:
    """All views, assembled, executed three ways, forward, two workers; and its size."""
    plan = Plan("warp", SEED, count, Choice(backward=False, raw=False))
    start = time.perf_counter()
    generate(plan, folder / "executed", workers=2)
    rate = count / (time.perf_counter() - start)
    yield Row("rows, all views, executed, two workers", rate, "/s", bar=Bar(30, on="ours"))
    dataset = Dataset(folder / "executed")
    rows = sum(1 for _ in dataset.rows())
    size = sum(about["bytes"] for about in dataset.files.values())
    yield Row(
        "bytes a row, forward", size / max(1, rows), "bytes",
        bar=Bar(2000, on="ours"), higher_is_better=False, note="Python, C++, CUDA, canonical PTX",
    )  # fmt: skip
    kept = 100 * rows / count
    yield Row("samples that are verified", kept, "%")


def memory(folder: Path, few: int, many: int) -> Row:
    """The largest worker of a long run against that of a short one."""
    peaks = []
    for count in (few, many):
        plan = Plan("warp", SEED, count, Choice(views="source"))
        generate(plan, folder / f"memory{count}", workers=2)
        peaks.append(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss)
    return Row(
        f"memory at {many:,} against {few:,}", peaks[1] / peaks[0], "x",
        bar=Bar(1.1, on="ours"), higher_is_better=False,
    )  # fmt: skip
