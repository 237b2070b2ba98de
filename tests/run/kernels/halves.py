"""Half precision and bfloat16: scalars, pairs, conversions, reductions."""

from __future__ import annotations

from typing import Any

import numpy as np
from tests.run.kernels.case import Case, launch

SOURCE = r"""
#include <cuda_fp16.h>
#include <cuda_bf16.h>

extern "C" __global__ void half_axpy(const __half *x, __half *y, __half a, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) y[i] = __hfma(a, x[i], y[i]);
}

extern "C" __global__ void half_pairs(const __half2 *x, const __half2 *y, __half2 *out) {
    int i = threadIdx.x;
    out[i] = __hmax2(__hmul2(x[i], y[i]), __hsub2(x[i], __lowhigh2highlow(y[i])));
}

extern "C" __global__ void half_dot(const __half *x, const __half *y, float *out, int n) {
    float sum = 0;
    for (int i = threadIdx.x; i < n; i += 32) sum += __half2float(x[i]) * __half2float(y[i]);
    for (int d = 16; d; d /= 2) sum += __shfl_down_sync(~0u, sum, d);
    if (threadIdx.x == 0) *out = sum;
}

extern "C" __global__ void narrow(const float *x, __half *h, __nv_bfloat16 *b) {
    h[threadIdx.x] = __float2half_rn(x[threadIdx.x]);
    b[threadIdx.x] = __float2bfloat16_rn(x[threadIdx.x]);
}

extern "C" __global__ void bfloat_mean(const __nv_bfloat162 *x, float *out, int n) {
    float sum = 0;
    for (int i = threadIdx.x; i < n; i += 32) {
        float2 v = __bfloat1622float2(x[i]);
        sum += v.x + v.y;
    }
    for (int d = 16; d; d /= 2) sum += __shfl_xor_sync(~0u, sum, d);
    out[threadIdx.x] = sum / (2 * n);
}

extern "C" __global__ void bfloat_relu(const __nv_bfloat16 *x, __nv_bfloat16 *y) {
    y[threadIdx.x] = __hmax(x[threadIdx.x], __float2bfloat16(0.0f));
}
"""


def halves(g: np.random.Generator, *shape: int) -> Any:
    return g.standard_normal(shape).astype(np.float16)


def bfloats(g: np.random.Generator, count: int) -> Any:
    """Bfloat16 as its bits: numpy has no such type."""
    return (g.standard_normal(count).astype(np.float32).view(np.uint32) >> 16).astype(np.uint16)


def wide(bits: Any) -> Any:
    return (bits.astype(np.uint32) << 16).view(np.float32)


def axpy(x: Any, y: Any, a: Any, n: int) -> tuple[Any, ...]:
    exact = float(a) * x.astype(np.float64) + y.astype(np.float64)
    return (exact.astype(np.float16),)


def pairs(x: Any, y: Any, out: Any) -> tuple[Any, ...]:
    return (np.maximum(x * y, x - y[:, ::-1]),)


def rounded(x: Any, h: Any, b: Any) -> tuple[Any, ...]:
    bits = x.view(np.uint32).astype(np.uint64)
    nearest = (bits + 0x7FFF + (bits >> 16 & 1)) >> 16
    with np.errstate(over="ignore"):
        return x.astype(np.float16), nearest.astype(np.uint16)


CASES = (
    Case(
        "half_axpy",
        lambda g: (halves(g, 100), halves(g, 100), np.float16(1.7), 100),
        launch("half_axpy", 1, 128),
        axpy,
    ),
    Case(
        "half_pairs",
        lambda g: (halves(g, 64, 2), halves(g, 64, 2), np.zeros((64, 2), np.float16)),
        launch("half_pairs", 1, 64),
        pairs,
    ),
    Case(
        "half_dot",
        lambda g: (g.integers(-8, 8, 200).astype("f2"), g.integers(-8, 8, 200).astype("f2"),
                   np.zeros(1, "f4"), 200),
        launch("half_dot", 1, 32),
        lambda x, y, out, n: ([x.astype("f4") @ y.astype("f4")],),
    ),
    Case(
        "narrow",
        lambda g: ((g.standard_normal(128) * 10.0 ** g.integers(-9, 6, 128)).astype("f4"),
                   np.zeros(128, np.float16), np.zeros(128, np.uint16)),
        launch("narrow", 1, 128),
        rounded,
    ),
    Case(
        "bfloat_mean",
        lambda g: (bfloats(g, 128), np.zeros(32, np.float32), 64),
        launch("bfloat_mean", 1, 32),
        lambda x, out, n: (np.full(32, wide(x).astype("f8").mean()),),
        tolerance=1e-6,
    ),
    Case(
        "bfloat_relu",
        lambda g: (bfloats(g, 64), np.zeros(64, np.uint16)),
        launch("bfloat_relu", 1, 64),
        lambda x, y: (np.where(x >> 15 == 1, 0, x),),
    ),
)  # fmt: skip
