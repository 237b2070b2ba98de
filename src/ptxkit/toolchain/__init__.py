"""CUDA C++ to PTX to cubin to SASS, with the real NVIDIA compilers.

>>> from ptxkit import toolchain
>>> module = toolchain.compile_cuda("__global__ void k(float *x) { x[threadIdx.x] = 1; }")
>>> cubin = toolchain.assemble(module, arch="sm_90")
>>> needs = cubin.resources["_Z1kPf"]
>>> toolchain.occupancy(needs, block_threads=256, arch="sm_90").fraction
1.0
"""

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from ptxkit.toolchain.assembler import assemble
    from ptxkit.toolchain.compiler import compile_cuda
    from ptxkit.toolchain.cubin import Cubin, Resources
    from ptxkit.toolchain.inventory import Inventory, survey
    from ptxkit.toolchain.messages import CompilerError, CompilerWarning

# Public name -> the file of this room that defines it. Files load on first use.
_EXPORTS = {
    "CompilerError": "messages",
    "CompilerWarning": "messages",
    "Cubin": "cubin",
    "Inventory": "inventory",
    "Resources": "cubin",
    "assemble": "assembler",
    "compile_cuda": "compiler",
    "survey": "inventory",
}

__all__ = [
    "CompilerError",
    "CompilerWarning",
    "Cubin",
    "Inventory",
    "Resources",
    "assemble",
    "compile_cuda",
    "survey",
]


def __getattr__(name: str) -> Any:
    if name not in _EXPORTS:
        raise AttributeError(f"module 'ptxkit.toolchain' has no attribute {name!r}")
    return getattr(importlib.import_module(f"ptxkit.toolchain.{_EXPORTS[name]}"), name)


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
