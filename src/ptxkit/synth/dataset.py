"""A finished dataset: its manifest and its rows."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from ptxkit.errors import PtxkitError, UsageError, import_extra
from ptxkit.synth import storage
from ptxkit.synth.duplicates import COUNTS
from ptxkit.synth.merge import REJECTED, layout
from ptxkit.synth.plan import MANIFEST, PLAN, Plan
from ptxkit.synth.schema import SPLITS, rejected_schema, row_schema
from ptxkit.synth.source import Settings, find

_BATCH = 256


class DatasetError(PtxkitError):
    """A file of a dataset is not what it should be."""


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
        if not is_manifest(manifest):
            raise UsageError(
                f"'{self.folder / MANIFEST}' is damaged; give the ptxkit synth command of this "
                "folder again to make the dataset anew"
            )
        self.manifest: dict[str, Any] = manifest

    @property
    def plan(self) -> Plan:
        """What it was made from, but for the texts to avoid."""
        return _plan(self.manifest["plan"])

    @property
    def files(self) -> dict[str, dict[str, Any]]:
        """Every file by its name, with split, size and hash."""
        return dict(self.manifest["files"])

    def rows(self, split: str | None = None) -> Iterator[dict[str, Any]]:
        """The rows of a split, or of all of them; with the split as a column."""
        for name, about in self.files.items():
            if about["split"] == REJECTED or (split is not None and about["split"] != split):
                continue
            for row in self.read(name):
                yield {**row, "split": about["split"]}

    def rejected(self) -> Iterator[dict[str, Any]]:
        """The samples that are not in the dataset, with their reasons."""
        for name, about in self.files.items():
            if about["split"] == REJECTED:
                yield from self.read(name)

    def read(self, name: str) -> Iterator[dict[str, Any]]:
        """What a file of the dataset holds."""
        path = self.folder / name
        try:
            if path.suffix == ".jsonl":
                with path.open(encoding="utf-8") as file:
                    for line in file:
                        found = json.loads(line)
                        if not isinstance(found, dict):
                            raise DatasetError(f"'{path}' has a line that is no row")
                        yield found
                return
            parquet = import_extra("pyarrow.parquet", extra="synth")
            with parquet.ParquetFile(path) as file:
                self._check_columns(path, file.schema_arrow)
                for batch in file.iter_batches(batch_size=_BATCH):
                    yield from batch.to_pylist()
        except (ValueError, OSError) as error:
            # Those of Arrow are among them.
            what = str(error).splitlines()[0] if str(error) else type(error).__name__
            raise DatasetError(f"'{path}' cannot be read: {what}") from error

    def _check_columns(self, path: Path, found: Any) -> None:
        rejected = self.files[str(path.relative_to(self.folder))]["split"] == REJECTED
        expected = rejected_schema() if rejected else row_schema(find(self.plan.source))
        if not found.equals(expected):
            raise DatasetError(f"'{path}' has other columns than rows of this source have")


def is_manifest(data: Any) -> bool:
    """Whether plain data have all that a manifest tells."""
    try:
        plan = _plan(data["plan"])
        counts = data["counts"]
        return (
            counts.keys() == {*SPLITS, REJECTED}
            and all(type(count) is int and 0 <= count <= plan.count for count in counts.values())
            and data["duplicates"].keys() == set(COUNTS)
            and all(type(count) is int for count in data["duplicates"].values())
            and all(
                isinstance(about["sha256"], str)
                and type(about["bytes"]) is int
                and about["split"] in (*SPLITS, REJECTED)
                for about in data["files"].values()
            )
        )
    except (KeyError, TypeError, ValueError, AttributeError):
        return False


def is_whole(folder: Path) -> bool:
    """Whether a folder has a manifest and every file of it, in its size."""
    manifest = storage.read_json(folder / MANIFEST)
    if not is_manifest(manifest):
        return False
    files = manifest["files"]
    named = layout(_plan(manifest["plan"]), manifest["counts"])
    return {name for names in named.values() for name in names} == files.keys() and all(
        (folder / name).is_file() and (folder / name).stat().st_size == about["bytes"]
        for name, about in files.items()
    )


def _plan(data: dict[str, Any]) -> Plan:
    plan = Plan(
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
    whole = (plan.seed, plan.count, plan.shard_size, plan.file_rows, plan.level)
    words = (plan.source, plan.format, plan.settings.views, *plan.settings.archs)
    if not all(type(number) is int for number in whole):
        raise TypeError("a number of the plan is none")
    if not all(isinstance(word, str) for word in words) or not isinstance(plan.tools, dict):
        raise TypeError("a word of the plan is none")
    if plan.count < 1 or plan.shard_size < 1 or plan.file_rows < 1:
        raise ValueError("a plan has at least one sample")
    return plan
