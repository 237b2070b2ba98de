"""Histograms, sorts and searches."""

from __future__ import annotations

from typing import Any

import numpy as np

from tests.kernels.kernel import Kernel, Setup, floats, integers, line, zeros


def radix_counts(x: Any, counts: Any, n: int, shift: int) -> Any:
    out = np.zeros((len(counts), 16), np.uint32)
    for block in range(len(counts)):
        digits = x[block * 128 : (block + 1) * 128] >> np.uint32(shift) & np.uint32(15)
        out[block] = np.bincount(digits, minlength=16)
    return (out,)


def merged(a: Any, na: int, b: Any, nb: int, out: Any) -> Any:
    return (np.sort(np.concatenate([a, b])),)


KERNELS = (
    Kernel(
        "histogram256",
        r"""
extern "C" __global__ void histogram256(const unsigned char *buffer, long size, unsigned int *histo)
{
    __shared__ unsigned int temp[256];
    temp[threadIdx.x] = 0;
    __syncthreads();
    int i = threadIdx.x + blockIdx.x * blockDim.x;
    int offset = blockDim.x * gridDim.x;
    while (i < size) {
        atomicAdd(&temp[buffer[i]], 1);
        i += offset;
    }
    __syncthreads();
    atomicAdd(&(histo[threadIdx.x]), temp[threadIdx.x]);
}
""",
        lambda g, n: Setup(
            2, 256, (g.integers(0, 256, n).astype("u1"), n, zeros(256, dtype="u4"))
        ),
        lambda x, n, h: (np.bincount(x, minlength=256),),
        sizes=(1, 700),
    ),
    Kernel(
        "histogram_float",
        r"""
extern "C" __global__ void histogram_float(const float *x, int n, float lo, float hi, int *bins, int nbins)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) {
        float v = x[i];
        if (v >= lo && v < hi) {
            int b = (int)((v - lo) / (hi - lo) * nbins);
            if (b == nbins) b--;
            atomicAdd(bins + b, 1);
        }
    }
}
""",
        lambda g, n: line(n, floats(g, n), n, -2.0, 2.0, zeros(16, dtype="i4"), 16),
        lambda x, n, lo, hi, bins, k: (
            np.bincount(((x[(x >= -2) & (x < 2)] + 2) * 4).astype(int), minlength=16),
        ),
    ),
    Kernel(
        "bitonic_sort_shared",
        r"""
extern "C" __global__ void bitonic_sort_shared(int *values, int n)
{
    extern __shared__ int shared[];
    const int tid = threadIdx.x;
    shared[tid] = tid < n ? values[tid] : 2147483647;
    __syncthreads();
    for (int k = 2; k <= blockDim.x; k *= 2) {
        for (int j = k / 2; j > 0; j /= 2) {
            int ixj = tid ^ j;
            if (ixj > tid) {
                if ((tid & k) == 0) {
                    if (shared[tid] > shared[ixj]) {
                        int t = shared[tid];
                        shared[tid] = shared[ixj];
                        shared[ixj] = t;
                    }
                } else {
                    if (shared[tid] < shared[ixj]) {
                        int t = shared[tid];
                        shared[tid] = shared[ixj];
                        shared[ixj] = t;
                    }
                }
            }
            __syncthreads();
        }
    }
    if (tid < n) values[tid] = shared[tid];
}
""",
        lambda g, n: Setup(1, 256, (integers(g, n), n), 1024),
        lambda x, n: (np.sort(x),),
        sizes=(1, 100, 256),
    ),
    Kernel(
        "odd_even_sort",
        r"""
extern "C" __global__ void odd_even_sort(unsigned short *keys, int n)
{
    for (int phase = 0; phase < n; ++phase) {
        int i = 2 * threadIdx.x + (phase & 1);
        if (i + 1 < n) {
            unsigned short a = keys[i], b = keys[i + 1];
            if (a > b) {
                keys[i] = b;
                keys[i + 1] = a;
            }
        }
        __syncthreads();
    }
}
""",
        lambda g, n: Setup(1, 64, (g.integers(0, 65536, n).astype("u2"), n)),
        lambda x, n: (np.sort(x),),
        sizes=(1, 37, 90),
    ),
    Kernel(
        "radix_count",
        r"""
extern "C" __global__ void radix_count(const unsigned int *keys, unsigned int *counts, int n, int shift)
{
    __shared__ unsigned int bins[16];
    if (threadIdx.x < 16) bins[threadIdx.x] = 0;
    __syncthreads();
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) atomicAdd(&bins[(keys[i] >> shift) & 0xf], 1u);
    __syncthreads();
    if (threadIdx.x < 16) counts[blockIdx.x * 16 + threadIdx.x] = bins[threadIdx.x];
}
""",
        lambda g, n: line(
            n, g.integers(0, 2**32, n).astype("u4"), zeros(-(-n // 128), 16, dtype="u4"), n, 8
        ),
        radix_counts,
    ),
    Kernel(
        "rank_sort",
        r"""
extern "C" __global__ void rank_sort(const float *in, float *out, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    float v = in[i];
    int rank = 0;
    for (int j = 0; j < n; ++j)
        rank += in[j] < v || (in[j] == v && j < i);
    out[rank] = v;
}
""",
        lambda g, n: line(n, floats(g, n), zeros(n), n, block=64),
        lambda x, y, n: (np.sort(x),),
        sizes=(1, 37, 150),
    ),
    Kernel(
        "lower_bound",
        r"""
extern "C" __global__ void lower_bound(const int *sorted, int n, const int *queries, int *result, int m)
{
    int t = blockIdx.x * blockDim.x + threadIdx.x;
    if (t >= m) return;
    int key = queries[t];
    int first = 0, count = n;
    while (count > 0) {
        int step = count / 2;
        int it = first + step;
        if (sorted[it] < key) {
            first = it + 1;
            count -= step + 1;
        } else {
            count = step;
        }
    }
    result[t] = first;
}
""",
        lambda g, n: line(90, np.sort(integers(g, n)), n, integers(g, 90), zeros(90, dtype="i4"), 90),
        lambda s, n, q, r, m: (np.searchsorted(s, q),),
    ),
    Kernel(
        "merge_path",
        r"""
extern "C" __global__ void merge_path(const int *a, int na, const int *b, int nb, int *out)
{
    int d = blockIdx.x * blockDim.x + threadIdx.x;
    if (d >= na + nb) return;
    int lo = max(0, d - nb), hi = min(d, na);
    while (lo < hi) {
        int mid = (lo + hi) >> 1;
        if (a[mid] < b[d - 1 - mid]) lo = mid + 1;
        else hi = mid;
    }
    int i = lo, j = d - lo;
    if (j >= nb || (i < na && a[i] <= b[j])) out[d] = a[i];
    else out[d] = b[j];
}
""",
        lambda g, n: line(
            n + 40, np.sort(integers(g, n)), n, np.sort(integers(g, 40)), 40, zeros(n + 40, dtype="i4")
        ),
        merged,
    ),
)  # fmt: skip
