"""Loops of a known number of turns that a compiler does some turns of at once."""

from __future__ import annotations

import pytest
from tests.decompiler.lifting import lifted_text

import ptxkit
from ptxkit.decompiler.lift.lifter import Options

TOTAL = """
extern "C" __global__ void total(float *out, const float *in) {
    __shared__ float part[512];
    part[threadIdx.x] = in[threadIdx.x];
    __syncthreads();
    if (threadIdx.x == 0) {
        float sum = out[0];
        for (int i = 0; i < 512; i++) sum += part[i];
        out[0] = sum;
    }
}
"""
PRODUCT = """
extern "C" __global__ void product(float *out, const float *in) {
    float sum = 0.0f;
    for (int i = 0; i < 512; i++) sum += in[i] * in[i + 512];
    out[threadIdx.x] = sum;
}
"""
COUNTS = """
extern "C" __global__ void counts(int *out, const unsigned char *in) {
    __shared__ int bins[256];
    bins[threadIdx.x] = 0;
    __syncthreads();
    for (int i = 0; i < 100; i++) atomicAdd(&bins[in[i * 256 + threadIdx.x]], 1);
    __syncthreads();
    if (threadIdx.x == 0) {
        int sum = 0;
        for (int i = 0; i < 256; i++) {
            sum += bins[i];
            bins[i] = sum;
        }
    }
    __syncthreads();
    out[threadIdx.x] = bins[threadIdx.x];
}
"""
BODIES = """
extern "C" __global__ void bodies(float4 *out, const float4 *in, int n) {
    __shared__ float4 tile[256];
    float4 me = in[blockIdx.x * 256 + threadIdx.x];
    float x = 0.0f, y = 0.0f, z = 0.0f;
    for (int t = 0; t < n; t += 256) {
        tile[threadIdx.x] = in[t + threadIdx.x];
        __syncthreads();
        for (int j = 0; j < 256; j++) {
            float dx = tile[j].x - me.x, dy = tile[j].y - me.y, dz = tile[j].z - me.z;
            float d = rsqrtf(dx * dx + dy * dy + dz * dz + 0.01f);
            float w = tile[j].w * d * d * d;
            x += dx * w;
            y += dy * w;
            z += dz * w;
        }
        __syncthreads();
    }
    out[blockIdx.x * 256 + threadIdx.x] = make_float4(x, y, z, 0.0f);
}
"""
ROW = """
extern "C" __global__ void row(float *out, const float *in, int n) {
    extern __shared__ float a[];
    a[threadIdx.x] = in[threadIdx.x];
    __syncthreads();
    float sum = 0.0f;
    for (int i = 0; i < n; i++) sum += a[i];
    out[threadIdx.x] = sum;
}
"""
#: Not of one text: the last of four adds something else.
UNEVEN = """
extern "C" __global__ void uneven(float *out, const float *in) {
    float sum = 0.0f;
#pragma unroll 1
    for (int i = 0; i < 512; i += 4)
        sum += in[i] + in[i + 1] * 2.0f + in[i + 2] * 4.0f + in[i + 4];
    out[threadIdx.x] = sum;
}
"""


@pytest.mark.parametrize(("source", "loop"), [
    (TOTAL, "< 512;"), (PRODUCT, "< 512;"), (COUNTS, "< 100;"), (COUNTS, "< 256;"),
    (BODIES, "< 256;"),
])  # fmt: skip
def test_turns_are_counted_one_by_one(source: str, loop: str) -> None:
    module = ptxkit.compile_cuda(source, arch="sm_90")
    text = lifted_text(module, Options(roll=True))
    assert loop in text
    assert "do {" not in text
    assert "char *" not in text.replace("unsigned char *", "")


@pytest.mark.parametrize("source", [TOTAL, PRODUCT, COUNTS, BODIES, ROW])
def test_they_are_the_same_ptx(source: str) -> None:
    found = ptxkit.decompile(ptxkit.compile_cuda(source, arch="sm_90"), engine="symbolic")
    assert found.verdict.same_ptx, found.cuda
    assert found.cuda.count("for (") == source.count("for (")


def test_elements_of_vectors_are_read_one_by_one() -> None:
    text = lifted_text(ptxkit.compile_cuda(ROW, arch="sm_90"), Options(roll=True))
    assert "float4" not in text
    assert "sum += a[k];" in text


def test_what_is_no_copy_stays() -> None:
    module = ptxkit.compile_cuda(UNEVEN, arch="sm_90")
    text = lifted_text(module, Options(roll=True))
    assert "+= 4" in text
    assert ptxkit.decompile(module, "symbolic", effort=0).verdict.equivalent


TREE = """
extern "C" __global__ void tree(const float *x, float *mean, float *square, int n) {
    __shared__ float sums[64], squares[64];
    int t = threadIdx.x;
    sums[t] = x[blockIdx.x * 64 + t];
    squares[t] = sums[t] * sums[t];
    __syncthreads();
    for (int s = 32; s > 0; s /= 2) {
        if (t < s) {
            sums[t] += sums[t + s];
            squares[t] += squares[t + s];
        }
        __syncthreads();
    }
    if (t == 0) {
        mean[blockIdx.x] = sums[0] / n;
        square[blockIdx.x] = squares[0] / n;
    }
}
"""


def test_the_last_turn_of_a_tree_is_one_of_them() -> None:
    module = ptxkit.compile_cuda(TREE, arch="sm_90")
    text = lifted_text(module, Options(roll=True))
    assert "> 0;" in text
    assert text.count("__syncthreads();") == 2
    assert ptxkit.decompile(module, engine="symbolic").verdict.same_ptx
