"""Arguments of a launch, checked against the kernel's parameters before anything runs."""

from __future__ import annotations

import ctypes
import struct
from collections.abc import Sequence
from typing import Any

import numpy as np

from ptxkit.isa.types import BITS, FLOAT, SCALAR_TYPES
from ptxkit.run.layout import Item
from ptxkit.run.shape import LaunchError


def check_count(kernel: str, items: list[Item], arguments: Sequence[Any]) -> None:
    """Refuse too many or too few arguments."""
    if len(items) != len(arguments):
        names = ", ".join(f"{item.name} (.{item.type})" for item in items) or "none"
        raise LaunchError(
            f"'{kernel}' takes {len(items)} arguments, not {len(arguments)}; they are: {names}"
        )


_INTEGER_FORMATS = {1: "<B", 2: "<H", 4: "<I", 8: "<Q"}


def pack_scalar(kernel: str, item: Item, value: Any) -> bytes:
    """The bytes of a scalar or struct argument.

    >>> item = Item("n", "u32", 0, 4, 4, False)
    >>> pack_scalar("k", item, 7)
    b'\\x07\\x00\\x00\\x00'
    """
    where = f"argument '{item.name}' of '{kernel}'"
    if item.is_array:
        return _pack_struct(where, item, value)
    kind = SCALAR_TYPES[item.type].kind
    if isinstance(value, np.generic):
        value = value.item()
    elif isinstance(value, ctypes._SimpleCData):
        value = value.value
    if isinstance(value, bool):
        value = int(value)
    if isinstance(value, float) and (kind == FLOAT or (kind == BITS and item.size in (4, 8))):
        return _pack_float(where, item, value)
    if isinstance(value, int):
        if kind == FLOAT:
            return _pack_float(where, item, float(value))
        bits = 8 * item.size
        if not -(1 << (bits - 1)) <= value < 1 << bits:
            raise LaunchError(f"{where} is .{item.type}; {value} does not fit")
        return struct.pack(_INTEGER_FORMATS[item.size], value & ((1 << bits) - 1))
    raise LaunchError(f"{where} is .{item.type}; a {type(value).__name__} cannot be passed there")


def _pack_float(where: str, item: Item, value: float) -> bytes:
    formats = {2: "<e", 4: "<f", 8: "<d"}
    try:
        return struct.pack(formats[item.size], value)
    except (OverflowError, KeyError) as error:
        raise LaunchError(f"{where} is .{item.type}; {value} does not fit") from error


def _pack_struct(where: str, item: Item, value: Any) -> bytes:
    if isinstance(value, (bytes, bytearray, memoryview, ctypes.Structure, ctypes.Union)):
        data = bytes(value)
    elif isinstance(value, (np.ndarray, np.generic)):
        data = value.tobytes()
    else:
        raise LaunchError(
            f"{where} is a struct of {item.size} bytes; pass bytes, a numpy value or "
            f"a ctypes structure, not {type(value).__name__}"
        )
    if len(data) != item.size:
        raise LaunchError(f"{where} is a struct of {item.size} bytes, not {len(data)}")
    return data
