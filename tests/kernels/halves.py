"""Half precision."""

from __future__ import annotations

from typing import Any

import numpy as np

from tests.kernels.kernel import Kernel, Setup, floats, line, small, zeros


def halves(g: np.random.Generator, *shape: int) -> Any:
    return g.standard_normal(shape).astype(np.float16)


def brain(x: Any) -> Any:
    """The bits of bfloat16, rounded to nearest even."""
    bits = x.astype(np.float32).view(np.uint32)
    return ((bits + 0x7FFF + ((bits >> 16) & 1)) >> 16).astype(np.uint16)


def wide(bits: Any) -> Any:
    return (bits.astype(np.uint32) << 16).view(np.float32)


KERNELS = (
    Kernel(
        "half_axpy",
        r"""
#include <cuda_fp16.h>
extern "C" __global__ void half_axpy(float a, const __half *x, __half *y, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) y[i] = __hfma(__float2half(a), x[i], y[i]);
}
""",
        lambda g, n: line(n, 1.5, halves(g, n), halves(g, n), n),
        lambda a, x, y, n: ((1.5 * x.astype("f8") + y).astype("f2"),),
    ),
    Kernel(
        "half2_add_scale",
        r"""
#include <cuda_fp16.h>
extern "C" __global__ void half2_add_scale(const __half2 *a, const __half2 *b, __half2 *c, int n2)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n2) {
        __half2 s = __hadd2(a[i], b[i]);
        c[i] = __hmul2(s, __float2half2_rn(0.5f));
    }
}
""",
        lambda g, n: line(n, halves(g, 2 * n), halves(g, 2 * n), zeros(2 * n, dtype="f2"), n),
        lambda a, b, c, n: ((a + b) * np.float16(0.5),),
    ),
    Kernel(
        "half_to_float",
        r"""
#include <cuda_fp16.h>
extern "C" __global__ void half_to_float(const __half *in, float *out, int n, float scale)
{
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
        out[i] = __half2float(in[i]) * scale;
}
""",
        lambda g, n: Setup(2, 32, (halves(g, n), zeros(n), n, 0.25)),
        lambda x, y, n, s: (x.astype("f4") * np.float32(s),),
    ),
    Kernel(
        "half_dot",
        r"""
#include <cuda_fp16.h>
extern "C" __global__ void half_dot(const half *a, const half *b, float *out, int n)
{
    float sum = 0.f;
    for (int i = threadIdx.x; i < n; i += 32)
        sum += __half2float(a[i]) * __half2float(b[i]);
    for (int o = 16; o > 0; o /= 2) sum += __shfl_down_sync(0xffffffff, sum, o);
    if (threadIdx.x == 0) *out = sum;
}
""",
        lambda g, n: Setup(
            1, 32, (small(g, n).astype("f2"), small(g, n).astype("f2"), zeros(1), n)
        ),
        lambda a, b, o, n: ([np.dot(a.astype("f4"), b.astype("f4"))],),
    ),
    Kernel(
        "bfloat16_scale",
        r"""
#include <cuda_bf16.h>
extern "C" __global__ void bfloat16_scale(const __nv_bfloat16 *x, __nv_bfloat16 *y, float s, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) y[i] = __float2bfloat16(__bfloat162float(x[i]) * s + 1.0f);
}
""",
        lambda g, n: line(n, brain(floats(g, n)), zeros(n, dtype="u2"), 0.75, n),
        lambda x, y, s, n: (brain(wide(x) * np.float32(s) + np.float32(1)),),
    ),
    Kernel(
        "half_relu_count",
        r"""
#include <cuda_fp16.h>
extern "C" __global__ void half_relu_count(__half *x, int *zeros, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    __half v = x[i];
    if (__hlt(v, __float2half(0.f))) {
        x[i] = __float2half(0.f);
        atomicAdd(zeros, 1);
    }
}
""",
        lambda g, n: line(n, halves(g, n), zeros(1, dtype="i4"), n),
        lambda x, z, n: (np.where(x < 0, np.float16(0), x), [np.sum(x < 0)]),
    ),
)
