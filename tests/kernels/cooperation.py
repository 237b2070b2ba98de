"""Warps, cooperative groups and atomics."""

from __future__ import annotations

from typing import Any

import numpy as np

from tests.kernels.kernel import Kernel, Setup, floats, integers, line, small, zeros


def padded(x: Any, width: int) -> Any:
    return np.pad(x, (0, -len(x) % width)).reshape(-1, width)


def ballots(x: Any, masks: Any, counts: Any, n: int) -> Any:
    bits = padded((x > 0).astype(np.uint64), 32)
    words = (bits << np.arange(32, dtype=np.uint64)).sum(axis=1).astype(np.uint32)
    return words, bits.sum(axis=1).astype(np.int32)


def grid_rounds(x: Any, n: int, rounds: int) -> Any:
    out = x.astype(np.int64)
    for _ in range(rounds):
        out = out + np.roll(out, -1)
    return (out.astype(np.int32),)


def shuffled(x: Any, y: Any) -> Any:
    rows = x.reshape(-1, 32)
    return (rows[:, ::-1].ravel() * 2 + np.repeat(rows[:, 5], 32),)


KERNELS = (
    Kernel(
        "warp_ballot",
        r"""
extern "C" __global__ void warp_ballot(const int *x, unsigned int *masks, int *counts, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    unsigned int mask = __ballot_sync(0xffffffff, i < n && x[i] > 0);
    if ((threadIdx.x & 31) == 0 && i < n) {
        masks[i / 32] = mask;
        counts[i / 32] = __popc(mask);
    }
}
""",
        lambda g, n: line(
            n, integers(g, n), zeros(-(-n // 32), dtype="u4"), zeros(-(-n // 32), dtype="i4"), n
        ),
        ballots,
    ),
    Kernel(
        "warp_shuffle",
        r"""
extern "C" __global__ void warp_shuffle(const int *x, int *y)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    int lane = threadIdx.x % warpSize;
    int v = x[i];
    int mirrored = __shfl_sync(0xffffffff, v, 31 - lane);
    int fifth = __shfl_sync(0xffffffff, v, 5);
    y[i] = mirrored * 2 + fifth;
}
""",
        lambda g, n: Setup(n, 64, (integers(g, 64 * n), zeros(64 * n, dtype="i4"))),
        shuffled,
        sizes=(1, 3),
    ),
    Kernel(
        "warp_votes",
        r"""
extern "C" __global__ void warp_votes(const float *x, int *flags, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    float v = i < n ? x[i] : 0.f;
    int result = 0;
    if (__any_sync(0xffffffffu, v > 2.f)) result |= 1;
    if (__all_sync(0xffffffffu, v > -2.f)) result |= 2;
    if (i < n) flags[i] = result;
}
""",
        lambda g, n: line(n, floats(g, n), zeros(n, dtype="i4"), n),
        lambda x, f, n: (
            np.repeat(
                (padded(x, 32) > 2).any(axis=1) + 2 * (padded(x, 32) > -2).all(axis=1), 32
            )[:n],
        ),
    ),
    Kernel(
        "warp_aggregated_counter",
        r"""
extern "C" __global__ void warp_aggregated_counter(const int *x, int n, int *out, int *counter)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n && x[i] % 2 == 0) {
        unsigned int active = __activemask();
        int leader = __ffs(active) - 1;
        int lane = threadIdx.x & 31;
        int base;
        if (lane == leader) base = atomicAdd(counter, __popc(active));
        base = __shfl_sync(active, base, leader);
        out[base + __popc(active & ((1u << lane) - 1))] = x[i];
    }
}
""",
        lambda g, n: Setup(1, 32, (integers(g, n), n, zeros(32, dtype="i4"), zeros(1, dtype="i4"))),
        lambda x, n, out, c: (
            np.pad(x[x % 2 == 0], (0, 32 - int(np.sum(x % 2 == 0)))), [np.sum(x % 2 == 0)]
        ),
        sizes=(1, 20, 32),
    ),
    Kernel(
        "cg_tile_reduce",
        r"""
#include <cooperative_groups.h>
namespace cg = cooperative_groups;

extern "C" __global__ void cg_tile_reduce(const int *in, int *out, int n)
{
    cg::thread_block block = cg::this_thread_block();
    cg::thread_block_tile<16> tile = cg::tiled_partition<16>(block);
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    int v = i < n ? in[i] : 0;
    for (int o = tile.size() / 2; o > 0; o /= 2)
        v += tile.shfl_down(v, o);
    if (tile.thread_rank() == 0 && i < n) out[i / 16] = v;
}
""",
        lambda g, n: line(n, integers(g, n), zeros(-(-n // 16), dtype="i4"), n, block=64),
        lambda x, y, n: (padded(x, 16).sum(axis=1),),
    ),
    Kernel(
        "cg_block_sum",
        r"""
#include <cooperative_groups.h>
using namespace cooperative_groups;

__device__ int reduce_sum(thread_group g, int *temp, int val)
{
    int lane = g.thread_rank();
    for (int i = g.size() / 2; i > 0; i /= 2) {
        temp[lane] = val;
        g.sync();
        if (lane < i) val += temp[lane + i];
        g.sync();
    }
    return val;
}

extern "C" __global__ void cg_block_sum(const int *input, int *sum, int n)
{
    extern __shared__ int temp[];
    int my_sum = 0;
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += blockDim.x * gridDim.x)
        my_sum += input[i];
    auto g = this_thread_block();
    int block_sum = reduce_sum(g, temp, my_sum);
    if (g.thread_rank() == 0) atomicAdd(sum, block_sum);
}
""",
        lambda g, n: Setup(2, 64, (integers(g, n), zeros(1, dtype="i4"), n), 256),
        lambda x, s, n: ([x.sum()],),
    ),
    Kernel(
        "cg_grid_rounds",
        r"""
#include <cooperative_groups.h>
namespace cg = cooperative_groups;

extern "C" __global__ void cg_grid_rounds(int *x, int n, int rounds)
{
    cg::grid_group grid = cg::this_grid();
    int i = grid.thread_rank();
    for (int r = 0; r < rounds; ++r) {
        int neighbour = i < n ? x[(i + 1) % n] : 0;
        grid.sync();
        if (i < n) x[i] += neighbour;
        grid.sync();
    }
}
""",
        lambda g, n: Setup(4, 64, (integers(g, n), n, 3), cooperative=True),
        grid_rounds,
        sizes=(1, 37, 200),
    ),
    Kernel(
        "atomic_float_max",
        r"""
__device__ float atomicMaxFloat(float *address, float val)
{
    int *address_as_i = (int *)address;
    int old = *address_as_i, assumed;
    do {
        assumed = old;
        old = atomicCAS(address_as_i, assumed, __float_as_int(fmaxf(val, __int_as_float(assumed))));
    } while (assumed != old);
    return __int_as_float(old);
}

extern "C" __global__ void atomic_float_max(const float *x, int n, float *result)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) atomicMaxFloat(result, x[i]);
}
""",
        lambda g, n: line(n, floats(g, n), n, zeros(1) - 100),
        lambda x, n, r: ([x.max()],),
    ),
    Kernel(
        "atomic_double_add",
        r"""
__device__ double atomicAddDouble(double *address, double val)
{
    unsigned long long int *address_as_ull = (unsigned long long int *)address;
    unsigned long long int old = *address_as_ull, assumed;
    do {
        assumed = old;
        old = atomicCAS(address_as_ull, assumed,
                        __double_as_longlong(val + __longlong_as_double(assumed)));
    } while (assumed != old);
    return __longlong_as_double(old);
}

extern "C" __global__ void atomic_double_add(const double *x, double *sums, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) atomicAddDouble(&sums[i % 4], x[i]);
}
""",
        lambda g, n: line(n, g.integers(-9, 9, n).astype("f8"), zeros(4, dtype="f8"), n),
        lambda x, s, n: (np.bincount(np.arange(n) % 4, x, minlength=4),),
    ),
    Kernel(
        "spin_lock_sum",
        r"""
extern "C" __global__ void spin_lock_sum(int *mutex, const float *values, float *total, int n)
{
    __shared__ float partial[64];
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    partial[threadIdx.x] = i < n ? values[i] : 0.f;
    __syncthreads();
    if (threadIdx.x == 0) {
        float sum = 0.f;
        for (int k = 0; k < blockDim.x; ++k) sum += partial[k];
        while (atomicCAS(mutex, 0, 1) != 0)
            ;
        __threadfence();
        *((volatile float *)total) += sum;
        __threadfence();
        atomicExch(mutex, 0);
    }
}
""",
        lambda g, n: line(n, zeros(1, dtype="i4"), small(g, n), zeros(1), n, block=64),
        lambda m, v, t, n: ([v.sum()],),
    ),
    Kernel(
        "bitset_atomics",
        r"""
extern "C" __global__ void bitset_atomics(const unsigned int *items, int n, unsigned int *set, unsigned int *parity, unsigned int *common)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    unsigned int item = items[i];
    atomicOr(&set[item / 32 % 8], 1u << (item % 32));
    atomicXor(&parity[item % 4], item);
    atomicAnd(common, item | 0xff);
}
""",
        lambda g, n: line(
            n, g.integers(0, 256, n).astype("u4"), n, zeros(8, dtype="u4"), zeros(4, dtype="u4"),
            np.array([0xFFFF], "u4"),
        ),
        lambda x, n, s, p, c: (
            [sum({1 << int(v % 32) for v in x if v // 32 % 8 == k}) for k in range(8)],
            [int(np.bitwise_xor.reduce(x[x % 4 == k], initial=0)) for k in range(4)],
            [int(np.bitwise_and.reduce(x | np.uint32(0xFF))) & 0xFFFF],
        ),
    ),
    Kernel(
        "ring_tickets",
        r"""
extern "C" __global__ void ring_tickets(unsigned int *head, int *used, int limit)
{
    unsigned int ticket = atomicInc(head, limit - 1);
    atomicAdd(&used[ticket], 1);
    if (blockIdx.x == 0 && threadIdx.x == 0) atomicSub(&used[0], 1);
}
""",
        lambda g, n: Setup(2, 64, (zeros(1, dtype="u4"), zeros(n, dtype="i4"), n)),
        lambda h, u, n: (
            [128 % n], np.array([128 // n + (k < 128 % n) for k in range(n)]) - (np.arange(n) == 0)
        ),
        sizes=(1, 7, 128),
    ),
)  # fmt: skip
