"""From complete shards to the dataset: the same rows in order, by split, in files of a size."""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

from ptxkit.errors import import_extra
from ptxkit.synth import shards, storage
from ptxkit.synth.duplicates import Duplicates
from ptxkit.synth.plan import DATA, MANIFEST, SHARDS, Plan
from ptxkit.synth.schema import SPLITS, rejected_schema, row_schema, split_of
from ptxkit.synth.source import find

_GROUP = 2000
"""Rows that are compressed together: what rows have in common is written once."""
_PAGE = 64 << 20
REJECTED = "rejected"


def merge(plan: Plan, folder: Path, notes: dict[int, dict[str, Any]]) -> dict[str, Any]:
    """Write the files of the dataset, and give its manifest.

    Everything goes to a temporary name first; files that an interrupted merge left are
    written again with the same bytes.
    """
    source = find(plan.source)
    counts = shards.total(notes)
    (folder / DATA).mkdir(exist_ok=True)
    writer: type[_ParquetFile] | type[_JsonFile]
    writer = _ParquetFile if plan.format == "parquet" else _JsonFile
    duplicates = Duplicates()
    files: dict[str, Any] = {}
    schema = row_schema(source)
    for split in SPLITS:
        names = _names(split, counts[split], plan)
        rows = _rows(folder, plan, partial(_of_split, split))
        _write(folder, names, rows, plan, lambda p: writer(p, schema, plan), duplicates, split)
        files.update({name: {"split": split} for name in names})
    if counts[REJECTED]:
        (folder / REJECTED).mkdir(exist_ok=True)
        name = f"{REJECTED}/{REJECTED}-00000-of-00001.{_suffix(plan)}"
        rows = _rows(folder, plan, lambda table: table, rejected=True)
        big = Plan(plan.source, plan.seed, plan.count, file_rows=1 << 62)
        _write(folder, [name], rows, big, lambda p: writer(p, rejected_schema(), plan), None, "")
        files[name] = {"split": REJECTED}
    for name in files:
        path = folder / name
        files[name] |= {"sha256": storage.sha256(path), "bytes": path.stat().st_size}
    return {
        "plan": plan.to_dict(),
        "counts": counts,
        "files": files,
        "duplicates": duplicates.report(),
    }


def finish(folder: Path, manifest: dict[str, Any]) -> None:
    """Make the dataset complete: the manifest, and no shards any more."""
    storage.write_json(folder / MANIFEST, manifest)
    shutil.rmtree(folder / SHARDS, ignore_errors=True)


def _suffix(plan: Plan) -> str:
    return "parquet" if plan.format == "parquet" else "jsonl"


def _names(split: str, rows: int, plan: Plan) -> list[str]:
    """The files of a split.

    >>> _names("test", 25, Plan("warp", 1, 100, file_rows=20))
    ['data/test-00000-of-00002.parquet', 'data/test-00001-of-00002.parquet']
    """
    count = -(-rows // plan.file_rows)
    return [f"{DATA}/{split}-{n:05d}-of-{count:05d}.{_suffix(plan)}" for n in range(count)]


def _rows(
    folder: Path, plan: Plan, select: Callable[[Any], Any], *, rejected: bool = False
) -> Iterator[Any]:
    """The rows of all shards, as tables of one shard each."""
    parquet = import_extra("pyarrow.parquet", extra="synth")
    for number in range(plan.shards):
        table = select(parquet.read_table(shards.paths(folder, number)[1 if rejected else 0]))
        if table.num_rows:
            yield table


def _of_split(split: str, table: Any) -> Any:
    pa = import_extra("pyarrow", extra="synth")
    mask = [split_of(hash) == split for hash in table["shape_hash"].to_pylist()]
    return table.filter(pa.array(mask))


def _write(
    folder: Path,
    names: list[str],
    tables: Iterator[Any],
    plan: Plan,
    open_file: Callable[[Path], _ParquetFile | _JsonFile],
    duplicates: Duplicates | None,
    split: str,
) -> None:
    """Spread tables over files, a group of rows at a time."""
    groups = _grouped(tables, plan.file_rows)
    pending = next(groups, None)
    for name in names:
        path = folder / name
        temporary = path.with_name(f".{path.name}.new")
        try:
            file = open_file(temporary)
            left = plan.file_rows
            while pending is not None and left > 0:
                if duplicates is not None:
                    duplicates.add(pending, split)
                file.write(pending)
                left -= pending.num_rows
                pending = next(groups, None)
            file.close()
            with temporary.open("rb") as written:
                os.fsync(written.fileno())
            storage.commit(temporary, path)
        except OSError as error:
            temporary.unlink(missing_ok=True)
            raise storage.explained(error, path) from error


def _grouped(tables: Iterator[Any], file_rows: int) -> Iterator[Any]:
    """Tables of `_GROUP` rows each, with a new one where a new file begins."""
    pa = import_extra("pyarrow", extra="synth")
    kept: list[Any] = []
    have, left = 0, file_rows
    for table in tables:
        while table.num_rows:
            take = min(table.num_rows, _GROUP - have, left - have)
            kept.append(table.slice(0, take))
            table = table.slice(take)
            have += take
            if have == min(_GROUP, left):
                yield pa.concat_tables(kept)
                left = left - have or file_rows
                kept, have = [], 0
    if have:
        yield pa.concat_tables(kept)


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


def json_lines(row: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """A row as flat JSON objects: one a device that its source has code for."""
    row = {key: value.hex() if isinstance(value, bytes) else value for key, value in row.items()}
    devices = [
        (device, word)
        for device, word in (("cuda", "cuda"), ("cpu", "cpp"))
        if f"{word}_forward" in row
    ]
    if not devices:
        yield row
        return
    common = {
        key: value
        for key, value in row.items()
        if not key.startswith(("cpp_", "cuda_")) and key not in ("name", "category")
    }
    for device, word in devices:
        targets = {"targets": row["targets"]} if device == "cuda" else {"targets": []}
        yield {
            **common,
            **targets,
            "ir_forward": row[f"{word}_forward"],
            "ir_backward": row[f"{word}_backward"],
            "metadata": {
                "kernel_name": row["name"],
                "category": row["category"],
                "device": device,
                "has_backward": bool(row[f"{word}_backward"]),
                "launch": row["launch"],
                "verdict": row["verification"]["verdict"],
            },
        }
