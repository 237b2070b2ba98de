"""Prove a dataset again: files, hashes, assembly, execution."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

from ptxkit.errors import PtxkitError
from ptxkit.synth import storage
from ptxkit.synth.dataset import Dataset
from ptxkit.synth.schema import identity, minhash, shape_hash, short_hash, split_of
from ptxkit.synth.source import Source, find
from ptxkit.toolchain import assemble_many

_BATCH = 64
_ENTRY = re.compile(r"\.entry (\w+)")


@dataclass(frozen=True, slots=True)
class Fault:
    """Something that is not as the dataset says."""

    where: str
    what: str

    def __str__(self) -> str:
        return f"{self.where}: {self.what}"


def validate(dataset: Dataset, progress: Callable[[int], None] | None = None) -> Iterator[Fault]:
    """Everything that is wrong with a dataset; nothing where it is sound.

    Every file has its hash; every row is the sample of its seed and index, has its hashes and
    its split, assembles for its architectures, and gives its digests when it is executed.
    """
    for name, about in dataset.files.items():
        path = dataset.folder / name
        if not path.exists():
            yield Fault(name, "the file is missing")
            return
        if storage.sha256(path) != about["sha256"]:
            yield Fault(name, "the file has another SHA-256 than the manifest says")
    plan = dataset.plan
    source = find(plan.source)
    seen: set[str] = set()
    shapes: dict[str, str] = {}
    done = 0
    for batch in _batches(dataset.rows()):
        for row in batch:
            for fault in _row(source, dataset, row, seen, shapes):
                yield Fault(row["id"], fault)
        yield from _assembled(batch)
        done += len(batch)
        if progress is not None:
            progress(done)
    expected = dataset.manifest["counts"]
    rejected = sum(1 for _ in dataset.rejected())
    if len(seen) + rejected != plan.count or rejected != expected["rejected"]:
        yield Fault(
            "manifest.json",
            f"{len(seen):,} rows and {rejected:,} rejected are not the {plan.count:,} samples",
        )


def _batches(rows: Iterator[dict[str, Any]]) -> Iterator[list[dict[str, Any]]]:
    batch: list[dict[str, Any]] = []
    for row in rows:
        batch.append(row)
        if len(batch) == _BATCH:
            yield batch
            batch = []
    if batch:
        yield batch


def _row(
    source: Source,
    dataset: Dataset,
    row: dict[str, Any],
    seen: set[str],
    shapes: dict[str, str],
) -> Iterator[str]:
    plan = dataset.plan
    sample = source.sample(row["seed"], row["index"], plan.settings)
    text = sample.text.replace(sample.name, "kernel")
    if row["id"] in seen:
        if plan.format == "parquet":
            yield "there are two rows of this id"
        return  # JSON lines have one line a device
    seen.add(row["id"])
    if row["id"] != identity(source, plan.seed, sample):
        yield "the id is not that of its seed and index"
    if row[source.text_view] != sample.text:
        yield f"{source.text_view} is not the sample of this seed and index"
        return
    stored = row["minhash"] if isinstance(row["minhash"], bytes) else bytes.fromhex(row["minhash"])
    for name, found, expected in (
        ("shape_hash", row["shape_hash"], shape_hash(sample.shape)),
        ("content_hash", row["content_hash"], short_hash(text)),
        ("minhash", stored, minhash(text)),
        ("split", row["split"], split_of(row["shape_hash"])),
        ("split of its shape", shapes.setdefault(row["shape_hash"], row["split"]), row["split"]),
    ):
        if found != expected:
            yield f"the {name} is {found!r}, not {expected!r}"
    try:
        wrong = source.replay(row["seed"], sample, row)
    except PtxkitError as error:
        wrong = f"it does not run: {str(error).splitlines()[0]}"
    if wrong is not None:
        yield wrong


def _apart(text: str, prefix: str) -> str:
    """Canonical PTX under names of its own; each of its names begins with that of a kernel.

    >>> _apart(".visible .entry k0(.param .u64 k0_0) { ld.param.u64 %rd1, [k0_0]; }", "r7_")
    '.visible .entry r7_k0(.param .u64 r7_k0_0) { ld.param.u64 %rd1, [r7_k0_0]; }'
    """
    names = "|".join(map(re.escape, _ENTRY.findall(text)))
    return re.sub(rf"(?<![\w$%.])(?=(?:{names})(?![A-Za-z0-9$]))", prefix, text)


def _assembled(batch: list[dict[str, Any]]) -> Iterator[Fault]:
    """Assemble all PTX of some rows, those of one architecture together."""
    by_arch: dict[str, list[tuple[str, str]]] = {}
    for number, row in enumerate(batch):
        for target in row["targets"]:
            for entry in ("forward", "backward"):
                text = target[f"ptx_{entry}"]
                if text:
                    text = _apart(text, f"r{number}_")
                    by_arch.setdefault(target["arch"], []).append((row["id"], text))
    for arch, texts in by_arch.items():
        results = assemble_many(
            [text for _, text in texts], arch, workers=1, batch=True, errors="return", cache=False
        )
        for (where, _), result in zip(texts, results, strict=True):
            if isinstance(result, PtxkitError):
                yield Fault(where, f"{arch}: {str(result).splitlines()[0]}")
