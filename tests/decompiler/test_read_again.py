"""What was stored and read again, computed before a call, or chosen between two questions."""

from __future__ import annotations

import pytest

import ptxkit

STORED = """__global__ void spread(const float *x, float *least, float *most, float *range) {
    if (threadIdx.x == 0) {
        *least = x[0];
        *most = x[1];
    }
    range[threadIdx.x] = *most - *least;
}"""
SCATTERED = """__global__ void scattered(
    const float *__restrict__ x, const int *__restrict__ at, float *y, int n, int w, int h
) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    int row = at[i] / w;
    int column = at[i] - row * w;
    if (row < h) {
        int place = column * h + row;
        float v = x[i];
        atomicAdd(&y[place], v);
    }
}"""
ORDERED = """__global__ void ordered(float *x, int n, int bit) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i + 1 >= n) return;
    bool up = i & bit;
    if (up ? x[i] < x[i + 1] : x[i] > x[i + 1]) x[i] = 0.0f;
}"""


@pytest.mark.parametrize("source", [STORED, SCATTERED, ORDERED])
@pytest.mark.parametrize("arch", ["sm_75", "sm_120"])
def test_the_same_ptx(source: str, arch: str) -> None:
    made = ptxkit.decompile(ptxkit.compile_cuda(source, arch=arch), "symbolic")
    assert made.verdict.level == "E1", made.cuda


def test_a_question_that_is_chosen() -> None:
    """Compilers without a choice between conditions make numbers of them."""
    made = ptxkit.decompile(ptxkit.compile_cuda(ORDERED, arch="sm_75"), verify=False)
    assert "-1" not in made.cuda and "& 1" not in made.cuda
