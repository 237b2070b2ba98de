"""From complete shards to the dataset: the same rows in order, by split, in files of a size."""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import Any

from ptxkit.errors import import_extra
from ptxkit.synth import shards, storage
from ptxkit.synth.duplicates import COLUMNS, Duplicates
from ptxkit.synth.lines import json_lines
from ptxkit.synth.plan import DATA, MANIFEST, SHARDS, Plan
from ptxkit.synth.schema import SPLITS, split_of

_GROUP = 1000
_GROUP_BYTES = 48 << 20
"""Rows that are compressed together, at most so many and so large: what they have in common is
written once. The compressor looks back some megabytes in each column, so more would only take
more memory."""
_PAGE = 64 << 20
REJECTED = "rejected"


def merge(plan: Plan, folder: Path, notes: dict[int, dict[str, Any]]) -> dict[str, Any]:
    """Write the files of the dataset, and give its manifest.

    The splits are written one after another, each from all shards in order, so that no more is
    held than a group of rows of one split. Everything goes to a temporary name first; files that
    an interrupted merge left are written again with the same bytes.
    """
    counts = shards.total(notes)
    duplicates = Duplicates(sum(counts[split] for split in SPLITS))
    for number in range(plan.shards):
        table = _read(shards.paths(folder, number)[0], COLUMNS)
        for split in SPLITS:
            duplicates.add(_of_split(split, table), split)
    files = layout(plan, counts)
    for split, names in files.items():
        with _Spread(folder, names, plan.file_rows, partial(_open, plan)) as spread:
            for number in range(plan.shards):
                if notes[number]["counts"][split]:
                    spread.add(_part(folder, number, split))
    found: dict[str, Any] = {}
    for split, names in files.items():
        for name in names:
            path = folder / name
            size = path.stat().st_size
            found[name] = {"split": split, "sha256": storage.sha256(path), "bytes": size}
    return {
        "plan": plan.to_dict(),
        "counts": counts,
        "files": found,
        "duplicates": duplicates.report(),
    }


def finish(folder: Path, manifest: dict[str, Any]) -> None:
    """Make the dataset complete: the manifest, and no shards any more."""
    storage.write_json(folder / MANIFEST, manifest)
    shutil.rmtree(folder / SHARDS, ignore_errors=True)


def layout(plan: Plan, counts: dict[str, int]) -> dict[str, list[str]]:
    """The files of a dataset, by split.

    >>> layout(Plan("warp", 1, 100), {"train": 9, "validation": 0, "test": 0, "rejected": 0})
    {'train': ['data/train-00000-of-00001.parquet'], 'validation': [], 'test': [], 'rejected': []}
    """
    files = {split: _names(f"{DATA}/{split}", counts[split], plan) for split in SPLITS}
    return files | {REJECTED: _names(f"{REJECTED}/{REJECTED}", min(1, counts[REJECTED]), plan)}


def _names(start: str, rows: int, plan: Plan) -> list[str]:
    """The files of a split.

    >>> _names("data/test", 25, Plan("warp", 1, 100, file_rows=20))
    ['data/test-00000-of-00002.parquet', 'data/test-00001-of-00002.parquet']
    """
    count = -(-rows // plan.file_rows)
    suffix = "parquet" if plan.format == "parquet" else "jsonl"
    return [f"{start}-{n:05d}-of-{count:05d}.{suffix}" for n in range(count)]


def _open(plan: Plan, path: Path, schema: Any) -> _ParquetFile | _JsonFile:
    return (_ParquetFile if plan.format == "parquet" else _JsonFile)(path, schema, plan)


def _part(folder: Path, number: int, split: str) -> Any:
    """The rows of a shard that are of a split, or were rejected."""
    rows, rejected, _ = shards.paths(folder, number)
    return _read(rejected) if split == REJECTED else _of_split(split, _read(rows))


def _read(path: Path, columns: Sequence[str] | None = None) -> Any:
    """A file of a shard. `read_table` would start threads, and keep memory for each."""
    parquet = import_extra("pyarrow.parquet", extra="synth")
    with parquet.ParquetFile(path, pre_buffer=False) as file:
        return file.read(columns, use_threads=False)


def _of_split(split: str, table: Any) -> Any:
    pa = import_extra("pyarrow", extra="synth")
    mask = [split_of(hash) == split for hash in table["shape_hash"].to_pylist()]
    # Of no rows pyarrow would not know that these are truths.
    return table.filter(pa.array(mask, pa.bool_()))


class _Spread:
    """Spreads the rows of a split over its files, a group of rows at a time."""

    def __init__(
        self,
        folder: Path,
        names: list[str],
        file_rows: int,
        open_file: Callable[[Path, Any], _ParquetFile | _JsonFile],
    ) -> None:
        self._paths = [folder / name for name in names]
        self._file_rows = file_rows
        self._open = open_file
        self._file: _ParquetFile | _JsonFile | None = None
        self._left = 0
        """Rows that the open file still takes."""
        self._kept: list[Any] = []
        self._rows = self._bytes = 0

    def __enter__(self) -> _Spread:
        return self

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        if kind is None:
            self._flush()
            self._finish()
        elif self._paths:
            self._temporary.unlink(missing_ok=True)

    def add(self, table: Any) -> None:
        """Take rows; they are written when there is a group of them, or the file is full."""
        while table.num_rows:
            room = self._left if self._file is not None else self._file_rows
            part = table.slice(0, min(table.num_rows, _GROUP - self._rows, room - self._rows))
            table = table.slice(part.num_rows)
            self._kept.append(part)
            self._rows += part.num_rows
            self._bytes += part.nbytes
            if self._rows == min(_GROUP, room) or self._bytes >= _GROUP_BYTES:
                self._flush()

    @property
    def _temporary(self) -> Path:
        path = self._paths[0]
        return path.with_name(f".{path.name}.new")

    def _flush(self) -> None:
        """Write what is kept as one group."""
        if not self._rows:
            return
        pa = import_extra("pyarrow", extra="synth")
        group = pa.concat_tables(self._kept)
        self._kept, rows, self._rows, self._bytes = [], self._rows, 0, 0
        try:
            if self._file is None:
                self._paths[0].parent.mkdir(exist_ok=True)
                self._file = self._open(self._temporary, group.schema)
                self._left = self._file_rows
            self._file.write(group)
        except OSError as error:
            raise storage.explained(error, self._paths[0]) from error
        del group
        pa.default_memory_pool().release_unused()  # or the next group would come on top
        self._left -= rows
        if not self._left:
            self._finish()

    def _finish(self) -> None:
        """Close the file and give it its name."""
        if self._file is None:
            return
        try:
            self._file.close()
            with self._temporary.open("rb") as written:
                os.fsync(written.fileno())
            storage.commit(self._temporary, self._paths[0])
        except OSError as error:
            raise storage.explained(error, self._paths[0]) from error
        self._file = None
        del self._paths[0]


class _ParquetFile:
    """A Parquet file with pages large enough for rows to share what they have in common."""

    def __init__(self, path: Path, schema: Any, plan: Plan) -> None:
        parquet = import_extra("pyarrow.parquet", extra="synth")
        self._writer = parquet.ParquetWriter(
            path,
            schema,
            compression="zstd",
            compression_level=plan.level,
            use_dictionary=["source", "category"],
            data_page_size=_PAGE,
            write_statistics=False,
        )

    def write(self, table: Any) -> None:
        self._writer.write_table(table, row_group_size=_GROUP)

    def close(self) -> None:
        self._writer.close()


class _JsonFile:
    """JSON lines, one a row and device, with the field names of older collections."""

    def __init__(self, path: Path, schema: Any, plan: Plan) -> None:
        self._file = path.open("w", encoding="utf-8")

    def write(self, table: Any) -> None:
        for row in table.to_pylist():
            for line in json_lines(row):
                self._file.write(json.dumps(line, sort_keys=True) + "\n")

    def close(self) -> None:
        self._file.close()
