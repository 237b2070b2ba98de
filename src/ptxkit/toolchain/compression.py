"""Decompression of the two formats that fat binaries use: LZ4 blocks and zstd frames."""

from __future__ import annotations

import ctypes
import importlib
from collections.abc import Callable
from functools import lru_cache
from typing import Any

from ptxkit.errors import ToolchainError
from ptxkit.toolchain.elf import BinaryFormatError

#: No PTX is larger than this; what claims to be is damaged.
LARGEST = 1 << 30
_LZ4_RATIO = 255  # no LZ4 block expands more than this
_MIN_MATCH = 4
_LONG = 15  # a length that continues in the following bytes


class DecompressorMissingError(ToolchainError):
    """Nothing on this machine reads zstd."""


def lz4(data: bytes, size: int) -> bytes:
    r"""Decompress one LZ4 block into exactly `size` bytes.

    >>> lz4(b"\x13a\x01\x00\xc0and literals", 20)
    b'aaaaaaaaand literals'
    """
    if size > LARGEST or size > len(data) * _LZ4_RATIO + _LONG:
        raise BinaryFormatError(f"an LZ4 block of {len(data)} bytes cannot hold {size}")
    try:
        out = (_lz4_library() or _lz4)(data, size)
    except IndexError:
        raise BinaryFormatError("an LZ4 block is cut off") from None
    if len(out) != size:
        raise BinaryFormatError(f"an LZ4 block holds {len(out)} bytes where {size} were announced")
    return bytes(out)


@lru_cache(maxsize=1)
def _lz4_library() -> Callable[[bytes, int], bytes] | None:
    """The system's own, a hundred times faster, where there is one."""
    try:
        decompress = ctypes.CDLL("liblz4.so.1").LZ4_decompress_safe
    except (OSError, AttributeError):
        return None

    def call(data: bytes, size: int) -> bytes:
        buffer = ctypes.create_string_buffer(max(size, 1))
        count = decompress(data, buffer, ctypes.c_int(len(data)), ctypes.c_int(size))
        if count < 0:
            raise BinaryFormatError("an LZ4 block is damaged")
        return buffer.raw[:count]

    return call


def _lz4(data: bytes, size: int) -> bytearray:
    out = bytearray()
    at, end = 0, len(data)
    while at < end:
        token = data[at]
        at += 1
        length = token >> 4
        if length == _LONG:
            while True:
                more = data[at]
                at += 1
                length += more
                if more != 255:
                    break
        if at + length > end:
            raise BinaryFormatError("an LZ4 block is cut off")
        out += data[at : at + length]
        at += length
        if at == end:  # the last sequence is literals only
            break
        offset = data[at] | data[at + 1] << 8
        at += 2
        length = token & _LONG
        if length == _LONG:
            while True:
                more = data[at]
                at += 1
                length += more
                if more != 255:
                    break
        length += _MIN_MATCH
        start = len(out) - offset
        if offset == 0 or start < 0 or len(out) + length > size:
            raise BinaryFormatError("an LZ4 block is damaged")
        if offset >= length:
            out += out[start : start + length]
        else:  # the match overlaps what it writes: a repetition
            out += (out[start:] * (length // offset + 1))[:length]
    return out


def zstd(data: bytes, size: int) -> bytes:
    """Decompress one zstd frame into exactly `size` bytes, with whatever this machine has."""
    if size > LARGEST:
        raise BinaryFormatError(f"a zstd frame claims to hold {size} bytes")
    decompress = _zstd_decompressor()
    if decompress is None:
        raise DecompressorMissingError("nothing here reads zstd; run: pip install zstandard")
    try:
        out = decompress(data, size)
    except Exception as error:  # every library has its own kind
        raise BinaryFormatError(f"a zstd frame is damaged: {error}") from error
    if len(out) != size:
        raise BinaryFormatError(f"a zstd frame holds {len(out)} bytes where {size} were announced")
    return out


@lru_cache(maxsize=1)
def _zstd_decompressor() -> Callable[[bytes, int], bytes] | None:
    for attempt in (_standard_library, _zstandard, _system_library, _pyarrow):
        try:
            return attempt()
        except (ImportError, OSError, AttributeError):
            continue
    return None


def _standard_library() -> Callable[[bytes, int], bytes]:
    module: Any = importlib.import_module("compression.zstd")  # Python 3.14
    return lambda data, size: module.ZstdDecompressor().decompress(data, size + 1)


def _zstandard() -> Callable[[bytes, int], bytes]:
    module: Any = importlib.import_module("zstandard")
    return lambda data, size: module.ZstdDecompressor().decompress(data, max_output_size=size)


def _system_library() -> Callable[[bytes, int], bytes]:
    library = ctypes.CDLL("libzstd.so.1")
    library.ZSTD_decompress.restype = ctypes.c_size_t
    library.ZSTD_isError.argtypes = [ctypes.c_size_t]
    library.ZSTD_getErrorName.argtypes = [ctypes.c_size_t]
    library.ZSTD_getErrorName.restype = ctypes.c_char_p

    def decompress(data: bytes, size: int) -> bytes:
        buffer = ctypes.create_string_buffer(max(size, 1))
        count = library.ZSTD_decompress(
            buffer, ctypes.c_size_t(size), data, ctypes.c_size_t(len(data))
        )
        if library.ZSTD_isError(count):
            raise ValueError(library.ZSTD_getErrorName(count).decode())
        return buffer.raw[:count]

    return decompress


def _pyarrow() -> Callable[[bytes, int], bytes]:
    module: Any = importlib.import_module("pyarrow")

    def decompress(data: bytes, size: int) -> bytes:
        result: bytes = module.decompress(data, size, codec="zstd", asbytes=True)
        return result

    return decompress
