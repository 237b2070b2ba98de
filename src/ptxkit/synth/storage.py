"""Files that are either there in full or not at all."""

from __future__ import annotations

import contextlib
import errno
import hashlib
import json
import os
import tempfile
from pathlib import Path
from typing import Any

from ptxkit.errors import PtxkitError


class StorageError(PtxkitError):
    """The output can't be written."""


def write(path: Path, data: bytes) -> None:
    """Write a file through a temporary name: synced to disk, then renamed.

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     write(Path(folder) / "x", b"abc")
    ...     (Path(folder) / "x").read_bytes()
    b'abc'
    """
    temporary = path.with_name(f".{path.name}.{os.getpid()}.new")
    try:
        with temporary.open("wb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        commit(temporary, path)
    except OSError as error:
        with contextlib.suppress(OSError):
            temporary.unlink()
        raise explained(error, path) from error


def commit(temporary: Path, path: Path) -> None:
    """Give a finished, synced file its name, and make that last."""
    temporary.replace(path)
    folder = os.open(path.parent, os.O_RDONLY)
    try:
        os.fsync(folder)
    finally:
        os.close(folder)


def explained(error: OSError, path: Path) -> StorageError:
    """An error of the system as one clear sentence."""
    if error.errno in (errno.ENOSPC, errno.EDQUOT):
        return StorageError(
            f"the disk of '{path.parent}' is full; what is complete is kept: make room, and run "
            "the same command again to go on"
        )
    return StorageError(f"'{path}' cannot be written: {error.strerror or error}")


def keep_temporary_files_in(folder: Path) -> None:
    """Have this process, and the compilers in it, put all temporary files into a folder.

    NVIDIA's compiler alone writes 77 MB of headers for each process, and leaves them where the
    process is killed.
    """
    os.environ["TMPDIR"] = str(folder)
    tempfile.tempdir = str(folder)


def sha256(path: Path) -> str:
    """The SHA-256 of a file."""
    found = hashlib.sha256()
    with path.open("rb") as file:
        while block := file.read(1 << 20):
            found.update(block)
    return found.hexdigest()


def write_json(path: Path, data: Any) -> None:
    """Write plain data with sorted keys."""
    write(path, (json.dumps(data, indent=1, sort_keys=True) + "\n").encode())


def read_json(path: Path) -> Any:
    """Read plain data; None where there is no such file, half of one, or something else."""
    try:
        return json.loads(path.read_text(encoding="utf-8"))
    except (FileNotFoundError, NotADirectoryError, ValueError, RecursionError):
        return None
    except OSError as error:
        raise StorageError(f"'{path}' cannot be read: {error.strerror or error}") from error
