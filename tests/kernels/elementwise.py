"""One thread, one element."""

from __future__ import annotations

from typing import Any

import numpy as np

from tests.kernels.kernel import Kernel, floats, integers, line, plane, zeros


def fused(a: Any, x: Any, y: Any) -> Any:
    """a * x + y with one rounding; doubles hold the product of floats."""
    return (np.float64(a) * x + y).astype(np.float32)


def gray(pixels: Any, out: Any, n: int) -> Any:
    r, g, b = (pixels[:, k].astype(np.int32) for k in range(3))
    return (((r * 77 + g * 150 + b * 29) >> 8).astype(np.uint8),)


def polynomial(x: Any, y: Any, n: int) -> Any:
    return (((0.5 * x - 1.25) * x + 3.0) * x - 7.0,)


KERNELS = (
    Kernel(
        "vectorAdd",
        r"""
extern "C" __global__ void vectorAdd(const float *A, const float *B, float *C, int numElements)
{
    int i = blockDim.x * blockIdx.x + threadIdx.x;

    if (i < numElements) {
        C[i] = A[i] + B[i];
    }
}
""",
        lambda g, n: line(n, floats(g, n), floats(g, n), zeros(n), n),
        lambda a, b, c, n: (a + b,),
    ),
    Kernel(
        "saxpy",
        r"""
extern "C" __global__ void saxpy(int n, float a, const float * __restrict__ x, float * __restrict__ y)
{
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += blockDim.x * gridDim.x)
        y[i] = a * x[i] + y[i];
}
""",
        lambda g, n: line(n // 2, n, 2.5, floats(g, n), floats(g, n)),
        lambda n, a, x, y: (fused(a, x, y),),
    ),
    Kernel(
        "bias_relu",
        r"""
extern "C" __global__ void bias_relu(const float *in, const float *bias, float *out, int rows, int cols)
{
    int col = blockIdx.x * blockDim.x + threadIdx.x;
    int row = blockIdx.y * blockDim.y + threadIdx.y;
    if (row < rows && col < cols) {
        float v = in[row * cols + col] + bias[col];
        out[row * cols + col] = v > 0.0f ? v : 0.0f;
    }
}
""",
        lambda g, n: plane(n, 11, floats(g, 11, n), floats(g, n), zeros(11, n), 11, n),
        lambda x, b, y, r, c: (np.where(x + b > 0, x + b, np.float32(0)),),
    ),
    Kernel(
        "gelu",
        r"""
__device__ float gelu_tanh(float x)
{
    const float k = 0.7978845608f;
    return 0.5f * x * (1.0f + tanhf(k * (x + 0.044715f * x * x * x)));
}

extern "C" __global__ void gelu(const float *x, float *y, int n)
{
    int tid = threadIdx.x + blockIdx.x * blockDim.x;
    if (tid < n)
        y[tid] = gelu_tanh(x[tid]);
}
""",
        lambda g, n: line(n, floats(g, n), zeros(n), n),
        lambda x, y, n: (
            0.5 * x * (1 + np.tanh(0.7978845608 * (x + 0.044715 * np.float64(x) ** 3))),
        ),
        tolerance=2e-6,
    ),
    Kernel(
        "sigmoid_inplace",
        r"""
extern "C" __global__ void sigmoid_inplace(float *data, size_t count)
{
    size_t idx = (size_t)blockIdx.x * blockDim.x + threadIdx.x;
    if (idx >= count) return;
    data[idx] = 1.0f / (1.0f + expf(-data[idx]));
}
""",
        lambda g, n: line(n, floats(g, n), n),
        lambda x, n: (1 / (1 + np.exp(-np.float64(x))),),
        tolerance=1e-6,
    ),
    Kernel(
        "rgb_to_gray",
        r"""
extern "C" __global__ void rgb_to_gray(const uchar3 *rgb, unsigned char *gray, int pixels)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < pixels) {
        uchar3 p = rgb[i];
        gray[i] = (unsigned char)((p.x * 77 + p.y * 150 + p.z * 29) >> 8);
    }
}
""",
        lambda g, n: line(n, g.integers(0, 256, (n, 3)).astype(np.uint8), zeros(n, dtype="u1"), n),
        gray,
    ),
    Kernel(
        "horner",
        r"""
extern "C" __global__ void horner(const double *x, double *y, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) {
        double v = x[i];
        y[i] = ((0.5 * v - 1.25) * v + 3.0) * v - 7.0;
    }
}
""",
        lambda g, n: line(n, g.standard_normal(n), zeros(n, dtype="f8"), n),
        polynomial,
        tolerance=1e-14,
    ),
    Kernel(
        "clamp_index",
        r"""
extern "C" __global__ void clamp_index(const int *in, int *out, int lo, int hi, unsigned int n)
{
    unsigned int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) out[i] = min(max(in[i], lo), hi) / 7 + abs(in[i]) % 10;
}
""",
        lambda g, n: line(n, integers(g, n), zeros(n, dtype="i4"), -500, 400, n),
        lambda x, y, lo, hi, n: (np.trunc(np.clip(x, lo, hi) / 7).astype("i4") + np.abs(x) % 10,),
    ),
)
