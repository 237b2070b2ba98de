"""A small reader of ELF files: sections and symbols, every offset checked."""

from __future__ import annotations

import struct
from dataclasses import dataclass
from functools import cached_property

from ptxkit.errors import ToolchainError

MAGIC = b"\x7fELF"
CUDA_MACHINE = 190
_EMPTY = (0, 8)  # the kinds of section without content: unused, and zeros at load time
_SYMTAB = 2


class BinaryFormatError(ToolchainError):
    """A binary file that is damaged, cut off, or not of the expected kind."""


@dataclass(frozen=True, slots=True)
class Section:
    """One section of a file."""

    name: str
    kind: int
    flags: int
    size: int
    link: int
    info: int
    offset: int
    _file: bytes

    @property
    def data(self) -> bytes:
        """The content; empty for a section that takes no room in the file."""
        return b"" if self.kind in _EMPTY else self._file[self.offset : self.offset + self.size]


@dataclass(frozen=True, slots=True)
class Symbol:
    """One entry of a symbol table."""

    name: str
    value: int
    size: int
    kind: int
    section: int


@dataclass(frozen=True, slots=True)
class _Layout:
    header: struct.Struct
    section: struct.Struct
    symbol: struct.Struct


# type machine version entry phoff shoff flags ehsize phentsize phnum shentsize shnum shstrndx
_LAYOUTS = {
    1: _Layout(struct.Struct("<HHIIIIIHHHHHH"), struct.Struct("<10I"), struct.Struct("<IIIBBH")),
    2: _Layout(
        struct.Struct("<HHIQQQIHHHHHH"), struct.Struct("<IIQQQQIIQQ"), struct.Struct("<IBBHQQ")
    ),
}
_IDENT = 16


class Elf:
    """An ELF file in memory, or mapped into it.

    >>> Elf(b"not an ELF file")
    Traceback (most recent call last):
    ptxkit.toolchain.elf.BinaryFormatError: this is no ELF file
    """

    def __init__(self, data: bytes) -> None:
        if data[: len(MAGIC)] != MAGIC:
            raise BinaryFormatError("this is no ELF file")
        layout = _LAYOUTS.get(data[4]) if len(data) > _IDENT else None
        if layout is None or data[5] != 1 or len(data) < _IDENT + layout.header.size:
            raise BinaryFormatError("the ELF header is damaged or cut off")
        self._data = data
        self._layout = layout
        self.bits = 32 if data[4] == 1 else 64
        self.abi_version = data[8]
        fields = layout.header.unpack_from(data, _IDENT)
        self.kind, self.machine, self.flags = fields[0], fields[1], fields[6]
        self._table, self._entry_size, self._count, self._names = fields[5], *fields[10:13]

    @property
    def is_cubin(self) -> bool:
        """Whether it is machine code for NVIDIA GPUs."""
        return bool(self.machine == CUDA_MACHINE)

    @cached_property
    def sections(self) -> tuple[Section, ...]:
        """All sections in the order of the file; the first one is empty."""
        if not self._table:
            return ()
        count, names = self._count, self._names
        if count == 0 or names == 0xFFFF:  # too many for the header: the first section knows
            first = self._raw_section(0)
            count, names = count or first[5], first[6] if names == 0xFFFF else names
        if self._entry_size < self._layout.section.size or count > len(self._data):
            raise BinaryFormatError("the section table is damaged")
        raw = [self._raw_section(index) for index in range(count)]
        start, size = raw[names][4:6] if names < count else (0, 0)
        strings = self._data[start : start + size]
        found = []
        for name, kind, flags, _, offset, size, link, info, _, _ in raw:
            if kind not in _EMPTY and offset + size > len(self._data):
                raise BinaryFormatError("a section reaches past the end of the file")
            text = _string(strings, name)
            found.append(Section(text, kind, flags, size, link, info, offset, self._data))
        return tuple(found)

    @cached_property
    def symbols(self) -> tuple[Symbol, ...]:
        """The symbol table; empty for a stripped file."""
        table = next((s for s in self.sections if s.kind == _SYMTAB), None)
        if table is None:
            return ()
        if table.link >= len(self.sections):
            raise BinaryFormatError("the symbol table has no names")
        strings = self.sections[table.link].data
        size = self._layout.symbol.size
        usable = len(table.data) - len(table.data) % size
        found = []
        for row in self._layout.symbol.iter_unpack(table.data[:usable]):
            if self.bits == 64:
                name, info, _, section, value, length = row
            else:
                name, value, length, info, _, section = row
            found.append(Symbol(_string(strings, name), value, length, info & 0xF, section))
        return tuple(found)

    def section(self, name: str) -> Section | None:
        """The first section of that name."""
        return self._by_name.get(name)

    @cached_property
    def _by_name(self) -> dict[str, Section]:
        return {section.name: section for section in reversed(self.sections)}

    def _raw_section(self, index: int) -> tuple[int, ...]:
        at = self._table + index * self._entry_size
        if at + self._layout.section.size > len(self._data):
            raise BinaryFormatError("the section table is cut off")
        return self._layout.section.unpack_from(self._data, at)


def _string(strings: bytes, at: int) -> str:
    if at >= len(strings):
        raise BinaryFormatError("a name lies outside of its table")
    end = strings.find(b"\0", at)
    return strings[at : end if end >= 0 else len(strings)].decode("utf-8", "surrogateescape")
