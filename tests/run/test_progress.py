"""Threads that wait for each other: every one of them gets its turn."""

from __future__ import annotations

from functools import lru_cache
from typing import Any

import numpy as np
import pytest

import ptxkit
from ptxkit.run import CpuModule, SimulationError

SOURCE = r"""
__device__ void lock(int *mutex) { while (atomicCAS(mutex, 0, 1) != 0) {} __threadfence(); }
__device__ void unlock(int *mutex) { __threadfence(); atomicExch(mutex, 0); }

// Every lane of every warp of every block takes the same lock.
extern "C" __global__ void locks(int *mutex, int *count) {
    lock(mutex);
    *(volatile int *)count = *(volatile int *)count + 1;
    unlock(mutex);
}

// With back-off, and the lock taken inside a loop.
extern "C" __global__ void backoff(int *mutex, int *count) {
    bool done = false;
    unsigned wait = 8;
    while (!done) {
        if (atomicCAS(mutex, 0, 1) == 0) {
            *(volatile int *)count = *(volatile int *)count + 1;
            __threadfence();
            atomicExch(mutex, 0);
            done = true;
        } else {
            __nanosleep(wait);
            if (wait < 256) wait *= 2;
        }
    }
}

// Lane n waits for lane n + 1 of its own warp.
extern "C" __global__ void lanes(volatile int *flags, int *order) {
    int lane = threadIdx.x;
    if (lane < 31) while (flags[lane + 1] == 0) {}
    order[lane] = atomicAdd((int *)flags + 32, 1);
    __threadfence();
    flags[lane] = 1;
}

// A ring of warps: each passes on what it gets from the one before, plus one.
extern "C" __global__ void ring(int *out, int rounds) {
    __shared__ volatile int slots[32];
    int warp = threadIdx.x / 32, warps = blockDim.x / 32;
    if (threadIdx.x < 32) slots[threadIdx.x] = -1;
    __syncthreads();
    if (threadIdx.x % 32 == 0) {
        int value = 0;
        for (int r = 0; r < rounds; ++r) {
            if (warp != 0 || r != 0) {
                while (slots[warp] < 0) {}
                value = slots[warp] + 1;
                slots[warp] = -1;
            }
            while (slots[(warp + 1) % warps] >= 0) {}
            slots[(warp + 1) % warps] = value;
        }
        if (warp == 0) { while (slots[0] < 0) {} *out = slots[0]; }
    }
}

// Each block waits for the one after it: a later block must begin before an earlier one ends.
extern "C" __global__ void blocks(volatile int *flags, int *order, int *next) {
    if (threadIdx.x == 0) {
        if (blockIdx.x + 1 < gridDim.x)
            while (flags[blockIdx.x + 1] == 0) {}
        order[blockIdx.x] = atomicAdd(next, 1);
        __threadfence();
        flags[blockIdx.x] = 1;
    }
}

// A chained scan: each block waits for the total of those before it.
extern "C" __global__ void look_back(const int *x, int *out, volatile int *totals,
                                     volatile int *ready) {
    __shared__ int before;
    int value = x[blockIdx.x * blockDim.x + threadIdx.x];
    if (threadIdx.x == 0) {
        if (blockIdx.x > 0) {
            while (!ready[blockIdx.x - 1]) {}
            before = totals[blockIdx.x - 1];
        } else before = 0;
        int sum = before;
        for (int i = 0; i < blockDim.x; ++i) sum += x[blockIdx.x * blockDim.x + i];
        totals[blockIdx.x] = sum;
        __threadfence();
        ready[blockIdx.x] = 1;
    }
    __syncthreads();
    out[blockIdx.x * blockDim.x + threadIdx.x] = value + before;
}

// Half of a warp arrives at a barrier of the block that the other half reaches by another way.
extern "C" __global__ void halves(int *out) {
    __shared__ int x[64];
    x[threadIdx.x] = threadIdx.x;
    if (threadIdx.x % 2) { x[threadIdx.x] += 100; __syncthreads(); }
    else { x[threadIdx.x] += 200; __syncthreads(); }
    out[threadIdx.x] = x[63 - threadIdx.x];
}

extern "C" __global__ void forever(volatile int *flag) { while (*flag == 0) {} }
"""


@lru_cache(maxsize=1)
def module() -> CpuModule:
    return ptxkit.load(ptxkit.compile_cuda(SOURCE, arch="sm_80"), device="cpu")


def integers(*shape: int) -> Any:
    return np.zeros(shape, np.int32)


@pytest.mark.parametrize("name", ["locks", "backoff"])
@pytest.mark.parametrize("threads", [1, 2])
def test_a_lock_that_all_threads_take(name: str, threads: int) -> None:
    mutex, count = integers(1), integers(1)
    module()[name][3, 64](mutex, count, threads=threads)
    assert count[0] == 192
    assert mutex[0] == 0


def test_lanes_that_wait_for_the_next_one() -> None:
    flags, order = integers(33), integers(32)
    module()["lanes"][1, 32](flags, order)
    assert order.tolist() == list(range(31, -1, -1))


def test_warps_that_hand_on() -> None:
    out = integers(1)
    module()["ring"][1, 8 * 32](out, 20)
    assert out[0] == 8 * 20 - 1


@pytest.mark.parametrize("threads", [1, 2])
def test_blocks_that_wait_for_later_ones(threads: int) -> None:
    flags, order, counter = integers(24), integers(24), integers(1)
    module()["blocks"][24, 32](flags, order, counter, threads=threads)
    assert order.tolist() == list(range(23, -1, -1))


def test_a_chained_scan() -> None:
    x = np.random.default_rng(0).integers(-9, 9, 64 * 64).astype(np.int32)
    out, totals, ready = integers(x.size), integers(64), integers(64)
    module()["look_back"][64, 64](x, out, totals, ready)
    sums = np.cumsum(x.reshape(64, 64).sum(1))
    assert np.array_equal(out, x + np.repeat(np.concatenate([[0], sums[:-1]]), 64))


def test_a_barrier_reached_on_two_ways() -> None:
    out = integers(64)
    module()["halves"][1, 64](out)
    n = 63 - np.arange(64)
    assert np.array_equal(out, n + np.where(n % 2, 100, 200))


def test_the_step_limit_ends_an_endless_loop() -> None:
    with pytest.raises(SimulationError) as caught:
        module()["forever"][2, 32](integers(1), step_limit=100_000)
    assert caught.value.kind == "step-limit"
