"""Neighbourhoods: stencils, filters, automata."""

from __future__ import annotations

from typing import Any

import numpy as np

from tests.kernels.kernel import Kernel, floats, line, plane, small, zeros


def jacobi(u: Any, v: Any, nx: int, ny: int) -> Any:
    out = np.zeros_like(u)
    out[1:-1, 1:-1] = 0.25 * (u[1:-1, :-2] + u[1:-1, 2:] + u[:-2, 1:-1] + u[2:, 1:-1])
    return (out,)


def heat(u: Any, v: Any, nx: int, ny: int, nz: int, c: float) -> Any:
    out = u.copy()
    i = slice(1, -1)
    out[i, i, i] = u[i, i, i] + c * (
        u[2:, i, i] + u[:-2, i, i] + u[i, 2:, i] + u[i, :-2, i] + u[i, i, 2:] + u[i, i, :-2]
        - 6 * u[i, i, i]
    )  # fmt: skip
    return (out,)


def convolved(x: Any, y: Any, n: int) -> Any:
    weights = np.array([1, 4, 6, 4, 1], np.float64) / 16
    p = np.pad(x.astype(np.float64), 2)
    return (sum(w * p[k : k + n] for k, w in enumerate(weights)),)


def blurred(x: Any, y: Any, w: int, h: int, r: int) -> Any:
    out = np.zeros_like(x)
    for row in range(h):
        for col in range(w):
            part = x[max(0, row - r) : row + r + 1, max(0, col - r) : col + r + 1]
            out[row, col] = int(part.astype(int).sum()) // part.size
    return (out,)


def edges(x: Any, y: Any, w: int, h: int) -> Any:
    p = x.astype(int)
    out = np.zeros_like(x)
    if w > 2 and h > 2:
        a, b, c = p[:-2], p[1:-1], p[2:]
        gx = a[:, 2:] - a[:, :-2] + 2 * (b[:, 2:] - b[:, :-2]) + c[:, 2:] - c[:, :-2]
        gy = c[:, :-2] + 2 * c[:, 1:-1] + c[:, 2:] - a[:, :-2] - 2 * a[:, 1:-1] - a[:, 2:]
        out[1:-1, 1:-1] = np.minimum(np.abs(gx) + np.abs(gy), 255)
    return (out,)


def life(x: Any, y: Any, w: int, h: int) -> Any:
    steps = [(r, c) for r in (-1, 0, 1) for c in (-1, 0, 1) if r or c]
    alive = sum(np.roll(x, step, (0, 1)) for step in steps)
    return (((alive == 3) | ((alive == 2) & (x == 1))).astype(np.int32),)


KERNELS = (
    Kernel(
        "jacobi2d",
        r"""
extern "C" __global__ void jacobi2d(const float *u, float *u_new, int nx, int ny)
{
    int ix = blockIdx.x * blockDim.x + threadIdx.x;
    int iy = blockIdx.y * blockDim.y + threadIdx.y;
    if (ix > 0 && ix < nx - 1 && iy > 0 && iy < ny - 1) {
        u_new[iy * nx + ix] = 0.25f * (u[iy * nx + ix - 1] + u[iy * nx + ix + 1] +
                                       u[(iy - 1) * nx + ix] + u[(iy + 1) * nx + ix]);
    }
}
""",
        lambda g, n: plane(n, 19, small(g, 19, n), zeros(19, n), n, 19),
        jacobi,
        sizes=(3, 16, 45),
    ),
    Kernel(
        "heat3d",
        r"""
extern "C" __global__ void heat3d(const double *u, double *v, int nx, int ny, int nz, double c)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    int j = blockIdx.y * blockDim.y + threadIdx.y;
    if (i >= nx || j >= ny) return;
    for (int k = 0; k < nz; k++) {
        int idx = (k * ny + j) * nx + i;
        if (i == 0 || j == 0 || k == 0 || i == nx - 1 || j == ny - 1 || k == nz - 1) {
            v[idx] = u[idx];
        } else {
            v[idx] = u[idx] + c * (u[idx + nx * ny] + u[idx - nx * ny] + u[idx + nx] +
                                   u[idx - nx] + u[idx + 1] + u[idx - 1] - 6.0 * u[idx]);
        }
    }
}
""",
        lambda g, n: plane(
            n, 6, g.standard_normal((5, 6, n)), zeros(5, 6, n, dtype="f8"), n, 6, 5, 0.1
        ),
        heat,
        sizes=(3, 20),
        tolerance=1e-13,
    ),
    Kernel(
        "convolve_constant",
        r"""
#define RADIUS 2
__constant__ float kernel_weights[2 * RADIUS + 1] = {0.0625f, 0.25f, 0.375f, 0.25f, 0.0625f};

extern "C" __global__ void convolve_constant(const float *in, float *out, int n)
{
    __shared__ float tile[128 + 2 * RADIUS];
    int g = blockIdx.x * blockDim.x + threadIdx.x;
    int l = threadIdx.x + RADIUS;
    tile[l] = g < n ? in[g] : 0.0f;
    if (threadIdx.x < RADIUS) {
        tile[l - RADIUS] = g >= RADIUS ? in[g - RADIUS] : 0.0f;
        tile[l + blockDim.x] = g + blockDim.x < n ? in[g + blockDim.x] : 0.0f;
    }
    __syncthreads();
    if (g < n) {
        float sum = 0.0f;
        for (int k = -RADIUS; k <= RADIUS; k++)
            sum += tile[l + k] * kernel_weights[k + RADIUS];
        out[g] = sum;
    }
}
""",
        lambda g, n: line(n, floats(g, n), zeros(n), n),
        convolved,
        tolerance=1e-6,
        sizes=(3, 130, 300),
    ),
    Kernel(
        "box_blur",
        r"""
extern "C" __global__ void box_blur(const unsigned char *src, unsigned char *dst, int width, int height, int radius)
{
    int x = blockIdx.x * blockDim.x + threadIdx.x;
    int y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x >= width || y >= height) return;
    int sum = 0, count = 0;
    for (int dy = -radius; dy <= radius; ++dy) {
        for (int dx = -radius; dx <= radius; ++dx) {
            int sx = x + dx, sy = y + dy;
            if (sx < 0 || sy < 0 || sx >= width || sy >= height) continue;
            sum += src[sy * width + sx];
            ++count;
        }
    }
    dst[y * width + x] = sum / count;
}
""",
        lambda g, n: plane(
            n, 13, g.integers(0, 256, (13, n)).astype("u1"), zeros(13, n, dtype="u1"), n, 13, 2
        ),
        blurred,
        sizes=(1, 21),
    ),
    Kernel(
        "sobel",
        r"""
extern "C" __global__ void sobel(const unsigned char *in, unsigned char *out, int w, int h)
{
    int x = blockIdx.x * blockDim.x + threadIdx.x;
    int y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x < 1 || y < 1 || x >= w - 1 || y >= h - 1) return;
    const unsigned char *p = in + y * w + x;
    int gx = p[-w + 1] - p[-w - 1] + 2 * (p[1] - p[-1]) + p[w + 1] - p[w - 1];
    int gy = p[w - 1] + 2 * p[w] + p[w + 1] - p[-w - 1] - 2 * p[-w] - p[-w + 1];
    int mag = abs(gx) + abs(gy);
    out[y * w + x] = mag > 255 ? 255 : mag;
}
""",
        lambda g, n: plane(
            n, 17, g.integers(0, 256, (17, n)).astype("u1"), zeros(17, n, dtype="u1"), n, 17
        ),
        edges,
        sizes=(2, 3, 40),
    ),
    Kernel(
        "game_of_life",
        r"""
extern "C" __global__ void game_of_life(const int *cur, int *next, int w, int h)
{
    int col = threadIdx.x + blockIdx.x * blockDim.x;
    int row = threadIdx.y + blockIdx.y * blockDim.y;
    if (col >= w || row >= h) return;
    int up = (row + h - 1) % h, down = (row + 1) % h;
    int left = (col + w - 1) % w, right = (col + 1) % w;
    int n = cur[up * w + left] + cur[up * w + col] + cur[up * w + right] +
            cur[row * w + left] + cur[row * w + right] +
            cur[down * w + left] + cur[down * w + col] + cur[down * w + right];
    next[row * w + col] = (n == 3 || (n == 2 && cur[row * w + col])) ? 1 : 0;
}
""",
        lambda g, n: plane(
            n, 9, g.integers(0, 2, (9, n)).astype("i4"), zeros(9, n, dtype="i4"), n, 9
        ),
        life,
        sizes=(3, 33),
    ),
    Kernel(
        "wave_step",
        r"""
extern "C" __global__ void wave_step(const float *prev, const float *cur, float *next, int n, float c2)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    float left = i > 0 ? cur[i - 1] : 0.f;
    float right = i < n - 1 ? cur[i + 1] : 0.f;
    next[i] = 2.f * cur[i] - prev[i] + c2 * (left - 2.f * cur[i] + right);
}
""",
        lambda g, n: line(n, small(g, n), small(g, n), zeros(n), n, 0.5),
        lambda p, c, o, n, k: (
            2 * c - p + k * (np.pad(c, 1)[:-2] - 2 * c + np.pad(c, 1)[2:]),
        ),
    ),
)  # fmt: skip
