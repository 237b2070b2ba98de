"""Textures and surfaces."""

from __future__ import annotations

from typing import Any

import numpy as np

from ptxkit.run import Surface, Texture
from tests.kernels.kernel import Kernel, floats, integers, line, plane, zeros


def bilinear(t: Any, out: Any, w: int, h: int) -> Any:
    image = t.array.astype(np.float64)
    ys, xs = np.meshgrid(np.arange(2 * h), np.arange(2 * w), indexing="ij")
    x, y = (xs + 0.5) / 2 - 0.5, (ys + 0.5) / 2 - 0.5
    x0, y0 = np.floor(x).astype(int), np.floor(y).astype(int)
    fx, fy = x - x0, y - y0

    def at(row: Any, col: Any) -> Any:
        return image[np.clip(row, 0, h - 1), np.clip(col, 0, w - 1)]

    top = at(y0, x0) * (1 - fx) + at(y0, x0 + 1) * fx
    bottom = at(y0 + 1, x0) * (1 - fx) + at(y0 + 1, x0 + 1) * fx
    return (top * (1 - fy) + bottom * fy,)


KERNELS = (
    Kernel(
        "texture_shift",
        r"""
extern "C" __global__ void texture_shift(cudaTextureObject_t tex, float *out, int width, int height, int dx, int dy)
{
    int x = blockIdx.x * blockDim.x + threadIdx.x;
    int y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x < width && y < height)
        out[y * width + x] = tex2D<float>(tex, x + dx + 0.5f, y + dy + 0.5f);
}
""",
        lambda g, n: plane(n, 10, Texture(floats(g, 10, n)), zeros(10, n), n, 10, 2, -1),
        lambda t, o, w, h, dx, dy: (
            t.array[np.clip(np.arange(h) + dy, 0, h - 1)][:, np.clip(np.arange(w) + dx, 0, w - 1)],
        ),
        sizes=(1, 21),
    ),
    Kernel(
        "texture_upscale",
        r"""
extern "C" __global__ void texture_upscale(cudaTextureObject_t tex, float *out, int width, int height)
{
    int x = blockIdx.x * blockDim.x + threadIdx.x;
    int y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x >= 2 * width || y >= 2 * height) return;
    out[y * 2 * width + x] = tex2D<float>(tex, (x + 0.5f) / 2.0f, (y + 0.5f) / 2.0f);
}
""",
        lambda g, n: plane(
            2 * n, 14, Texture(floats(g, 7, n), filter="linear"), zeros(14, 2 * n), n, 7
        ),
        bilinear,
        sizes=(1, 11),
        tolerance=1e-6,
    ),
    Kernel(
        "texture_table",
        r"""
extern "C" __global__ void texture_table(cudaTextureObject_t lut, const int *index, int *out, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) out[i] = tex1Dfetch<int>(lut, index[i]) + 1;
}
""",
        lambda g, n: line(
            n, Texture(integers(g, 50), memory=True), integers(g, n, low=0, high=50),
            zeros(n, dtype="i4"), n,
        ),
        lambda t, i, o, n: (t.array[i] + 1,),
    ),
    Kernel(
        "surface_invert",
        r"""
extern "C" __global__ void surface_invert(cudaSurfaceObject_t surf, int width, int height)
{
    int x = blockIdx.x * blockDim.x + threadIdx.x;
    int y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x < width && y < height) {
        unsigned char v;
        surf2Dread(&v, surf, x, y);
        surf2Dwrite((unsigned char)(255 - v), surf, x, y);
    }
}
""",
        lambda g, n: plane(n, 9, Surface(g.integers(0, 256, (9, n)).astype("u1")), n, 9),
        lambda s, w, h: (255 - s.array,),
        sizes=(1, 21),
    ),
)  # fmt: skip
