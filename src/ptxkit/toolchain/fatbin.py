"""Fat binaries: containers with the PTX and cubins of one compilation.

A container is a header of 16 bytes and entries, each with its own header. Several
containers may follow one another. A *concatenated* entry holds several others, packed
together. The layout is known from files that nvcc makes; the tests compare with
cuobjdump.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

from ptxkit.toolchain import compression
from ptxkit.toolchain.elf import BinaryFormatError

MAGIC = b"\x50\xed\x55\xba"
_VERSION = 1
_CONTAINER = struct.Struct("<IHHQ")  # magic, version, size of this header, size of the rest
# kind, version, size of this header, size of the payload, compressed size, offset of the
# options, minor and major version, architecture, offset and length of the name, flags,
# unknown, size after decompression
_ENTRY = struct.Struct("<HHIQIIHHIIIQQQ")
_OPTIONS = struct.Struct("<II")  # offset and length of the text
_KINDS: dict[int, Literal["ptx", "cubin"]] = {1: "ptx", 2: "cubin"}
_CONCATENATED = 0x100
_DEBUG, _LZ4, _ZSTD = 0x2, 0x2000, 0x8000
_SUFFIXES = {0x100000: "a", 0x200000: "f"}


@dataclass(frozen=True, slots=True)
class Image:
    """One piece of code for one architecture."""

    kind: Literal["ptx", "cubin"]
    arch: str
    data: bytes
    """Decompressed; PTX without the NUL bytes at its end."""
    identifier: str
    """The name of its source, where the compiler left it."""
    options: str
    """The options that ptxas is to be given."""
    debug: bool
    offset: int
    """Where its entry begins in the data that was searched."""


@dataclass(frozen=True, slots=True)
class _Header:
    kind: int
    size: int
    payload: int
    compressed: int
    arch: str
    identifier: str
    options: str
    flags: int
    unpacked: int


def images(data: bytes, *, kinds: frozenset[str] = frozenset({"ptx"})) -> Iterator[Image]:
    """Every piece of code of these kinds, in all containers of the data.

    >>> list(images(b"nothing in here"))
    []
    """
    at = data.find(MAGIC)
    while at >= 0 and at + _CONTAINER.size <= len(data):
        _, version, header, size = _CONTAINER.unpack_from(data, at)
        if version != _VERSION or header < _CONTAINER.size:
            at = data.find(MAGIC, at + 4)  # four bytes that only look like a container
            continue
        end = at + header + size
        if end > len(data):
            raise BinaryFormatError(
                f"the fat binary at offset {at} claims {header + size} bytes and has "
                f"{len(data) - at}"
            )
        yield from _entries(data, at + header, end, kinds)
        at = data.find(MAGIC, end)


def _entries(data: bytes, at: int, end: int, kinds: frozenset[str]) -> Iterator[Image]:
    while at < end:
        header = _header(data, at, end)
        start = at + header.size
        if header.size < _ENTRY.size or start + header.payload > end:
            raise BinaryFormatError(f"the entry at offset {at} of a fat binary is damaged")
        end_of_payload = start + header.payload
        if header.kind == _CONCATENATED:
            payload = data[start:end_of_payload]
            yield from _concatenated(data[at:start], payload, header, kinds, at)
        elif _KINDS.get(header.kind) in kinds:
            yield _image(header, _unpack(header, data[start:end_of_payload]), at)
        at = end_of_payload


def _concatenated(
    head: bytes, payload: bytes, outer: _Header, kinds: frozenset[str], at: int
) -> Iterator[Image]:
    """Entries whose headers stand in the outer header and whose payloads are packed as one."""
    if len(head) < _ENTRY.size + _OPTIONS.size:
        raise BinaryFormatError(f"the entry at offset {at} of a fat binary is damaged")
    count, table = _OPTIONS.unpack_from(head, _ENTRY.size)
    place, end = _ENTRY.size + _OPTIONS.size, min(len(head), _ENTRY.size + table)
    whole: bytes | None = None
    for _ in range(count):
        inner = _header(head, place, end)
        if _KINDS.get(inner.kind) in kinds:
            if whole is None:
                whole = _unpack(outer, payload)
            # Here the field for the header's size says where the payload begins.
            if inner.size + inner.payload > len(whole):
                raise BinaryFormatError(f"the entry at offset {at} of a fat binary is damaged")
            part = whole[inner.size : inner.size + inner.payload]
            yield _image(inner, _unpack(inner, part), at)
        place += _length(head, place, end)


def _header(data: bytes, at: int, end: int) -> _Header:
    if at + _ENTRY.size > end:
        raise BinaryFormatError(f"the entry at offset {at} of a fat binary is cut off")
    (kind, _, size, payload, compressed, options, _, _, arch, name, name_length, flags, _,
     unpacked) = _ENTRY.unpack_from(data, at)  # fmt: skip
    suffix = next((letter for bit, letter in _SUFFIXES.items() if flags & bit), "")
    text = ""
    if options and at + options + _OPTIONS.size <= end:
        start, length = _OPTIONS.unpack_from(data, at + options)
        text = _text(data, at + start, length, end)
    identifier = _text(data, at + name, name_length, end) if name else ""
    return _Header(
        kind, size, payload, compressed, f"sm_{arch}{suffix}", identifier, text, flags, unpacked
    )


def _length(data: bytes, at: int, end: int) -> int:
    """How long a header is that does not say so itself: up to the end of its last text."""
    fields = _ENTRY.unpack_from(data, at)
    options, name, name_length = fields[5], fields[9], fields[10]
    if options and at + options + _OPTIONS.size <= end:
        start, length = _OPTIONS.unpack_from(data, at + options)
    elif name:
        start, length = name, name_length
    else:
        return _ENTRY.size
    return int(start + (length + 8) // 8 * 8)


def _text(data: bytes, start: int, length: int, end: int) -> str:
    if start + length > end:
        raise BinaryFormatError("a text of a fat binary lies outside of it")
    return data[start : start + length].rstrip(b"\0").decode("utf-8", "surrogateescape").strip()


def _unpack(header: _Header, payload: bytes) -> bytes:
    if not header.flags & (_LZ4 | _ZSTD):
        return payload
    if header.compressed > len(payload):
        raise BinaryFormatError("a compressed entry of a fat binary is cut off")
    packed = payload[: header.compressed]
    unpack = compression.lz4 if header.flags & _LZ4 else compression.zstd
    return unpack(packed, header.unpacked)


def _image(header: _Header, data: bytes, at: int) -> Image:
    kind = _KINDS[header.kind]
    if kind == "ptx":
        data = data.rstrip(b"\0")
    return Image(
        kind, header.arch, data, header.identifier, header.options, bool(header.flags & _DEBUG), at
    )
