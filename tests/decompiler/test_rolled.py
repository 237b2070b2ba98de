"""Unrolled loops are loops again, with the PTX of the loop as it was written."""

from __future__ import annotations

import numpy as np
import pytest
from tests.decompiler.lifting import compiled_again, lifted_text

import ptxkit
from ptxkit.decompiler.lift.lifter import Options
from ptxkit.decompiler.verify.identity import same_ptx

KERNEL = """extern "C" __global__
void sums(float *o, const float *a, const int *at, int n, int m) {{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) {{ float s = 0.0f; {loop} o[i] = s; }}
}}"""


@pytest.mark.parametrize("arch", ["sm_90", "sm_120"])
@pytest.mark.parametrize(
    "loop",
    [
        "for (int j = 0; j < m; ++j) s += a[j * n + i];",
        "for (int j = 0; j < m; ++j) s += a[i * m + j] * a[j];",
    ],
)
def test_loop_is_rolled_up(arch: str, loop: str) -> None:
    module = ptxkit.compile_cuda(KERNEL.format(loop=loop), arch=arch)
    text = lifted_text(module, Options(roll=True))
    assert "for (int k = 0; k < n4; k++) sum += " in text
    assert text.count("\n") < 10
    assert same_ptx(module, compiled_again(text, arch), "sums")


@pytest.mark.parametrize(
    ("loop", "loops"),
    [
        # From anywhere to anywhere; with a stride; two loops, one in the other.
        ("for (int j = at[i]; j < at[i + 1]; ++j) s += a[j];", 1),
        ("for (int j = threadIdx.x; j < m; j += 32) s += a[j];", 1),
        ("for (int j = 0; j < m; ++j) for (int l = 0; l < n; ++l) s += a[j * n + l];", 2),
    ],
)
def test_loops_of_newer_compilers(loop: str, loops: int) -> None:
    module = ptxkit.compile_cuda(KERNEL.format(loop=loop), arch="sm_120")
    text = lifted_text(module, Options(roll=True))
    assert text.count("for (") == loops
    assert "do {" not in text
    assert text.count("\n") < 16
    again = compiled_again(text, "sm_120")
    results = []
    for one in (module, again):
        o, a = np.zeros(9, np.float32), np.linspace(-3.0, 5.0, 9 * 41, dtype=np.float32)
        at = np.arange(10, dtype=np.int32) ** 2
        ptxkit.load(one, device="cpu")["sums"][1, 32](o, a, at, 9, 41)
        results.append(o)
    np.testing.assert_array_equal(*results)


CARRYING = """extern "C" __global__ void rows(int *o, const int *a, int m) {
    int i = blockIdx.x * blockDim.x + threadIdx.x, d[17];
    for (int j = 0; j <= m; j++) d[j] = j;
    for (int r = 1; r <= m; r++) {
        int before = d[0]; d[0] = r;
        for (int j = 1; j <= m; j++) {
            int above = d[j];
            d[j] = min(min(above, d[j - 1]) + 1, before + (a[i * m + j - 1] != r));
            before = above;
        }
    }
    o[i] = d[m]; }"""


def test_what_turns_leave_for_the_next() -> None:
    """The last turn of an unrolled loop leaves nothing for the next, those before it do."""
    module = ptxkit.compile_cuda(CARRYING, arch="sm_120")
    text = lifted_text(module, Options(roll=True))
    assert text.count("for (") == 2 and text.count("\n") < 28
    results = []
    for one in (module, compiled_again(text, "sm_120")):
        for m in range(17):
            o, a = np.zeros(32, np.int32), np.arange(32 * 17, dtype=np.int32) * 7 % 11
            ptxkit.load(one, device="cpu")["rows"][1, 32](o, a, m)
            results.append(o)
    np.testing.assert_array_equal(results[:17], results[17:])


def test_two_ladders_at_once_are_one_loop() -> None:
    """The last sums are computed where they are stored, behind a branch."""
    source = """extern "C" __global__ void k(const float *x, float *sums, float *squares) {
        float a = x[threadIdx.x], b = a * a;
        for (int o = 16; o > 0; o >>= 1) {
            a += __shfl_xor_sync(0xffffffffu, a, o);
            b += __shfl_xor_sync(0xffffffffu, b, o);
        }
        if (threadIdx.x % 32 == 0) { sums[threadIdx.x / 32] = a; squares[threadIdx.x / 32] = b; }
    }"""
    module = ptxkit.compile_cuda(source, arch="sm_90")
    text = lifted_text(module, Options(roll=True))
    assert text.count("__shfl_xor_sync") == 2 and text.count("for (") == 1
    results = []
    for one in (module, compiled_again(text, "sm_90")):
        x = np.linspace(-3.0, 5.0, 64, dtype=np.float32)
        sums, squares = np.zeros(2, np.float32), np.zeros(2, np.float32)
        ptxkit.load(one, device="cpu")["k"][1, 64](x, sums, squares)
        results.append(np.concatenate((sums, squares)))
    np.testing.assert_array_equal(*results)
