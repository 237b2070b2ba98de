"""The CUDA driver: started once, its devices and contexts, its errors in words."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from typing import Any

from ptxkit.errors import PtxkitError, import_extra


class CudaError(PtxkitError):
    """The CUDA driver refused something; the message says what and why.

    ``status`` is the driver's name for it, such as ``"CUDA_ERROR_ILLEGAL_ADDRESS"``.
    """

    def __init__(self, message: str, status: str = "") -> None:
        super().__init__(message, status)
        self.status = status

    def __str__(self) -> str:
        return str(self.args[0])


def bindings() -> Any:
    """The package that reaches the driver."""
    return import_extra("cuda.bindings.driver", extra="cuda", package="cuda-bindings")


@cache
def start() -> Any:
    """The driver, ready for use; an error says what is missing."""
    driver = bindings()
    try:
        status = int(driver.cuInit(0)[0])
    except RuntimeError as error:  # the library is not there
        raise CudaError(
            "no NVIDIA driver is installed (libcuda.so.1 is not there); "
            'load with device="cpu" (--device cpu) to run on the simulator'
        ) from error
    if status != 0:
        raise CudaError(
            f'no GPU can be used: {explain(status)}; load with device="cpu" (--device cpu) to run '
            "on the simulator",
            status_name(status),
        )
    return driver


def status_name(status: int) -> str:
    """The driver's name for a status, such as ``CUDA_ERROR_ILLEGAL_ADDRESS``."""
    try:
        return str(bindings().CUresult(status).name)
    except ValueError:  # newer than the bindings
        return f"status {status}"


def explain(status: int) -> str:
    """A status in the driver's own words."""
    name = status_name(status)
    error, text = bindings().cuGetErrorString(bindings().CUresult(status))
    words = text.decode() if int(error) == 0 and text else ""
    return f"{name} ({words})" if words else name


def check(result: tuple[Any, ...], what: str) -> Any:
    """The values of a call to the driver; an error says what was tried."""
    error, *values = result
    if int(error) != 0:
        raise CudaError(f"{what}: {explain(int(error))}", status_name(int(error)))
    return values[0] if len(values) == 1 else tuple(values)


def is_available() -> bool:
    """Say whether there is a GPU with a driver, and the bindings to reach it."""
    try:
        return device_count() > 0
    except (PtxkitError, ImportError):
        return False


@cache
def device_count() -> int:
    """The number of GPUs."""
    return int(check(start().cuDeviceGetCount(), "counting GPUs"))


@cache
def context(device: int) -> int:
    """The primary context of a GPU, which torch, cupy and the CUDA runtime use as well."""
    if not 0 <= device < device_count():
        there = f"there are {device_count()}" if device_count() != 1 else "there is only GPU 0"
        raise CudaError(f"there is no GPU {device}; {there}")
    handle = check(start().cuDeviceGet(device), f"finding GPU {device}")
    return int(check(start().cuDevicePrimaryCtxRetain(handle), f"starting GPU {device}"))


@contextmanager
def current(device: int) -> Iterator[Any]:
    """Work on a GPU; afterwards the thread's context is what it was. Gives the driver."""
    driver = start()
    wanted = context(device)
    before = check(driver.cuCtxGetCurrent(), "asking for the context")
    if int(before) != wanted:
        check(driver.cuCtxSetCurrent(driver.CUcontext(wanted)), f"choosing GPU {device}")
    try:
        yield driver
    finally:
        if int(before) not in (0, wanted):
            driver.cuCtxSetCurrent(before)


def current_device() -> int:
    """The GPU that this thread works on; the first where it has chosen none."""
    driver = start()
    if int(check(driver.cuCtxGetCurrent(), "asking for the context")) == 0:
        return 0
    return int(check(driver.cuCtxGetDevice(), "asking for the GPU"))


@cache
def attribute(device: int, name: str) -> int:
    """A device attribute, such as ``"MULTIPROCESSOR_COUNT"``."""
    driver = start()
    wanted = getattr(driver.CUdevice_attribute, f"CU_DEVICE_ATTRIBUTE_{name}")
    handle = check(driver.cuDeviceGet(device), f"finding GPU {device}")
    return int(check(driver.cuDeviceGetAttribute(wanted, handle), f"asking for {name}"))


@cache
def architecture(device: int) -> str:
    """Such as ``"sm_90"``."""
    major = attribute(device, "COMPUTE_CAPABILITY_MAJOR")
    return f"sm_{major}{attribute(device, 'COMPUTE_CAPABILITY_MINOR')}"


@cache
def release() -> str:
    """The CUDA release of the driver, such as ``"13.0"``."""
    version = int(check(start().cuDriverGetVersion(), "asking for the driver's version"))
    return f"{version // 1000}.{version % 1000 // 10}"
