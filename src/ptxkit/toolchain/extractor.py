"""PTX and cubins out of libraries, object files, archives, fat binaries and programs."""

from __future__ import annotations

import mmap
import re
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from ptxkit.errors import ToolchainError, UsageError
from ptxkit.syntax import Module, parse
from ptxkit.toolchain import archive, compression, fatbin, locate, process
from ptxkit.toolchain.elf import MAGIC as ELF_MAGIC
from ptxkit.toolchain.elf import BinaryFormatError, Elf

# Where fat binaries lie in a host file.
_SECTIONS = frozenset({".nv_fatbin", "__nv_relfatbin"})
# A cubin made for a debugger holds the lines of its PTX, each ended by a NUL byte.
_PTX_LINES = ".nv_debug_ptx_txt"
_WINDOWS = b"MZ"
_TARGET = re.compile(r"^\s*\.target\s+(sm_\d+[af]?)", re.MULTILINE)
# How PTX itself begins, after comments.
_TEXT = re.compile(rb"^[ \t]*\.version[ \t]+\d", re.MULTILINE)
_LOOK_AT = 4096
_ODD = re.compile(r"[^\w+-]")
_DUMPED = re.compile(r"\.(sm_\d+[af]?)\.ptx$")


@dataclass(frozen=True, slots=True)
class ExtractedPtx:
    """The PTX of one translation unit for one architecture."""

    name: str
    """A file name for it, unlike all others of the same file."""
    arch: str
    text: str
    """The PTX; bytes that are not UTF-8 come as surrogates."""
    identifier: str = ""
    """The name of its source, where the compiler left it."""
    options: str = ""
    """The options that ptxas was to be given."""
    member: str = ""
    """The member of an archive it comes from."""

    def parse(self) -> Module:
        """The module."""
        return parse(self.text, filename=self.name)


@dataclass(frozen=True, slots=True)
class ExtractedCubin:
    """The machine code of one translation unit for one architecture."""

    name: str
    """A file name for it, unlike all others of the same file."""
    arch: str
    data: bytes
    identifier: str = ""
    member: str = ""


def extract(path: str | Path) -> list[ExtractedPtx]:
    """The PTX inside a ``.so``, ``.a``, ``.o``, ``.fatbin``, ``.cubin`` or a program.

    Gives an empty list for a file that holds none. A damaged file is a
    `ptxkit.toolchain.BinaryFormatError`.

    >>> import ptxkit, tempfile
    >>> with tempfile.NamedTemporaryFile(suffix=".so") as file:
    ...     _ = file.write(b"no library at all"); file.flush()
    ...     ptxkit.extract(file.name)
    Traceback (most recent call last):
    ptxkit.toolchain.elf.BinaryFormatError: '...': this is no library, ...
    """
    path = Path(path)
    with _Contents(path) as data:
        try:
            found = list(_images(data, frozenset({"ptx"})))
        except compression.DecompressorMissingError as error:
            return _with_cuobjdump(path, error)
        except BinaryFormatError as error:
            raise BinaryFormatError(f"'{path}': {error}") from error
        if not found and data[:4] == ELF_MAGIC:
            return _debug_ptx(path, data)
    return [
        ExtractedPtx(
            _name(path, member, number, image.arch, "ptx"),
            image.arch,
            image.data.decode("utf-8", "surrogateescape"),
            image.identifier,
            image.options,
            member,
        )
        for number, (member, image) in enumerate(found, start=1)
    ]


def extract_cubins(path: str | Path) -> list[ExtractedCubin]:
    """The machine code inside the same kinds of files; a ``.cubin`` gives itself."""
    path = Path(path)
    with _Contents(path) as data:
        try:
            if data[:4] == ELF_MAGIC and Elf(data).is_cubin:
                from ptxkit.toolchain.cubin import architecture

                return [ExtractedCubin(path.name, architecture(Elf(data)), bytes(data))]
            found = list(_images(data, frozenset({"cubin"})))
        except BinaryFormatError as error:
            raise BinaryFormatError(f"'{path}': {error}") from error
    return [
        ExtractedCubin(
            _name(path, member, number, image.arch, "cubin"),
            image.arch, image.data, image.identifier, member,
        )
        for number, (member, image) in enumerate(found, start=1)
    ]  # fmt: skip


class _Contents:
    """The bytes of a file, mapped: libraries of gigabytes are common."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._map: mmap.mmap | None = None

    def __enter__(self) -> bytes:
        try:
            if not self._path.is_file():
                what = "a folder" if self._path.is_dir() else "not there, or no plain file"
                raise UsageError(f"'{self._path}' cannot be read: it is {what}")
            with self._path.open("rb") as file:
                if self._path.stat().st_size == 0:
                    return b""
                self._map = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
        except OSError as error:
            reason = error.strerror or str(error)
            raise UsageError(f"'{self._path}' cannot be read: {reason}") from error
        return self._map  # type: ignore[return-value]  # it slices and searches like bytes

    def __exit__(self, *_: object) -> None:
        if self._map is not None:
            self._map.close()


def _images(data: bytes, kinds: frozenset[str]) -> Iterator[tuple[str, fatbin.Image]]:
    """Every image with the archive member it comes from."""
    if data[:8] in (archive.MAGIC, archive.THIN_MAGIC):
        for name, content in archive.members(data):
            if content[:4] == ELF_MAGIC:
                for image in _in_elf(content, kinds):
                    yield name, image
    elif data[:4] == ELF_MAGIC:
        for image in _in_elf(data, kinds):
            yield "", image
    elif data[:4] == fatbin.MAGIC or data[:2] == _WINDOWS:
        for image in fatbin.images(data[:], kinds=kinds):
            yield "", image
    elif _TEXT.search(data[:_LOOK_AT]):
        raise BinaryFormatError("this is PTX already: there is nothing to extract")
    else:
        raise BinaryFormatError("this is no library, object file, archive, fat binary or program")


def _in_elf(data: bytes, kinds: frozenset[str]) -> Iterator[fatbin.Image]:
    elf = Elf(data)
    if not elf.sections:  # stripped of its section table: look everywhere
        yield from fatbin.images(data[:], kinds=kinds)
    for section in elf.sections:
        if section.name in _SECTIONS:
            yield from fatbin.images(section.data, kinds=kinds)


def _debug_ptx(path: Path, data: bytes) -> list[ExtractedPtx]:
    found: list[ExtractedPtx] = []
    for section in Elf(data).sections:
        if section.name.startswith(_PTX_LINES) and section.data:
            text = section.data.removesuffix(b"\0").replace(b"\0", b"\n") + b"\n"
            ptx = text.decode("utf-8", "surrogateescape")
            target = _TARGET.search(ptx)
            arch = target[1] if target else "sm_unknown"
            name = _name(path, "", len(found) + 1, arch, "ptx")
            found.append(ExtractedPtx(name, arch, ptx))
    return found


def _name(path: Path, member: str, number: int, arch: str, suffix: str) -> str:
    stem = _ODD.sub("_", Path(member or path.name).name.partition(".")[0]) or "image"
    return f"{stem}.{number}.{arch}.{suffix}"


def _with_cuobjdump(path: Path, why: ToolchainError) -> list[ExtractedPtx]:
    """The same by NVIDIA's own tool, for compression that nothing here reads."""
    tool = locate.find("cuobjdump")
    if tool is None:
        raise ToolchainError(f"{why} (or: {locate.pip_command('cuobjdump')})") from why
    with tempfile.TemporaryDirectory(prefix="ptxkit-") as folder:
        done = process.run(tool.path, ["--extract-ptx", "all", path.absolute()], cwd=Path(folder))
        if done.code:
            raise BinaryFormatError(f"'{path}': {done.everything.strip()}")
        found: list[ExtractedPtx] = []
        for file in sorted(Path(folder).glob("*.ptx"), key=_dump_number):
            arch = _DUMPED.search(file.name)
            text = file.read_bytes().rstrip(b"\0").decode("utf-8", "surrogateescape")
            name = arch[1] if arch else "sm_unknown"
            found.append(ExtractedPtx(_name(path, "", len(found) + 1, name, "ptx"), name, text))
        return found


def _dump_number(path: Path) -> tuple[int, str]:
    numbers = re.findall(r"\.(\d+)\.sm_", path.name)
    return int(numbers[-1]) if numbers else 0, path.name
