"""Arguments of a launch, checked against the kernel's parameters before anything runs."""

from __future__ import annotations

import ctypes
import struct
from collections.abc import Sequence
from typing import Any

import numpy as np

from ptxkit.errors import shown
from ptxkit.isa.types import BITS, FLOAT, SCALAR_TYPES
from ptxkit.run.layout import Item
from ptxkit.run.shape import LaunchError, whole_numbers
from ptxkit.syntax import Module
from ptxkit.syntax.demangle import demangle


def coordinates(value: int | Sequence[int], what: str) -> tuple[int, int, int]:
    """A thread or a block by its coordinates.

    >>> coordinates(3, "thread"), coordinates((1, 2), "block")
    ((3, 0, 0), (1, 2, 0))
    """
    numbers = whole_numbers(value, what)
    if not all(n >= 0 for n in numbers):
        raise LaunchError(f"the {what} must be whole numbers from 0, not {shown(value)}")
    x, y, z = (*numbers, 0, 0)[:3]
    return x, y, z


def check_count(kernel: str, items: list[Item], arguments: Sequence[Any]) -> None:
    """Refuse too many or too few arguments."""
    if len(items) != len(arguments):
        names = ", ".join(f"{item.name} (.{item.type})" for item in items) or "none"
        raise LaunchError(
            f"'{kernel}' takes {len(items)} argument{'s' * (len(items) != 1)}, "
            f"not {len(arguments)}; there should be: {names}"
        )


def describe_kernel(name: str, items: list[Item], device: str) -> str:
    """A kernel in one line: what it is called, and what it takes.

    >>> describe_kernel("_Z4fillPii", [Item("p", "u64", 0, 8, 8, False)], "cpu")
    "<kernel '_Z4fillPii' = fill(int*, int) on cpu: p .u64>"
    """
    takes = ", ".join(
        f"{one.name} .{one.type}" + (f"[{one.size} bytes]" if one.is_array else "") for one in items
    )
    shown = demangle(name)
    said = f"'{name}'" if shown == name else f"'{name}' = {shown}"
    return f"<kernel {said} on {device}: {takes or 'no arguments'}>"


def describe_module(module: Module, device: str) -> str:
    """A loaded module in one line.

    >>> import ptxkit
    >>> describe_module(ptxkit.parse(".entry k() { ret; }", filename="k.ptx"), "cpu")
    "<module 'k.ptx' on cpu: 1 kernel: k>"
    """
    names = [kernel.name for kernel in module.kernels]
    listed = ", ".join(names[:8]) + (", ..." if len(names) > 8 else "")
    kernels = f"{len(names):,} kernel{'' if len(names) == 1 else 's'}"
    return f"<module '{module.filename}' on {device}: {kernels}{': ' if names else ''}{listed}>"


def pack_scalar(kernel: str, item: Item, value: Any) -> bytes:
    """The bytes of a scalar or struct argument.

    >>> item = Item("n", "u32", 0, 4, 4, False)
    >>> pack_scalar("k", item, 7)
    b'\\x07\\x00\\x00\\x00'
    """
    return pack_value(f"argument '{item.name}' of '{kernel}'", item, value)


def pack_value(where: str, item: Item, value: Any) -> bytes:
    """The bytes of a value; ``where`` says in messages whose it is.

    >>> pack_value("variable 'n'", Item("n", "u32", 0, 4, 4, False), 1.5)
    Traceback (most recent call last):
    ptxkit.run.shape.LaunchError: variable 'n' is .u32; a float cannot be passed there
    """
    if item.is_array:
        return _pack_struct(where, item, value)
    kind = SCALAR_TYPES[item.type].kind
    if isinstance(value, np.generic):
        if kind == BITS and value.dtype.itemsize == item.size:
            return value.tobytes()
        value = value.item()
    elif isinstance(value, ctypes._SimpleCData):
        value = value.value
    if isinstance(value, bool):
        value = int(value)
    if isinstance(value, float) and (kind == FLOAT or (kind == BITS and item.size in (4, 8))):
        return _pack_float(where, item, value)
    if isinstance(value, int):
        if kind == FLOAT:
            return _pack_float(where, item, value)
        bits = 8 * item.size
        if not -(1 << (bits - 1)) <= value < 1 << bits:
            raise LaunchError(f"{where} is .{item.type}; {shown(value)} does not fit")
        return (value & ((1 << bits) - 1)).to_bytes(item.size, "little")
    raise LaunchError(f"{where} is .{item.type}; a {type(value).__name__} cannot be passed there")


def _pack_float(where: str, item: Item, value: float | int) -> bytes:
    formats = {2: "<e", 4: "<f", 8: "<d"}
    try:
        return struct.pack(formats[item.size], float(value))
    except (OverflowError, KeyError) as error:
        raise LaunchError(f"{where} is .{item.type}; {shown(value)} does not fit") from error


def _pack_struct(where: str, item: Item, value: Any) -> bytes:
    if isinstance(value, (bytes, bytearray, memoryview, ctypes.Structure, ctypes.Union)):
        data = bytes(value)
    elif isinstance(value, (np.ndarray, np.generic)):
        data = value.tobytes()
    else:
        raise LaunchError(
            f"{where} is a struct of {item.size} bytes; pass bytes, a numpy value or "
            f"a ctypes structure, not {type(value).__name__}; on the command line an array of its "
            "bytes, such as a structured one: --arg @p.npy"
        )
    if len(data) != item.size:
        raise LaunchError(f"{where} is a struct of {item.size} bytes, not {len(data)}")
    return data
