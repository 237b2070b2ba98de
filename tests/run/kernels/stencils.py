"""Stencils, transposes and other ways through a grid."""

from __future__ import annotations

from typing import Any

import numpy as np
from tests.run.kernels.case import Case, launch

SOURCE = r"""
extern "C" __global__ void heat(const float *x, float *y, int rows, int columns) {
    __shared__ float tile[18][18];
    int c = blockIdx.x * 16 + threadIdx.x, r = blockIdx.y * 16 + threadIdx.y;
    auto at = [&](int i, int j) {
        return i < 0 || j < 0 || i >= rows || j >= columns ? 0.0f : x[i * columns + j];
    };
    int i = threadIdx.y + 1, j = threadIdx.x + 1;
    tile[i][j] = at(r, c);
    if (threadIdx.y == 0) tile[0][j] = at(r - 1, c);
    if (threadIdx.y == 15) tile[17][j] = at(r + 1, c);
    if (threadIdx.x == 0) tile[i][0] = at(r, c - 1);
    if (threadIdx.x == 15) tile[i][17] = at(r, c + 1);
    __syncthreads();
    if (r < rows && c < columns)
        y[r * columns + c] = tile[i][j] + 0.25f * (tile[i - 1][j] + tile[i + 1][j] +
                                                   tile[i][j - 1] + tile[i][j + 1] - 4 * tile[i][j]);
}

extern "C" __global__ void laplace3(const double *x, double *y, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x, j = blockIdx.y * blockDim.y + threadIdx.y;
    int k = blockIdx.z * blockDim.z + threadIdx.z;
    if (i == 0 || j == 0 || k == 0 || i >= n - 1 || j >= n - 1 || k >= n - 1) return;
    const double *p = x + (k * n + j) * n + i;
    y[(k * n + j) * n + i] = p[1] + p[-1] + p[n] + p[-n] + p[n * n] + p[-n * n] - 6 * p[0];
}

template <typename T> __device__ void transpose_tile(const T *x, T *y, int rows, int columns) {
    __shared__ T tile[32][33];
    int c = blockIdx.x * 32 + threadIdx.x, r = blockIdx.y * 32 + threadIdx.y;
    for (int d = 0; d < 32; d += 8)
        if (r + d < rows && c < columns) tile[threadIdx.y + d][threadIdx.x] = x[(r + d) * columns + c];
    __syncthreads();
    c = blockIdx.y * 32 + threadIdx.x;
    r = blockIdx.x * 32 + threadIdx.y;
    for (int d = 0; d < 32; d += 8)
        if (r + d < columns && c < rows) y[(r + d) * rows + c] = tile[threadIdx.x][threadIdx.y + d];
}
extern "C" __global__ void transpose_float(const float *x, float *y, int r, int c) {
    transpose_tile(x, y, r, c);
}
extern "C" __global__ void transpose_double(const double *x, double *y, int r, int c) {
    transpose_tile(x, y, r, c);
}
extern "C" __global__ void transpose_byte(const char *x, char *y, int r, int c) {
    transpose_tile(x, y, r, c);
}

extern "C" __global__ void mandelbrot(int *out, int width, int height, int limit) {
    int c = blockIdx.x * blockDim.x + threadIdx.x, r = blockIdx.y * blockDim.y + threadIdx.y;
    if (c >= width || r >= height) return;
    // Written with the roundings spelled out, so that numpy can do the same.
    float a = __fmaf_rn(c, 3.0f / width, -2.0f), b = __fmaf_rn(r, 2.0f / height, -1.0f);
    float x = 0, y = 0;
    int n = 0;
    while (n < limit && __fadd_rn(__fmul_rn(x, x), __fmul_rn(y, y)) <= 4.0f) {
        float next = __fadd_rn(__fsub_rn(__fmul_rn(x, x), __fmul_rn(y, y)), a);
        y = __fadd_rn(__fmul_rn(__fmul_rn(2.0f, x), y), b);
        x = next;
        ++n;
    }
    out[r * width + c] = n;
}

// Conway's game of life on a torus, a cell a thread, neighbours as bytes.
extern "C" __global__ void life(const unsigned char *x, unsigned char *y, int n) {
    int c = blockIdx.x * blockDim.x + threadIdx.x, r = blockIdx.y * blockDim.y + threadIdx.y;
    int alive = 0;
    for (int dr = -1; dr <= 1; ++dr)
        for (int dc = -1; dc <= 1; ++dc)
            if (dr || dc) alive += x[(r + dr + n) % n * n + (c + dc + n) % n];
    y[r * n + c] = alive == 3 || (alive == 2 && x[r * n + c]);
}
"""


def heat(x: Any, y: Any, rows: int, columns: int) -> tuple[Any, ...]:
    p = np.pad(x.astype(np.float64), 1)
    around = p[:-2, 1:-1] + p[2:, 1:-1] + p[1:-1, :-2] + p[1:-1, 2:] - 4 * x
    return (x + 0.25 * around,)


def laplace(x: Any, y: Any, n: int) -> tuple[Any, ...]:
    out = np.zeros_like(x)
    c = slice(1, -1)
    out[c, c, c] = (
        x[c, c, 2:] + x[c, c, :-2] + x[c, 2:, c] + x[c, :-2, c] + x[2:, c, c] + x[:-2, c, c]
        - 6 * x[c, c, c]
    )  # fmt: skip
    return (out,)


def mandelbrot(out: Any, width: int, height: int, limit: int) -> tuple[Any, ...]:
    single = np.float32
    # A fused product and sum, by way of doubles: these are exact there.
    a = (np.arange(width) * float(single(3) / single(width)) - 2.0).astype(single)[None, :]
    b = (np.arange(height) * float(single(2) / single(height)) - 1.0).astype(single)[:, None]
    x, y = np.zeros((2, height, width), single)
    count = np.zeros((height, width), np.int32)
    with np.errstate(over="ignore", invalid="ignore"):
        for _ in range(limit):
            inside = x * x + y * y <= 4
            count += inside
            x, y = (
                np.where(inside, x * x - y * y + a, x), np.where(inside, single(2) * x * y + b, y)
            )  # fmt: skip
    return (count,)


def life(x: Any, y: Any, n: int) -> tuple[Any, ...]:
    steps = [(r, c) for r in (-1, 0, 1) for c in (-1, 0, 1) if r or c]
    alive = sum(np.roll(x, step, (0, 1)) for step in steps)
    return (((alive == 3) | ((alive == 2) & (x == 1))).astype(np.uint8),)


def transposed(dtype: Any) -> Any:
    def arguments(g: np.random.Generator) -> tuple[Any, ...]:
        x = g.integers(-100, 100, (45, 70)).astype(dtype)
        return x, np.zeros((70, 45), dtype), 45, 70

    return arguments


CASES = (
    Case(
        "heat",
        lambda g: (g.standard_normal((40, 50)).astype(np.float32), np.zeros((40, 50), "f4"), 40, 50),
        launch("heat", (4, 3), (16, 16)),
        heat,
        tolerance=2e-6,
    ),
    Case(
        "laplace3",
        lambda g: (g.integers(-99, 99, (12, 12, 12)).astype(np.float64), np.zeros((12, 12, 12)), 12),
        launch("laplace3", (2, 3, 3), (8, 4, 4)),
        laplace,
    ),
    *(
        Case(f"transpose_{name}", transposed(dtype), launch(f"transpose_{name}", (3, 2), (32, 8)),
             lambda x, y, r, c: (x.T,))
        for name, dtype in (("float", np.float32), ("double", np.float64), ("byte", np.int8))
    ),
    Case(
        "mandelbrot",
        lambda g: (np.zeros((36, 48), np.int32), 48, 36, 60),
        launch("mandelbrot", (3, 3), (16, 12)),
        mandelbrot,
    ),
    Case(
        "life",
        lambda g: (g.integers(0, 2, (32, 32)).astype(np.uint8), np.zeros((32, 32), "u1"), 32),
        launch("life", (2, 2), (16, 16)),
        life,
    ),
)  # fmt: skip
