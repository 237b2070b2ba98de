"""What commands read and write: files, folders, standard input; outputs in one step."""

from __future__ import annotations

import contextlib
import os
import shlex
import stat
import sys
import tempfile
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from ptxkit.errors import PtxSyntaxError, UsageError

if TYPE_CHECKING:
    from ptxkit.syntax import Module

EXIT_INTERRUPTED = 128 + 2  # what a shell reports for SIGINT
STDIN = "-"
STDIN_NAME = "<stdin>"
#: For the help of every command that takes several inputs.
INPUTS_HELP = (
    "PTX files; a folder stands for all *.ptx files below it (hidden folders are left out), "
    "- for standard input."
)


class InputError(UsageError):
    """An input that can't be read, or is not PTX text."""


class OutputError(UsageError):
    """An output that can't be written; what stood there before still does."""


@dataclass(frozen=True, slots=True)
class Source:
    """The bytes of one input, under the name the user knows it by."""

    name: str
    path: Path | None
    """None for standard input."""
    data: bytes

    def parse(self, *, recover: bool = False) -> Module:
        """The module; raises `PtxSyntaxError` unless told to recover."""
        import ptxkit.syntax

        return ptxkit.syntax.parse(self.data, filename=self.name, recover=recover)


class Inputs:
    """The inputs of a command line, read one after another.

    One that can't be read is a message on standard error and a mark in `failed`; the
    others are still given.

    >>> Inputs([]).failed
    0
    """

    def __init__(self, names: Sequence[str]) -> None:
        self._names = names
        self.failed = 0
        """How many inputs could not be used so far."""
        self.given = 0
        """How many inputs were read so far."""

    def __iter__(self) -> Iterator[Source]:
        seen: set[str] = set()
        for name in self._names:
            for path in self._expand(name):
                place = path if path == STDIN else os.path.realpath(path)
                if place in seen:
                    continue
                seen.add(place)
                try:
                    source = read(path)
                except InputError as error:
                    self.fail(str(error))
                else:
                    self.given += 1
                    yield source

    def fail(self, message: str) -> None:
        """Tell about an input that could not be used, and go on."""
        self.failed += 1
        complain(message)

    def _expand(self, name: str) -> Iterator[str]:
        """The files a name stands for."""
        if name == STDIN or not Path(name).is_dir():
            yield name
            return
        found = 0
        for folder, folders, files in os.walk(name, onerror=self._unreadable_folder):
            folders[:] = sorted(f for f in folders if not f.startswith("."))
            for file in sorted(files):
                if file.lower().endswith(".ptx"):
                    found += 1
                    yield str(Path(folder) / file)
        if not found:
            self.fail(f"'{name}' is a folder without *.ptx files")

    def _unreadable_folder(self, error: OSError) -> None:
        self.fail(f"'{error.filename}' cannot be read: {_reason(error)}")


def complain(message: str, severity: str = "error") -> None:
    """Tell about an error or a warning on standard error, in the form every command uses."""
    typer.echo(f"ptxkit: {severity}: {printable(message)}", err=True)


def syntax_message(error: PtxSyntaxError) -> str:
    """The errors of a text that is not PTX, and where to see those that they hide."""
    name = error.filename
    command = f"ptxkit check {shlex.quote(name) if name and name != STDIN_NAME else '-'}"
    return f"{error}\nthese are errors of syntax only; all errors: {command}"


def printable(text: str) -> str:
    r"""The text with bytes that are not UTF-8 written as escapes.

    >>> printable("k\udcff.ptx")
    'k\\xff.ptx'
    """
    return text.encode("utf-8", "surrogateescape").decode("utf-8", "backslashreplace")


def plain_data(value: Any) -> Any:
    """Data for `json.dumps` with U+FFFD for bytes that are not UTF-8, as JSON must have it.

    >>> plain_data({"line": ["add\\udcff"]}) == {"line": ["add\\N{REPLACEMENT CHARACTER}"]}
    True
    """
    if isinstance(value, str):
        return value.encode("utf-8", "surrogateescape").decode("utf-8", "replace")
    if isinstance(value, dict):
        return {plain_data(key): plain_data(item) for key, item in value.items()}
    return [plain_data(item) for item in value] if isinstance(value, (list, tuple)) else value


def count(number: int, thing: str) -> str:
    """A number with its noun: ``1 file``, ``3 files``.

    >>> count(1, "file"), count(1200, "file")
    ('1 file', '1,200 files')
    """
    return f"{number:,} {thing}" + ("" if number == 1 else "s")


def read(name: str) -> Source:
    """Read one file, or standard input for ``-``.

    >>> read("no/such.ptx")
    Traceback (most recent call last):
    ptxkit.cli.files.InputError: 'no/such.ptx' cannot be read: No such file or directory
    """
    try:
        if name == STDIN:
            if sys.stdin is None:
                raise InputError("standard input is closed: name a file instead of '-'")
            data = sys.stdin.buffer.read()
            path, shown = None, STDIN_NAME
        else:
            path, shown = Path(name), name
            if path.is_dir():
                raise InputError(f"'{name}' is a folder, and one file is needed here")
            data = path.read_bytes()
    except OSError as error:
        raise InputError(f"'{name}' cannot be read: {_reason(error)}") from error
    except ValueError as error:  # a NUL in the name
        raise InputError(f"{name!r} is not the name of a file") from error
    refuse_binary(shown, data)
    return Source(shown, path, data)


#: How files begin that people take for PTX, and what they are.
_MAGIC = (
    (b"\x50\xed\x55\xba", "a CUDA fat binary"),
    (b"\xb1\x43\x62\x46", "a CUDA fat binary"),
    (b"!<arch>\n", "an archive of object files"),
    (b"MZ", "a Windows program"),
    (b"PK\x03\x04", "a zip archive"),
    (b"BC\xc0\xde", "LLVM bitcode"),
)
_ELF = b"\x7fELF"
_ELF_MACHINE = slice(18, 20)
_CUDA = (190).to_bytes(2, "little")
_UTF16 = (b"\xff\xfe", b"\xfe\xff")
_LOOK_AT = 4096
# What `ptxkit extract` reads.
_HOLDERS = ("ELF", "CUDA", "archive", "Windows")


def refuse_binary(name: str, data: bytes) -> None:
    r"""Raise where the data is no text, and say what it is.

    >>> refuse_binary("k.o", b"\x7fELF\x02\x01\x01" + bytes(60))
    Traceback (most recent call last):
    ptxkit.cli.files.InputError: 'k.o' is a binary (an ELF file), not PTX text; PTX ...
    """
    what = _kind_of_binary(data)
    if what is None:
        return
    advice = ""
    if what.startswith("UTF-16"):
        raise InputError(f"'{name}' is {what}; PTX is ASCII: convert it to UTF-8 first")
    if any(word in what for word in _HOLDERS):
        shown = "FILE" if name == STDIN_NAME else shlex.quote(name)
        advice = f"; PTX inside it, if any, can be extracted: ptxkit extract {shown} -o DIR"
    raise InputError(f"'{name}' is a binary ({what}), not PTX text{advice}")


def _kind_of_binary(data: bytes) -> str | None:
    if data.startswith(_ELF):
        return "a cubin, CUDA machine code" if data[_ELF_MACHINE] == _CUDA else "an ELF file"
    if data.startswith(_UTF16):
        return "UTF-16 text"
    for magic, what in _MAGIC:
        # Two letters may also begin a text.
        if data.startswith(magic) and (len(magic) > 2 or b"\0" in data[:_LOOK_AT]):
            return what
    # Tools that keep PTX as a C string leave NUL bytes at its end; those are text.
    head = data[:_LOOK_AT].rstrip(b"\0 \t\r\n")
    at = head.find(b"\0")
    return f"there is a NUL byte at offset {at}" if at >= 0 else None


def write(name: str | Path, data: bytes) -> None:
    """Write a file in one step: what stood there stays until the new one is complete.

    The mode of the old file and symbolic links to it are kept. ``-`` is standard output.

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = Path(folder) / "k.ptx"
    ...     write(path, b"ret;")
    ...     path.read_bytes()
    b'ret;'
    """
    if str(name) == STDIN:
        write_stdout(data)
        return
    path = Path(os.path.realpath(name))
    try:
        if path.exists() and not path.is_file():
            if path.is_dir():
                raise OutputError(f"'{name}' is a folder, not a file to write")
            with path.open("wb") as device:  # a pipe or a terminal: nothing to keep
                device.write(data)
            return
        if path.exists() and not os.access(path, os.W_OK):
            raise OutputError(f"'{name}' cannot be written: it is read-only")
        _replace(path, data)
    except OSError as error:
        raise OutputError(f"'{name}' cannot be written: {_reason(error)}") from error


def check_outputs(outputs: Iterable[str | Path | None], inputs: Iterable[str | Path] = ()) -> None:
    """Raise where files cannot be written, before the work rather than after; None is no file.

    Nothing is written over an input, nor two things into one file.

    >>> check_outputs(["no/such/k.cu"])
    Traceback (most recent call last):
    ptxkit.cli.files.OutputError: 'no/such/k.cu' cannot be written: there is no folder 'no/such'
    >>> check_outputs(["k.ptx"], inputs=["./k.ptx"])
    Traceback (most recent call last):
    ptxkit.cli.files.OutputError: 'k.ptx' is read here, and would be overwritten: choose another ...
    """
    read_here = {_identity(name) for name in inputs if str(name) != STDIN}
    taken: set[object] = set()
    for name in outputs:
        if name is None:
            continue
        what = _identity(name)
        if what is not None and what in taken:
            shown = "standard output" if str(name) == STDIN else f"'{name}'"
            raise OutputError(f"two things would be written to {shown}: choose another name")
        taken.add(what)
        if str(name) == STDIN:
            continue
        if what is not None and what in read_here:
            raise OutputError(
                f"'{name}' is read here, and would be overwritten: choose another name"
            )
        _check_output(name)


def _check_output(name: str | Path) -> None:
    path = Path(name)
    if path.is_dir() or str(name).endswith(os.sep):
        raise OutputError(f"'{name}' is a folder, not a file to write: add the name of a file")
    folder = path.parent
    if not folder.is_dir():
        raise OutputError(f"'{name}' cannot be written: there is no folder '{folder}'")


def _identity(name: str | Path) -> object:
    """What two names of one file have in common; None for a device, which takes everything."""
    if str(name) == STDIN:
        return STDIN
    try:
        found = Path(name).stat()
    except OSError:
        return os.path.realpath(name)
    except ValueError:  # a NUL in the name: whoever reads or writes it complains
        return name
    return (found.st_dev, found.st_ino) if stat.S_ISREG(found.st_mode) else None


@contextlib.contextmanager
def made(name: str | Path) -> Iterator[Path]:
    """A path for who writes a file by themselves; in its place when that is done, or not at all.

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     with made(Path(folder) / "k.svg") as path:
    ...         _ = path.write_text("<svg/>")
    ...     [file.name for file in Path(folder).iterdir()]
    ['k.svg']
    """
    path = Path(os.path.realpath(name))
    try:
        # The end of the name says to many writers what to write.
        with tempfile.TemporaryDirectory(prefix="ptxkit.") as folder:
            inside = Path(folder) / path.name
            yield inside
            write(name, inside.read_bytes())
    except OSError as error:
        raise OutputError(f"'{name}' cannot be written: {_reason(error)}") from error


def write_stdout(data: bytes) -> None:
    """Write bytes to standard output, after the text that is on its way."""
    if sys.stdout is None:
        raise OutputError("standard output is closed: there is nowhere to write to")
    sys.stdout.flush()
    sys.stdout.buffer.write(data)
    sys.stdout.buffer.flush()


def _replace(path: Path, data: bytes) -> None:
    handle, name = tempfile.mkstemp(prefix=f".{path.name[:40]}.", suffix=".new", dir=path.parent)
    temporary = Path(name)
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(data)
            os.fchmod(file.fileno(), _mode(path))
            file.flush()
            os.fsync(file.fileno())
        temporary.replace(path)
    except BaseException:  # Ctrl-C too
        with contextlib.suppress(OSError):
            temporary.unlink()
        raise
    _sync_folder(path.parent)


def _mode(path: Path) -> int:
    """The mode of the file, or what a new one gets."""
    with contextlib.suppress(FileNotFoundError):
        return stat.S_IMODE(path.stat().st_mode)
    mask = os.umask(0)
    os.umask(mask)
    return 0o666 & ~mask


def _sync_folder(folder: Path) -> None:
    """Make the rename last; some file systems can't, and that is all right."""
    with contextlib.suppress(OSError):
        handle = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)


def _reason(error: OSError) -> str:
    return error.strerror or str(error)
