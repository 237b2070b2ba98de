"""The corpus folder: PTX files, and the manifest that says where each came from."""

from __future__ import annotations

import fcntl
import hashlib
import json
import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path

MANIFEST = "manifest.json"
MESSAGE_LIMIT = 1000


@dataclass(frozen=True)
class Entry:
    """One PTX file of the corpus."""

    path: str  # below the corpus folder, with forward slashes
    origin: str  # "wheels", "triton" or "nvcc"
    source: str  # the wheel, the Triton kernel or the CUDA file it was made from
    target: str  # the architecture in its `.target` line
    options: str  # how it was compiled: nvcc flags, Triton options
    tools: dict[str, str]  # tool or package name -> version
    recipe: str  # fingerprint of everything that went in; a change rebuilds the file
    sha256: str
    size: int
    ptxas: bool | None = None  # accepted by ptxas; None: not asked
    ptxas_tool: str = ""
    ptxas_message: str = ""


@dataclass
class Store:
    """A corpus folder and its manifest, written so that a killed build loses nothing.

    A file reaches its final name only when complete, and the manifest is replaced in one
    step after it: what the manifest lists is there, whatever happened in between.
    """

    root: Path
    entries: dict[str, Entry] = field(default_factory=dict)
    failures: dict[str, str] = field(default_factory=dict)  # what could not be had -> why

    @classmethod
    def open(cls, root: Path) -> Store:
        """The store at `root`, created when it is not there yet."""
        root.mkdir(parents=True, exist_ok=True)
        manifest = root / MANIFEST
        if not manifest.is_file():
            return cls(root)
        data = json.loads(manifest.read_text())
        entries = (Entry(**row) for row in data["files"])
        return cls(root, {entry.path: entry for entry in entries}, data["failures"])

    @contextmanager
    def locked(self) -> Iterator[None]:
        """Keep other builds out of this folder; raises BlockingIOError when one is running."""
        with (self.root / ".lock").open("w") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            yield

    def has(self, path: str, recipe: str) -> bool:
        """Whether `path` is present and was made by exactly this recipe."""
        entry = self.entries.get(path)
        if entry is None or entry.recipe != recipe:
            return False
        file = self.root / path
        return file.is_file() and file.stat().st_size == entry.size

    def put(self, data: bytes, entry: Entry) -> Entry:
        """Write one file; its hash and size are filled in here. Call `save` afterwards."""
        write_atomically(self.root / entry.path, data)
        entry = replace(entry, sha256=hashlib.sha256(data).hexdigest(), size=len(data))
        self.entries[entry.path] = entry
        return entry

    def fail(self, path: str, why: str) -> None:
        """Note that `path` cannot be made; a file left from an older recipe goes."""
        self.failures[path] = why[:MESSAGE_LIMIT] or "no reason given"
        self.entries.pop(path, None)
        (self.root / path).unlink(missing_ok=True)
        print(f"  cannot make {path}: {self.failures[path]}", flush=True)

    def forget_failures(self, origin: str) -> None:
        """Start over with the failures of `origin`: every build tries them again."""
        for path in [p for p in self.failures if p.startswith(f"{origin}/")]:
            del self.failures[path]

    def prune(self, origin: str, keep: set[str]) -> list[str]:
        """Delete the files of `origin` that no recipe makes any more."""
        stale = [e.path for e in self.of(origin) if e.path not in keep]
        for path in stale:
            del self.entries[path]
            (self.root / path).unlink(missing_ok=True)
        return stale

    def of(self, origin: str) -> Iterator[Entry]:
        """The entries of one origin, in path order."""
        return (self.entries[p] for p in sorted(self.entries) if self.entries[p].origin == origin)

    def save(self) -> None:
        """Replace the manifest on disk."""
        files = [asdict(self.entries[path]) for path in sorted(self.entries)]
        manifest = {"files": files, "failures": dict(sorted(self.failures.items()))}
        text = json.dumps(manifest, indent=1) + "\n"
        write_atomically(self.root / MANIFEST, text.encode())


def write_atomically(path: Path, data: bytes) -> None:
    """Write under a temporary name and rename, so that no reader sees half a file."""
    path.parent.mkdir(parents=True, exist_ok=True)
    temporary = path.with_name(f".{path.name}.{os.getpid()}.tmp")
    temporary.write_bytes(data)
    temporary.replace(path)


def fingerprint(*parts: str | bytes) -> str:
    """A short hash of everything that decides what a recipe makes.

    >>> fingerprint("saxpy.cu", "-G") == fingerprint("saxpy.cu", "-G")
    True
    >>> fingerprint("ab", "c") == fingerprint("a", "bc")
    False
    """
    digest = hashlib.sha256()
    for part in parts:
        data = part.encode() if isinstance(part, str) else part
        digest.update(len(data).to_bytes(8, "little") + data)
    return digest.hexdigest()[:16]
