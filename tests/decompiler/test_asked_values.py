"""A value that is a number where there is no array for it, and what a compiler makes of that."""

from __future__ import annotations

import pytest
from tests.decompiler.lifting import lifted_text

import ptxkit
from ptxkit.decompiler.lift.lifter import Options

HEAD = (
    "__global__ void k(float *y, const float *__restrict__ x, const float *__restrict__ w, int n) {"
)
WEIGHTED = """
    __shared__ float s[128], a[128];
    int t = threadIdx.x;
    s[t] = 0.0f;
    a[t] = 0.0f;
    for (int i = t; i < n; i += 128) {
        float v = x[i];
        if (v != 5.0f) {
            float f = w ? w[(int)v] : 1.0f;
            s[t] -= v * f;
            a[t] += f;
        }
    }
    __syncthreads();
    y[t] = s[127 - t] / a[127 - t];
}"""
TWO_SUMS = """
    __shared__ float s[256], a[256];
    s[threadIdx.x] = x[threadIdx.x];
    a[threadIdx.x] = w[threadIdx.x];
    __syncthreads();
    if (threadIdx.x == 0) {
        float one = 0, two = 0;
        for (int i = 0; i < 256; i++) { one += s[i]; two += a[i]; }
        y[0] = one / two;
    }
}"""


def test_sums_in_memory_in_both_branches() -> None:
    found = ptxkit.decompile(ptxkit.compile_cuda(HEAD + WEIGHTED, arch="sm_90"), "symbolic")
    assert found.verdict.level == "E1"


@pytest.mark.parametrize(("text", "loops"), [(WEIGHTED, 2), (TWO_SUMS, 1)])
def test_loops_that_were_unrolled_in_branches_and_side_by_side(text: str, loops: int) -> None:
    lifted = lifted_text(ptxkit.compile_cuda(HEAD + text, arch="sm_90"), Options(roll=True))
    assert lifted.count("for (") == loops
    assert "do {" not in lifted
