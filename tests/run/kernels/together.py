"""Blocks that work together: clusters with distributed shared memory, a grid that waits for all."""

from __future__ import annotations

from typing import Any

import numpy as np
from tests.run.kernels.case import Case, launch

ARCH = "sm_90"
SOURCE = r"""
#include <cooperative_groups.h>
namespace cg = cooperative_groups;

// Every block reads the shared memory of all blocks of its cluster.
extern "C" __global__ void cluster_sum(const int *x, int *out) {
    __shared__ int mine;
    cg::cluster_group cluster = cg::this_cluster();
    if (threadIdx.x == 0) mine = x[blockIdx.x];
    cluster.sync();
    if (threadIdx.x == 0) {
        int sum = 0;
        for (int rank = 0; rank < cluster.num_blocks(); ++rank)
            sum += *cluster.map_shared_rank(&mine, rank);
        out[blockIdx.x] = sum * 100 + cluster.block_rank();
    }
    cluster.sync();
}

// A histogram over the blocks of a cluster: each owns a part of the bins.
extern "C" __global__ void cluster_histogram(const int *x, int n, int *bins) {
    __shared__ int own[32];
    cg::cluster_group cluster = cg::this_cluster();
    if (threadIdx.x < 32) own[threadIdx.x] = 0;
    cluster.sync();
    int blocks = cluster.num_blocks();
    for (int i = cluster.thread_rank(); i < n; i += cluster.num_threads())
        atomicAdd(cluster.map_shared_rank(own, x[i] / 32 % blocks) + x[i] % 32, 1);
    cluster.sync();
    if (threadIdx.x < 32) bins[cluster.block_rank() * 32 + threadIdx.x] = own[threadIdx.x];
}

extern "C" __global__ void grid_rounds(int *x, int rounds) {
    cg::grid_group grid = cg::this_grid();
    int i = blockIdx.x * blockDim.x + threadIdx.x, n = gridDim.x * blockDim.x;
    for (int round = 0; round < rounds; ++round) {
        int other = x[(i + 33) % n];
        grid.sync();
        x[i] += other;
        grid.sync();
    }
}

// One launch sums everything: partial sums, a wait for all blocks, one block finishes.
extern "C" __global__ void grid_sum(const int *x, int n, int *partial, int *out) {
    __shared__ int sum;
    cg::grid_group grid = cg::this_grid();
    if (threadIdx.x == 0) sum = 0;
    __syncthreads();
    for (int i = grid.thread_rank(); i < n; i += grid.size()) atomicAdd(&sum, x[i]);
    __syncthreads();
    if (threadIdx.x == 0) partial[blockIdx.x] = sum;
    grid.sync();
    if (grid.thread_rank() == 0) {
        int total = 0;
        for (int block = 0; block < gridDim.x; ++block) total += partial[block];
        *out = total;
    }
}
"""


def rounds(x: Any, count: int) -> tuple[Any, ...]:
    for _ in range(count):
        x = x + np.roll(x, -33)
    return (x,)


def ranked(size: int) -> Any:
    def expected(x: Any, out: Any) -> tuple[Any, ...]:
        sums = np.repeat(x.reshape(-1, size).sum(axis=1), size)
        return (sums * 100 + np.arange(len(x)) % size,)

    return expected


CASES = (
    *(
        Case(
            f"cluster_sum_{size}",
            lambda g: (g.integers(0, 99, 16).astype(np.int32), np.zeros(16, np.int32)),
            launch("cluster_sum", 16, 32, cluster=size),
            ranked(size),
        )
        for size in (2, 4, 8, 16)
    ),
    Case(
        "cluster_histogram",
        lambda g: (g.integers(0, 128, 2000).astype(np.int32), 2000, np.zeros(128, np.int32)),
        launch("cluster_histogram", 4, 64, cluster=(4, 1, 1)),
        lambda x, n, bins: (np.bincount(x, minlength=128),),
    ),
    Case(
        "grid_rounds",
        lambda g: (g.integers(-9, 9, 512).astype(np.int32), 3),
        launch("grid_rounds", 8, 64, cooperative=True),
        rounds,
    ),
    Case(
        "grid_sum",
        lambda g: (
            g.integers(-99, 99, 3000).astype(np.int32),
            3000,
            np.zeros(6, "i4"),
            np.zeros(1, "i4"),
        ),
        launch("grid_sum", 6, 64, cooperative=True),
        lambda x, n, partial, out: ([x.sum()],),
    ),
)
