"""Whole kernels on the simulator against numpy: what people write, compiled by NVRTC."""

from __future__ import annotations

from functools import lru_cache

import numpy as np
import pytest

import ptxkit
from ptxkit.run import CpuModule, LaunchError, SimulationError

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

__device__ __noinline__ int fibonacci(int n) {
    return n < 2 ? n : fibonacci(n - 1) + fibonacci(n - 2);
}
extern "C" __global__ void recursion(int *out) { out[threadIdx.x] = fibonacci(threadIdx.x % 12); }

extern "C" __global__ void total(const int *x, int *out, int n) {
    int sum = 0;
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
        sum += x[i];
    for (int d = 16; d; d /= 2) sum += __shfl_down_sync(~0u, sum, d);
    __shared__ int partial[32];
    if (threadIdx.x % 32 == 0) partial[threadIdx.x / 32] = sum;
    __syncthreads();
    if (threadIdx.x < 32) {
        sum = threadIdx.x < blockDim.x / 32 ? partial[threadIdx.x] : 0;
        for (int d = 16; d; d /= 2) sum += __shfl_down_sync(~0u, sum, d);
        if (threadIdx.x == 0) atomicAdd(out, sum);
    }
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

extern "C" __global__ void switches(const long long *a, const long long *b, long long *o) {
    int i = threadIdx.x;
    long long v = b[i] ? a[i] / b[i] + a[i] % b[i] : 0;
    switch (i % 6) {
        case 0: v += 1; break;
        case 1: v *= 3; break;
        case 2: v ^= 7; break;
        case 3: v -= 100; break;
        case 4: v <<= 2; break;
    }
    o[i] = v;
}

extern "C" __global__ void scan(int *x) {
    extern __shared__ int data[];
    int i = threadIdx.x;
    data[i] = x[i];
    for (int d = 1; d < blockDim.x; d *= 2) {
        __syncthreads();
        int before = i >= d ? data[i - d] : 0;
        __syncthreads();
        data[i] += before;
    }
    x[i] = data[i];
}

struct Particle { float position[3]; int kind; };
extern "C" __global__ void by_value(Particle p, float *out) {
    out[threadIdx.x] = p.position[threadIdx.x % 3] * p.kind;
}

__device__ int counter = 5;
__constant__ float table[4] = {1.5f, 2.5f, 3.5f, 4.5f};
extern "C" __global__ void variables(float *out) {
    out[threadIdx.x] = table[threadIdx.x % 4];
    atomicAdd(&counter, 1);
}

extern "C" __global__ void spin(int *lock, int *value) {
    while (atomicCAS(lock, 0, 1) != 0) {}
    *value += 1;
    __threadfence();
    atomicExch(lock, 0);
}

extern "C" __global__ void softmax(const float *x, float *y) {
    float v = x[blockIdx.x * 32 + threadIdx.x], m = v;
    for (int d = 16; d; d /= 2) m = fmaxf(m, __shfl_xor_sync(~0u, m, d));
    float e = expf(v - m), s = e;
    for (int d = 16; d; d /= 2) s += __shfl_xor_sync(~0u, s, d);
    y[blockIdx.x * 32 + threadIdx.x] = e / s;
}

extern "C" __global__ void doubles(const double *x, double *y) {
    double v = x[threadIdx.x];
    y[threadIdx.x] = sin(v) + exp(-fabs(v)) + sqrt(fabs(v)) + log(fabs(v) + 1) + pow(fabs(v), 0.3);
}

extern "C" __global__ void deadlock(int *x) {
    if (threadIdx.x < 32) __syncthreads();
    else while (x[0] == 0) asm volatile("bar.sync 1;");
}
"""


@lru_cache(maxsize=1)
def loaded() -> CpuModule:
    return ptxkit.load(ptxkit.compile_cuda(SOURCE, arch="sm_80"), device="cpu")


def generator() -> np.random.Generator:
    return np.random.default_rng(7)


def test_saxpy() -> None:
    n = 1000
    x, y = generator().random((2, n), dtype=np.float32)
    expected = (np.float64(2.5) * x + y).astype(np.float32)
    loaded()["saxpy"][4, 256](2.5, x, y, n)
    np.testing.assert_array_equal(y, expected)


def test_matmul() -> None:
    a, b = generator().integers(-8, 8, (2, 64, 64)).astype(np.float32)
    c = np.zeros_like(a)
    loaded()["matmul"][(4, 4), (16, 16)](a, b, c, 64)
    np.testing.assert_array_equal(c, a @ b)


def test_recursion() -> None:
    out = np.zeros(64, np.int32)
    loaded()["recursion"][1, 64](out)
    numbers = [0, 1]
    while len(numbers) < 12:
        numbers.append(numbers[-1] + numbers[-2])
    np.testing.assert_array_equal(out, [numbers[i % 12] for i in range(64)])


def test_reduction_with_shuffles() -> None:
    x = generator().integers(-1000, 1000, 10_000).astype(np.int32)
    out = np.zeros(1, np.int32)
    loaded()["total"][8, 256](x, out, len(x))
    assert out[0] == x.sum()


def test_histogram() -> None:
    x = generator().integers(0, 256, 20_000).astype(np.uint8)
    bins = np.zeros(256, np.uint32)
    loaded()["histogram"][4, 256](x, bins, len(x))
    np.testing.assert_array_equal(bins, np.bincount(x, minlength=256))


def test_switch_and_64_bit_division() -> None:
    a, b = generator().integers(-(2**62), 2**62, (2, 96))
    b >>= generator().integers(0, 60, 96)
    out = np.zeros(96, np.int64)
    loaded()["switches"][1, 96](a, b, out)
    for i in range(96):
        p, q = int(a[i]), int(b[i])
        quotient = abs(p) // abs(q) * (1 if (p < 0) == (q < 0) else -1) if q else 0
        v = quotient + (p - quotient * q) if q else 0
        v = [v + 1, v * 3, v ^ 7, v - 100, v << 2, v][i % 6]
        assert int(out[i]) == (v + 2**63) % 2**64 - 2**63


def test_scan_in_dynamic_shared_memory() -> None:
    x = generator().integers(-50, 50, 256).astype(np.int32)
    expected = np.cumsum(x)
    loaded()["scan"][1, 256, 1024](x)
    np.testing.assert_array_equal(x, expected)


def test_struct_by_value() -> None:
    particle = np.zeros((), dtype=[("position", np.float32, 3), ("kind", np.int32)])
    particle["position"], particle["kind"] = [1.5, -2, 4], 3
    out = np.zeros(32, np.float32)
    loaded()["by_value"][1, 32](particle, out)
    np.testing.assert_array_equal(out, np.resize(np.float32([4.5, -6, 12]), 32))


def test_module_variables() -> None:
    module = ptxkit.load(ptxkit.compile_cuda(SOURCE, arch="sm_80"), device="cpu")
    out = np.zeros(64, np.float32)
    module["variables"][1, 64](out)
    np.testing.assert_array_equal(out, np.resize(np.float32([1.5, 2.5, 3.5, 4.5]), 64))
    assert module.variable("counter").view(np.int32)[0] == 5 + 64


def test_threads_of_a_warp_make_progress_independently() -> None:
    lock, value = np.zeros(1, np.int32), np.zeros(1, np.int32)
    loaded()["spin"][2, 64](lock, value)
    assert (lock[0], value[0]) == (0, 128)


def test_softmax_within_float_error() -> None:
    x = generator().standard_normal((4, 32)).astype(np.float32)
    y = np.zeros_like(x)
    loaded()["softmax"][4, 32](x, y)
    e = np.exp(x.astype(np.float64) - x.max(axis=1, keepdims=True))
    np.testing.assert_allclose(y, e / e.sum(axis=1, keepdims=True), rtol=1e-6)


def test_double_math_functions() -> None:
    x = generator().standard_normal(64) * 10
    y = np.zeros(64)
    loaded()["doubles"][1, 64](x, y)
    a = np.abs(x)
    expected = np.sin(x) + np.exp(-a) + np.sqrt(a) + np.log(a + 1) + a**0.3
    np.testing.assert_allclose(y, expected, rtol=1e-14)


def test_any_number_of_threads_gives_the_same() -> None:
    x, y = generator().random((2, 4096), dtype=np.float32)
    results = []
    for threads in (1, 2, 5):
        out = y.copy()
        loaded()["saxpy"][32, 128](1.25, x, out, 4096, threads=threads)
        results.append(out)
    assert all((one == results[0]).all() for one in results)


def test_out_of_bounds_names_line_thread_and_argument() -> None:
    x = np.zeros(100, np.float32)
    with pytest.raises(SimulationError) as caught:
        loaded()["saxpy"][1, 128](1.0, x, np.zeros(128, np.float32), 128)
    error = caught.value
    assert error.kind == "out-of-bounds"
    assert error.thread == (100, 0, 0)
    assert "argument" in str(error) and "^" in str(error) and error.line > 1


def test_deadlock_is_reported() -> None:
    with pytest.raises(SimulationError) as caught:
        loaded()["deadlock"][1, 64](np.zeros(1, np.int32))
    assert caught.value.kind == "deadlock"


def test_step_limit() -> None:
    with pytest.raises(SimulationError) as caught:
        loaded()["spin"][1, 1](np.ones(1, np.int32), np.zeros(1, np.int32), step_limit=100_000)
    assert caught.value.kind == "step-limit"


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((1.0,), "takes 4 arguments, not 1"),
        ((1.0, 2.5, 3, 4), "cannot be passed"),
        ((np.zeros(4), np.zeros(4), np.zeros(4), 4), "not a pointer"),
        ((1.0, np.zeros(4), np.zeros(4), 1 << 40), "does not fit"),
        ((1.0, np.zeros((4, 4))[:, 1], np.zeros(4), 1), "not contiguous"),
        ((1.0, "x", np.zeros(4), 1), "cannot be passed"),
    ],
)
def test_bad_arguments(arguments: tuple[object, ...], message: str) -> None:
    with pytest.raises(LaunchError, match=message):
        loaded()["saxpy"][1, 32](*arguments)


def test_bad_launches() -> None:
    with pytest.raises(LaunchError, match="1024 threads"):
        loaded()["saxpy"][1, 2048]
    with pytest.raises(LaunchError, match="positive"):
        loaded()["saxpy"][0, 32]
    with pytest.raises(ptxkit.UnknownNameError, match="saxpy"):
        loaded()["nothing"]
