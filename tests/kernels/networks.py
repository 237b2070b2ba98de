"""Layers of neural networks."""

from __future__ import annotations

from typing import Any

import numpy as np

from tests.kernels.kernel import Kernel, Setup, floats, integers, line, plane, zeros


def soft(x: Any) -> Any:
    e = np.exp(x.astype(np.float64) - x.max(axis=-1, keepdims=True))
    return e / e.sum(axis=-1, keepdims=True)


def normalised(x: Any, gamma: Any, beta: Any, y: Any, n: int, eps: float) -> Any:
    d = x.astype(np.float64)
    mean, var = d.mean(axis=1, keepdims=True), d.var(axis=1, keepdims=True)
    return ((d - mean) / np.sqrt(var + eps) * gamma + beta,)


def convolved(x: Any, k: Any, y: Any, h: int, w: int, kh: int, kw: int) -> Any:
    out = np.zeros((h - kh + 1, w - kw + 1))
    for i in range(kh):
        for j in range(kw):
            out += np.float64(k[i, j]) * x[i : i + out.shape[0], j : j + out.shape[1]]
    return (out,)


def pooled(x: Any, y: Any, h: int, w: int) -> Any:
    even = x[: h // 2 * 2, : w // 2 * 2]
    return (even.reshape(h // 2, 2, w // 2, 2).max(axis=(1, 3)),)


def attended(q: Any, k: Any, v: Any, out: Any, n: int, scale: float) -> Any:
    q, k, v = (x.astype(np.float64) for x in (q, k, v))
    return (soft(q @ k.T * scale) @ v,)


def adam(p: Any, grad: Any, m: Any, v: Any, lr: float, b1: float, b2: float, n: int) -> Any:
    p, grad, m, v = (x.astype(np.float64) for x in (p, grad, m, v))
    m, v = b1 * m + (1 - b1) * grad, b2 * v + (1 - b2) * grad * grad
    return p - lr * m / (np.sqrt(v) + 1e-8), grad, m, v


KERNELS = (
    Kernel(
        "softmax_rows",
        r"""
extern "C" __global__ void softmax_rows(const float *input, float *output, int cols)
{
    __shared__ float red[128];
    const float *in = input + blockIdx.x * cols;
    float *out = output + blockIdx.x * cols;
    int tid = threadIdx.x;

    float m = -1e30f;
    for (int i = tid; i < cols; i += blockDim.x) m = fmaxf(m, in[i]);
    red[tid] = m;
    __syncthreads();
    for (int s = blockDim.x / 2; s > 0; s >>= 1) {
        if (tid < s) red[tid] = fmaxf(red[tid], red[tid + s]);
        __syncthreads();
    }
    m = red[0];
    __syncthreads();

    float sum = 0.f;
    for (int i = tid; i < cols; i += blockDim.x) {
        float e = expf(in[i] - m);
        out[i] = e;
        sum += e;
    }
    red[tid] = sum;
    __syncthreads();
    for (int s = blockDim.x / 2; s > 0; s >>= 1) {
        if (tid < s) red[tid] += red[tid + s];
        __syncthreads();
    }
    float inv = 1.f / red[0];
    for (int i = tid; i < cols; i += blockDim.x) out[i] *= inv;
}
""",
        lambda g, n: Setup(3, 128, (floats(g, 3, n), zeros(3, n), n)),
        lambda x, y, n: (soft(x),),
        tolerance=2e-6,
    ),
    Kernel(
        "softmax_warp",
        r"""
extern "C" __global__ void softmax_warp(const float *x, float *y, int n)
{
    int row = blockIdx.x;
    int lane = threadIdx.x;
    float v = lane < n ? x[row * n + lane] : -1e30f;
    float m = v;
    for (int o = 16; o > 0; o >>= 1) m = fmaxf(m, __shfl_xor_sync(0xffffffff, m, o));
    float e = lane < n ? __expf(v - m) : 0.f;
    float s = e;
    for (int o = 16; o > 0; o >>= 1) s += __shfl_xor_sync(0xffffffff, s, o);
    if (lane < n) y[row * n + lane] = __fdividef(e, s);
}
""",
        lambda g, n: Setup(4, 32, (floats(g, 4, n), zeros(4, n), n)),
        lambda x, y, n: (soft(x),),
        sizes=(1, 19, 32),
        tolerance=5e-6,
    ),
    Kernel(
        "layer_norm",
        r"""
template <typename T>
__device__ T block_sum(T v, T *scratch)
{
    int lane = threadIdx.x & 31, warp = threadIdx.x >> 5;
    for (int o = 16; o; o >>= 1) v += __shfl_down_sync(~0u, v, o);
    __syncthreads();
    if (lane == 0) scratch[warp] = v;
    __syncthreads();
    v = threadIdx.x < blockDim.x / 32 ? scratch[threadIdx.x] : T(0);
    if (warp == 0) {
        for (int o = 16; o; o >>= 1) v += __shfl_down_sync(~0u, v, o);
        if (lane == 0) scratch[0] = v;
    }
    __syncthreads();
    return scratch[0];
}

extern "C" __global__ void layer_norm(const float *x, const float *gamma, const float *beta,
                                      float *y, int n, float eps)
{
    __shared__ float scratch[32];
    x += blockIdx.x * n;
    y += blockIdx.x * n;
    float s = 0.f;
    for (int i = threadIdx.x; i < n; i += blockDim.x) s += x[i];
    float mean = block_sum(s, scratch) / n;
    float q = 0.f;
    for (int i = threadIdx.x; i < n; i += blockDim.x) {
        float d = x[i] - mean;
        q += d * d;
    }
    float rstd = rsqrtf(block_sum(q, scratch) / n + eps);
    for (int i = threadIdx.x; i < n; i += blockDim.x)
        y[i] = (x[i] - mean) * rstd * gamma[i] + beta[i];
}
""",
        lambda g, n: Setup(
            2, 64, (floats(g, 2, n), floats(g, n), floats(g, n), zeros(2, n), n, 1e-5)
        ),
        normalised,
        sizes=(37, 300),
        tolerance=5e-6,
    ),
    Kernel(
        "conv2d",
        r"""
extern "C" __global__ void conv2d(const float *image, const float *filter, float *out,
                                  int H, int W, int KH, int KW)
{
    int ox = blockIdx.x * blockDim.x + threadIdx.x;
    int oy = blockIdx.y * blockDim.y + threadIdx.y;
    int OW = W - KW + 1, OH = H - KH + 1;
    if (ox >= OW || oy >= OH) return;
    float acc = 0.0f;
    for (int ky = 0; ky < KH; ++ky)
        for (int kx = 0; kx < KW; ++kx)
            acc += image[(oy + ky) * W + ox + kx] * filter[ky * KW + kx];
    out[oy * OW + ox] = acc;
}
""",
        lambda g, n: plane(
            n, 12, floats(g, 12, n), floats(g, 3, 5), zeros(10, n - 4), 12, n, 3, 5
        ),
        convolved,
        sizes=(5, 40),
        tolerance=5e-6,
    ),
    Kernel(
        "max_pool2d",
        r"""
extern "C" __global__ void max_pool2d(const float *in, float *out, int H, int W)
{
    int x = blockIdx.x * blockDim.x + threadIdx.x;
    int y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x >= W / 2 || y >= H / 2) return;
    float best = -3.402823466e+38f;
#pragma unroll
    for (int dy = 0; dy < 2; ++dy)
#pragma unroll
        for (int dx = 0; dx < 2; ++dx)
            best = fmaxf(best, in[(2 * y + dy) * W + 2 * x + dx]);
    out[y * (W / 2) + x] = best;
}
""",
        lambda g, n: plane(n, 14, floats(g, 14, n), zeros(7, n // 2), 14, n),
        pooled,
        sizes=(2, 39),
    ),
    Kernel(
        "embedding_lookup",
        r"""
extern "C" __global__ void embedding_lookup(const float4 *table, const int *tokens, float4 *out, int dim4, int vocab)
{
    int tok = tokens[blockIdx.x];
    if (tok < 0 || tok >= vocab) {
        for (int i = threadIdx.x; i < dim4; i += blockDim.x)
            out[blockIdx.x * dim4 + i] = make_float4(0.f, 0.f, 0.f, 0.f);
        return;
    }
    for (int i = threadIdx.x; i < dim4; i += blockDim.x)
        out[blockIdx.x * dim4 + i] = table[tok * dim4 + i];
}
""",
        lambda g, n: Setup(
            n, 32, (floats(g, 20, 48), integers(g, n, low=-3, high=24), zeros(n, 48), 12, 20)
        ),
        lambda t, i, o, d, v: (
            np.where(((i >= 0) & (i < v))[:, None], t[np.clip(i, 0, v - 1)], np.float32(0)),
        ),
        sizes=(1, 30),
    ),
    Kernel(
        "attention_row",
        r"""
#define D 16
extern "C" __global__ void attention_row(const float *Q, const float *K, const float *V, float *O, int n, float scale)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    float q[D], acc[D];
    for (int d = 0; d < D; ++d) { q[d] = Q[i * D + d]; acc[d] = 0.f; }
    float m = -1e30f, l = 0.f;
    for (int j = 0; j < n; ++j) {
        float s = 0.f;
        for (int d = 0; d < D; ++d) s += q[d] * K[j * D + d];
        s *= scale;
        float m_new = fmaxf(m, s);
        float correction = expf(m - m_new);
        float p = expf(s - m_new);
        l = l * correction + p;
        for (int d = 0; d < D; ++d) acc[d] = acc[d] * correction + p * V[j * D + d];
        m = m_new;
    }
    for (int d = 0; d < D; ++d) O[i * D + d] = acc[d] / l;
}
""",
        lambda g, n: line(
            n, floats(g, n, 16), floats(g, n, 16), floats(g, n, 16), zeros(n, 16), n, 0.25, block=32
        ),
        attended,
        sizes=(1, 33),
        tolerance=5e-6,
    ),
    Kernel(
        "adam_step",
        r"""
extern "C" __global__ void adam_step(float *param, const float *grad, float *m, float *v,
                                     float lr, float beta1, float beta2, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) {
        float g = grad[i];
        float mi = beta1 * m[i] + (1.0f - beta1) * g;
        float vi = beta2 * v[i] + (1.0f - beta2) * g * g;
        m[i] = mi;
        v[i] = vi;
        param[i] -= lr * mi / (sqrtf(vi) + 1e-8f);
    }
}
""",
        lambda g, n: line(
            n, floats(g, n), floats(g, n), floats(g, n), np.abs(floats(g, n)), 0.01, 0.9, 0.99, n
        ),
        adam,
        tolerance=5e-6,
    ),
)  # fmt: skip
