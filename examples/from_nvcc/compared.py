"""The check that both files here keep: the Python makes the compiler's PTX, byte for byte."""

from __future__ import annotations

from pathlib import Path

import ptxkit
from ptxkit.dsl import Module


def check(module: Module, name: str) -> str:
    """Compare with the PTX that is kept, and the kernel with what nvcc makes of it now."""
    folder = Path(__file__).parent
    kept = (folder / f"{name}.ptx").read_text()
    assert module.ptx() == kept, f"{name}.py no longer makes {name}.ptx"
    source = (folder / f"{name}.cu").read_text()
    try:
        fresh = ptxkit.compile_cuda(source, arch="sm_80", compiler="nvcc").emit()
    except ptxkit.ToolchainError:
        return "the PTX that is kept"
    # Above the kernel stand the compiler's release and the PTX version.
    if fresh.partition(".globl")[2] == kept.partition(".globl")[2]:
        return "the PTX that is kept, and the kernel that nvcc makes now"
    return "the PTX that is kept (the nvcc installed here makes another)"
