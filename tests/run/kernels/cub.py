"""NVIDIA's CUB: its block and warp primitives, compiled from their headers."""

from __future__ import annotations

from typing import Any

import numpy as np
from tests.run.kernels.case import Case, launch

SOURCE = r"""
#include <cub/block/block_histogram.cuh>
#include <cub/block/block_load.cuh>
#include <cub/block/block_merge_sort.cuh>
#include <cub/block/block_radix_sort.cuh>
#include <cub/block/block_reduce.cuh>
#include <cub/block/block_scan.cuh>
#include <cub/block/block_store.cuh>
#include <cub/warp/warp_reduce.cuh>
#include <cub/warp/warp_scan.cuh>

struct Larger { __device__ int operator()(int a, int b) const { return a < b ? b : a; } };
struct Less { template <typename T> __device__ bool operator()(T a, T b) const { return a < b; } };

// As DeviceReduce does it: blocks reduce tiles; the last one to finish reduces their sums.
extern "C" __global__ void device_reduce(const int *x, int n, long long *partial, unsigned *done,
                                         long long *out) {
    using Load = cub::BlockLoad<int, 128, 4, cub::BLOCK_LOAD_TRANSPOSE>;
    using Reduce = cub::BlockReduce<long long, 128>;
    __shared__ union { typename Load::TempStorage load; typename Reduce::TempStorage reduce; } space;
    __shared__ bool last;
    long long sum = 0;
    for (int tile = blockIdx.x * 512; tile < n; tile += gridDim.x * 512) {
        int items[4];
        Load(space.load).Load(x + tile, items, n - tile, 0);
        for (int item : items) sum += item;
        __syncthreads();
    }
    long long total = Reduce(space.reduce).Sum(sum);
    if (threadIdx.x == 0) {
        partial[blockIdx.x] = total;
        __threadfence();
        last = atomicInc(done, gridDim.x - 1) == gridDim.x - 1;
    }
    __syncthreads();
    if (!last) return;
    sum = threadIdx.x < gridDim.x ? ((volatile long long *)partial)[threadIdx.x] : 0;
    __syncthreads();
    total = Reduce(space.reduce).Sum(sum);
    if (threadIdx.x == 0) *out = total;
}

template <cub::BlockReduceAlgorithm how> __device__ void reduce_max(const int *x, int *out) {
    using Reduce = cub::BlockReduce<int, 96, how>;
    __shared__ typename Reduce::TempStorage space;
    int most = Reduce(space).Reduce(x[blockIdx.x * 96 + threadIdx.x], Larger());
    if (threadIdx.x == 0) out[blockIdx.x] = most;
}
extern "C" __global__ void reduce_raking(const int *x, int *out) {
    reduce_max<cub::BLOCK_REDUCE_RAKING>(x, out);
}
extern "C" __global__ void reduce_warps(const int *x, int *out) {
    reduce_max<cub::BLOCK_REDUCE_WARP_REDUCTIONS>(x, out);
}

template <cub::BlockScanAlgorithm how> __device__ void scan(const int *x, int *out, int *total) {
    using Load = cub::BlockLoad<int, 128, 3, cub::BLOCK_LOAD_WARP_TRANSPOSE>;
    using Store = cub::BlockStore<int, 128, 3, cub::BLOCK_STORE_TRANSPOSE>;
    using Scan = cub::BlockScan<int, 128, how>;
    __shared__ union {
        typename Load::TempStorage load; typename Store::TempStorage store;
        typename Scan::TempStorage scan;
    } space;
    int items[3], all;
    Load(space.load).Load(x, items);
    __syncthreads();
    Scan(space.scan).ExclusiveSum(items, items, all);
    __syncthreads();
    Store(space.store).Store(out, items);
    if (threadIdx.x == 0) *total = all;
}
extern "C" __global__ void scan_raking(const int *x, int *out, int *total) {
    scan<cub::BLOCK_SCAN_RAKING>(x, out, total);
}
extern "C" __global__ void scan_warps(const int *x, int *out, int *total) {
    scan<cub::BLOCK_SCAN_WARP_SCANS>(x, out, total);
}

extern "C" __global__ void radix_sort(float *keys, int *values) {
    using Sort = cub::BlockRadixSort<float, 64, 4, int>;
    __shared__ typename Sort::TempStorage space;
    float k[4];
    int v[4];
    for (int i = 0; i < 4; ++i) { k[i] = keys[threadIdx.x * 4 + i]; v[i] = values[threadIdx.x * 4 + i]; }
    Sort(space).Sort(k, v);
    for (int i = 0; i < 4; ++i) { keys[threadIdx.x * 4 + i] = k[i]; values[threadIdx.x * 4 + i] = v[i]; }
}

extern "C" __global__ void radix_descending(unsigned long long *keys) {
    using Sort = cub::BlockRadixSort<unsigned long long, 128, 2>;
    __shared__ typename Sort::TempStorage space;
    unsigned long long k[2] = {keys[threadIdx.x * 2], keys[threadIdx.x * 2 + 1]};
    Sort(space).SortDescendingBlockedToStriped(k);
    keys[threadIdx.x] = k[0];
    keys[threadIdx.x + 128] = k[1];
}

extern "C" __global__ void merge_sort(double *keys) {
    using Sort = cub::BlockMergeSort<double, 64, 3>;
    __shared__ typename Sort::TempStorage space;
    double k[3];
    for (int i = 0; i < 3; ++i) k[i] = keys[threadIdx.x * 3 + i];
    Sort(space).Sort(k, Less());
    for (int i = 0; i < 3; ++i) keys[threadIdx.x * 3 + i] = k[i];
}

extern "C" __global__ void warp_sums(const float *x, float *sums, float *scans) {
    using Reduce = cub::WarpReduce<float, 16>;
    using Scan = cub::WarpScan<float>;
    __shared__ typename Reduce::TempStorage reduce_space[4];
    __shared__ typename Scan::TempStorage scan_space[2];
    int i = threadIdx.x;
    float sum = Reduce(reduce_space[i / 16]).Sum(x[i]), up_to;
    if (i % 16 == 0) sums[i / 16] = sum;
    Scan(scan_space[i / 32]).InclusiveSum(x[i], up_to);
    scans[i] = up_to;
}

extern "C" __global__ void block_histogram(const unsigned char *x, unsigned *bins) {
    using Histogram = cub::BlockHistogram<unsigned char, 128, 4, 256, cub::BLOCK_HISTO_SORT>;
    __shared__ typename Histogram::TempStorage space;
    __shared__ unsigned counts[256];
    unsigned char items[4];
    for (int i = 0; i < 4; ++i) items[i] = x[threadIdx.x * 4 + i];
    Histogram(space).Histogram(items, counts);
    __syncthreads();
    for (int i = threadIdx.x; i < 256; i += 128) bins[i] = counts[i];
}
"""


def integers(g: np.random.Generator, count: int) -> Any:
    return g.integers(-1000, 1000, count).astype(np.int32)


def sorted_pairs(keys: Any, values: Any) -> tuple[Any, ...]:
    order = np.argsort(keys, kind="stable")
    return keys[order], values[order]


def exclusive(x: Any, out: Any, total: Any) -> tuple[Any, ...]:
    return np.cumsum(x) - x, [x.sum()]


def sums(x: Any, out: Any, scans: Any) -> tuple[Any, ...]:
    return x.reshape(4, 16).sum(axis=1), np.cumsum(x.reshape(2, 32), axis=1).reshape(-1)


CASES = (
    Case(
        "device_reduce",
        lambda g: (integers(g, 3001), 3001, np.zeros(3, "i8"), np.zeros(1, "u4"), np.zeros(1, "i8")),
        launch("device_reduce", 3, 128),
        lambda x, n, partial, done, out: ([x.sum()],),
    ),
    *(
        Case(name, lambda g: (integers(g, 288), np.zeros(3, np.int32)), launch(name, 3, 96),
             lambda x, out: (x.reshape(3, 96).max(axis=1),))
        for name in ("reduce_raking", "reduce_warps")
    ),
    *(
        Case(name, lambda g: (integers(g, 384), np.zeros(384, "i4"), np.zeros(1, "i4")),
             launch(name, 1, 128), exclusive)
        for name in ("scan_raking", "scan_warps")
    ),
    Case(
        "radix_sort",
        lambda g: (g.standard_normal(256).astype(np.float32), np.arange(256, dtype=np.int32)),
        launch("radix_sort", 1, 64),
        sorted_pairs,
    ),
    Case(
        "radix_descending",
        lambda g: (g.integers(0, 2**63, 256).astype(np.uint64),),
        launch("radix_descending", 1, 128),
        lambda x: (np.sort(x)[::-1],),
    ),
    Case(
        "merge_sort",
        lambda g: (g.standard_normal(192),),
        launch("merge_sort", 1, 64),
        lambda x: (np.sort(x),),
    ),
    Case(
        "warp_sums",
        lambda g: (g.integers(-99, 99, 64).astype("f4"), np.zeros(4, "f4"), np.zeros(64, "f4")),
        launch("warp_sums", 1, 64),
        sums,
    ),
    Case(
        "block_histogram",
        lambda g: (g.integers(0, 256, 512).astype(np.uint8), np.zeros(256, np.uint32)),
        launch("block_histogram", 1, 128),
        lambda x, bins: (np.bincount(x, minlength=256),),
    ),
)  # fmt: skip
