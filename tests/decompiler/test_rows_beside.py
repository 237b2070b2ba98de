"""Rows beside a row, numbers taken twice, and sums in the order in which they were written."""

from __future__ import annotations

import pytest
from tests.decompiler.lifting import lifted_text

import ptxkit
from ptxkit.decompiler.lift.lifter import Options

STENCIL = """
extern "C" __global__ void k(const float *u, float *v, int width, int left, int top) {
    int x = blockIdx.x * 32 + threadIdx.x + left;
    int y = blockIdx.y * 8 + threadIdx.y + top;
    v[y * width + x] = u[y * width + x] + u[y * width + x - 1] + u[y * width + x + 1]
        - 2.0f * u[(y - 1) * width + x] + 3.0f * u[(y + 1) * width + x];
}
"""
TWICE = """
extern "C" __global__ void k(const float *a, float *b, double *c) {
    int i = threadIdx.x;
    b[i] = sqrtf(2.0f * a[i]);
    c[i] = c[i + 32] - 2.0 * c[i];
    float f = b[i + 64];
    b[i + 96] = __fadd_rn(f, f) + a[i + 32];
}
"""


@pytest.mark.parametrize("arch", ["sm_75", "sm_90", "sm_120"])
def test_rows_are_counted(arch: str) -> None:
    found = ptxkit.decompile(ptxkit.compile_cuda(STENCIL, arch=arch), "symbolic")
    assert found.verdict.level == "E1"
    assert " + 1) * width" in found.cuda
    assert " - 1) * width" in found.cuda


@pytest.mark.parametrize("arch", ["sm_90", "sm_120"])
def test_what_is_taken_twice(arch: str) -> None:
    text = lifted_text(ptxkit.compile_cuda(TWICE, arch=arch))
    assert "2.0f * " in text
    assert "2.0 * " in text
    # A product would be put together with the sum.
    assert text.count("2.0") == 2


def test_windows_are_counted_from_below_zero() -> None:
    source = """
extern "C" __global__ void k(const int *a, int *b, int width, int reach) {
    int x = blockIdx.x * blockDim.x + threadIdx.x, sum = 0;
    if (x >= width) return;
    for (int d = -reach; d <= reach; d++) {
        if (x + d >= 0 && x + d < width) sum += a[x + d] * d;
    }
    b[x] = sum;
}
"""
    text = lifted_text(ptxkit.compile_cuda(source, arch="sm_120"), Options(roll=True))
    assert text.count("for (") == 1
    assert "= -" in text
    assert "while" not in text


def test_rows_in_pairs() -> None:
    source = """
__device__ float gate(float x) { return x * 0.5f * (1.0f + erff(x * 0.70710678f)); }
__global__ void gated(const float4 *__restrict__ x, float4 *__restrict__ y, int n, int half) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    int row = i / half, column = i % half;
    float4 a = x[row * 2 * half + column], b = x[row * 2 * half + half + column], c;
    c.x = a.x * gate(b.x); c.y = a.y * gate(b.y); c.z = a.z * gate(b.z); c.w = a.w * gate(b.w);
    y[i] = c;
}
"""
    found = ptxkit.decompile(ptxkit.compile_cuda(source, arch="sm_90"), "symbolic")
    assert found.verdict.level == "E1"
