"""Sums in memory that a compiler keeps a copy of, and loops of a stride that it wrote out."""

from __future__ import annotations

import pytest
from tests.decompiler.lifting import lifted_text

import ptxkit
from ptxkit.decompiler.lift.lifter import Options

ROWS = """
extern "C" __global__ void rows(float *out, const float *in, int n, int m) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    out[i] = 0.0f;
    for (int j = 0; j < m; j++) out[i] += in[j * n + i];
}
"""
PLANES = """
extern "C" __global__ void planes(float *out, const float *in, int n, int m, int layers) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    out[i] = 0.0f;
    for (int k = 0; k < layers; k++)
        for (int j = 0; j < m; j++) out[i] += in[(k * n + i) * m + j];
    out[i] *= 0.5f;
}
"""
ANOTHER = """
extern "C" __global__ void another(float *out, float *last, const float *in, int n) {
    int i = threadIdx.x;
    out[i] = 0.0f;
    float sum = 0.0f;
    for (int j = 0; j < n; j++) {
        sum += in[j];
        out[i] = sum;
        last[j] = 1.0f;
    }
}
"""
STRIDED = """
extern "C" __global__ void strided(float *out, const float *in, int batch, int n) {
    int t = threadIdx.x;
    float sum = 0.0f;
    for (int b = 0; b < batch; b++)
        for (int i = 0; i < n; i += 256) sum += i + t < n ? in[i + t + n * b] : 0.0f;
    out[t] = sum;
}
"""
WINDOW = """
extern "C" __global__ void window(float *out, const float *in, int n, int h, int w, int size) {
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += blockDim.x * gridDim.x) {
        int x = i % w, y = i / w % h;
        const float *plane = in + i / w / h * h * w;
        float sum = 0.0f;
        int y0 = max(y - size, 0), x0 = max(x - size, 0);
        int y1 = min(y + size, h), x1 = min(x + size, w);
        for (int v = y0; v < y1; v++)
            for (int u = x0; u < x1; u++) sum += plane[v * w + u];
        out[i] = sum;
    }
}
"""


def lifted(source: str) -> str:
    return lifted_text(ptxkit.compile_cuda(source, arch="sm_90"), Options(roll=True))


@pytest.mark.parametrize("source", [ROWS, PLANES])
def test_a_sum_is_kept_where_it_is_written(source: str) -> None:
    text = lifted(source)
    assert "p0[i] += p1[" in text
    assert "sum" not in text
    module = ptxkit.compile_cuda(source, arch="sm_90")
    assert ptxkit.decompile(module, engine="symbolic").verdict.level == "E1"


def test_a_sum_beside_other_stores_is_a_variable() -> None:
    assert "p0[i] +=" not in lifted(ANOTHER)


def test_a_loop_of_a_stride_ends_where_it_ended() -> None:
    text = lifted(STRIDED)
    assert "< n3; " in text
    assert "+= 256" in text
    module = ptxkit.compile_cuda(STRIDED, arch="sm_90")
    assert ptxkit.decompile(module, "symbolic", effort=0).verdict.equivalent


def test_first_turns_that_were_written_out() -> None:
    text = lifted(WINDOW)
    assert text.count("for (") == 3
    assert "row[" in text
    assert " & 3" not in text
    module = ptxkit.compile_cuda(WINDOW, arch="sm_90")
    assert ptxkit.decompile(module, "symbolic", effort=0).verdict.equivalent


TOTALS = """
extern "C" __global__ void totals(const float *x, const float *d, int batch, int size, float *out) {
    __shared__ float part[512];
    int t = threadIdx.x;
    float sum = 0.0f;
    for (int b = 0; b < batch; b++)
        for (int i = 0; i < size; i += 512)
            sum += t + i < size ? d[t + i + size * b] * x[t + i + size * b] : 0.0f;
    part[t] = sum;
    __syncthreads();
    if (t == 0)
        for (int i = 0; i < 512; i++) out[blockIdx.x] += part[i];
}
"""
MEANS = """
extern "C" __global__ void means(const float *x, int batch, int size, float *out) {
    __shared__ float part[512];
    int t = threadIdx.x, row = blockIdx.x;
    part[t] = 0.0f;
    for (int b = 0; b < batch; b++)
        for (int i = 0; i < size; i += 512)
            part[t] += i + t < size ? x[(b * 8 + row) * size + i + t] : 0.0f;
    __syncthreads();
    if (t == 0) {
        out[row] = 0.0f;
        for (int i = 0; i < 512; i++) out[row] += part[i];
        out[row] /= size * batch;
    }
}
"""


@pytest.mark.parametrize("source", [TOTALS, MEANS])
def test_sums_that_are_written_behind_the_loops_only(source: str) -> None:
    found = ptxkit.decompile(ptxkit.compile_cuda(source, arch="sm_90"), engine="symbolic")
    assert found.verdict.same_ptx, found.cuda


def test_the_place_is_added_to_in_the_loops() -> None:
    text = lifted(MEANS)
    assert "part[threadIdx.x] += " in text
    assert "/= " in text
    assert "if (n1 >= 1" not in text
