"""Make a dataset, from wherever it stands to complete."""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import replace
from importlib.metadata import version
from pathlib import Path
from typing import Any

from ptxkit.errors import UsageError, import_extra
from ptxkit.synth import cluster, local, shards, storage
from ptxkit.synth.card import card
from ptxkit.synth.dataset import is_whole
from ptxkit.synth.merge import finish, merge
from ptxkit.synth.plan import MANIFEST, SHARDS, Plan, check, claim, locked
from ptxkit.synth.source import Source

ENGINES = ("local", "ray")
Progress = Callable[[int, int], None]


def generate(
    plan: Plan,
    folder: str | Path,
    *,
    workers: int | None = None,
    engine: str = "local",
    address: str | None = None,
    progress: Progress | None = None,
) -> dict[str, Any]:
    """Make the dataset of a plan in a folder; gives its manifest.

    What an earlier run with the same plan has completed there is kept. `progress` is called
    with the samples that are done and those there are, at the start and after every shard.
    """
    folder = Path(folder)
    if engine not in ENGINES:
        raise UsageError(f"the engine is one of {', '.join(ENGINES)}, not '{engine}'")
    if plan.format not in ("parquet", "jsonl"):
        raise UsageError(f"the format is parquet or jsonl, not '{plan.format}'")
    if workers is not None and workers < 1:
        raise UsageError(f"--workers must be at least 1, not {workers}")
    source = check(plan)
    import_extra("pyarrow", extra="synth")
    plan = replace(
        plan,
        shard_size=plan.shard_size or source.shard_size,
        tools=_tools(source.provenance(plan.settings)),
    )
    if engine == "ray":
        cluster.check(address)
    claim(plan, folder)
    if is_whole(folder):
        return dict(storage.read_json(folder / MANIFEST))
    with locked(folder):
        if is_whole(folder):  # another process has completed it meanwhile
            return dict(storage.read_json(folder / MANIFEST))
        # A dataset that lost files is made again, and is no dataset until all is there.
        (folder / MANIFEST).unlink(missing_ok=True)
        (folder / SHARDS).mkdir(exist_ok=True)
        return _complete(plan, source, folder, workers, engine, address, progress)


def _complete(
    plan: Plan,
    source: Source,
    folder: Path,
    workers: int | None,
    engine: str,
    address: str | None,
    progress: Progress | None,
) -> dict[str, Any]:
    """Make what is missing of a run."""
    complete = shards.complete(folder, plan)
    missing = [number for number in range(plan.shards) if number not in complete]
    made = sum(len(plan.indices(number)) for number in complete)
    report = progress or (lambda done, count: None)
    report(made, plan.count)

    def done(number: int) -> None:
        nonlocal made
        made += len(plan.indices(number))
        report(made, plan.count)

    if missing:
        count = max(1, min(workers or os.cpu_count() or 1, len(missing)))
        if engine == "ray":
            cluster.run(plan, folder, missing, count, done, address)
        else:
            local.run(plan, folder, missing, count, done)
    notes = shards.complete(folder, plan)
    manifest = merge(plan, folder, notes)
    storage.write(folder / "README.md", card(plan, source, manifest).encode())
    finish(folder, manifest)
    return manifest


def _tools(own: dict[str, str]) -> dict[str, str]:
    """The versions that decide about the bytes."""
    return {**own, **{name: version(name) for name in ("ptxkit", "numpy", "pyarrow")}}
