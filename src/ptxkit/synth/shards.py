"""One shard: a function of the plan and its number, as bytes; and its files."""

from __future__ import annotations

import io
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from ptxkit.errors import import_extra
from ptxkit.synth import storage
from ptxkit.synth.decontamination import Filter
from ptxkit.synth.plan import SHARDS, Plan
from ptxkit.synth.schema import (
    SPLITS,
    rejected_row,
    rejected_schema,
    row,
    row_schema,
    split_of,
)
from ptxkit.synth.source import Made, Rejected, find


@dataclass(frozen=True, slots=True)
class Shard:
    """The content of a shard's files."""

    rows: bytes
    rejected: bytes
    counts: dict[str, int]
    """Rows of each split, and of the rejected."""


def build(plan: Plan, number: int, workspace: Path) -> Shard:
    """Make a shard. Nothing but the plan and the number decides about its bytes."""
    source = find(plan.source)
    samples = [source.sample(plan.seed, index, plan.settings) for index in plan.indices(number)]
    avoid = Filter(plan.avoid)
    verdicts = {sample.index: avoid.verdict(sample.text) for sample in samples}
    clean = [sample for sample in samples if verdicts[sample.index] is None]
    made = source.make(plan.seed, clean, plan.settings, workspace) if clean else []
    results: dict[int, Made | Rejected] = {
        sample.index: result for sample, result in zip(clean, made, strict=True)
    }
    rows, rejected = [], []
    for sample in samples:
        result = verdicts[sample.index] or results[sample.index]
        if isinstance(result, Rejected):
            rejected.append(rejected_row(source, plan.seed, sample, result))
        else:
            if not plan.settings.raw:
                result = replace(
                    result, targets=tuple(replace(one, ptx_raw=None) for one in result.targets)
                )
            rows.append(row(source, plan.seed, sample, result))
    counts = dict.fromkeys(SPLITS, 0)
    for one in rows:
        counts[split_of(one["shape_hash"])] += 1
    counts["rejected"] = len(rejected)
    return Shard(_parquet(rows, row_schema(source)), _parquet(rejected, rejected_schema()), counts)


def _parquet(rows: list[dict[str, Any]], schema: Any) -> bytes:
    pa = import_extra("pyarrow", extra="synth")
    parquet = import_extra("pyarrow.parquet", extra="synth")
    sink = io.BytesIO()
    table = pa.Table.from_pylist(rows, schema=schema)
    parquet.write_table(table, sink, compression="zstd", compression_level=3, use_dictionary=False)
    return sink.getvalue()


def paths(folder: Path, number: int) -> tuple[Path, Path, Path]:
    """The files of a shard: rows, rejected, and the note that makes it complete."""
    home = folder / SHARDS
    return (
        home / f"{number:06d}.parquet",
        home / f"{number:06d}.rejected.parquet",
        home / f"{number:06d}.json",
    )


def commit(folder: Path, number: int, shard: Shard) -> None:
    """Put a shard on disk; it counts from the moment its note is there."""
    rows, rejected, note = paths(folder, number)
    storage.write(rows, shard.rows)
    storage.write(rejected, shard.rejected)
    storage.write_json(
        note,
        {
            "counts": shard.counts,
            "rows": storage.sha256(rows),
            "rejected": storage.sha256(rejected),
        },
    )


def note_of(folder: Path, number: int) -> dict[str, Any] | None:
    """The note of a complete shard; None where it must be made (again)."""
    rows, rejected, note = paths(folder, number)
    found = storage.read_json(note)
    if not isinstance(found, dict) or found.keys() != {"counts", "rows", "rejected"}:
        return None
    if not rows.exists() or not rejected.exists():
        return None
    if storage.sha256(rows) != found["rows"] or storage.sha256(rejected) != found["rejected"]:
        return None
    return dict(found)


def complete(folder: Path, plan: Plan) -> dict[int, dict[str, Any]]:
    """The notes of all complete shards."""
    found = {}
    for number in range(plan.shards):
        note = note_of(folder, number)
        if note is not None:
            found[number] = note
    return found


def total(notes: dict[int, dict[str, Any]]) -> dict[str, int]:
    """The sums over shards.

    >>> total({0: {"counts": {"train": 2}}, 1: {"counts": {"train": 3}}})
    {'train': 5}
    """
    sums: dict[str, int] = {}
    for number in sorted(notes):
        for key, value in notes[number]["counts"].items():
            sums[key] = sums.get(key, 0) + value
    return sums
