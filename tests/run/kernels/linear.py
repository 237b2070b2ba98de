"""Linear algebra and the layers of a neural network."""

from __future__ import annotations

from typing import Any

import numpy as np
from tests.run.kernels.case import Case, launch

SOURCE = r"""
// A product of matrices of any size, tiles in dynamic shared memory, 2x2 results a thread.
extern "C" __global__ void gemm(const float *a, const float *b, float *c, int m, int n, int k) {
    extern __shared__ float tiles[];
    float *left = tiles, *right = tiles + 16 * 32;
    int tx = threadIdx.x, ty = threadIdx.y, row = blockIdx.y * 32, column = blockIdx.x * 32;
    float sum[2][2] = {};
    for (int t = 0; t < k; t += 16) {
        for (int i = ty * 16 + tx; i < 512; i += 256) {
            int r = row + i / 16, q = t + i % 16;
            left[i % 16 * 32 + i / 16] = r < m && q < k ? a[r * k + q] : 0;
            r = t + i / 32, q = column + i % 32;
            right[i] = r < k && q < n ? b[r * n + q] : 0;
        }
        __syncthreads();
        for (int i = 0; i < 16; ++i)
            for (int u = 0; u < 2; ++u)
                for (int v = 0; v < 2; ++v)
                    sum[u][v] += left[i * 32 + ty * 2 + u] * right[i * 32 + tx * 2 + v];
        __syncthreads();
    }
    for (int u = 0; u < 2; ++u)
        for (int v = 0; v < 2; ++v) {
            int r = row + ty * 2 + u, q = column + tx * 2 + v;
            if (r < m && q < n) c[r * n + q] = sum[u][v];
        }
}

extern "C" __global__ void spmv(const int *starts, const int *columns, const double *values,
                                const double *x, double *y, int rows) {
    int row = (blockIdx.x * blockDim.x + threadIdx.x) / 32, lane = threadIdx.x % 32;
    if (row >= rows) return;
    double sum = 0;
    for (int i = starts[row] + lane; i < starts[row + 1]; i += 32) sum += values[i] * x[columns[i]];
    for (int d = 16; d; d /= 2) sum += __shfl_xor_sync(~0u, sum, d);
    if (lane == 0) y[row] = sum;
}

__device__ float block_sum(float v, float *space) {
    for (int d = 16; d; d /= 2) v += __shfl_xor_sync(~0u, v, d);
    __syncthreads();
    if (threadIdx.x % 32 == 0) space[threadIdx.x / 32] = v;
    __syncthreads();
    float all = 0;
    for (int i = 0; i < blockDim.x / 32; ++i) all += space[i];
    return all;
}

extern "C" __global__ void layer_norm(const float *x, const float *gain, const float *bias,
                                      float *y, int n, float epsilon) {
    __shared__ float space[32];
    const float *row = x + blockIdx.x * n;
    float sum = 0, squares = 0;
    for (int i = threadIdx.x; i < n; i += blockDim.x) sum += row[i];
    float mean = block_sum(sum, space) / n;
    for (int i = threadIdx.x; i < n; i += blockDim.x) squares += (row[i] - mean) * (row[i] - mean);
    float scale = rsqrtf(block_sum(squares, space) / n + epsilon);
    for (int i = threadIdx.x; i < n; i += blockDim.x)
        y[blockIdx.x * n + i] = (row[i] - mean) * scale * gain[i] + bias[i];
}

extern "C" __global__ void softmax_rows(const float *x, float *y, int n) {
    const float *row = x + blockIdx.x * n;
    float most = __int_as_float(0xFF800000), sum = 0;
    for (int i = threadIdx.x; i < n; i += 32) most = fmaxf(most, row[i]);
    for (int d = 16; d; d /= 2) most = fmaxf(most, __shfl_xor_sync(~0u, most, d));
    for (int i = threadIdx.x; i < n; i += 32) sum += __expf(row[i] - most);
    for (int d = 16; d; d /= 2) sum += __shfl_xor_sync(~0u, sum, d);
    for (int i = threadIdx.x; i < n; i += 32) y[blockIdx.x * n + i] = __expf(row[i] - most) / sum;
}

extern "C" __global__ void gelu(const float *x, float *y, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) y[i] = 0.5f * x[i] * (1 + erff(x[i] * 0.70710678f));
}

// Vector loads and stores.
extern "C" __global__ void scale4(const float4 *x, float4 *y, float a) {
    float4 v = x[threadIdx.x];
    y[threadIdx.x] = make_float4(a * v.w, a * v.z, a * v.y, a * v.x);
}

// Gaussian elimination of one small system a block, in double precision.
extern "C" __global__ void solve(double *a, double *b, int n) {
    double *m = a + blockIdx.x * n * n, *v = b + blockIdx.x * n;
    int row = threadIdx.x;
    for (int p = 0; p < n; ++p) {
        __syncthreads();
        double factor = row > p ? m[row * n + p] / m[p * n + p] : 0;
        __syncthreads();
        if (row > p) {
            for (int c = p; c < n; ++c) m[row * n + c] -= factor * m[p * n + c];
            v[row] -= factor * v[p];
        }
    }
    __syncthreads();
    if (row == 0)
        for (int r = n - 1; r >= 0; --r) {
            for (int c = r + 1; c < n; ++c) v[r] -= m[r * n + c] * v[c];
            v[r] /= m[r * n + r];
        }
}
"""


def sparse(g: np.random.Generator) -> tuple[Any, ...]:
    dense = g.integers(-9, 9, (50, 60)) * (g.random((50, 60)) < 0.2)
    counts = (dense != 0).sum(axis=1)
    starts = np.concatenate([[0], np.cumsum(counts)]).astype(np.int32)
    columns = np.nonzero(dense)[1].astype(np.int32)
    values = dense[dense != 0].astype(np.float64)
    return starts, columns, values, g.integers(-9, 9, 60).astype(np.float64), np.zeros(50), 50


def product(starts: Any, columns: Any, values: Any, x: Any, y: Any, rows: int) -> tuple[Any, ...]:
    terms = values * x[columns]
    return (np.array([terms[starts[r] : starts[r + 1]].sum() for r in range(rows)]),)


def normalised(
    x: Any, gain: Any, bias: Any, y: Any, n: int, epsilon: float
) -> tuple[Any, ...]:  # fmt: skip
    x = x.astype(np.float64)
    mean, variance = x.mean(axis=1, keepdims=True), x.var(axis=1, keepdims=True)
    return ((x - mean) / np.sqrt(variance + epsilon) * gain + bias,)


def softmax(x: Any, y: Any, n: int) -> tuple[Any, ...]:
    e = np.exp(x.astype(np.float64) - x.max(axis=1, keepdims=True))
    return (e / e.sum(axis=1, keepdims=True),)


def gelu(x: Any, y: Any, n: int) -> tuple[Any, ...]:
    from math import erf

    return (np.array([0.5 * v * (1 + erf(v * 0.5**0.5)) for v in x.tolist()]),)


def floats(g: np.random.Generator, *shape: int) -> Any:
    return g.standard_normal(shape).astype(np.float32)


CASES = (
    Case(
        "gemm",
        lambda g: (g.integers(-8, 8, (50, 37)).astype("f4"), g.integers(-8, 8, (37, 45)).astype("f4"),
                   np.zeros((50, 45), "f4"), 50, 45, 37),
        launch("gemm", (2, 2), (16, 16), 4096),
        lambda a, b, c, m, n, k: (a @ b,),
    ),
    Case(
        "gemm_rounded",
        lambda g: (floats(g, 33, 64), floats(g, 64, 40), np.zeros((33, 40), "f4"), 33, 40, 64),
        launch("gemm", (2, 2), (16, 16), 60_000),  # more than 48 KB
        lambda a, b, c, m, n, k: (a.astype("f8") @ b.astype("f8"),),
        tolerance=2e-5,
    ),
    Case("spmv", sparse, launch("spmv", 13, 128), product),
    Case(
        "layer_norm",
        lambda g: (floats(g, 4, 200), floats(g, 200), floats(g, 200), np.zeros((4, 200), "f4"), 200,
                   1e-5),
        launch("layer_norm", 4, 128),
        normalised,
        tolerance=1e-5,
        approximate=True,
    ),
    Case(
        "softmax_rows",
        lambda g: (floats(g, 6, 100), np.zeros((6, 100), "f4"), 100),
        launch("softmax_rows", 6, 32),
        softmax,
        tolerance=2e-6,
        approximate=True,
    ),
    Case(
        "gelu",
        lambda g: (floats(g, 300), np.zeros(300, "f4"), 300),
        launch("gelu", 3, 128),
        gelu,
        tolerance=1e-6,
        approximate=True,
    ),
    Case(
        "scale4",
        lambda g: (floats(g, 64, 4), np.zeros((64, 4), "f4"), 1.5),
        launch("scale4", 1, 64),
        lambda x, y, a: (np.float32(a) * x[:, ::-1],),
    ),
    Case(
        "solve",
        lambda g: (g.standard_normal((3, 16, 16)) + 8 * np.eye(16), g.standard_normal((3, 16)), 16),
        launch("solve", 3, 16),
        lambda a, b, n: (np.linalg.solve(a, b[..., None])[..., 0],),
        tolerance=1e-12,
    ),
)  # fmt: skip
