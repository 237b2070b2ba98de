"""The simulator's speed: thread instructions a second, on one core and on all."""

from __future__ import annotations

import os
from collections.abc import Iterator
from time import process_time
from typing import Any

import numpy as np

import ptxkit
from benchmarks.report import Bar, Row, Settings
from benchmarks.timing import interleave, measure

SOURCE = r"""
extern "C" __global__ void saxpy(float a, const float *x, float *y, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) y[i] = a * x[i] + y[i];
}

extern "C" __global__ void matmul(const float *a, const float *b, float *c, int n) {
    __shared__ float left[16][16], right[16][16];
    int row = blockIdx.y * 16 + threadIdx.y, column = blockIdx.x * 16 + threadIdx.x;
    float sum = 0;
    for (int t = 0; t < n / 16; ++t) {
        left[threadIdx.y][threadIdx.x] = a[row * n + t * 16 + threadIdx.x];
        right[threadIdx.y][threadIdx.x] = b[(t * 16 + threadIdx.y) * n + column];
        __syncthreads();
        for (int k = 0; k < 16; ++k) sum += left[threadIdx.y][k] * right[k][threadIdx.x];
        __syncthreads();
    }
    c[row * n + column] = sum;
}

extern "C" __global__ void histogram(const unsigned char *x, unsigned *bins, int n) {
    __shared__ unsigned local[256];
    local[threadIdx.x] = 0;
    __syncthreads();
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
        atomicAdd(&local[x[i]], 1u);
    __syncthreads();
    atomicAdd(&bins[threadIdx.x], local[threadIdx.x]);
}
"""
#: Kernels that the bar is for.
_BAR = {"saxpy": Bar(300.0, "ours"), "matmul": Bar(300.0, "ours")}


def launches(size: int) -> dict[str, tuple[Any, Any, tuple[Any, ...]]]:
    """Grid, block and arguments of each kernel."""
    random = np.random.default_rng(0)
    count = max(256, size // 256 * 256)
    side = max(16, round(count**0.5 / 4) // 16 * 16)
    x, y = random.random((2, count), dtype=np.float32)
    a, b = random.random((2, side, side), dtype=np.float32)
    data = random.integers(0, 256, count).astype(np.uint8)
    return {
        "saxpy": (count // 256, 256, (2.0, x, y, count)),
        "matmul": ((side // 16, side // 16), (16, 16), (a, b, np.zeros_like(a), side)),
        "histogram": (64, 256, (data, np.zeros(256, np.uint32), count)),
    }


def benchmark(settings: Settings) -> Iterator[Row]:
    """A row for each kernel on one core, and one on all."""
    loaded = ptxkit.load(ptxkit.compile_cuda(SOURCE, arch="sm_80"), device="cpu")
    cores = os.cpu_count() or 1
    for name, (grid, block, arguments) in launches(settings.size).items():
        launch = loaded[name][grid, block]
        executed = sum(count for _, count in launch(*arguments, threads=1, count=True).counts)

        def work(threads: int, launch: Any = launch, arguments: Any = arguments) -> None:
            launch(*arguments, threads=threads)

        # Seconds of the processor for one core: a busy machine takes turns, and does not count.
        alone = measure(lambda: work(1), repeat=settings.repeat, clock=process_time)
        yield Row(
            f"simulate {name}, 1 core",
            executed / alone.minimum / 1e6,
            "M thread instructions/s",
            bar=_BAR.get(name),
            note=f"{executed:,} of them",
        )
        # How it scales is a matter of time that passes, with one and with all, in turns; on a busy
        # machine the processor's time says better whether the work only divides.
        both = {"one": lambda: work(1), "all": lambda: work(cores)}
        passed = interleave(both, repeat=settings.repeat)
        spent = interleave(both, repeat=settings.repeat, clock=process_time)
        yield Row(
            f"simulate {name}, {cores} threads",
            executed / passed["all"].minimum / 1e6,
            "M thread instructions/s",
            "1 thread",
            executed / passed["one"].minimum / 1e6,
            note="by the clock on the wall",
        )
        yield Row(
            f"simulate {name}, processor time of {cores} threads",
            spent["all"].minimum / spent["one"].minimum,
            "of 1 thread's",
            higher_is_better=False,
        )
