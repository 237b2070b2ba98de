"""The same bytes however a dataset is made: by one worker or two, by Ray, killed and resumed."""

from __future__ import annotations

import hashlib
import os
import random
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path

from benchmarks.report import Bar, Row, Settings
from ptxkit.synth import Plan, generate

SOURCE, SEED = "tiers", 7
SHARD = 50
KILLS = 10


def benchmark(settings: Settings) -> Iterator[Row]:
    """Files that differ from those of one worker, for every other way."""
    if find_spec("pyarrow") is None or find_spec("nvidia") is None:
        return
    large = settings.repeat > 1
    plan = Plan(SOURCE, SEED, 1200 if large else 8, shard_size=SHARD if large else 2)
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        generate(plan, folder / "one", workers=1)
        expected = hashes(folder / "one")
        start = time.perf_counter()
        generate(plan, folder / "two", workers=2)
        seconds = time.perf_counter() - start
        yield _row("by two workers", expected, folder / "two", f"{plan.count:,} samples")
        if find_spec("ray") is not None:
            generate(plan, folder / "ray", workers=2, engine="ray")
            yield _row("by Ray", expected, folder / "ray", "")
        killed = interrupted(plan, folder / "killed", KILLS if large else 2, seconds)
        note = f"killed with {', '.join(map(str, killed))} of {plan.shards} shards"
        yield _row(f"killed {len(killed)} times with -9", expected, folder / "killed", note)


def hashes(folder: Path) -> dict[str, str]:
    """The SHA-256 of every file of a dataset."""
    return {
        str(path.relative_to(folder)): hashlib.sha256(path.read_bytes()).hexdigest()
        for path in sorted(folder.rglob("*"))
        if path.is_file()
    }


def interrupted(plan: Plan, folder: Path, kills: int, seconds: float) -> list[int]:
    """Make a dataset, which takes so long, that is killed at random times; then to its end.

    Gives the number of shards that were complete at each kill.
    """
    command = [
        sys.executable, "-m", "ptxkit", "synth", plan.source, "--count", str(plan.count),
        "--seed", str(plan.seed), "--shard-size", str(plan.shard_size), "--workers", "2",
        "--out", str(folder),
    ]  # fmt: skip
    times = random.Random(plan.seed)
    complete: list[int] = []
    for _ in range(kills):
        run = subprocess.Popen(
            command, start_new_session=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
        )
        # After some more shards, in the midst of the next ones; some die before they begin.
        wanted = len(_complete(folder)) + times.randrange(3)
        while run.poll() is None and len(_complete(folder)) < wanted:
            time.sleep(0.02)
        time.sleep(times.uniform(0.0, 2 * seconds / plan.shards))
        if run.poll() is not None:
            break  # it was done before
        os.killpg(run.pid, signal.SIGKILL)
        run.wait()
        complete.append(len(_complete(folder)))
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    return complete


def _complete(folder: Path) -> list[Path]:
    return list(folder.glob("shards/[0-9]*[0-9].json"))


def _row(how: str, expected: dict[str, str], folder: Path, note: str) -> Row:
    found = hashes(folder)
    different = [
        name for name in expected.keys() | found.keys() if expected.get(name) != found.get(name)
    ]
    return Row(
        f"{SOURCE}, files that differ {how}", len(different), "files",
        bar=Bar(0, on="ours"), higher_is_better=False, note=note,
    )  # fmt: skip
