"""What compilers made, kept on disk under the hash of what they made it from.

One entry is one file: a line that says what it is, a checksum, the content. It is
written beside its place and renamed into it, so that a reader sees all of it or none,
whoever is killed when. What does not match its checksum counts as not there.

- ``PTXKIT_CACHE_DIR``: the folder; by default ``ptxkit`` in the user's cache folder.
- ``PTXKIT_CACHE_SIZE``: how large it may grow, such as ``500M``; ``0`` turns it off.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import re
import tempfile
import threading
import time
from collections import OrderedDict
from collections.abc import Hashable, Iterable
from pathlib import Path
from typing import Generic, TypeVar

from ptxkit.errors import UsageError

_MAGIC = b"ptxkit cache 1\n"
_DIGEST_SIZE = 32
_DEFAULT_SIZE = 1 << 30
_UNITS = {"": 1, "K": 1 << 10, "M": 1 << 20, "G": 1 << 30, "T": 1 << 40}
_SIZE = re.compile(r"(\d+)\s*([KMGT]?)(?:i?B)?", re.IGNORECASE)
# A file on its way that is this old belongs to a process that was killed.
_ABANDONED = 3600.0
# An entry's time is renewed when it is used, but not more often than this.
_RENEW = 3600.0
# Every so many writes of a process the size is looked at; at first too.
_SWEEP_EVERY = 256
_KEPT = 0.8  # of the limit, after a sweep
_SUFFIX = ".new"

_V = TypeVar("_V")
_writes = 0
_lock = threading.Lock()


def folder() -> Path | None:
    """Where entries lie; None where the cache is off."""
    if limit() == 0:
        return None
    chosen = os.environ.get("PTXKIT_CACHE_DIR")
    if chosen:
        return Path(chosen)
    base = os.environ.get("XDG_CACHE_HOME")
    try:
        return (Path(base) if base else Path.home() / ".cache") / "ptxkit"
    except RuntimeError:  # a user without a home
        return None


def limit() -> int:
    """How many bytes the folder may hold."""
    text = os.environ.get("PTXKIT_CACHE_SIZE")
    if text is None:
        return _DEFAULT_SIZE
    found = _SIZE.fullmatch(text.strip())
    if found is None:
        raise UsageError(f"PTXKIT_CACHE_SIZE is a size such as 500M, not '{text}'")
    return int(found[1]) * _UNITS[found[2].upper()]


def key(kind: str, parts: Iterable[bytes | str]) -> str:
    """The name of an entry: a hash of everything its content depends on.

    >>> key("cubin", ["sm_90", b"text"]) == key("cubin", ["sm_90t", b"ext"])
    False
    """
    digest = hashlib.blake2b(digest_size=_DIGEST_SIZE)
    for part in (kind, *parts):
        data = part.encode("utf-8", "surrogateescape") if isinstance(part, str) else part
        digest.update(len(data).to_bytes(8, "little"))
        digest.update(data)
    return digest.hexdigest()


def read(name: str) -> bytes | None:
    """The content of an entry, or None."""
    path = _path(name)
    if path is None:
        return None
    try:
        data = path.read_bytes()
    except OSError:
        return None
    start = len(_MAGIC) + _DIGEST_SIZE
    content = data[start:]
    if data[: len(_MAGIC)] != _MAGIC or data[len(_MAGIC) : start] != _checksum(name, content):
        with contextlib.suppress(OSError):
            path.unlink()
        return None
    with contextlib.suppress(OSError):
        if time.time() - path.stat().st_mtime > _RENEW:
            os.utime(path)
    return content


def write(name: str, content: bytes) -> None:
    """Keep an entry. A disk that is full or read-only is no error: there is no entry then."""
    path = _path(name)
    if path is None or len(content) > limit():
        return
    with contextlib.suppress(OSError):
        path.parent.mkdir(parents=True, exist_ok=True)
        handle, temporary = tempfile.mkstemp(suffix=_SUFFIX, dir=path.parent)
        try:
            with os.fdopen(handle, "wb") as file:
                file.write(_MAGIC + _checksum(name, content) + content)
                file.flush()
                os.fsync(file.fileno())
            Path(temporary).replace(path)
        except BaseException:
            with contextlib.suppress(OSError):
                Path(temporary).unlink()
            raise
        _count_write(path.parent.parent)


def size(root: Path) -> int:
    """Bytes that all entries take."""
    return sum(length for _, length, _ in _files(root))


def sweep(root: Path, allowed: int) -> None:
    """Remove what was used least lately until the rest fits, and what the killed left."""
    now = time.time()
    entries = []
    for path, length, used in _files(root):
        if path.suffix == _SUFFIX:
            if now - used > _ABANDONED:
                path.unlink(missing_ok=True)
        else:
            entries.append((used, length, path))
    total = sum(length for _, length, _ in entries)
    if total <= allowed:
        return
    for _, length, path in sorted(entries):
        if total <= allowed * _KEPT:
            return
        with contextlib.suppress(OSError):
            path.unlink()
        total -= length


class Memory(Generic[_V]):
    """The entries used last, in memory; safe to use from threads.

    >>> memory = Memory[str](entries=1, cost=100)
    >>> memory.put("a", "x", 1); memory.put("b", "y", 1)
    >>> memory.get("a"), memory.get("b")
    (None, 'y')
    """

    def __init__(self, entries: int, cost: int) -> None:
        self._entries = entries
        self._allowed = cost
        self._used = 0
        self._held: OrderedDict[Hashable, tuple[_V, int]] = OrderedDict()
        self._lock = threading.Lock()

    def get(self, name: Hashable) -> _V | None:
        """The value, or None."""
        with self._lock:
            found = self._held.get(name)
            if found is None:
                return None
            self._held.move_to_end(name)
            return found[0]

    def put(self, name: Hashable, value: _V, cost: int) -> None:
        """Keep a value that takes `cost` bytes, unless that is too much."""
        with self._lock:
            if name in self._held or cost > self._allowed // 2:
                return
            self._held[name] = (value, cost)
            self._used += cost
            while len(self._held) > self._entries or self._used > self._allowed:
                self._used -= self._held.popitem(last=False)[1][1]

    def clear(self) -> None:
        """Forget everything."""
        with self._lock:
            self._held.clear()
            self._used = 0


def _path(name: str) -> Path | None:
    root = folder()
    return None if root is None else root / name[:2] / name[2:]


def _checksum(name: str, content: bytes) -> bytes:
    # With the name in it, an entry that was moved to a wrong place is seen too.
    return hashlib.blake2b(content, digest_size=_DIGEST_SIZE, key=bytes.fromhex(name)).digest()


def _files(root: Path) -> list[tuple[Path, int, float]]:
    found = []
    for path in root.glob("[0-9a-f][0-9a-f]/*"):
        with contextlib.suppress(OSError):  # another process may have removed it
            status = path.stat()
            found.append((path, status.st_size, status.st_mtime))
    return found


def _count_write(root: Path) -> None:
    global _writes
    with _lock:
        _writes += 1
        due = _writes % _SWEEP_EVERY == 1
    if due:
        sweep(root, limit())
