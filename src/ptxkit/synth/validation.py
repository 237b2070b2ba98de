"""Prove a dataset again: files, hashes, assembly, execution."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby, islice
from operator import itemgetter
from typing import Any

from ptxkit.errors import PtxkitError, import_extra
from ptxkit.synth import storage
from ptxkit.synth.dataset import Dataset, DatasetError
from ptxkit.synth.duplicates import COLUMNS, Duplicates
from ptxkit.synth.examining import examined, foretold, rejected_faults
from ptxkit.synth.lines import row_of
from ptxkit.synth.merge import REJECTED, layout
from ptxkit.synth.plan import DATA, PLAN, Plan, check
from ptxkit.synth.schema import SPLITS, rejected_schema, row_schema
from ptxkit.synth.source import Source
from ptxkit.toolchain import (
    Cubin,
    Resources,
    accept_many,
    assemble,
    assemble_many,
    disassemble,
)

_BATCH = 64
_ENTRY = re.compile(r"\.entry (\w+)")
_SUFFIXES = (".parquet", ".jsonl")


@dataclass(frozen=True, slots=True)
class Fault:
    """Something that is not as the dataset says."""

    where: str
    what: str

    def __str__(self) -> str:
        return f"{self.where}: {self.what}"


def validate(dataset: Dataset, progress: Callable[[int], None] | None = None) -> Iterator[Fault]:
    """Everything that is wrong with a dataset; nothing where it is sound.

    The files are those of the plan, with their hashes; every row is that of its seed and index,
    has its hashes and its split, assembles for all architectures of the plan into the machine
    code it tells of, and gives its digests when it is executed; the manifest counts right.
    """
    yield from _files(dataset)
    if all((dataset.folder / name).is_file() for name in dataset.files):
        yield from _Rows(dataset).faults(progress)


def _files(dataset: Dataset) -> Iterator[Fault]:
    """Whether the files are those of the plan, as they were written."""
    folder, files = dataset.folder, dataset.files
    if storage.read_json(folder / PLAN) != dataset.manifest["plan"]:
        yield Fault(PLAN, "it is another plan than the manifest's")
    named = layout(dataset.plan, dataset.manifest["counts"])
    expected = {name: split for split, names in named.items() for name in names}
    if {name: about["split"] for name, about in files.items()} != expected:
        yield Fault("manifest.json", "the files are not those that its counts ask for")
    for name, about in files.items():
        path = folder / name
        if not path.is_file():
            yield Fault(name, "the file is missing")
        elif storage.sha256(path) != about["sha256"]:
            yield Fault(name, "the file has another SHA-256 than the manifest says")
        elif path.stat().st_size != about["bytes"]:
            yield Fault(name, "the file has another size than the manifest says")
    for path in sorted(folder.rglob("*")):
        name = path.relative_to(folder).as_posix()
        ours = path.suffix in _SUFFIXES or name.startswith((f"{DATA}/", f"{REJECTED}/"))
        if ours and not path.is_dir() and name not in files:
            yield Fault(name, "the manifest does not know the file; loaders would read it")


class _Rows:
    """The rows of a dataset, one file after another, and what they add up to."""

    def __init__(self, dataset: Dataset) -> None:
        self._dataset = dataset
        self._plan = dataset.plan
        self._source: Source = check(self._plan)
        self._seen: set[int] = set()
        self._counts = dict.fromkeys((*SPLITS, REJECTED), 0)
        self._hashes: list[tuple[int, int, str, str, bytes]] = []
        """Of every row, with its shard and the place of its split: the order of the merge."""

    def faults(self, progress: Callable[[int], None] | None) -> Iterator[Fault]:
        for name, about in self._dataset.files.items():
            look = self._rejected if about["split"] == REJECTED else self._rows
            try:
                for batch in _batches(self._read(name, about["split"])):
                    yield from look(name, batch)
                    if progress is not None:
                        progress(len(self._hashes))
            except DatasetError as error:
                yield Fault(name, str(error))
        missing = self._plan.count - len(self._seen)
        if missing:
            yield Fault("manifest.json", f"{missing:,} of {self._plan.count:,} samples are missing")
        for key, found in (("counts", self._counts), ("duplicates", self._duplicates())):
            told = self._dataset.manifest[key]
            if told != found and not missing:
                yield Fault("manifest.json", f"the {key} are {found}, not {told}")

    def _read(self, name: str, split: str) -> Iterator[dict[str, Any]]:
        """The rows of a file; JSON has one line a device, and those of a row are together."""
        if self._plan.format == "parquet":
            for row in self._dataset.read(name):
                yield {**row, "split": split}
            return
        schema = rejected_schema() if split == REJECTED else row_schema(self._source)
        for own, lines in groupby(self._dataset.read(name), lambda line: line.get("id")):
            found = list(lines)
            row_found = found[0] if split == REJECTED and len(found) == 1 else row_of(found)
            if row_found is None or not _is_of(schema, row_found):
                raise DatasetError(f"the lines of {own!r} are not those of one row")
            yield {**row_found, "split": split}

    def _known(self, index: Any) -> str | None:
        """Take note of a sample; says what is wrong with its place."""
        if type(index) is not int or not 0 <= index < self._plan.count:
            return f"the index {index} is none of the plan"
        if index in self._seen:
            return "there are two rows of this index"
        self._seen.add(index)
        return None

    def _rows(self, name: str, batch: list[dict[str, Any]]) -> Iterator[Fault]:
        sound = []
        for row in batch:
            where = str(row.get("id") or name)
            wrong = self._known(row.get("index"))
            if wrong is not None:
                yield Fault(where, wrong)
                continue
            sample = self._source.sample(self._plan.seed, row["index"], self._plan.settings)
            known = foretold(self._source, self._plan, sample)
            self._counts[row["split"]] += 1
            place = SPLITS.index(row["split"])
            hashes = (known["content_hash"], known["shape_hash"], known["minhash"])
            self._hashes.append((row["index"] // self._plan.shard_size, place, *hashes))
            faults = list(examined(self._source, self._plan, sample, row))
            yield from (Fault(where, fault) for fault in faults)
            if not faults:
                sound.append(row)
        yield from _assembled(self._source, self._plan, sound)

    def _rejected(self, name: str, batch: list[dict[str, Any]]) -> Iterator[Fault]:
        for row in batch:
            where = str(row.get("id") or name)
            wrong = self._known(row.get("index"))
            if wrong is not None:
                yield Fault(where, wrong)
                continue
            self._counts[REJECTED] += 1
            sample = self._source.sample(self._plan.seed, row["index"], self._plan.settings)
            for fault in rejected_faults(self._source, self._plan, sample, row):
                yield Fault(where, fault)

    def _duplicates(self) -> dict[str, int]:
        """Counted as the merge did: shard by shard, and split by split in each."""
        pa = import_extra("pyarrow", extra="synth")
        found = Duplicates(len(self._hashes))
        self._hashes.sort(key=itemgetter(0, 1))
        for (_, place), rows in groupby(self._hashes, itemgetter(0, 1)):
            columns = list(zip(*(row[2:] for row in rows), strict=True))
            found.add(pa.table(dict(zip(COLUMNS, map(list, columns), strict=True))), SPLITS[place])
        return found.report()


def _is_of(schema: Any, row: dict[str, Any]) -> bool:
    """Whether a row has the columns and types of a schema, no more and no less."""
    pa = import_extra("pyarrow", extra="synth")
    try:
        return bool(pa.Table.from_pylist([row], schema=schema).to_pylist() == [row])
    except (ValueError, TypeError, OverflowError):
        return False


def _batches(rows: Iterator[dict[str, Any]]) -> Iterator[list[dict[str, Any]]]:
    while batch := list(islice(rows, _BATCH)):
        yield batch


def _apart(text: str, prefix: str) -> str:
    """Canonical PTX under names of its own; each of its names begins with that of a kernel.

    >>> _apart(".visible .entry k0(.param .u64 k0_0) { ld.param.u64 %rd1, [k0_0]; }", "r7_")
    '.visible .entry r7_k0(.param .u64 r7_k0_0) { ld.param.u64 %rd1, [r7_k0_0]; }'
    """
    names = "|".join(map(re.escape, _ENTRY.findall(text)))
    return re.sub(rf"(?<![\w$%.])(?=(?:{names})(?![A-Za-z0-9$]))", prefix, text)


def _assembled(source: Source, plan: Plan, rows: list[dict[str, Any]]) -> Iterator[Fault]:
    """Assemble all PTX of some rows, those of one architecture together."""
    assembler, measured = plan.tools.get("assembler"), source.measured(plan.settings)
    by_arch: dict[str, list[tuple[str, dict[str, Any], str]]] = {}
    for number, row in enumerate(rows):
        for target in row["targets"]:
            for column in ("ptx_forward", "ptx_backward"):
                if target[column]:
                    by_arch.setdefault(target["arch"], []).append(
                        (row["id"], target, _apart(target[column], f"r{number}_{column}_"))
                    )
    for arch, parts in by_arch.items():
        texts = [text for *_, text in parts]
        results: Sequence[Cubin | PtxkitError | None] = (
            assemble_many(texts, arch, workers=1, batch=True, errors="return", cache=False)
            if measured
            else accept_many(texts, arch, generate=True)
        )
        for (where, target, text), result in zip(parts, results, strict=True):
            if isinstance(result, PtxkitError):
                yield Fault(where, f"{arch}: {str(result).splitlines()[0]}")
                continue
            # Another assembler makes other code of the same PTX.
            comparable = result is not None and result.engine == assembler
            if result and comparable and target["assembled"] and "_ptx_forward_" in text:
                needs = result.resources[min(result.resources)]
                for fault in _machine_code(source, target, needs):
                    yield Fault(where, f"{arch}: {fault}")


def _machine_code(source: Source, target: dict[str, Any], needs: Resources) -> Iterator[str]:
    """What is told of machine code, where the assembler says something else."""
    told = {
        "registers": needs.registers,
        "spill_bytes": needs.spills,
        "code_bytes": needs.code,
        "shared_bytes": needs.shared,
    }
    for key, expected in told.items():
        found = target[key]
        if key == "shared_bytes" and source.launch_shared and type(found) is int:
            if found < needs.shared:
                yield f"the {key} are {found}, less than the {needs.shared} that are declared"
        elif found != expected:
            yield f"the {key} are {found}, not {expected}"
    if target["sass"] is not None:
        texts = [text for text in (target["ptx_forward"], target["ptx_backward"]) if text]
        codes = [disassemble(assemble(text, target["arch"], cache=False)) for text in texts]
        if target["sass"] != "\n".join(codes):
            yield "the sass is not that of its PTX"
