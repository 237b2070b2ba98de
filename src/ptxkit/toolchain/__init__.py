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
    from ptxkit.toolchain.batch import assemble_many
    from ptxkit.toolchain.compiler import compile_cuda
    from ptxkit.toolchain.cubin import Cubin, Resources
    from ptxkit.toolchain.disassembler import SassInstruction, disassemble, sass
    from ptxkit.toolchain.elf import BinaryFormatError
    from ptxkit.toolchain.extractor import ExtractedCubin, ExtractedPtx, extract, extract_cubins
    from ptxkit.toolchain.inventory import Inventory, survey
    from ptxkit.toolchain.messages import CompilerError, CompilerWarning
    from ptxkit.toolchain.multiprocessor import Limits, Occupancy, best_block, limits_of, occupancy

# Public name -> the file of this room that defines it. Files load on first use, so none
# may be called like a public name: it would stand in its place.
_EXPORTS = {
    "BinaryFormatError": "elf",
    "CompilerError": "messages",
    "CompilerWarning": "messages",
    "Cubin": "cubin",
    "ExtractedCubin": "extractor",
    "ExtractedPtx": "extractor",
    "Inventory": "inventory",
    "Limits": "multiprocessor",
    "Occupancy": "multiprocessor",
    "Resources": "cubin",
    "SassInstruction": "disassembler",
    "accept_many": "acceptance",
    "assemble": "assembler",
    "assemble_many": "batch",
    "best_block": "multiprocessor",
    "compile_cuda": "compiler",
    "disassemble": "disassembler",
    "extract": "extractor",
    "extract_cubins": "extractor",
    "limits_of": "multiprocessor",
    "occupancy": "multiprocessor",
    "sass": "disassembler",
    "survey": "inventory",
}

__all__ = [
    "BinaryFormatError",
    "CompilerError",
    "CompilerWarning",
    "Cubin",
    "ExtractedCubin",
    "ExtractedPtx",
    "Inventory",
    "Limits",
    "Occupancy",
    "Resources",
    "SassInstruction",
    "accept_many",
    "assemble",
    "assemble_many",
    "best_block",
    "compile_cuda",
    "disassemble",
    "extract",
    "extract_cubins",
    "limits_of",
    "occupancy",
    "sass",
    "survey",
]


def __getattr__(name: str) -> Any:
    if name not in _EXPORTS:
        raise AttributeError(f"module 'ptxkit.toolchain' has no attribute {name!r}")
    return getattr(importlib.import_module(f"ptxkit.toolchain.{_EXPORTS[name]}"), name)


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
