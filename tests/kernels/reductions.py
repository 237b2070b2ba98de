"""Sums, extremes and means over blocks and grids."""

from __future__ import annotations

from typing import Any

import numpy as np

from tests.kernels.kernel import Kernel, Setup, floats, integers, line, small, zeros


def by_block(x: Any, block: int) -> Any:
    padded = np.pad(x, (0, -len(x) % block))
    return padded.reshape(-1, block)


def largest(x: Any, values: Any, places: Any, n: int) -> Any:
    rows = by_block(x, 128).copy()
    rows.reshape(-1)[n:] = -np.inf
    return rows.max(axis=1), rows.argmax(axis=1) + np.arange(len(rows)) * 128


def moments(x: Any, mean: Any, variance: Any, cols: int) -> Any:
    rows = x.astype(np.float64)
    return rows.mean(axis=1), rows.var(axis=1)


KERNELS = (
    Kernel(
        "reduce_shared",
        r"""
extern "C" __global__ void reduce_shared(const int *g_idata, int *g_odata, unsigned int n)
{
    extern __shared__ int sdata[];

    unsigned int tid = threadIdx.x;
    unsigned int i = blockIdx.x * blockDim.x + threadIdx.x;

    sdata[tid] = (i < n) ? g_idata[i] : 0;
    __syncthreads();

    for (unsigned int s = blockDim.x / 2; s > 0; s >>= 1) {
        if (tid < s) {
            sdata[tid] += sdata[tid + s];
        }
        __syncthreads();
    }

    if (tid == 0) g_odata[blockIdx.x] = sdata[0];
}
""",
        lambda g, n: line(n, integers(g, n), zeros(-(-n // 128), dtype="i4"), n, shared=512),
        lambda x, y, n: (by_block(x, 128).sum(axis=1),),
    ),
    Kernel(
        "reduce_shuffle",
        r"""
__inline__ __device__ float warpReduceSum(float val) {
    for (int offset = warpSize / 2; offset > 0; offset /= 2)
        val += __shfl_down_sync(0xffffffff, val, offset);
    return val;
}

__inline__ __device__ float blockReduceSum(float val) {
    static __shared__ float shared[32];
    int lane = threadIdx.x % warpSize;
    int wid = threadIdx.x / warpSize;
    val = warpReduceSum(val);
    if (lane == 0) shared[wid] = val;
    __syncthreads();
    val = (threadIdx.x < blockDim.x / warpSize) ? shared[lane] : 0;
    if (wid == 0) val = warpReduceSum(val);
    return val;
}

extern "C" __global__ void reduce_shuffle(const float *in, float *out, int N) {
    float sum = 0;
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < N; i += blockDim.x * gridDim.x)
        sum += in[i];
    sum = blockReduceSum(sum);
    if (threadIdx.x == 0) out[blockIdx.x] = sum;
}
""",
        lambda g, n: Setup(1, 96, (small(g, n), zeros(1), n)),
        lambda x, y, n: ([x.sum()],),
    ),
    Kernel(
        "argmax_blocks",
        r"""
extern "C" __global__ void argmax_blocks(const float *x, float *best_value, int *best_index, int n)
{
    __shared__ float values[128];
    __shared__ int indices[128];
    int tid = threadIdx.x;
    int i = blockIdx.x * 128 + tid;
    values[tid] = i < n ? x[i] : -1e30f;
    indices[tid] = i;
    __syncthreads();
    for (int stride = 64; stride > 0; stride >>= 1) {
        if (tid < stride && values[tid + stride] > values[tid]) {
            values[tid] = values[tid + stride];
            indices[tid] = indices[tid + stride];
        }
        __syncthreads();
    }
    if (tid == 0) {
        best_value[blockIdx.x] = values[0];
        best_index[blockIdx.x] = indices[0];
    }
}
""",
        lambda g, n: line(n, floats(g, n), zeros(-(-n // 128)), zeros(-(-n // 128), dtype="i4"), n),
        largest,
    ),
    Kernel(
        "dot_product",
        r"""
#define THREADS 256
extern "C" __global__ void dot_product(const float *a, const float *b, float *c, int n)
{
    __shared__ float cache[THREADS];
    int tid = threadIdx.x + blockIdx.x * blockDim.x;
    int cacheIndex = threadIdx.x;

    float temp = 0;
    while (tid < n) {
        temp += a[tid] * b[tid];
        tid += blockDim.x * gridDim.x;
    }
    cache[cacheIndex] = temp;
    __syncthreads();

    int i = blockDim.x / 2;
    while (i != 0) {
        if (cacheIndex < i)
            cache[cacheIndex] += cache[cacheIndex + i];
        __syncthreads();
        i /= 2;
    }
    if (cacheIndex == 0)
        atomicAdd(c, cache[0]);
}
""",
        lambda g, n: Setup(2, 256, (small(g, n), small(g, n), zeros(1), n)),
        lambda a, b, c, n: ([np.dot(a, b)],),
        sizes=(1, 300, 1100),
    ),
    Kernel(
        "mean_variance",
        r"""
extern "C" __global__ void mean_variance(const float *x, float *mean, float *var, int cols)
{
    __shared__ float s_sum[64], s_sq[64];
    const float *row = x + (size_t)blockIdx.x * cols;
    float sum = 0.f, sq = 0.f;
    for (int c = threadIdx.x; c < cols; c += blockDim.x) {
        float v = row[c];
        sum += v;
        sq += v * v;
    }
    s_sum[threadIdx.x] = sum;
    s_sq[threadIdx.x] = sq;
    __syncthreads();
    for (int s = 32; s > 0; s /= 2) {
        if (threadIdx.x < s) {
            s_sum[threadIdx.x] += s_sum[threadIdx.x + s];
            s_sq[threadIdx.x] += s_sq[threadIdx.x + s];
        }
        __syncthreads();
    }
    if (threadIdx.x == 0) {
        float m = s_sum[0] / cols;
        mean[blockIdx.x] = m;
        var[blockIdx.x] = s_sq[0] / cols - m * m;
    }
}
""",
        lambda g, n: Setup(5, 64, (floats(g, 5, n), zeros(5), zeros(5), n)),
        moments,
        tolerance=1e-5,
    ),
    Kernel(
        "min_max_atomic",
        r"""
extern "C" __global__ void min_max_atomic(const int *data, int n, int *result)
{
    int lo = 0x7fffffff, hi = -0x7fffffff - 1;
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) {
        lo = min(lo, data[i]);
        hi = max(hi, data[i]);
    }
    atomicMin(&result[0], lo);
    atomicMax(&result[1], hi);
}
""",
        lambda g, n: Setup(2, 64, (integers(g, n), n, np.array([2**31 - 1, -(2**31)], np.int32))),
        lambda x, n, out: ([x.min(), x.max()],),
    ),
    Kernel(
        "column_sum",
        r"""
extern "C" __global__ void column_sum(const double *m, double *out, int rows, int cols)
{
    int c = blockIdx.x * blockDim.x + threadIdx.x;
    if (c >= cols) return;
    double sum = 0.0;
    for (int r = 0; r < rows; ++r)
        sum += m[r * cols + c];
    out[c] = sum;
}
""",
        lambda g, n: line(n, g.integers(-9, 9, (7, n)).astype("f8"), zeros(n, dtype="f8"), 7, n),
        lambda m, out, r, c: (m.sum(axis=0),),
    ),
)
