"""The kernels of the suite, lifted and compiled again, do what the first ones do."""

from __future__ import annotations

import pytest
from tests.decompiler.lifting import compare_launches, compiled_again, lifted_text
from tests.kernels import ARCHITECTURES, Kernel, suite

from ptxkit.decompiler.lift.lifter import Options

# Every kernel once, the architectures in turn; the driver runs all with all of them.
CASES = [(k, ARCHITECTURES[place % len(ARCHITECTURES)]) for place, k in enumerate(suite())]


@pytest.mark.parametrize(("kernel", "arch"), CASES, ids=[f"{k.name}-{a}" for k, a in CASES])
def test_lifted_kernel_is_equal(kernel: Kernel, arch: str) -> None:
    text = lifted_text(kernel.module(arch))
    assert "goto" not in text
    assert compare_launches(kernel, arch, compiled_again(text, arch)) == []


ROLLED = """matmul_naive lcg_uniform column_sum rank_sort conv2d triangular_solve spmv_csr heat3d
matvec_warp hamming_distance odd_even_sort""".split()


#: What newer compilers do to loops is another thing: five kinds of ends, strides, inner loops.
CASCADES = """matmul_naive lcg_uniform column_sum rank_sort conv2d triangular_solve spmv_csr
half_dot matvec_warp hamming_distance odd_even_sort nbody crc32_rows pagerank_pull box_blur
heat3d""".split()


@pytest.mark.parametrize(
    ("arch", "name"), [("sm_90", x) for x in ROLLED] + [("sm_120", x) for x in CASCADES]
)
def test_rolled_loop_is_equal(arch: str, name: str) -> None:
    kernel = next(k for k in suite() if k.name == name)
    text = lifted_text(kernel.module(arch), Options(roll=True))
    assert len(text) < len(lifted_text(kernel.module(arch)))
    assert compare_launches(kernel, arch, compiled_again(text, arch)) == []


@pytest.mark.parametrize("name", ["gelu", "philox4x32", "horner", "fft_radix2_step"])
def test_careful_form_is_equal(name: str) -> None:
    kernel = next(k for k in suite() if k.name == name)
    text = lifted_text(kernel.module("sm_90"), Options(careful=True))
    assert compare_launches(kernel, "sm_90", compiled_again(text, "sm_90")) == []
