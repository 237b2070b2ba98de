"""What is to be made, and the folder it goes to."""

from __future__ import annotations

import errno
import fcntl
import json
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from ptxkit.errors import PtxkitError, UsageError
from ptxkit.synth import storage
from ptxkit.synth.schema import SCHEMA_VERSION, short_hash
from ptxkit.synth.source import Settings, Source, find

PLAN = "run.json"
MANIFEST = "manifest.json"
SHARDS = "shards"
DATA = "data"
_SEEDS = range(-(2**63), 2**63)
_COUNTS = 10**12


class FolderError(PtxkitError):
    """The output folder is not this run's."""


@dataclass(frozen=True, slots=True)
class Plan:
    """A run: two runs with equal plans make equal bytes."""

    source: str
    seed: int
    count: int
    settings: Settings = field(default_factory=Settings)
    shard_size: int = 0
    """Samples that are compiled together; 0 for what the source finds best."""
    file_rows: int = 10_000
    """Rows of a file of the dataset, at most."""
    format: str = "parquet"
    level: int = 12
    """How hard Zstandard tries, 1 to 22: 19 makes files a quarter smaller, ten times slower."""
    tools: dict[str, str] = field(default_factory=dict)
    avoid: tuple[str, ...] = ()
    """Texts that no row may repeat."""

    @property
    def shards(self) -> int:
        """How many shards there are."""
        return -(-self.count // self.shard_size)

    def indices(self, number: int) -> range:
        """The samples of a shard."""
        start = number * self.shard_size
        return range(start, min(start + self.shard_size, self.count))

    def to_dict(self) -> dict[str, Any]:
        """As plain data; texts to avoid by their hashes."""
        return {
            "source": self.source,
            "seed": self.seed,
            "count": self.count,
            "settings": self.settings.to_dict(),
            "shard_size": self.shard_size,
            "file_rows": self.file_rows,
            "format": self.format,
            "level": self.level,
            "tools": self.tools,
            "avoid": [short_hash(text) for text in self.avoid],
            "schema_version": SCHEMA_VERSION,
        }


def check(plan: Plan) -> Source:
    """Refuse what makes no sense, before anything is written."""
    if plan.count < 1:
        raise UsageError(f"--count must be at least 1, not {plan.count}")
    if plan.count > _COUNTS:
        raise UsageError(f"--count must be at most {_COUNTS:,}, not {plan.count:,}")
    if plan.seed not in _SEEDS:
        raise UsageError(
            f"--seed must be from {_SEEDS.start} to {_SEEDS.stop - 1} (64 bits), not {plan.seed}"
        )
    if plan.shard_size < 0 or plan.file_rows < 1:
        raise UsageError("shards and files have at least one row")
    if not 1 <= plan.level <= 22:
        raise UsageError(f"the compression level is from 1 to 22, not {plan.level}")
    if not plan.settings.archs:
        raise UsageError("name at least one architecture, such as sm_90")
    for arch in plan.settings.archs:
        if plan.settings.archs.count(arch) > 1:
            raise UsageError(f"the architecture {arch} is named twice; name each once")
    if plan.settings.sass and not plan.settings.assemble:
        raise UsageError("--sass is machine code: leave --no-assemble out")
    source = find(plan.source)
    source.chosen(plan.settings)
    return source


def claim(plan: Plan, folder: Path) -> None:
    """Take the folder for a run, or find that it is this run's already.

    A folder with anything else in it is refused.
    """
    if folder.exists() and not folder.is_dir():
        raise FolderError(f"'{folder}' is a file; choose a folder")
    known = storage.read_json(folder / PLAN)
    if known is not None:
        if not isinstance(known, dict):
            raise FolderError(f"'{folder / PLAN}' is damaged; choose another folder")
        if known != json.loads(json.dumps(plan.to_dict())):
            raise FolderError(
                f"'{folder}' holds another run ({_difference(known, plan.to_dict())}); choose "
                "another folder, or the same arguments to go on with that run"
            )
        return
    try:
        folder.mkdir(parents=True, exist_ok=True)
        if any(not name.name.startswith(f".{PLAN}.") for name in folder.iterdir()):
            raise FolderError(
                f"'{folder}' is not empty and holds no run of ptxkit synth; choose another folder"
            )
        storage.write_json(folder / PLAN, plan.to_dict())
        (folder / SHARDS).mkdir(exist_ok=True)
    except OSError as error:
        raise storage.explained(error, folder) from error


@contextmanager
def locked(folder: Path) -> Iterator[None]:
    """Keep other processes from working on the run; the lock ends with the process that has it."""
    with (folder / PLAN).open("rb") as file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise FolderError(f"another process is working on '{folder}'; wait for it") from None
        except OSError as error:
            # Some network file systems have no locks: then nobody is kept out.
            if error.errno not in (errno.ENOLCK, errno.ENOTSUP, errno.ENOSYS):
                raise
        yield


def _difference(old: dict[str, Any], new: dict[str, Any]) -> str:
    for key in new:
        if old.get(key) != json.loads(json.dumps(new[key])):
            return f"its {key.replace('_', ' ')} is {_short(old.get(key))}, not {_short(new[key])}"
    return "it is of another version"


def _short(value: Any) -> str:
    text = json.dumps(value)
    return text if len(text) <= 120 else text[:117] + "..."
