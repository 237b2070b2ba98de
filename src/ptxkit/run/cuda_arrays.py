"""Arrays and streams of other libraries: where their memory lies, which stream they work on.

The common types (torch and cupy arrays, whatever offers DLPack's functions in C) are read
natively once `classify` has said how; the rest comes here.
"""

from __future__ import annotations

import sys
from dataclasses import dataclass
from typing import Any

import numpy as np

from ptxkit._native import dlpack_memory, set_argument_types, set_default_stream
from ptxkit.run.cuda_driver import check, start
from ptxkit.run.shape import LaunchError

# The ways in which native/bindings_arguments.cpp reads an argument.
_GENERAL, _EXCHANGE, _TORCH, _CUPY, _WHOLE, _REAL = range(6)

_ON_GPU = (2, 3, 13)  # DLPack's numbers for GPU memory, pinned memory and managed memory


@dataclass(frozen=True, slots=True)
class Memory:
    """Memory that a GPU can reach. ``device`` is None where it is not of one GPU."""

    address: int
    bytes: int
    device: int | None


def classify(kind: type) -> tuple[int, Any, Any]:
    """How to read arguments of a type: the way, DLPack's functions, the stream function.

    Subclasses of torch's tensors may mean something else by their memory: the general way.
    """
    torch = sys.modules.get("torch")
    if torch is not None and kind in (torch.Tensor, torch.nn.Parameter):
        functions = getattr(torch.Tensor, "__dlpack_c_exchange_api__", None)
        if functions is not None:
            return _EXCHANGE, functions, None
        return _TORCH, None, _torch_stream
    cupy = sys.modules.get("cupy")
    if cupy is not None and kind is cupy.ndarray:
        return _CUPY, None, _cupy_stream
    if issubclass(kind, (bool, np.integer)):
        return _WHOLE, None, None
    return (_REAL if issubclass(kind, np.floating) else _GENERAL), None, None


def _torch_stream(device: int) -> int:
    torch: Any = sys.modules["torch"]
    return int(torch.cuda.current_stream(device).cuda_stream)


def _cupy_stream(device: int) -> int:
    cupy: Any = sys.modules["cupy"]
    return int(cupy.cuda.get_current_stream(device).ptr)


def current_stream(device: int) -> int:
    """The stream of a launch whose arrays name none: torch's where it is in use, else 0."""
    torch = sys.modules.get("torch")
    if torch is None or not torch.cuda.is_initialized():
        return 0
    # Once torch has started on the GPU it stays: from now on ask it directly.
    direct = getattr(torch._C, "_cuda_getCurrentRawStream", _torch_stream)
    set_default_stream(direct)
    return int(direct(device))


def library_stream(value: Any, device: int) -> int | None:
    """The current stream of the library an array belongs to; None for unknown ones."""
    if _is(value, "torch", "Tensor"):
        return _torch_stream(device) if value.is_cuda else None
    return _cupy_stream(device) if _is(value, "cupy", "ndarray") else None


def _is(value: Any, library: str, kind: str) -> bool:
    loaded = sys.modules.get(library)
    return loaded is not None and isinstance(value, getattr(loaded, kind))


set_argument_types(classify)
set_default_stream(current_stream)


def stream_handle(stream: Any) -> int | None:
    """The driver's handle of a stream: an int, or an object of torch, cupy, cuda.core, numba.

    >>> stream_handle(None), stream_handle(7)
    (None, 7)
    """
    if stream is None or isinstance(stream, int):
        return stream
    protocol = getattr(stream, "__cuda_stream__", None)
    if protocol is not None:
        _, handle = protocol() if callable(protocol) else protocol
        return int(handle)
    for name in ("cuda_stream", "ptr", "handle"):
        found = getattr(stream, name, None)
        if found is not None:
            return int(getattr(found, "value", found) or 0)
    try:
        return int(stream)
    except (TypeError, ValueError) as error:
        raise LaunchError(
            f"a stream is an int, or a stream of torch, cupy or cuda.core; "
            f"a {type(stream).__name__} is none"
        ) from error


def memory_of(where: str, value: Any, stream: int) -> Memory | None:
    """The memory of an array on a GPU; None for things that are no arrays.

    `where` begins the message of an error. What was written to the array on another stream
    is waited for on `stream`, where the array tells.
    """
    if _is(value, "torch", "Tensor"):
        return _torch_memory(where, value)
    interface = getattr(value, "__cuda_array_interface__", None)
    if interface is not None:
        return _interface_memory(where, interface, stream)
    if hasattr(value, "__dlpack__"):
        return _dlpack_memory(where, value, stream)
    return None


def _torch_memory(where: str, value: Any) -> Memory:
    if not value.is_cuda:
        _refuse_host(where, f"a tensor on '{value.device}'", "pass x.cuda()")
    if value.is_conj() or value.is_neg():
        raise LaunchError(f"{where} is a conjugate or negative view; pass x.resolve_conj()")
    if not value.is_contiguous():
        _refuse_strides(where, "x.contiguous()", "x.data_ptr()")
    return Memory(value.data_ptr(), value.numel() * value.element_size(), value.get_device())


def _interface_memory(where: str, interface: dict[str, Any], stream: int) -> Memory:
    size = np.dtype(interface["typestr"]).itemsize
    shape = interface["shape"]
    if not _contiguous(shape, interface.get("strides"), size):
        _refuse_strides(where, "a contiguous copy", "its address")
    address = int(interface["data"][0])
    made_on = interface.get("stream")
    if made_on is not None and made_on not in (stream, 1 if stream == 0 else stream):
        _wait_for(int(made_on), stream)
    return Memory(address, int(np.prod(shape, dtype=np.int64)) * size, _device_of(address))


def _contiguous(shape: tuple[int, ...], strides: tuple[int, ...] | None, size: int) -> bool:
    if strides is None or 0 in shape:
        return True
    for extent, stride in zip(reversed(shape), reversed(strides), strict=True):
        if extent != 1 and stride != size:
            return False
        size *= extent
    return True


def _device_of(address: int) -> int | None:
    if address == 0:
        return None
    driver = start()
    wanted = driver.CUpointer_attribute.CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL
    error, device = driver.cuPointerGetAttribute(wanted, address)
    return int(device) if int(error) == 0 else None


def _wait_for(made_on: int, stream: int) -> None:
    driver = start()
    event = check(driver.cuEventCreate(2), "making an event")  # 2: no times
    try:
        check(driver.cuEventRecord(event, made_on), "recording an event")
        check(driver.cuStreamWaitEvent(stream, event, 0), "waiting for another stream")
    finally:
        driver.cuEventDestroy(event)


def _dlpack_memory(where: str, value: Any, stream: int) -> Memory:
    kind, number = value.__dlpack_device__()
    if int(kind) not in _ON_GPU:
        _refuse_host(
            where, f"a {type(value).__name__} in host memory", "move it to the GPU, or pass a "
            "numpy array, which is copied there and back",
        )  # fmt: skip
    # DLPack calls the default stream 1, and lets 0 stand for nothing.
    capsule = value.__dlpack__(stream=stream or 1) if int(kind) == 2 else value.__dlpack__()
    address, size, _, _, contiguous = dlpack_memory(capsule)
    if not contiguous:
        _refuse_strides(where, "a contiguous copy", "its address")
    return Memory(address, size, int(number) if int(kind) == 2 else None)


def _refuse_host(where: str, what: str, remedy: str) -> None:
    raise LaunchError(f"{where} is {what}, which the GPU does not reach; {remedy}")


def _refuse_strides(where: str, copy: str, address: str) -> None:
    raise LaunchError(
        f"{where} is not contiguous; pass {copy}, or {address} if the kernel knows the strides"
    )
