"""Load and launch kernels.

>>> import numpy as np, ptxkit
>>> m = ptxkit.parse('''.version 8.0
... .target sm_80
... .address_size 64
... .visible .entry twice(.param .u64 x) {
...     .reg .b32 %r<4>;
...     .reg .b64 %rd<4>;
...     ld.param.u64 %rd1, [x];
...     mov.u32 %r1, %tid.x;
...     mul.wide.u32 %rd2, %r1, 4;
...     add.u64 %rd3, %rd1, %rd2;
...     ld.global.u32 %r2, [%rd3];
...     add.u32 %r3, %r2, %r2;
...     st.global.u32 [%rd3], %r3;
...     ret;
... }''')
>>> x = np.arange(4, dtype=np.uint32)
>>> report = ptxkit.load(m, device="cpu")["twice"][1, 4](x)
>>> x
array([0, 2, 4, 6], dtype=uint32)
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal, overload

from ptxkit.errors import UsageError
from ptxkit.run.findings import Finding, OtherAccess, SimulationError
from ptxkit.run.module_context import UnsupportedError
from ptxkit.run.pieces import Pieces, lower_pieces
from ptxkit.run.profile import ProfileRow
from ptxkit.run.shape import LaunchError
from ptxkit.run.simulator import CpuKernel, CpuModule, RunReport
from ptxkit.run.tensor_maps import tensor_map
from ptxkit.run.textures import Surface, Texture
from ptxkit.run.trace import MemoryAccess, Trace, TraceRecord
from ptxkit.run.watch import Sanitize
from ptxkit.syntax import Module, parse

if TYPE_CHECKING:
    from ptxkit.run.cuda import CudaModule


@overload
def load(
    module: Module | str | bytes,
    device: Literal["cpu"] = "cpu",
    *,
    sanitize: Sanitize = False,
    check: bool = True,
) -> CpuModule: ...
@overload
def load(
    module: Module | str | bytes,
    device: Literal["cuda"],
    *,
    sanitize: Sanitize = False,
    check: bool = True,
) -> CudaModule: ...
@overload
def load(
    module: Module | str | bytes, device: str, *, sanitize: Sanitize = False, check: bool = True
) -> CpuModule | CudaModule: ...
def load(
    module: Module | str | bytes,
    device: str = "cpu",
    *,
    sanitize: Sanitize = False,
    check: bool = True,
) -> CpuModule | CudaModule:
    """Load a module on a device; ``loaded["name"]`` gives a kernel.

    ``device`` is ``"cpu"`` (the simulator), ``"cuda"`` (the GPU where the arguments of a
    launch lie), ``"cuda:1"`` (that GPU), or ``"auto"`` (a GPU if there is one).
    ``sanitize=True`` makes every launch on the simulator look for races, reads of memory
    nobody wrote and the like; a single launch takes it too.

    What :func:`ptxkit.check` finds errors in is not run: a :class:`~ptxkit.errors.CheckError` tells
    them, of the module when it is loaded, of a kernel and what it calls when that is first
    asked for. ``check=False`` leaves that out, for programs that are wrong on purpose; on a GPU the
    driver is the judge.
    """
    place, _, number = device.partition(":") if isinstance(device, str) else ("", "", "")
    numbered = number.isdecimal() and place == "cuda"
    if device not in ("cpu", "cuda", "auto") and not numbered:
        raise UsageError(f"the device must be 'cpu', 'cuda', 'cuda:1' or 'auto', not {device!r}")
    if not isinstance(check, bool):
        raise UsageError(f"check is True or False, not {check!r}")
    if not isinstance(module, Module):
        module = parse(module)
    if sanitize and place == "cuda":
        raise UsageError("only the simulator sanitizes: load with device='cpu'")
    if place != "cpu" and not sanitize:
        from ptxkit.run import cuda

        if place == "cuda" or cuda.is_available():
            return cuda.CudaModule(module, int(number) if numbered else None)
    return CpuModule(module, sanitize=sanitize, check=check)


__all__ = [
    "CpuKernel",
    "CpuModule",
    "Finding",
    "LaunchError",
    "MemoryAccess",
    "OtherAccess",
    "Pieces",
    "ProfileRow",
    "RunReport",
    "SimulationError",
    "Surface",
    "Texture",
    "Trace",
    "TraceRecord",
    "UnsupportedError",
    "load",
    "lower_pieces",
    "tensor_map",
]
