"""What went wrong on the GPU, in words that name the kernel and its arguments.

A kernel runs after its launch has returned, so a fault shows at some later call. The message
then lists the launches that were not known to have finished.
"""

from __future__ import annotations

import struct
from collections.abc import Sequence
from typing import Any

from ptxkit._native import pending_launches
from ptxkit.isa.types import FLOAT, SCALAR_TYPES, SIGNED
from ptxkit.run.cuda_driver import CudaError, context, explain, status_name
from ptxkit.run.layout import Item
from ptxkit.run.shape import LaunchShape

#: Statuses of faults inside a kernel: they end the context, and whoever calls next gets them.
_FAULTS = frozenset(
    f"CUDA_ERROR_{name}"
    for name in """ILLEGAL_ADDRESS LAUNCH_FAILED MISALIGNED_ADDRESS ILLEGAL_INSTRUCTION
    INVALID_PC INVALID_ADDRESS_SPACE HARDWARE_STACK_ERROR ASSERT LAUNCH_TIMEOUT
    TENSOR_MEMORY_LEAK CONTAINED EXTERNAL_DEVICE""".split()
)
_MOST_SHOWN = 8


def launch_text(name: str, shape: LaunchShape | str, shown: Sequence[str]) -> str:
    """A launch as it was written: ``'k'[1, 32](x=..., n=4)``."""
    return f"'{name}'{shape}({', '.join(shown)})"


def argument_text(item: Item, value: Any) -> str:
    """One argument in a message.

    >>> import numpy as np
    >>> argument_text(Item("x", "u64", 0, 8, 8, False), np.zeros((4, 2), np.float32))
    'x=float32[4, 2]'
    >>> argument_text(Item("n", "u32", 0, 4, 4, False), 7)
    'n=7'
    """
    shape, dtype = getattr(value, "shape", None), getattr(value, "dtype", None)
    if shape is not None and dtype is not None and (len(shape) or hasattr(value, "data_ptr")):
        extents = ", ".join(str(int(extent)) for extent in shape)
        text = f"{str(dtype).rpartition('.')[2]}[{extents}]"
    else:
        text = repr(value)
        text = text if len(text) <= 60 else text[:57] + "..."
    return f"{item.name}={text}"


def label(item: Item) -> str:
    """A parameter's name and type, which is what `word_text` needs."""
    return f"{item.name} {'' if item.is_array else item.type}"


def word_text(labelled: str, data: bytes) -> str:
    """One argument from the bytes that were passed.

    >>> word_text("a f32", b"\\0\\0\\0\\x40"), word_text("s ", bytes(12))
    ('a=2.0', 's=<12 bytes>')
    """
    name, _, type_name = labelled.partition(" ")
    kind = SCALAR_TYPES[type_name].kind if type_name else ""
    number = int.from_bytes(data, "little", signed=kind == SIGNED)
    if not data:
        text = "..."
    elif not kind or len(data) > 8:
        text = f"<{len(data)} bytes>"
    elif kind == FLOAT:
        text = str(struct.unpack({2: "<e", 4: "<f", 8: "<d"}[len(data)], data)[0])
    else:
        text = f"{number:#x}" if len(data) == 8 and abs(number) > 1 << 32 else str(number)
    return f"{name}={text}"


def fault(status: int, launched: str, device: int) -> CudaError:
    """The error for a launch that failed, or that found a fault of an earlier one."""
    message = f"{launched} failed: {explain(status)}"
    name = status_name(status)
    if name in _FAULTS:
        message += "\n" + pending_text(device)
    return CudaError(message, name)


def pending_text(device: int) -> str:
    """The launches that may have caused a fault."""
    found = pending_launches(context(device))
    if not found:
        return "no launch of ptxkit was pending: another library's kernel may have failed"
    lines = ["launched before, and not known to have finished:"]
    hidden = len(found) - _MOST_SHOWN
    if hidden > 0:
        lines.append(f"  ... {hidden} earlier ones")
    for name, grid, block, shared, words in found[-_MOST_SHOWN:]:
        shown = [word_text(labelled, data) for labelled, data in words]
        shape = LaunchShape(grid, block, shared)
        lines.append(f"  {launch_text(name, shape, shown)}")
    lines.append(
        "set the environment variable CUDA_LAUNCH_BLOCKING=1 to learn which one it was; "
        'the simulator (device="cpu", --device cpu) names the instruction and the thread'
    )
    return "\n".join(lines)
