"""Datasets of kernels: how diverse, how fast, how small, how flat in memory."""

from __future__ import annotations

import multiprocessing
import os
import random
import resource
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from importlib.util import find_spec
from multiprocessing.connection import Connection
from pathlib import Path

from benchmarks.report import Bar, Row, Settings
from ptxkit.synth import Plan, find, generate
from ptxkit.synth import Settings as Choice
from ptxkit.synth.dataset import Dataset
from ptxkit.synth.schema import shape_hash

SEED = 7


def benchmark(settings: Settings) -> Iterator[Row]:
    """All rows; those of Warp only where it is installed."""
    large = settings.repeat > 1
    for source in ("warp", "tiers"):
        yield shapes(source, 100_000 if large else 500)
    if find_spec("pyarrow") is None:
        return
    with tempfile.TemporaryDirectory() as folder:
        if find_spec("nvidia") is not None:
            yield from tiers(Path(folder), 4000 if large else 20)
        if find_spec("warp") is not None:
            yield from source_only(Path(folder), 600 if large else 20)
            yield from executed(Path(folder), 1000 if large else 20)
            yield everything(Path(folder), 1000 if large else 5)
            yield reproduced(Path(folder), 80 if large else 4, 10 if large else 1)
        if large:
            for source in ("tiers", "warp"):
                yield memory(source, Path(folder), 1000, 100_000)


def made(plan: Plan, folder: Path) -> tuple[float, str]:
    """Make a dataset with two workers; samples a second that two cores make, and a note.

    Processor time of all processes counts: the clock on the wall tells as much about what else
    the machine does.
    """
    wall, before = time.perf_counter(), _processor_time()
    generate(plan, folder, workers=2)
    wall, spent = time.perf_counter() - wall, _processor_time() - before
    note = (
        f"{1000 * spent / plan.count:.1f} ms of a core each; {plan.count / wall:.0f}/s by the clock"
    )
    return 2 * plan.count / spent, note


def _processor_time() -> float:
    used = [resource.getrusage(kind) for kind in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return sum(one.ru_utime + one.ru_stime for one in used)


def tiers(folder: Path, count: int) -> Iterator[Row]:
    """CUDA C kernels by NVRTC, 200 a program, executed and compared, two workers."""
    # One nvcc a kernel, nothing executed: 3.8 a second, measured.
    for name, choice in (("assembled", Choice()), ("checked", Choice(assemble=False))):
        rate, note = made(Plan("tiers", SEED, count, choice), folder / name)
        yield Row(f"tiers, executed, {name} by ptxas, two cores", rate, "/s",
                  "nvcc, not executed", 3.8, bar=Bar(300, on="ours"), note=note)  # fmt: skip
    dataset = Dataset(folder / "assembled")
    rows = sum(1 for _ in dataset.rows())
    size = sum(about["bytes"] for about in dataset.files.values())
    yield Row("tiers, verified samples", 100 * rows / count, "%", bar=Bar(99, on="ours"))
    yield Row("tiers, shapes in two splits",
              dataset.manifest["duplicates"]["shapes_in_two_splits"], "shapes",
              bar=Bar(0, on="ours"), higher_is_better=False)  # fmt: skip
    yield Row("tiers, bytes a row", size / rows, "bytes", bar=Bar(2000, on="ours"),
              higher_is_better=False, note="CUDA, AST, PTX canonical and raw")  # fmt: skip


def shapes(name: str, count: int) -> Row:
    """Distinct shapes among many samples."""
    source, choice = find(name), Choice()
    found = {shape_hash(source.sample(SEED, index, choice).shape) for index in range(count)}
    share = 100 * len(found) / count
    # A generator by templates, measured: 4,300 shapes in 100,000 samples.
    return Row(
        f"{name}, distinct shapes in {count:,}", share, "%", "templates", 4.3, Bar(90, on="ours")
    )


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
    rate, note = made(plan, folder / "executed")
    yield Row("warp, all views, executed, two cores", rate, "/s", bar=Bar(30, on="ours"), note=note)
    dataset = Dataset(folder / "executed")
    rows = sum(1 for _ in dataset.rows())
    size = sum(about["bytes"] for about in dataset.files.values())
    yield Row(
        "bytes a row, forward", size / max(1, rows), "bytes",
        bar=Bar(2000, on="ours"), higher_is_better=False, note="Python, C++, CUDA, canonical PTX",
    )  # fmt: skip
    kept = 100 * rows / count
    yield Row("samples that are verified", kept, "%")


def everything(folder: Path, count: int) -> Row:
    """Bytes a row with all views forward and backward, but raw PTX, as small as it gets."""
    plan = Plan("warp", SEED, count, Choice(raw=False), level=19)
    generate(plan, folder / "everything", workers=2)
    dataset = Dataset(folder / "everything")
    size = sum(about["bytes"] for about in dataset.files.values())
    rows = sum(1 for _ in dataset.rows())
    return Row(
        "bytes a row, forward and backward", size / max(1, rows), "bytes",
        bar=Bar(2000, on="ours"), higher_is_better=False, note="level 19",
    )  # fmt: skip


def reproduced(folder: Path, count: int, kills: int) -> Row:
    """How many ways to make one dataset end with other bytes."""
    plan = Plan("warp", SEED, count, Choice(backward=False), shard_size=max(1, count // 8))
    start = time.perf_counter()
    expected = generate(plan, folder / "one", workers=1)
    wall = time.perf_counter() - start
    found = [generate(plan, folder / "two", workers=2)]
    ways = "one worker, two"
    if find_spec("ray") is not None:
        found.append(generate(plan, folder / "ray", workers=2, engine="ray"))
        ways += ", Ray"
    # A run takes some seconds to start, and no shard is complete before.
    times = random.Random(SEED)
    command = [
        sys.executable, "-m", "ptxkit", "synth", plan.source, "--no-backward",
        "--count", str(count), "--seed", str(SEED), "--shard-size", str(plan.shard_size),
        "--out", str(folder / "killed"),
    ]  # fmt: skip
    for _ in range(kills):
        run = subprocess.Popen(command, start_new_session=True, stderr=subprocess.DEVNULL)
        time.sleep(times.uniform(0.05, 0.5) * wall)
        os.killpg(run.pid, signal.SIGKILL)
        run.wait()
    found.append(generate(plan, folder / "killed", workers=2))
    return Row(
        "warp, ways that end with other bytes", sum(one != expected for one in found), "ways",
        bar=Bar(0, on="ours"), higher_is_better=False,
        note=f"{ways}, killed {kills} times and resumed",
    )  # fmt: skip


def memory(source: str, folder: Path, few: int, many: int) -> Row:
    """The largest process of a long run against that of a short one."""
    context = multiprocessing.get_context("spawn")
    peaks = []
    for count in (few, many):
        ours, theirs = context.Pipe(duplex=False)
        plan = Plan(source, SEED, count, Choice(views="source"))
        process = context.Process(target=_peak, args=(plan, folder / f"{source}{count}", theirs))
        process.start()
        peaks.append(ours.recv())
        process.join()
    return Row(
        f"{source}, memory at {many:,} against {few:,}", peaks[1] / peaks[0], "x",
        bar=Bar(1.1, on="ours"), higher_is_better=False,
        note=f"{peaks[0] / 1024:.0f} and {peaks[1] / 1024:.0f} MB; source only",
    )  # fmt: skip


def _peak(plan: Plan, folder: Path, answer: Connection) -> None:
    """Make a dataset and say what its largest process took, in kilobytes."""
    generate(plan, folder, workers=2)
    kinds = (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)
    answer.send(max(resource.getrusage(kind).ru_maxrss for kind in kinds))
