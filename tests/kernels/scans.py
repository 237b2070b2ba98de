"""Prefix sums and what stands on them."""

from __future__ import annotations

from typing import Any

import numpy as np

from tests.kernels.kernel import Kernel, Setup, integers, line, zeros


def segmented(x: Any, flags: Any, out: Any, n: int) -> Any:
    found, total = [], 0
    for value, flag in zip(x.tolist(), flags.tolist(), strict=True):
        total = value if flag else total + value
        found.append(total)
    return (found,)


def kept(x: Any, n: int, threshold: int, out: Any, count: Any) -> Any:
    chosen = x[x > threshold]
    return np.pad(chosen, (0, n - len(chosen))), [len(chosen)]


KERNELS = (
    Kernel(
        "scan_hillis_steele",
        r"""
extern "C" __global__ void scan_hillis_steele(const float *g_idata, float *g_odata, int n)
{
    extern __shared__ float temp[];
    int thid = threadIdx.x;
    int pout = 0, pin = 1;
    temp[thid] = g_idata[thid];
    __syncthreads();
    for (int offset = 1; offset < n; offset <<= 1) {
        pout = 1 - pout;
        pin = 1 - pout;
        if (thid >= offset)
            temp[pout * n + thid] = temp[pin * n + thid] + temp[pin * n + thid - offset];
        else
            temp[pout * n + thid] = temp[pin * n + thid];
        __syncthreads();
    }
    g_odata[thid] = temp[pout * n + thid];
}
""",
        lambda g, n: Setup(1, n, (g.integers(-9, 9, n).astype("f4"), zeros(n), n), 8 * n),
        lambda x, y, n: (np.cumsum(x),),
        sizes=(1, 50, 256),
    ),
    Kernel(
        "scan_blelloch",
        r"""
extern "C" __global__ void scan_blelloch(int *g_odata, const int *g_idata, int n)
{
    extern __shared__ int temp[];
    int thid = threadIdx.x;
    int offset = 1;
    temp[2 * thid] = g_idata[2 * thid];
    temp[2 * thid + 1] = g_idata[2 * thid + 1];
    for (int d = n >> 1; d > 0; d >>= 1) {
        __syncthreads();
        if (thid < d) {
            int ai = offset * (2 * thid + 1) - 1;
            int bi = offset * (2 * thid + 2) - 1;
            temp[bi] += temp[ai];
        }
        offset *= 2;
    }
    if (thid == 0) temp[n - 1] = 0;
    for (int d = 1; d < n; d *= 2) {
        offset >>= 1;
        __syncthreads();
        if (thid < d) {
            int ai = offset * (2 * thid + 1) - 1;
            int bi = offset * (2 * thid + 2) - 1;
            int t = temp[ai];
            temp[ai] = temp[bi];
            temp[bi] += t;
        }
    }
    __syncthreads();
    g_odata[2 * thid] = temp[2 * thid];
    g_odata[2 * thid + 1] = temp[2 * thid + 1];
}
""",
        lambda g, n: Setup(1, n // 2, (zeros(n, dtype="i4"), integers(g, n), n), 4 * n),
        lambda y, x, n: (np.cumsum(x) - x, x),
        sizes=(2, 64, 256),
    ),
    Kernel(
        "warp_scan",
        r"""
extern "C" __global__ void warp_scan(const int *in, int *out, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    int lane = threadIdx.x & 31;
    int value = i < n ? in[i] : 0;
#pragma unroll
    for (int delta = 1; delta <= 16; delta <<= 1) {
        int up = __shfl_up_sync(0xffffffffu, value, delta, 32);
        if (lane >= delta) value += up;
    }
    if (i < n) out[i] = value;
}
""",
        lambda g, n: line(n, integers(g, n), zeros(n, dtype="i4"), n, block=64),
        lambda x, y, n: (np.cumsum(np.pad(x, (0, -n % 32)).reshape(-1, 32), axis=1).ravel()[:n],),
    ),
    Kernel(
        "segmented_scan",
        r"""
extern "C" __global__ void segmented_scan(const int *x, const unsigned char *head, int *y, int n)
{
    __shared__ int val[256];
    __shared__ unsigned char flag[256];
    int t = threadIdx.x;
    if (t < n) {
        val[t] = x[t];
        flag[t] = head[t];
    }
    __syncthreads();
    for (int d = 1; d < n; d <<= 1) {
        int v = 0;
        unsigned char f = 0;
        if (t < n && t >= d) {
            v = flag[t] ? 0 : val[t - d];
            f = flag[t - d];
        }
        __syncthreads();
        if (t < n) {
            val[t] += v;
            flag[t] |= f;
        }
        __syncthreads();
    }
    if (t < n) y[t] = val[t];
}
""",
        lambda g, n: Setup(
            1, 256, (integers(g, n), (g.random(n) < 0.2).astype("u1"), zeros(n, dtype="i4"), n)
        ),
        segmented,
        sizes=(1, 37, 256),
    ),
    Kernel(
        "stream_compact",
        r"""
extern "C" __global__ void stream_compact(const int *in, int n, int threshold, int *out, int *count)
{
    __shared__ int counts[256];
    int t = threadIdx.x;
    int keep = (t < n) && (in[t] > threshold);
    counts[t] = keep;
    __syncthreads();
    for (int d = 1; d < 256; d *= 2) {
        int add = t >= d ? counts[t - d] : 0;
        __syncthreads();
        counts[t] += add;
        __syncthreads();
    }
    if (keep) out[counts[t] - 1] = in[t];
    if (t == 255) *count = counts[255];
}
""",
        lambda g, n: Setup(
            1, 256, (integers(g, n), n, 100, zeros(n, dtype="i4"), zeros(1, dtype="i4"))
        ),
        kept,
        sizes=(1, 37, 250),
    ),
    Kernel(
        "add_block_offsets",
        r"""
extern "C" __global__ void add_block_offsets(unsigned int *data, const unsigned int *offsets, int n)
{
    __shared__ unsigned int buf;
    if (threadIdx.x == 0) buf = offsets[blockIdx.x];
    unsigned int pos = blockIdx.x * blockDim.x + threadIdx.x;
    __syncthreads();
    if (pos < n) data[pos] += buf;
}
""",
        lambda g, n: line(
            n, g.integers(0, 2**32, n).astype("u4"), g.integers(0, 99, -(-n // 128)).astype("u4"), n
        ),
        lambda x, o, n: (x + np.repeat(o, 128)[:n], o),
    ),
)
