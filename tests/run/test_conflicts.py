"""Memory that threads race for, and what comes of it."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import ptxkit

SOURCE = """
#define I (blockIdx.x * blockDim.x + threadIdx.x)
extern "C" __global__ void own(int *x, int *y) { y[I] = x[I] * 2; x[I] = 7; }
extern "C" __global__ void step(int *x, int *y) {       // two threads to a state
    int v = x[I / 2] * 5 + 1; x[I / 2] = v; y[I] = v;
}
extern "C" __global__ void flag(int *x, int *y) { if (I > 5) x[0] = 1; y[I] = 3; }
extern "C" __global__ void winner(int *x, int *y) { x[0] = I; y[I] = 3; }
extern "C" __global__ void barrier(int *x, int *y) {
    x[threadIdx.x] = threadIdx.x + 1; __syncthreads();
    y[threadIdx.x] = x[blockDim.x - 1 - threadIdx.x];
}
extern "C" __global__ void warp(int *x, int *y) {
    x[threadIdx.x] = threadIdx.x + 1; __syncwarp(); y[threadIdx.x] = x[threadIdx.x ^ 1];
}
extern "C" __global__ void shared(int *x, int *y) {
    __shared__ int t; if (threadIdx.x == 0) { t = x[0]; x[0] = I + 9; }
    __syncthreads(); y[I] = t;
}
extern "C" __global__ void add(int *x, int *y) { y[I] = atomicAdd(x, 1); }
extern "C" __global__ void fence(int *x, int *y) { x[0] = I; __threadfence(); y[I] = 1; }
"""
N = 128


@pytest.fixture(scope="module")
def kernels() -> Any:
    return ptxkit.load(ptxkit.compile_cuda(SOURCE, arch="sm_90"), "cpu")


# For each kernel: blocks, and the numbers of x and y that depend on races; None: nothing is known.
EXPECTED: dict[str, tuple[int, tuple[int, int] | None]] = {
    "own": (2, (0, 0)),
    "step": (2, (N // 2, N)),
    "flag": (2, (0, 0)),
    "winner": (2, (1, 0)),
    "barrier": (1, (0, 0)),
    "warp": (1, (0, 0)),
    "shared": (2, (1, N)),
    "add": (2, (0, 0)),
    "fence": (2, None),
}


@pytest.mark.parametrize("name", EXPECTED)
@pytest.mark.parametrize("descending", [False, True])
def test_bytes_that_depend_on_races(kernels: Any, name: str, descending: bool) -> None:
    blocks, expected = EXPECTED[name]
    x, y = np.full(N, -1, np.int32), np.full(N, -1, np.int32)
    launch = kernels[name][blocks, N // blocks]
    found = launch(x, y, conflicts=True, descending=descending).conflicts
    if expected is None:
        assert found is None
        return
    words = [
        len({address // 4 for address in found if 0 <= address - a.ctypes.data < a.nbytes})
        for a in (x, y)
    ]
    assert tuple(words) == expected
    assert launch(x, y).conflicts is None  # only where it is asked for


def test_bytes_of_one_word_belong_to_whoever_writes_them() -> None:
    kernel = ptxkit.load(
        ptxkit.compile_cuda(
            'extern "C" __global__ void k(char *x) { x[threadIdx.x] = threadIdx.x + 1; }'
        ),
        "cpu",
    )["k"]
    assert kernel[1, 64](np.zeros(64, np.int8), conflicts=True).conflicts == frozenset()


def test_who_changed_a_byte_is_known_though_another_one_changed_the_next() -> None:
    """The first and the last one change both bytes, the one between them one of these."""
    kernel = ptxkit.load(
        ptxkit.compile_cuda(
            """extern "C" __global__ void k(short *x) {
                if (threadIdx.x == 0) *x = 0x0203;
                if (threadIdx.x == 32) *(char *)x = 4;
                if (threadIdx.x == 64) *x = 0x0405;
            }"""
        ),
        "cpu",
    )["k"]
    x = np.full(1, 0x0101, np.int16)
    found = kernel[1, 96](x, conflicts=True).conflicts
    assert {address - x.ctypes.data for address in found} == {0, 1}
