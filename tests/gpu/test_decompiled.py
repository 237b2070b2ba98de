"""What the lifter makes of the suite's kernels does the same on the GPU, bit for bit."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from tests.decompiler.lifting import compiled_again, lifted_text
from tests.gpu.compare import Record
from tests.kernels import Kernel, suite

import ptxkit
from ptxkit.decompiler.verify import same_execution, verify
from ptxkit.decompiler.verify.gpu import unfused
from ptxkit.run import Surface

ARCH = "sm_90"
#: Kernels that the verifier draws launches for; the rest run on those they were written with.
VERIFIED = ("saxpy", "transpose_coalesced", "reduce_shuffle", "histogram256", "texture_shift")


def left_behind(kernel: Kernel, module: Any, size: int) -> list[bytes]:
    """Every array after a launch on the GPU."""
    setup = kernel.launch(size)
    setup.run(module, kernel.entry(ARCH))
    module.synchronize()
    arrays = [a.array if isinstance(a, Surface) else a for a in setup.arguments]
    return [a.tobytes() for a in arrays if isinstance(a, np.ndarray)]


@pytest.mark.parametrize("kernel", suite(), ids=lambda k: k.name)
def test_lifted_kernel_is_equal(kernel: Kernel, record_property: Record) -> None:
    original = kernel.module(ARCH)
    again = compiled_again(lifted_text(original), ARCH)
    one, two = (ptxkit.load(unfused(m), device="cuda") for m in (original, again))
    steady = 0
    for size in kernel.sizes:
        first = left_behind(kernel, one, size)
        if first != left_behind(kernel, one, size):
            continue  # the order of threads decides
        steady += 1
        assert left_behind(kernel, two, size) == first, f"size {size}"
    record_property("equality", "bit for bit" if steady else "not steady: nothing compared")


@pytest.mark.parametrize("name", VERIFIED)
def test_verifier_runs_on_the_gpu(name: str) -> None:
    kernel = next(k for k in suite() if k.name == name)
    original = kernel.module(ARCH)
    again = compiled_again(lifted_text(original), ARCH)
    found = same_execution(original, again, kernel.entry(ARCH), wanted=12, device="cuda")
    assert found.equal, found.reason
    assert found.on_gpu > 0


def test_difference_on_the_gpu_is_seen() -> None:
    # The simulator has few multiprocessors: there both agree.
    source = """extern "C" __global__ void k(int *x) {{
        unsigned id; asm("mov.u32 %0, %nsmid;" : "=r"(id));
        x[threadIdx.x] = {};
    }}"""
    original = ptxkit.compile_cuda(source.format("id > 100"), arch=ARCH)
    simulated = verify(original, source.format("id > 100000"), device="cpu")
    if not simulated.equivalent:
        pytest.skip("the simulator has as many multiprocessors")
    verdict = verify(original, source.format("id > 100000"), device="cuda")
    assert not verdict.equivalent
    assert "on the GPU" in verdict.reasons[-1]
