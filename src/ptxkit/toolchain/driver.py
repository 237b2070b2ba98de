"""The CUDA driver and the GPUs of this machine, without any CUDA package."""

from __future__ import annotations

import ctypes
from dataclasses import dataclass

_LIBRARY = "libcuda.so.1"
_COMPUTE_MAJOR, _COMPUTE_MINOR, _MULTIPROCESSORS = 75, 76, 16
_NAME_SIZE = 256


@dataclass(frozen=True, slots=True)
class Gpu:
    """One GPU."""

    name: str
    arch: str
    """Such as ``"sm_90"``."""
    memory: int
    """Bytes."""
    multiprocessors: int


@dataclass(frozen=True, slots=True)
class Driver:
    """The CUDA driver, where there is one."""

    release: str | None
    """The CUDA release it implements, such as ``"13.0"``; None without a driver."""
    gpus: tuple[Gpu, ...]
    problem: str | None
    """Why there is no GPU to use, in one clause."""


def look() -> Driver:
    """Ask the driver what is here. Never fails: what is wrong is in `problem`.

    >>> driver = look()
    >>> bool(driver.gpus) != bool(driver.problem)
    True
    """
    try:
        cuda = ctypes.CDLL(_LIBRARY)
    except OSError:
        return Driver(None, (), f"no NVIDIA driver is installed ({_LIBRARY} is not there)")
    version = ctypes.c_int()
    release = None
    if cuda.cuDriverGetVersion(ctypes.byref(version)) == 0:
        release = f"{version.value // 1000}.{version.value % 1000 // 10}"
    status = cuda.cuInit(0)
    if status:
        return Driver(release, (), f"the driver can't be used: {_meaning(cuda, status)}")
    count = ctypes.c_int()
    cuda.cuDeviceGetCount(ctypes.byref(count))
    gpus = tuple(_gpu(cuda, index) for index in range(count.value))
    return Driver(release, gpus, None if gpus else "the driver sees no GPU")


def _gpu(cuda: ctypes.CDLL, index: int) -> Gpu:
    device = ctypes.c_int()
    cuda.cuDeviceGet(ctypes.byref(device), index)
    name = ctypes.create_string_buffer(_NAME_SIZE)
    cuda.cuDeviceGetName(name, _NAME_SIZE, device)
    memory = ctypes.c_size_t()
    cuda.cuDeviceTotalMem_v2(ctypes.byref(memory), device)

    def attribute(number: int) -> int:
        value = ctypes.c_int()
        cuda.cuDeviceGetAttribute(ctypes.byref(value), number, device)
        return value.value

    arch = f"sm_{attribute(_COMPUTE_MAJOR)}{attribute(_COMPUTE_MINOR)}"
    return Gpu(
        name.value.decode("utf-8", "replace"), arch, memory.value, attribute(_MULTIPROCESSORS)
    )


def _meaning(cuda: ctypes.CDLL, status: int) -> str:
    text = ctypes.c_char_p()
    cuda.cuGetErrorString(status, ctypes.byref(text))
    return text.value.decode() if text.value else f"status {status}"
