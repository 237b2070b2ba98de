"""Simulations and transforms: bodies, waves, option prices, a fast Fourier transform."""

from __future__ import annotations

from typing import Any

import numpy as np
from tests.run.kernels.case import Case, launch

SOURCE = r"""
extern "C" __global__ void n_body(const float4 *bodies, float4 *forces, int n) {
    __shared__ float4 tile[64];
    int i = blockIdx.x * 64 + threadIdx.x;
    float4 me = bodies[i];
    float x = 0, y = 0, z = 0;
    for (int base = 0; base < n; base += 64) {
        tile[threadIdx.x] = bodies[base + threadIdx.x];
        __syncthreads();
        for (int j = 0; j < 64; ++j) {
            float dx = tile[j].x - me.x, dy = tile[j].y - me.y, dz = tile[j].z - me.z;
            float r = rsqrtf(dx * dx + dy * dy + dz * dz + 1e-3f), f = tile[j].w * r * r * r;
            x += dx * f; y += dy * f; z += dz * f;
        }
        __syncthreads();
    }
    forces[i] = make_float4(x, y, z, 0);
}

extern "C" __global__ void n_body_double(const double *p, double *f, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    double sum[3] = {};
    for (int j = 0; j < n; ++j) {
        double d[3], square = 1e-3;
        for (int k = 0; k < 3; ++k) { d[k] = p[3 * j + k] - p[3 * i + k]; square += d[k] * d[k]; }
        double root = sqrt(square), inverse = 1.0 / (square * root);
        for (int k = 0; k < 3; ++k) sum[k] += d[k] * inverse;
    }
    for (int k = 0; k < 3; ++k) f[3 * i + k] = sum[k];
}

// One butterfly stage of a transform in place, after the order of bits was reversed.
extern "C" __global__ void fft_stage(double2 *x, int half) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    int k = i % half, a = (i - k) * 2 + k, b = a + half;
    double s, c;
    sincospi(-(double)k / half, &s, &c);
    double2 u = x[a], v = x[b];
    double2 t = make_double2(v.x * c - v.y * s, v.x * s + v.y * c);
    x[a] = make_double2(u.x + t.x, u.y + t.y);
    x[b] = make_double2(u.x - t.x, u.y - t.y);
}
extern "C" __global__ void bit_reverse(double2 *x, int bits) {
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x, j = __brev(i) >> (32 - bits);
    if (i < j) { double2 t = x[i]; x[i] = x[j]; x[j] = t; }
}

// A transform of 32 numbers within a warp, by shuffles.
extern "C" __global__ void fft_warp(float2 *x) {
    int lane = threadIdx.x;
    float2 v = x[blockIdx.x * 32 + (__brev(lane) >> 27)];
    for (int half = 1; half < 32; half *= 2) {
        float2 other = make_float2(__shfl_xor_sync(~0u, v.x, half), __shfl_xor_sync(~0u, v.y, half));
        bool low = (lane & half) == 0;
        float2 a = low ? v : other, b = low ? other : v;
        float s, c;
        sincospif(-(float)(lane & (half - 1)) / half, &s, &c);
        float2 t = make_float2(b.x * c - b.y * s, b.x * s + b.y * c);
        v = low ? make_float2(a.x + t.x, a.y + t.y) : make_float2(a.x - t.x, a.y - t.y);
    }
    x[blockIdx.x * 32 + lane] = v;
}

__device__ double normal_cdf(double x) { return 0.5 * erfc(-x * 0.70710678118654752); }
extern "C" __global__ void black_scholes(const double *price, const double *strike, double *call,
                                         double rate, double volatility, double years) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    double root = volatility * sqrt(years);
    double d1 = (log(price[i] / strike[i]) + (rate + 0.5 * volatility * volatility) * years) / root;
    call[i] = price[i] * normal_cdf(d1) - strike[i] * exp(-rate * years) * normal_cdf(d1 - root);
}

extern "C" __global__ void wave(const float *before, const float *now, float *next, int n, int steps) {
    extern __shared__ float u[];  // three rows
    int i = threadIdx.x;
    u[i] = before[i];
    u[n + i] = now[i];
    for (int t = 0; t < steps; ++t) {
        float *a = u + t % 3 * n, *b = u + (t + 1) % 3 * n, *c = u + (t + 2) % 3 * n;
        __syncthreads();
        float left = i ? b[i - 1] : 0, right = i + 1 < n ? b[i + 1] : 0;
        c[i] = 2 * b[i] - a[i] + 0.25f * (left - 2 * b[i] + right);
    }
    __syncthreads();
    next[i] = u[(steps + 1) % 3 * n + i];
}
"""


def forces(bodies: Any, out: Any, n: int) -> tuple[Any, ...]:
    p, mass = bodies[:, :3].astype(np.float64), bodies[:, 3].astype(np.float64)
    d = p[None, :, :] - p[:, None, :]
    inverse = ((d**2).sum(axis=2) + 1e-3) ** -1.5
    return (np.pad((d * (inverse * mass)[..., None]).sum(axis=1), ((0, 0), (0, 1))),)


def forces_double(p: Any, out: Any, n: int) -> tuple[Any, ...]:
    d = p[None, :, :] - p[:, None, :]
    return ((d * (((d**2).sum(axis=2) + 1e-3) ** -1.5)[..., None]).sum(axis=1),)


def transform(loaded: Any, x: Any) -> None:
    n = len(x)
    loaded["bit_reverse"][n // 64, 64](x, n.bit_length() - 1)
    half = 1
    while half < n:
        loaded["fft_stage"][n // 128, 64](x, half)
        half *= 2


def black_scholes(
    price: Any, strike: Any, call: Any, rate: float, volatility: float, years: float
) -> tuple[Any, ...]:
    from math import erfc

    cdf = np.vectorize(lambda x: 0.5 * erfc(-x * 0.5**0.5))
    root = volatility * np.sqrt(years)
    d1 = (np.log(price / strike) + (rate + volatility**2 / 2) * years) / root
    return (price * cdf(d1) - strike * np.exp(-rate * years) * cdf(d1 - root),)


def wave(before: Any, now: Any, out: Any, n: int, steps: int) -> tuple[Any, ...]:
    a, b = before.astype(np.float64), now.astype(np.float64)
    for _ in range(steps):
        p = np.pad(b, 1)
        a, b = b, 2 * b - a + 0.25 * (p[:-2] - 2 * b + p[2:])
    return (b,)


def complex_numbers(g: np.random.Generator, n: int, dtype: Any) -> tuple[Any, ...]:
    return ((g.standard_normal(n) + 1j * g.standard_normal(n)).astype(dtype),)


CASES = (
    Case(
        "n_body",
        lambda g: (g.uniform(0.1, 1, (128, 4)).astype(np.float32), np.zeros((128, 4), "f4"), 128),
        launch("n_body", 2, 64),
        forces,
        tolerance=1e-3,  # cancellation: forces of near bodies outweigh the sum
        approximate=True,
    ),
    Case(
        "n_body_double",
        lambda g: (g.standard_normal((60, 3)), np.zeros((60, 3)), 60),
        launch("n_body_double", 1, 64),
        forces_double,
        tolerance=1e-11,
    ),
    Case(
        "fft",
        lambda g: complex_numbers(g, 256, np.complex128),
        transform,
        lambda x: (np.fft.fft(x),),
        tolerance=1e-12,
    ),
    Case(
        "fft_warp",
        lambda g: complex_numbers(g, 96, np.complex64),
        launch("fft_warp", 3, 32),
        lambda x: (np.fft.fft(x.astype(np.complex128).reshape(3, 32), axis=1).reshape(-1),),
        tolerance=5e-6,
    ),
    Case(
        "black_scholes",
        lambda g: (g.uniform(5, 30, 128), g.uniform(1, 100, 128), np.zeros(128), 0.02, 0.3, 2.5),
        launch("black_scholes", 2, 64),
        black_scholes,
        tolerance=1e-12,
    ),
    Case(
        "wave",
        lambda g: (*g.standard_normal((2, 96)).astype(np.float32), np.zeros(96, np.float32), 96, 21),
        launch("wave", 1, 96, 3 * 96 * 4),
        wave,
        tolerance=2e-5,
    ),
)  # fmt: skip
