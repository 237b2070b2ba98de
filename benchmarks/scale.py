"""What a row of a dataset takes of a core, and so what a hundred million of them take.

CPU seconds, not those on the wall: they hold on a busy machine, and are what a cluster is paid
for. What a run takes to begin with is taken off: a long run is measured against a short one.
"""

from __future__ import annotations

import resource
import tempfile
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path
from typing import NamedTuple

from benchmarks.report import Row, Settings
from ptxkit.synth import Plan, generate
from ptxkit.synth import Settings as Choice

ROWS = 100_000_000
SEED = 7

#: What it is called, the source, what has to be installed, its settings, and how many rows a short
#: and a long run have.
RUNS = (
    ("tiers", "tiers", "nvidia", Choice(raw=False), (200, 1000)),
    ("tiers --no-assemble", "tiers", "nvidia", Choice(raw=False, assemble=False), (200, 1000)),
    ("warp --no-backward", "warp", "warp", Choice(backward=False, raw=False), (50, 150)),
    ("ptx", "ptx", "nvidia", Choice(raw=False), (200, 1000)),
)


class Costs(NamedTuple):
    """Of one run: samples that were kept, CPU seconds of workers and of the driver, bytes."""

    rows: int
    workers: float
    driver: float
    bytes: int


def benchmark(settings: Settings) -> Iterator[Row]:
    """Rows of every source that is installed."""
    if find_spec("pyarrow") is None:
        return
    for name, source, package, choice, sizes in RUNS:
        if find_spec(package) is None:
            continue
        small, large = sizes if settings.repeat > 1 else (2, 6)
        with tempfile.TemporaryDirectory() as folder:
            # What is imported and loaded once is no part of a row.
            run(Plan(source, SEED, 2, choice), Path(folder) / "warm")
            first = run(Plan(source, SEED, small, choice), Path(folder) / "small")
            second = run(Plan(source, SEED, large, choice), Path(folder) / "large")
        yield from rows(name, first, second)


def run(plan: Plan, folder: Path) -> Costs:
    """Make a dataset with one worker and say what it took."""
    before = cpu(resource.RUSAGE_CHILDREN), cpu(resource.RUSAGE_SELF)
    manifest = generate(plan, folder, workers=1)
    workers = cpu(resource.RUSAGE_CHILDREN) - before[0]
    driver = cpu(resource.RUSAGE_SELF) - before[1]
    counts = manifest["counts"]
    kept = sum(counts[split] for split in ("train", "validation", "test"))
    return Costs(kept, workers, driver, sum(f["bytes"] for f in manifest["files"].values()))


def cpu(who: int) -> float:
    """CPU seconds so far, of this process or of those it has waited for."""
    used = resource.getrusage(who)
    return used.ru_utime + used.ru_stime


def rows(name: str, small: Costs, large: Costs) -> Iterator[Row]:
    """The figures of a source."""
    count = max(1, large.rows - small.rows)
    worker = max(1e-9, large.workers - small.workers) / count
    driver = max(1e-9, large.driver - small.driver) / count
    note = f"{small.rows:,} and {large.rows:,} rows, generated, compiled, executed, compared"
    yield Row(f"{name}: verified rows a core", 1 / worker, "/s", note=note)
    yield Row(f"{name}: rows through the driver", 1 / driver, "/s", note="writes and merges")
    yield Row(f"{name}: bytes a row", large.bytes / max(1, large.rows), "bytes",
              higher_is_better=False)  # fmt: skip
    hours = ROWS * (worker + driver) / 3600
    yield Row(f"{name}: {ROWS:,} rows", hours, "core hours", higher_is_better=False)
