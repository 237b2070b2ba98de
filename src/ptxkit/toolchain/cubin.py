"""Cubins: machine code for one architecture, and what each kernel in it needs."""

from __future__ import annotations

import re
import struct
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import Any

from ptxkit.diagnostics import Diagnostic
from ptxkit.errors import UsageError
from ptxkit.toolchain.elf import BinaryFormatError, Elf

# Attributes of .nv.info sections, by their number in the file.
_FRAME_SIZE, _MIN_STACK_SIZE, _REGISTER_COUNT = 0x11, 0x12, 0x2F
_MAX_THREADS, _BARRIERS = 0x05, 0x4C
_ACCELERATED = 0x09  # of .nv.compat
_ACCELERATED_FLAG = 0x800  # of the header, before ABI version 8
_MADE_FOR = re.compile(rb"(?:-arch|--gpu-name)[ =](sm_\d+[af]?)")
_SIZED_VALUE = 4  # the format with its own length; all others are two bytes
# From sm_90 on the first kilobyte of shared memory is the system's, and the section of a
# kernel counts it.
_RESERVED_SHARED, _RESERVED_SINCE = 1024, 90

_CONSTANT_BANK = re.compile(r"\.nv\.constant\d+\.(.+)")
_PROPERTIES = re.compile(r"Function properties for '?([\w$.]+)")
_SPILLS = re.compile(r"(\d+) bytes stack frame, (\d+) bytes spill stores, (\d+) bytes spill loads")


@dataclass(frozen=True, slots=True)
class Resources:
    """What one kernel needs. All but the spills is read from the cubin itself."""

    registers: int
    """Registers a thread."""
    shared: int
    """Bytes of static shared memory a block, without what the system reserves."""
    stack: int
    """Bytes of stack a thread, functions it calls included."""
    barriers: int
    """Barriers a block."""
    constant: int
    """Bytes in constant banks of its own: parameters and literals."""
    local: int
    """Bytes of local memory a thread outside of the stack."""
    code: int
    """Bytes of machine code."""
    max_threads: int | None = None
    """The largest block it was compiled for (``.maxntid``, ``.reqntid``), where it says."""
    spill_stores: int | None = None
    """Bytes spilled; None for a cubin that came without its assembler's log."""
    spill_loads: int | None = None
    """Bytes read back from spills; None likewise."""

    @property
    def spills(self) -> int | None:
        """Bytes of spill stores and loads together; None where they are not known."""
        if self.spill_stores is None or self.spill_loads is None:
            return None
        return self.spill_stores + self.spill_loads

    def to_dict(self) -> dict[str, int | None]:
        """The fields as plain data."""
        return {name: getattr(self, name) for name in self.__dataclass_fields__} | {
            "spills": self.spills
        }


@dataclass(frozen=True, slots=True)
class Cubin:
    """Machine code for one architecture.

    >>> import ptxkit
    >>> cubin = ptxkit.assemble(
    ...     ".version 8.0\\n.target sm_80\\n.address_size 64\\n.visible .entry k() { ret; }\\n",
    ...     arch="sm_90")
    >>> cubin.arch, list(cubin.resources), cubin.resources["k"].spills
    ('sm_90', ['k'], 0)
    """

    data: bytes
    """The file: an ELF image that the CUDA driver loads."""
    arch: str
    """The architecture it is for, such as ``"sm_90a"``."""
    resources: Mapping[str, Resources]
    """What each kernel needs."""
    log: str = ""
    """What the assembler printed."""
    diagnostics: tuple[Diagnostic, ...] = ()
    """Its warnings, at their places in the PTX."""
    engine: str = ""
    """The program that made it, such as ``"nvJitLink 13.4"``."""

    def __post_init__(self) -> None:
        # A cubin may come out of a cache: nobody may change what others see.
        object.__setattr__(self, "resources", MappingProxyType(dict(self.resources)))

    def __reduce__(self) -> tuple[Any, ...]:
        rest = (self.log, self.diagnostics, self.engine)
        return Cubin, (self.data, self.arch, dict(self.resources), *rest)

    def __repr__(self) -> str:
        kernels = ", ".join(self.resources) or "no kernel"
        return f"<Cubin {self.arch}, {len(self.data):,} bytes: {kernels}>"

    @staticmethod
    def from_bytes(data: bytes, *, log: str = "", engine: str = "") -> Cubin:
        """Read a cubin file; with the assembler's log the spills are known too."""
        if not isinstance(data, (bytes, bytearray, memoryview)):
            raise UsageError(f"a cubin is bytes, not {type(data).__name__}")
        elf = Elf(bytes(data))
        if not elf.is_cubin:
            raise BinaryFormatError("this ELF file is no cubin: it is not for NVIDIA GPUs")
        spills = read_spills(log)
        resources = {
            name: replace(needs, spill_stores=spills[name][0], spill_loads=spills[name][1])
            if name in spills
            else needs
            for name, needs in _read_resources(elf).items()
        }
        return Cubin(bytes(data), architecture(elf), resources, log, engine=engine)


def architecture(elf: Elf) -> str:
    """The architecture of a cubin, from its header; the suffix from where it is recorded."""
    if elf.abi_version < 8:
        return f"sm_{elf.flags & 0xFF}" + ("a" if elf.flags & _ACCELERATED_FLAG else "")
    name = f"sm_{elf.flags >> 8 & 0xFF}"
    compatibility = elf.section(".nv.compat")
    for attribute, value in _attributes(compatibility.data if compatibility else b""):
        if attribute == _ACCELERATED and value[:1] == b"\1":
            return f"{name}a"
    # Code for a family has no mark of its own, but for the options it was made with.
    note = elf.section(".note.nv.tkinfo")
    made_for = _MADE_FOR.search(note.data if note else b"")
    return f"{name}f" if made_for and made_for[1].decode() == f"{name}f" else name


def read_spills(log: str) -> dict[str, tuple[int, int]]:
    """Bytes of spill stores and loads for each function of a verbose log.

    >>> read_spills("ptxas info    : Function properties for k\\n"
    ...             "    8 bytes stack frame, 4 bytes spill stores, 12 bytes spill loads\\n")
    {'k': (4, 12)}
    """
    found: dict[str, tuple[int, int]] = {}
    name = None
    for line in log.splitlines():
        header = _PROPERTIES.search(line)
        values = _SPILLS.search(line)
        if header:
            name = header[1]
        elif values and name is not None:
            found[name] = (int(values[2]), int(values[3]))
            name = None
    return found


def _read_resources(elf: Elf) -> dict[str, Resources]:
    """The kernels are the functions that have a constant bank 0 for their parameters."""
    names = {symbol.name for symbol in elf.symbols}
    common = elf.section(".nv.info")
    by_symbol: dict[int, dict[str, int]] = {}
    for attribute, symbol, value in _symbol_values(common.data if common else b""):
        if 0 <= symbol < len(elf.symbols):
            by_symbol.setdefault(attribute, {})[elf.symbols[symbol].name] = value
    sizes = {section.name: section.size for section in elf.sections}
    constants: Counter[str] = Counter()
    for label, size in sizes.items():
        bank = _CONSTANT_BANK.fullmatch(label)
        if bank:
            constants[bank[1]] += size
    arch = int(re.sub(r"\D", "", architecture(elf)) or 0)
    found = {}
    for section in elf.sections:
        name = section.name.removeprefix(".text.")
        if name == section.name or name not in names or f".nv.constant0.{name}" not in sizes:
            continue
        own = elf.section(f".nv.info.{name}")
        values = dict(_attributes(own.data if own else b""))
        shared = sizes.get(f".nv.shared.{name}", 0)
        if arch >= _RESERVED_SINCE:
            shared = max(0, shared - _RESERVED_SHARED)
        # Before ABI version 8 the header of the code section holds two of the numbers.
        old_registers, old_barriers = section.info >> 24, section.flags >> 20 & 0x7F
        found[name] = Resources(
            registers=by_symbol.get(_REGISTER_COUNT, {}).get(name, old_registers),
            shared=shared,
            stack=by_symbol.get(_MIN_STACK_SIZE, {}).get(
                name, by_symbol.get(_FRAME_SIZE, {}).get(name, 0)
            ),
            barriers=values[_BARRIERS][0] if _BARRIERS in values else old_barriers,
            constant=constants[name],
            local=sizes.get(f".nv.local.{name}", 0),
            code=section.size,
            max_threads=_product(values.get(_MAX_THREADS)),
        )
    return found


def _attributes(data: bytes) -> Iterator[tuple[int, bytes]]:
    """The entries of an ``.nv.info`` section."""
    at = 0
    while at + 4 <= len(data):
        form, attribute = data[at], data[at + 1]
        size = int.from_bytes(data[at + 2 : at + 4], "little") if form == _SIZED_VALUE else 0
        yield attribute, data[at + 4 : at + 4 + size] if size else data[at + 2 : at + 4]
        at += 4 + size


def _symbol_values(data: bytes) -> Iterator[tuple[int, int, int]]:
    for attribute, value in _attributes(data):
        if len(value) == 8:
            yield attribute, *struct.unpack("<II", value)


def _product(value: bytes | None) -> int | None:
    if value is None or len(value) < 12:
        return None
    x, y, z = struct.unpack_from("<III", value)
    return int(x * y * z)
