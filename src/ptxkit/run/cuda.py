"""``device="cuda"``: modules on a GPU through the CUDA driver.

Arrays of torch, cupy, JAX and anything with ``__cuda_array_interface__`` or DLPack are
passed by address; numpy arrays are copied in and, after the launch, back.
"""

from __future__ import annotations

import weakref
from typing import Any

from ptxkit._native import finished_launches
from ptxkit.errors import ToolchainError
from ptxkit.run.arguments import describe_module
from ptxkit.run.cuda_driver import (
    CudaError,
    architecture,
    check,
    context,
    current,
    current_device,
    device_count,
    is_available,
    release,
    status_name,
)
from ptxkit.run.cuda_faults import fault
from ptxkit.run.cuda_kernel import CudaKernel, CudaLauncher
from ptxkit.run.cuda_textures import DeviceTexture
from ptxkit.run.shape import pick_kernel
from ptxkit.run.textures import Surface
from ptxkit.syntax import Module

_LOG_BYTES = 1 << 16
_TOO_NEW = "CUDA_ERROR_UNSUPPORTED_PTX_VERSION"


class CudaModule:
    """A module loaded on the GPU; the driver compiles its PTX.

    With a device it works on that GPU; without, on the GPU where the arguments of a launch
    lie.
    """

    def __init__(self, module: Module, device: int | None = None) -> None:
        self.module = module
        self.device = device if device is not None or device_count() > 1 else 0
        self._handles: dict[int, Any] = {}
        self._kernels: dict[str, CudaKernel] = {}
        self._bound: dict[str, DeviceTexture] = {}
        self._on(current_device() if self.device is None else self.device)

    def __repr__(self) -> str:
        place = "cuda" if self.device is None else f"cuda:{self.device}"
        return describe_module(self.module, place)

    def _on(self, device: int) -> Any:
        """The module on one GPU, loaded there on first use."""
        if device not in self._handles:
            with current(device) as driver:
                handle = _load(driver, self.module, device)
            self._handles[device] = handle
            ending = weakref.finalize(self, _unload, device, handle)
            ending.atexit = False  # the driver may be gone by then
        return self._handles[device]

    def function(self, device: int, name: str) -> Any:
        """The driver's handle of a kernel on one GPU."""
        handle = self._on(device)
        with current(device) as driver:
            return check(driver.cuModuleGetFunction(handle, name.encode()), f"finding '{name}'")

    @property
    def kernels(self) -> tuple[str, ...]:
        """The names of the kernels."""
        return tuple(function.name for function in self.module.kernels)

    def __getitem__(self, name: str) -> CudaKernel:
        """The kernel of that name, as it stands in the PTX or in C++."""
        found = self._kernels.get(name) if isinstance(name, str) else None
        if found is None:
            function = pick_kernel(self.module, name)
            found = self._kernels.get(function.name) or CudaKernel(self, function)
            self._kernels[name] = self._kernels[function.name] = found
        return found

    def bind(self, name: str, texture: Surface) -> None:
        """Give a texture to a ``.texref``, or a surface to a ``.surfref``, on the current GPU.

        The array is copied there now; a surface's comes back when the module is synchronized.
        """
        device = current_device() if self.device is None else self.device
        handle = self._on(device)
        with current(device) as driver:
            made = DeviceTexture(driver, check, texture)
            made.bind(handle, name)
            old = self._bound.pop(name, None)
            if old is not None:
                old.close()
            self._bound[name] = made

    def synchronize(self) -> None:
        """Wait for everything launched; a fault names the launches that were pending."""
        for device in self._handles:
            with current(device) as driver:
                status = int(driver.cuCtxSynchronize()[0])
                if status != 0:
                    raise fault(status, "waiting for the GPU", device)
                finished_launches(context(device), None)
                for made in self._bound.values():
                    made.fetch()


def _unload(device: int, handle: Any) -> None:
    with current(device) as driver:
        driver.cuModuleUnload(handle)


def _load(driver: Any, module: Module, device: int) -> Any:
    """Let the driver compile; PTX that is too new for it goes through the assembler."""
    status, handle, log = _try_load(driver, module.emit_bytes().rstrip(b"\0") + b"\0")
    if status == 0:
        return handle
    if status_name(status) == _TOO_NEW or "Unsupported .version" in log:
        return _load_assembled(driver, module, device)
    raise _refusal(module, device, status, log)


def _try_load(driver: Any, data: bytes) -> tuple[int, Any, str]:
    log = bytes(_LOG_BYTES)  # the bindings write into it
    options = [
        driver.CUjit_option.CU_JIT_ERROR_LOG_BUFFER,
        driver.CUjit_option.CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES,
    ]
    error, handle = driver.cuModuleLoadDataEx(data, 2, options, [log, _LOG_BYTES])
    return int(error), handle, log.split(b"\0")[0].decode(errors="replace").strip()


def _load_assembled(driver: Any, module: Module, device: int) -> Any:
    from ptxkit.toolchain import CompilerError, assemble, versions

    highest = versions.highest_ptx(release()) or "an older version"
    sentence = (
        f"'{module.filename}' is PTX {module.version}, and the driver (CUDA {release()}) takes PTX "
        f"up to {highest}"
    )
    target = module.target or ""
    real = architecture(device)
    # Code for sm_90a runs on sm_90 GPUs, and has to be assembled under its own name.
    arch = target if target.rstrip("af") == real else real
    try:
        cubin = assemble(module, arch)
    except ToolchainError as error:
        found = error.diagnostics if isinstance(error, CompilerError) else ()
        if found and not any(one.code == "ptx-version" for one in found):
            raise  # the assembler takes this version, but not this code
        raise CudaError(
            f"{sentence}; update the driver, write '.version {highest}' if the code uses nothing "
            f"newer, or install an assembler that takes it: pip install 'ptxkit[cuda]'\n{error}",
            _TOO_NEW,
        ) from error
    status, handle, log = _try_load(driver, cubin.data)
    if status != 0:
        raise CudaError(
            f"{sentence}; it was assembled, but the driver does not take the result either: "
            f"{log or status_name(status)}; update the driver",
            status_name(status),
        )
    return handle


def _refusal(module: Module, device: int, status: int, log: str) -> Exception:
    """The driver's log as diagnostics at their places in the module."""
    from ptxkit.toolchain import CompilerError, explain, ptxas_messages

    program = f"the driver (CUDA {release()})"
    remarks = ptxas_messages.remarks(log)
    found = tuple(explain.explain(remarks, module, architecture(device), program))
    if any(one.severity == "error" for one in found):
        return CompilerError(found, log)
    said = log or status_name(status)
    return CudaError(f"{program} cannot load '{module.filename}': {said}", status_name(status))


__all__ = ["CudaError", "CudaKernel", "CudaLauncher", "CudaModule", "is_available"]
