"""Cooperative groups: tiles, partitions and reductions below the grid."""

from __future__ import annotations

from typing import Any

import numpy as np
from tests.run.kernels.case import Case, launch

SOURCE = r"""
#include <cooperative_groups.h>
#include <cooperative_groups/reduce.h>
#include <cooperative_groups/scan.h>
namespace cg = cooperative_groups;

extern "C" __global__ void tile_reduce(const int *x, int *sums, int *most) {
    auto tile = cg::tiled_partition<8>(cg::this_thread_block());
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    int sum = cg::reduce(tile, x[i], cg::plus<int>());
    int top = cg::reduce(tile, x[i], cg::greater<int>());
    if (tile.thread_rank() == 0) { sums[i / 8] = sum; most[i / 8] = top; }
}

extern "C" __global__ void block_reduce(const float *x, float *out, int n) {
    __shared__ float partial[32];
    cg::thread_block block = cg::this_thread_block();
    cg::thread_block_tile<32> warp = cg::tiled_partition<32>(block);
    float sum = 0;
    for (int i = block.thread_rank(); i < n; i += block.size()) sum += x[blockIdx.x * n + i];
    sum = cg::reduce(warp, sum, cg::plus<float>());
    if (warp.thread_rank() == 0) partial[warp.meta_group_rank()] = sum;
    block.sync();
    if (warp.meta_group_rank() == 0) {
        sum = warp.thread_rank() < warp.meta_group_size() ? partial[warp.thread_rank()] : 0;
        sum = cg::reduce(warp, sum, cg::plus<float>());
        if (warp.thread_rank() == 0) out[blockIdx.x] = sum;
    }
}

extern "C" __global__ void tile_scan(const int *x, int *out) {
    auto tile = cg::tiled_partition<16>(cg::this_thread_block());
    out[threadIdx.x] = cg::exclusive_scan(tile, x[threadIdx.x], cg::plus<int>());
}

// Only the threads that are active together: one atomic for all of them.
extern "C" __global__ void aggregated(const int *x, int *count, int *sum, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n && x[i] > 0) {
        cg::coalesced_group active = cg::coalesced_threads();
        if (active.thread_rank() == 0) atomicAdd(count, active.size());
        int together = cg::reduce(active, x[i], cg::plus<int>());
        if (active.thread_rank() == 0) atomicAdd(sum, together);
    }
}

extern "C" __global__ void labelled(const int *keys, int *sizes, unsigned *ranks) {
    auto warp = cg::tiled_partition<32>(cg::this_thread_block());
    auto same = cg::labeled_partition(warp, keys[threadIdx.x]);
    sizes[threadIdx.x] = same.size();
    ranks[threadIdx.x] = same.thread_rank();
}

extern "C" __global__ void exchanges(const int *x, int *out) {
    auto tile = cg::tiled_partition<4>(cg::this_thread_block());
    int v = x[threadIdx.x];
    int mixed = tile.shfl(v, 3) - tile.shfl_down(v, 1) + 2 * tile.shfl_xor(v, 2);
    out[threadIdx.x] = mixed + 1000 * tile.any(v < 0) + 2000 * tile.all(v < 50);
}
"""


def integers(g: np.random.Generator, count: int, low: int = -99, high: int = 99) -> Any:
    return g.integers(low, high, count).astype(np.int32)


def partitions(keys: Any, sizes: Any, ranks: Any) -> tuple[Any, ...]:
    warps = keys.reshape(-1, 32)
    same = warps[:, :, None] == warps[:, None, :]
    before = np.tril(np.ones((32, 32), bool), -1)
    return same.sum(axis=2).reshape(-1), (same & before).sum(axis=2).reshape(-1)


def exchanged(x: Any, out: Any) -> tuple[Any, ...]:
    tiles = x.reshape(-1, 4)
    down = np.concatenate([tiles[:, 1:], tiles[:, 3:]], axis=1)
    mixed = tiles[:, 3:] - down + 2 * tiles[:, [2, 3, 0, 1]]
    votes = 1000 * (tiles < 0).any(axis=1) + 2000 * (tiles < 50).all(axis=1)
    return ((mixed + votes[:, None]).reshape(-1),)


CASES = (
    Case(
        "tile_reduce",
        lambda g: (integers(g, 128), np.zeros(16, np.int32), np.zeros(16, np.int32)),
        launch("tile_reduce", 2, 64),
        lambda x, s, m: (x.reshape(-1, 8).sum(axis=1), x.reshape(-1, 8).max(axis=1)),
    ),
    Case(
        "block_reduce",
        lambda g: (g.integers(-99, 99, (3, 500)).astype(np.float32), np.zeros(3, np.float32), 500),
        launch("block_reduce", 3, 128),
        lambda x, out, n: (x.sum(axis=1),),
    ),
    Case(
        "tile_scan",
        lambda g: (integers(g, 64), np.zeros(64, np.int32)),
        launch("tile_scan", 1, 64),
        lambda x, out: ((np.cumsum(x.reshape(-1, 16), axis=1) - x.reshape(-1, 16)).reshape(-1),),
    ),
    Case(
        "aggregated",
        lambda g: (integers(g, 300), np.zeros(1, np.int32), np.zeros(1, np.int32), 300),
        launch("aggregated", 5, 64),
        lambda x, count, total, n: ([(x > 0).sum()], [x[x > 0].sum()]),
    ),
    Case(
        "labelled",
        lambda g: (integers(g, 64, 0, 5), np.zeros(64, np.int32), np.zeros(64, np.uint32)),
        launch("labelled", 1, 64),
        partitions,
    ),
    Case(
        "exchanges",
        lambda g: (integers(g, 64), np.zeros(64, np.int32)),
        launch("exchanges", 1, 64),
        exchanged,
    ),
)
