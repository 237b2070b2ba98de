"""A finished dataset: its manifest and its rows."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from ptxkit.errors import UsageError, import_extra
from ptxkit.synth import storage
from ptxkit.synth.merge import REJECTED
from ptxkit.synth.plan import MANIFEST, PLAN, Plan
from ptxkit.synth.source import Settings

_BATCH = 256


class Dataset:
    """A folder that `ptxkit synth` has completed."""

    def __init__(self, folder: str | Path) -> None:
        self.folder = Path(folder)
        manifest = storage.read_json(self.folder / MANIFEST)
        if manifest is None:
            if (self.folder / PLAN).exists():
                raise UsageError(
                    f"the run in '{folder}' is not complete; give its ptxkit synth command again"
                )
            raise UsageError(f"'{folder}' is no dataset of ptxkit synth: it has no {MANIFEST}")
        self.manifest: dict[str, Any] = manifest

    @property
    def plan(self) -> Plan:
        """What it was made from, but for the texts to avoid."""
        data = self.manifest["plan"]
        return Plan(
            data["source"],
            data["seed"],
            data["count"],
            Settings.from_dict(data["settings"]),
            data["shard_size"],
            data["file_rows"],
            data["format"],
            data["level"],
            data["tools"],
        )

    @property
    def files(self) -> dict[str, dict[str, Any]]:
        """Every file by its name, with split, size and hash."""
        return dict(self.manifest["files"])

    def rows(self, split: str | None = None) -> Iterator[dict[str, Any]]:
        """The rows of a split, or of all of them; with the split as a column."""
        for name, about in self.files.items():
            if about["split"] == REJECTED or (split is not None and about["split"] != split):
                continue
            for row in self._read(self.folder / name):
                yield {**row, "split": about["split"]}

    def rejected(self) -> Iterator[dict[str, Any]]:
        """The samples that are not in the dataset, with their reasons."""
        for name, about in self.files.items():
            if about["split"] == REJECTED:
                yield from self._read(self.folder / name)

    def _read(self, path: Path) -> Iterator[dict[str, Any]]:
        if path.suffix == ".jsonl":
            with path.open(encoding="utf-8") as file:
                for line in file:
                    yield json.loads(line)
            return
        parquet = import_extra("pyarrow.parquet", extra="synth")
        for batch in parquet.ParquetFile(path).iter_batches(batch_size=_BATCH):
            yield from batch.to_pylist()
