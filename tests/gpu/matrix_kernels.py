"""Whole kernels with matrix instructions and textures, and what they should compute."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from ptxkit.run import Surface, Texture

SOURCE = r"""
#include <cuda_fp16.h>

// One warp a tile of 16 by 16; a by rows, b by columns.
extern "C" __global__ void wmma_matmul(const half *a, const half *b, float *c, int n) {
    int row = blockIdx.y * 16, column = blockIdx.x * 16;
    float d[8] = {};
    for (int k = 0; k < n; k += 16) {
        unsigned x[8], y[8];
        asm volatile("wmma.load.a.sync.aligned.row.m16n16k16.global.f16"
                     " {%0,%1,%2,%3,%4,%5,%6,%7}, [%8], %9;"
                     : "=r"(x[0]), "=r"(x[1]), "=r"(x[2]), "=r"(x[3]), "=r"(x[4]), "=r"(x[5]),
                       "=r"(x[6]), "=r"(x[7]) : "l"(a + row * n + k), "r"(n));
        asm volatile("wmma.load.b.sync.aligned.col.m16n16k16.global.f16"
                     " {%0,%1,%2,%3,%4,%5,%6,%7}, [%8], %9;"
                     : "=r"(y[0]), "=r"(y[1]), "=r"(y[2]), "=r"(y[3]), "=r"(y[4]), "=r"(y[5]),
                       "=r"(y[6]), "=r"(y[7]) : "l"(b + column * n + k), "r"(n));
        asm volatile("wmma.mma.sync.aligned.row.col.m16n16k16.f32.f32 {%0,%1,%2,%3,%4,%5,%6,%7},"
                     " {%8,%9,%10,%11,%12,%13,%14,%15}, {%16,%17,%18,%19,%20,%21,%22,%23},"
                     " {%0,%1,%2,%3,%4,%5,%6,%7};"
                     : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3]), "+f"(d[4]), "+f"(d[5]),
                       "+f"(d[6]), "+f"(d[7])
                     : "r"(x[0]), "r"(x[1]), "r"(x[2]), "r"(x[3]), "r"(x[4]), "r"(x[5]), "r"(x[6]),
                       "r"(x[7]), "r"(y[0]), "r"(y[1]), "r"(y[2]), "r"(y[3]), "r"(y[4]), "r"(y[5]),
                       "r"(y[6]), "r"(y[7]));
    }
    asm volatile("wmma.store.d.sync.aligned.row.m16n16k16.global.f32 [%0],"
                 " {%1,%2,%3,%4,%5,%6,%7,%8}, %9;"
                 :: "l"(c + row * n + column), "f"(d[0]), "f"(d[1]), "f"(d[2]), "f"(d[3]),
                    "f"(d[4]), "f"(d[5]), "f"(d[6]), "f"(d[7]), "r"(n) : "memory");
}

__device__ unsigned shared_address(const void *p) {
    return static_cast<unsigned>(__cvta_generic_to_shared(p));
}
__device__ void load4(unsigned *r, const void *p) {
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0,%1,%2,%3}, [%4];"
                 : "=r"(r[0]), "=r"(r[1]), "=r"(r[2]), "=r"(r[3]) : "r"(shared_address(p)));
}
__device__ void load2_turned(unsigned *r, const void *p) {
    asm volatile("ldmatrix.sync.aligned.m8n8.x2.trans.shared.b16 {%0,%1}, [%2];"
                 : "=r"(r[0]), "=r"(r[1]) : "r"(shared_address(p)));
}
__device__ void load2(unsigned *r, const void *p) {
    asm volatile("ldmatrix.sync.aligned.m8n8.x2.shared.b16 {%0,%1}, [%2];"
                 : "=r"(r[0]), "=r"(r[1]) : "r"(shared_address(p)));
}
__device__ void multiply(float *d, const unsigned *a, const unsigned *b) {
    asm volatile("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0,%1,%2,%3}, {%4,%5,%6,%7},"
                 " {%8,%9}, {%0,%1,%2,%3};"
                 : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
                 : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));
}

// Four warps a tile of 32 by 32; both matrices by rows.
extern "C" __global__ void gemm(const half *a, const half *b, float *c, int m, int n, int k) {
    __shared__ __align__(16) half left[32][24], right[16][40];
    int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
    int row = blockIdx.y * 32, column = blockIdx.x * 32;
    float sum[2][4] = {};
    for (int at = 0; at < k; at += 16) {
        for (int i = threadIdx.x; i < 512; i += 128) {
            left[i / 16][i % 16] = a[(row + i / 16) * k + at + i % 16];
            right[i / 32][i % 32] = b[(at + i / 32) * n + column + i % 32];
        }
        __syncthreads();
        unsigned x[4], y[2];
        load4(x, &left[warp / 2 * 16 + lane % 16][lane / 16 * 8]);
        for (int half_tile = 0; half_tile < 2; ++half_tile) {
            load2_turned(y, &right[lane % 16][warp % 2 * 16 + half_tile * 8]);
            multiply(sum[half_tile], x, y);
        }
        __syncthreads();
    }
    for (int half_tile = 0; half_tile < 2; ++half_tile)
        for (int i = 0; i < 4; ++i) {
            int r = row + warp / 2 * 16 + lane / 4 + i / 2 * 8;
            int q = column + warp % 2 * 16 + half_tile * 8 + lane % 4 * 2 + i % 2;
            c[r * n + q] = sum[half_tile][i];
        }
}

// A warp a tile of 16 by 8; a by rows, b by columns.
extern "C" __global__ void gemm_int8(const signed char *a, const signed char *b, int *c, int n,
                                     int k) {
    int lane = threadIdx.x, group = lane / 4, quad = lane % 4;
    const int *left = (const int *)(a + (blockIdx.y * 16 + group) * k);
    const int *below = (const int *)(a + (blockIdx.y * 16 + group + 8) * k);
    const int *right = (const int *)(b + (blockIdx.x * 8 + group) * k);
    int d[4] = {};
    for (int at = 0; at < k / 4; at += 8)
        asm volatile("mma.sync.aligned.m16n8k32.row.col.s32.s8.s8.s32 {%0,%1,%2,%3}, {%4,%5,%6,%7},"
                     " {%8,%9}, {%0,%1,%2,%3};"
                     : "+r"(d[0]), "+r"(d[1]), "+r"(d[2]), "+r"(d[3])
                     : "r"(left[at + quad]), "r"(below[at + quad]), "r"(left[at + quad + 4]),
                       "r"(below[at + quad + 4]), "r"(right[at + quad]), "r"(right[at + quad + 4]));
    for (int i = 0; i < 4; ++i)
        c[(blockIdx.y * 16 + group + i / 2 * 8) * n + blockIdx.x * 8 + quad * 2 + i % 2] = d[i];
}

// 2 to the power x in exact steps, so that two devices cannot differ.
__device__ float power(float x) {
    if (x < -120.0f) return 0.0f;
    float whole = rintf(x), f = x - whole;
    float p = 1.5403530e-4f;
    p = fmaf(p, f, 1.3333558e-3f);
    p = fmaf(p, f, 9.6181291e-3f);
    p = fmaf(p, f, 5.5504109e-2f);
    p = fmaf(p, f, 2.4022651e-1f);
    p = fmaf(p, f, 6.9314718e-1f);
    p = fmaf(p, f, 1.0f);
    return p * __int_as_float(((int)whole + 127) << 23);
}

__device__ unsigned pack(float a, float b) {
    half2 pair = __floats2half2_rn(a, b);
    return *(unsigned *)&pair;
}

// Attention of 64 channels: a warp holds 16 queries and goes over the keys 16 at a time,
// keeping the largest score and the sum of powers of each row as it goes.
extern "C" __global__ void attention(const half *q, const half *k, const half *v, float *o,
                                     int keys) {
    __shared__ __align__(16) half tile[16][72], values[16][72];
    int lane = threadIdx.x, group = lane / 4, quad = lane % 4;
    const float scale = 0.125f * 1.44269504f;
    q += blockIdx.x * 16 * 64;
    o += blockIdx.x * 16 * 64;
    for (int i = lane; i < 1024; i += 32) tile[i / 64][i % 64] = q[i];
    __syncwarp();
    unsigned query[4][4];
    for (int at = 0; at < 4; ++at) load4(query[at], &tile[lane % 16][at * 16 + lane / 16 * 8]);
    __syncwarp();
    float sums[8][4] = {}, largest[2] = {-1e30f, -1e30f}, total[2] = {};
    for (int first = 0; first < keys; first += 16) {
        for (int i = lane; i < 1024; i += 32) {
            tile[i / 64][i % 64] = k[first * 64 + i];
            values[i / 64][i % 64] = v[first * 64 + i];
        }
        __syncwarp();
        float score[2][4] = {};
        for (int at = 0; at < 4; ++at)
            for (int n = 0; n < 2; ++n) {
                unsigned key[2];
                load2(key, &tile[n * 8 + lane % 8][at * 16 + lane / 8 % 2 * 8]);
                multiply(score[n], query[at], key);
            }
        for (int r = 0; r < 2; ++r) {
            float most = largest[r];
            for (int n = 0; n < 2; ++n)
                for (int i = 0; i < 2; ++i) most = fmaxf(most, score[n][2 * r + i] * scale);
            most = fmaxf(most, __shfl_xor_sync(~0u, most, 1));
            most = fmaxf(most, __shfl_xor_sync(~0u, most, 2));
            float shrink = power(largest[r] - most);
            largest[r] = most;
            total[r] *= shrink;
            for (int n = 0; n < 8; ++n)
                for (int i = 0; i < 2; ++i) sums[n][2 * r + i] *= shrink;
            for (int n = 0; n < 2; ++n)
                for (int i = 0; i < 2; ++i) {
                    score[n][2 * r + i] = power(score[n][2 * r + i] * scale - most);
                    total[r] += score[n][2 * r + i];
                }
        }
        unsigned share[4] = {pack(score[0][0], score[0][1]), pack(score[0][2], score[0][3]),
                             pack(score[1][0], score[1][1]), pack(score[1][2], score[1][3])};
        for (int n = 0; n < 8; ++n) {
            unsigned value[2];
            load2_turned(value, &values[lane % 16][n * 8]);
            multiply(sums[n], share, value);
        }
        __syncwarp();
    }
    for (int r = 0; r < 2; ++r) {
        total[r] += __shfl_xor_sync(~0u, total[r], 1);
        total[r] += __shfl_xor_sync(~0u, total[r], 2);
        for (int n = 0; n < 8; ++n)
            for (int i = 0; i < 2; ++i)
                o[(group + 8 * r) * 64 + n * 8 + quad * 2 + i] =
                    __fdiv_rn(sums[n][2 * r + i], total[r]);
    }
}

// Halve an image: the mean of four texels is one filtered fetch between them.
extern "C" __global__ void halve(cudaTextureObject_t image, cudaSurfaceObject_t out, int w, int h) {
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x < w && y < h) surf2Dwrite(tex2D<float>(image, 2 * x + 1, 2 * y + 1), out, x * 4, y);
}
"""

RANDOM = np.random.default_rng(5)


def _halves(*shape: int) -> Any:
    return RANDOM.standard_normal(shape).astype(np.float16)


def _attention(q: Any, k: Any, v: Any) -> Any:
    score = q.astype(np.float64) @ k.astype(np.float64).T / 8
    share = np.exp(score - score.max(1, keepdims=True))
    return share / share.sum(1, keepdims=True) @ v.astype(np.float64)


@dataclass(frozen=True)
class Launch:
    """A kernel, how it is launched, and what its last array should hold."""

    name: str
    grid: Any
    block: Any
    arguments: Callable[[], tuple[Any, ...]]
    expected: Callable[..., Any]
    tolerance: float = 0.0


def result_of(arguments: tuple[Any, ...]) -> Any:
    """The array that a kernel writes: the last one."""
    arrays = [a.array if type(a) is Surface else a for a in arguments]
    return [a for a in arrays if isinstance(a, np.ndarray)][-1]


_A, _B = _halves(64, 64), _halves(64, 64)
_WIDE_A, _WIDE_B = _halves(64, 96), _halves(96, 128)
_BYTES_A = RANDOM.integers(-128, 128, (48, 128), dtype=np.int8)
_BYTES_B = RANDOM.integers(-128, 128, (32, 128), dtype=np.int8)
_Q, _K, _V = _halves(32, 64), _halves(80, 64), _halves(80, 64)
_IMAGE = RANDOM.standard_normal((24, 40)).astype(np.float32)

LAUNCHES = [
    Launch(
        "wmma_matmul", (4, 4), 32, lambda: (_A, _B, np.zeros((64, 64), np.float32), 64),
        lambda a, b, c, n: a.astype(float) @ b.astype(float).T, 1e-4,
    ),
    Launch(
        "gemm", (4, 2), 128,
        lambda: (_WIDE_A, _WIDE_B, np.zeros((64, 128), np.float32), 64, 128, 96),
        lambda a, b, *_: a.astype(float) @ b.astype(float), 1e-4,
    ),
    Launch(
        "gemm_int8", (4, 3), 32,
        lambda: (_BYTES_A, _BYTES_B, np.zeros((48, 32), np.int32), 32, 128),
        lambda a, b, *_: a.astype(np.int32) @ b.astype(np.int32).T,
    ),
    Launch(
        "attention", 2, 32, lambda: (_Q, _K, _V, np.zeros((32, 64), np.float32), 80),
        lambda q, k, v, *_: _attention(q, k, v), 2e-3,
    ),
    Launch(
        "halve", (2, 2), (16, 8),
        lambda: (Texture(_IMAGE, filter="linear"), Surface(np.zeros((12, 20), np.float32)), 20, 12),
        lambda t, *_: t.array.reshape(12, 2, 20, 2).astype(float).mean((1, 3)), 1e-6,
    ),
]  # fmt: skip
