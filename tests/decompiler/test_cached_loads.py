"""Loads through ``__ldg``, which are those of pointers that nobody else writes, too."""

from __future__ import annotations

import pytest

import ptxkit

GATED = """
extern "C" __global__ void gated(float *__restrict__ out, const float *__restrict__ in, int d) {
    const long long token = blockIdx.x;
    for (long long i = threadIdx.x; i < d; i += blockDim.x) {
        const float x = __ldg(&in[token * 2 * d + i]);
        const float y = __ldg(&in[token * 2 * d + d + i]);
        out[token * d + i] = x / (1.0f + expf(-x)) * y;
    }
}
"""
HALVES = """
#include <cuda_fp16.h>
extern "C" __global__ void halves(__half *out, const __half *__restrict__ in, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) out[i] = __hadd(__ldg(&in[i]), __ldg(&in[i + n]));
}
"""


@pytest.mark.parametrize("source", [GATED, HALVES])
def test_the_function_is_found_again(source: str) -> None:
    found = ptxkit.decompile(ptxkit.compile_cuda(source, arch="sm_90"), engine="symbolic")
    assert found.verdict.same_ptx, found.cuda
    assert found.cuda.count("__ldg(") == 2
