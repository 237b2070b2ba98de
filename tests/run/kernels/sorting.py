"""Sorts, and the scans under them."""

from __future__ import annotations

from typing import Any

import numpy as np
from tests.run.kernels.case import Case, launch

SOURCE = r"""
// One compare-exchange step of a bitonic sort over the whole array.
extern "C" __global__ void bitonic_step(int *x, int distance, int size) {
    int i = blockIdx.x * blockDim.x + threadIdx.x, other = i ^ distance;
    if (other > i) {
        bool ascending = (i & size) == 0;
        int a = x[i], b = x[other];
        if ((a > b) == ascending) { x[i] = b; x[other] = a; }
    }
}

// A bitonic sort of keys with values in shared memory.
extern "C" __global__ void bitonic_block(float *keys, int *values) {
    __shared__ float k[256];
    __shared__ int v[256];
    int i = threadIdx.x, base = blockIdx.x * 256;
    k[i] = keys[base + i];
    v[i] = values[base + i];
    for (int size = 2; size <= 256; size *= 2)
        for (int distance = size / 2; distance; distance /= 2) {
            __syncthreads();
            int other = i ^ distance;
            if (other > i && (k[i] > k[other]) == ((i & size) == 0)) {
                float a = k[i]; k[i] = k[other]; k[other] = a;
                int b = v[i]; v[i] = v[other]; v[other] = b;
            }
        }
    __syncthreads();
    keys[base + i] = k[i];
    values[base + i] = v[i];
}

__device__ int exclusive_scan(int value, int *warps) {
    int lane = threadIdx.x % 32, warp = threadIdx.x / 32, sum = value;
    for (int d = 1; d < 32; d *= 2) {
        int before = __shfl_up_sync(~0u, sum, d);
        if (lane >= d) sum += before;
    }
    if (lane == 31) warps[warp] = sum;
    __syncthreads();
    if (warp == 0) {
        int total = lane < blockDim.x / 32 ? warps[lane] : 0;
        for (int d = 1; d < 32; d *= 2) {
            int before = __shfl_up_sync(~0u, total, d);
            if (lane >= d) total += before;
        }
        warps[lane] = total;
    }
    __syncthreads();
    int base = warp ? warps[warp - 1] : 0;
    __syncthreads();
    return base + sum - value;
}

// A radix sort of 512 numbers in one block, a bit at a time, by ballots and scans.
extern "C" __global__ void radix(unsigned *x) {
    __shared__ unsigned data[512];
    __shared__ int warps[32], zeros;
    int i = threadIdx.x;
    unsigned value = x[i];
    for (int bit = 0; bit < 32; ++bit) {
        int set = value >> bit & 1;
        int before = exclusive_scan(!set, warps);
        if (i == 511) zeros = before + !set;
        __syncthreads();
        data[set ? zeros + i - before : before] = value;
        __syncthreads();
        value = data[i];
        __syncthreads();
    }
    x[i] = value;
}

// Compaction with a ballot in each warp and one atomic a block.
extern "C" __global__ void compact(const int *x, int n, int *count, int *out) {
    __shared__ int warps[32], base;
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    int keep = i < n && x[i] % 3 == 0;
    int place = exclusive_scan(keep, warps);
    if (threadIdx.x == blockDim.x - 1) base = atomicAdd(count, place + keep);
    __syncthreads();
    if (keep) out[base + place] = x[i];
}

extern "C" __global__ void sort_rows(int *x, int n) {  // insertion sort: one thread a row
    int *row = x + (blockIdx.x * blockDim.x + threadIdx.x) * n;
    for (int i = 1; i < n; ++i) {
        int value = row[i], j = i;
        while (j > 0 && row[j - 1] > value) { row[j] = row[j - 1]; --j; }
        row[j] = value;
    }
}
"""


def bitonic(loaded: Any, x: Any) -> None:
    size = 2
    while size <= len(x):
        distance = size // 2
        while distance:
            loaded["bitonic_step"][len(x) // 128, 128](x, distance, size)
            distance //= 2
        size *= 2


def sorted_pairs(keys: Any, values: Any) -> tuple[Any, Any]:
    order = np.argsort(keys.reshape(-1, 256), axis=1)
    rows = np.arange(len(order))[:, None]
    ascending = keys.reshape(-1, 256)[rows, order], values.reshape(-1, 256)[rows, order]
    return ascending[0].reshape(-1), ascending[1].reshape(-1)


CASES = (
    Case(
        "bitonic",
        lambda g: (g.integers(-(2**31), 2**31, 512).astype(np.int32),),
        bitonic,
        lambda x: (np.sort(x),),
    ),
    Case(
        "bitonic_block",
        lambda g: (g.standard_normal(512).astype(np.float32), np.arange(512, dtype=np.int32)),
        launch("bitonic_block", 2, 256),
        sorted_pairs,
    ),
    Case(
        "radix",
        lambda g: (g.integers(0, 2**32, 512).astype(np.uint32),),
        launch("radix", 1, 512),
        lambda x: (np.sort(x),),
    ),
    Case(
        "compact",
        lambda g: (g.integers(0, 1000, 900).astype(np.int32), 900, np.zeros(1, np.int32),
                   np.zeros(900, np.int32)),
        launch("compact", 1, 1024),
        lambda x, n, count, out: ([np.sum(x % 3 == 0)],
                                  np.pad(x[x % 3 == 0], (0, 900 - np.sum(x % 3 == 0)))),
    ),
    Case(
        "sort_rows",
        lambda g: (g.integers(-99, 99, (64, 13)).astype(np.int32), 13),
        launch("sort_rows", 2, 32),
        lambda x, n: (np.sort(x, axis=1),),
    ),
)  # fmt: skip
