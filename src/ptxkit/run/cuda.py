"""``device="cuda"``: kernels on a GPU through the CUDA driver.

Arrays of torch, cupy, JAX and anything with ``__cuda_array_interface__`` or DLPack are
passed by address; numpy arrays are copied in and, after the launch, back.
"""

from __future__ import annotations

import sys
import threading
from collections.abc import Sequence
from typing import Any

import numpy as np

from ptxkit._native import PackedLaunch
from ptxkit.errors import PtxkitError, UnknownNameError, import_extra
from ptxkit.isa.types import FLOAT, SCALAR_TYPES
from ptxkit.run.arguments import check_count, pack_scalar
from ptxkit.run.layout import Item, kernel_layout
from ptxkit.run.shape import LaunchError, dimensions
from ptxkit.syntax import Function, Module


class CudaError(PtxkitError):
    """The CUDA driver refused something; the message says what and why."""


def _driver() -> Any:
    return import_extra("cuda.bindings.driver", extra="cuda")


def _check(result: tuple[Any, ...], what: str) -> Any:
    error, *values = result
    if int(error) != 0:
        name = getattr(error, "name", str(error))
        raise CudaError(f"{what}: {name}")
    return values[0] if len(values) == 1 else tuple(values)


def _is_float(item: Item) -> bool:
    return SCALAR_TYPES[item.type].kind == FLOAT and not item.is_array


def device_pointer(value: Any) -> tuple[int, int] | None:
    """The address and the bytes of an array that lies on the GPU; None for other things."""
    interface = getattr(value, "__cuda_array_interface__", None)
    if interface is not None:
        if interface.get("strides") is not None:
            raise LaunchError("an array on the GPU must be contiguous; call .contiguous() first")
        count = int(np.prod(interface["shape"], dtype=np.int64))
        return int(interface["data"][0]), count * np.dtype(interface["typestr"]).itemsize
    if hasattr(value, "data_ptr") and getattr(value, "is_cuda", False):  # torch
        if not value.is_contiguous():
            raise LaunchError("a tensor must be contiguous; call .contiguous() first")
        return int(value.data_ptr()), value.numel() * value.element_size()
    if hasattr(value, "__dlpack_device__") and value.__dlpack_device__()[0] == 2:
        pointer = getattr(value, "unsafe_buffer_pointer", None)  # JAX
        if pointer is not None:
            return int(pointer()), int(value.nbytes)
    return None


def current_stream() -> int:
    """The stream torch is working on, where torch is loaded; else the default stream."""
    torch = sys.modules.get("torch")
    if torch is None or not torch.cuda.is_initialized():
        return 0
    raw = getattr(torch._C, "_cuda_getCurrentRawStream", None)  # ten times faster
    if raw is not None:
        return int(raw(torch.cuda.current_device()))
    return int(torch.cuda.current_stream().cuda_stream)


def is_available() -> bool:
    """Say whether there is a GPU with a driver, and the bindings to reach it."""
    try:
        driver = _driver()
        error, *_ = driver.cuInit(0)
        if int(error) != 0:
            return False
        error, count = driver.cuDeviceGetCount()
        return int(error) == 0 and count > 0
    except (PtxkitError, ImportError, RuntimeError):
        return False


class CudaKernel:
    """A kernel on the GPU. ``k[grid, block, shared_bytes, stream](*args)`` launches it."""

    def __init__(self, owner: CudaModule, function: Function) -> None:
        driver = owner.driver
        self.name = function.name
        self.parameters: list[Item]
        self.parameters, self._bytes = kernel_layout(function)
        self._driver = driver
        self._owner = owner
        self._function = _check(
            driver.cuModuleGetFunction(owner.handle, function.name.encode()),
            f"finding '{function.name}'",
        )
        self._packed = PackedLaunch(
            int(self._function),
            [(item.offset, item.size, _is_float(item)) for item in self.parameters],
            max(self._bytes, 1),
        )
        self._shared_limit = 48 * 1024

    def __getitem__(self, key: Any) -> CudaLauncher:
        if not isinstance(key, tuple) or not 2 <= len(key) <= 4:
            raise LaunchError(f"launch '{self.name}' as k[grid, block, shared_bytes, stream](...)")
        grid, block = dimensions(key[0], "grid"), dimensions(key[1], "block")
        shared = int(key[2]) if len(key) > 2 and key[2] is not None else 0
        stream = key[3] if len(key) > 3 else None
        return CudaLauncher(self, grid, block, shared, stream)

    def _allow_shared(self, shared: int) -> None:
        if shared <= self._shared_limit:
            return
        driver = self._driver
        attribute = driver.CUfunction_attribute.CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES
        _check(
            driver.cuFuncSetAttribute(self._function, attribute, shared),
            f"asking for {shared} bytes of shared memory for '{self.name}'",
        )
        self._shared_limit = shared

    def fill(self, arguments: Sequence[Any]) -> list[tuple[np.ndarray[Any, Any], Any]]:
        """Write the arguments into the buffer; gives the copies to bring back."""
        if self._packed.pack(*arguments):
            return []  # numbers and torch tensors: the common case, done natively
        check_count(self.name, self.parameters, arguments)
        copies: list[tuple[np.ndarray[Any, Any], Any]] = []
        for item, value in zip(self.parameters, arguments, strict=True):
            self._packed.write(item.offset, self._pack(item, value, copies))
        return copies

    def _pack(self, item: Item, value: Any, copies: list[tuple[Any, Any]]) -> bytes:
        if item.size == 8 and not isinstance(value, (int, float, np.generic)):
            found = device_pointer(value)
            if found is not None:
                return found[0].to_bytes(8, "little")
            if isinstance(value, np.ndarray) and not item.is_array:
                return self._upload(item, value, copies).to_bytes(8, "little")
            if value is None:
                return bytes(8)
        return pack_scalar(self.name, item, value)

    def _upload(
        self, item: Item, value: np.ndarray[Any, Any], copies: list[tuple[Any, Any]]
    ) -> int:
        if not value.flags.c_contiguous:
            raise LaunchError(
                f"argument '{item.name}' of '{self.name}' is not contiguous; pass "
                "numpy.ascontiguousarray(x)"
            )
        driver = self._driver
        place = _check(driver.cuMemAlloc(max(value.nbytes, 1)), f"allocating {value.nbytes} bytes")
        _check(driver.cuMemcpyHtoD(place, value.ctypes.data, value.nbytes), "copying to the GPU")
        copies.append((value, place))
        return int(place)

    def launch(
        self,
        grid: tuple[int, int, int],
        block: tuple[int, int, int],
        shared: int,
        stream: Any,
        arguments: Sequence[Any],
    ) -> None:
        """Launch; numpy arguments are copied back when the kernel is done."""
        self._owner.make_current()
        self._allow_shared(shared)
        copies = self.fill(arguments)
        handle = current_stream() if stream is None else int(getattr(stream, "cuda_stream", stream))
        driver = self._driver
        try:
            code = self._packed.launch(*grid, *block, shared, handle)
            if code != 0:
                error = driver.CUresult(code)
                raise CudaError(self._describe(error, grid, block, shared, arguments))
            if copies:
                error = driver.cuStreamSynchronize(handle)[0]
                if int(error) != 0:
                    raise CudaError(self._describe(error, grid, block, shared, arguments))
                for array, place in copies:
                    if array.flags.writeable:
                        _check(
                            driver.cuMemcpyDtoH(array.ctypes.data, place, array.nbytes),
                            "copying from the GPU",
                        )
        finally:
            for _, place in copies:
                driver.cuMemFree(place)

    def _describe(
        self,
        error: Any,
        grid: tuple[int, int, int],
        block: tuple[int, int, int],
        shared: int,
        arguments: Sequence[Any],
    ) -> str:
        shown = ", ".join(
            f"{item.name}={getattr(value, 'shape', value)}"
            for item, value in zip(self.parameters, arguments, strict=True)
        )
        name = getattr(error, "name", str(error))
        return f"'{self.name}'[{grid}, {block}, {shared}]({shown}) failed: {name}"

    def time(
        self,
        grid: Any,
        block: Any,
        *arguments: Any,
        shared: int = 0,
        repeat: int = 20,
        warm_up: int = 3,
    ) -> float:
        """The median milliseconds of a launch, by events on the GPU."""
        driver = self._driver
        blocks, threads = dimensions(grid, "grid"), dimensions(block, "block")
        self._owner.make_current()
        self._allow_shared(shared)
        copies = self.fill(arguments)
        stream = current_stream()
        begin, end = (_check(driver.cuEventCreate(0), "making an event") for _ in range(2))
        times = []
        try:
            for number in range(warm_up + repeat):
                _check(driver.cuEventRecord(begin, stream), "recording an event")
                code = self._packed.launch(*blocks, *threads, shared, stream)
                if code != 0:
                    error = driver.CUresult(code)
                    raise CudaError(self._describe(error, blocks, threads, shared, arguments))
                _check(driver.cuEventRecord(end, stream), "recording an event")
                _check(driver.cuEventSynchronize(end), f"running '{self.name}'")
                if number >= warm_up:
                    times.append(_check(driver.cuEventElapsedTime(begin, end), "reading events"))
        finally:
            driver.cuEventDestroy(begin)
            driver.cuEventDestroy(end)
            for _, place in copies:
                driver.cuMemFree(place)
        return float(np.median(times))


class CudaLauncher:
    """A kernel with its grid, block, shared bytes and stream; call it with the arguments."""

    __slots__ = ("block", "grid", "kernel", "shared", "stream")

    def __init__(
        self,
        kernel: CudaKernel,
        grid: tuple[int, int, int],
        block: tuple[int, int, int],
        shared: int,
        stream: Any,
    ) -> None:
        self.kernel, self.grid, self.block = kernel, grid, block
        self.shared, self.stream = shared, stream

    def __call__(self, *arguments: Any) -> None:
        """Launch on the GPU."""
        self.kernel.launch(self.grid, self.block, self.shared, self.stream, arguments)


class CudaModule:
    """A module loaded on the GPU; the driver compiles its PTX."""

    def __init__(self, module: Module, device: int = 0) -> None:
        self.module = module
        self.driver = driver = _driver()
        _check(driver.cuInit(0), "starting the CUDA driver")
        handle = _check(driver.cuDeviceGet(device), f"finding GPU {device}")
        self._context = _check(driver.cuDevicePrimaryCtxRetain(handle), "making a context")
        self._current = threading.local()
        self.make_current()
        self.handle = self._load(module.emit_bytes().rstrip(b"\0") + b"\0")
        self._kernels: dict[str, CudaKernel] = {}

    def make_current(self) -> None:
        """Make the GPU's context this thread's, once a thread."""
        if getattr(self._current, "chosen", None) is not self._context:
            _check(self.driver.cuCtxSetCurrent(self._context), "choosing the GPU")
            self._current.chosen = self._context

    def _load(self, text: bytes) -> Any:
        driver = self.driver
        size = 1 << 16
        log = bytes(size)  # the bindings write into it
        options = [
            driver.CUjit_option.CU_JIT_ERROR_LOG_BUFFER,
            driver.CUjit_option.CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES,
        ]
        error, handle = driver.cuModuleLoadDataEx(text, 2, options, [log, size])
        if int(error) != 0:
            message = log.split(b"\0")[0].decode(errors="replace").strip()
            message = message or getattr(error, "name", "")
            raise CudaError(f"the driver cannot load '{self.module.filename}': {message}")
        return handle

    @property
    def kernels(self) -> tuple[str, ...]:
        """The names of the kernels."""
        return tuple(function.name for function in self.module.kernels)

    def __getitem__(self, name: str) -> CudaKernel:
        if name not in self._kernels:
            if name not in self.kernels:
                raise UnknownNameError("kernel", name, self.kernels)
            self._kernels[name] = CudaKernel(self, self.module[name])
        return self._kernels[name]
