"""One matrix product for every semiring: the inner operation is injected.

A tiled kernel is compiled once. Each semiring is a stub of one or two instructions that takes
the place of "multiply and add"; the result is compared with torch, or with numpy without it.

    python examples/inject_semiring.py [--size 48] [--device cpu|cuda|auto]
"""

from __future__ import annotations

import argparse
from dataclasses import dataclass
from typing import Any

import numpy as np

import ptxkit

TILE = 16
KERNEL = """
extern "C" __global__ void product(const float *a, const float *b, float *c, int n, float zero)
{
    __shared__ float left[16][16], right[16][16];
    int row = blockIdx.y * 16 + threadIdx.y, column = blockIdx.x * 16 + threadIdx.x;
    float sum = zero;
    for (int tile = 0; tile < n; tile += 16) {
        left[threadIdx.y][threadIdx.x] = a[row * n + tile + threadIdx.x];
        right[threadIdx.y][threadIdx.x] = b[(tile + threadIdx.y) * n + column];
        __syncthreads();
#pragma unroll
        for (int k = 0; k < 16; k++) {
            /* PTX_INJECT inner
                in  f32 x = left[threadIdx.y][k]
                in  f32 y = right[k][threadIdx.x]
                mod f32 sum
            */
        }
        __syncthreads();
    }
    c[row * n + column] = sum;
}
"""


@dataclass(frozen=True)
class Semiring:
    """How to join two elements, how to gather the joined ones, and where to begin."""

    stub: str
    zero: float
    join: str
    gather: str


SEMIRINGS = {
    "plus, times (the usual one)": Semiring(
        "fma.rn.f32 %_sum, %_x, %_y, %_sum;", 0, "multiply", "sum"
    ),
    "min, plus (shortest paths)": Semiring(
        ".reg .f32 t; add.f32 t, %_x, %_y; min.f32 %_sum, %_sum, t;", np.inf, "add", "amin"
    ),
    "max, min (widest paths)": Semiring(
        ".reg .f32 t; min.f32 t, %_x, %_y; max.f32 %_sum, %_sum, t;", -np.inf, "minimum", "amax"
    ),
    "max, times (most likely paths)": Semiring(
        ".reg .f32 t; mul.f32 t, %_x, %_y; max.f32 %_sum, %_sum, t;", -np.inf, "multiply", "amax"
    ),
}


def library() -> Any:
    """torch where it is installed, else numpy: both have the functions needed here."""
    try:
        import torch
    except ImportError:
        return np
    return torch


def expected(semiring: Semiring, a: Any, b: Any) -> Any:
    """The product by broadcasting."""
    tools = library()
    left, right = (one if tools is np else tools.from_numpy(one) for one in (a, b))
    joined = getattr(tools, semiring.join)(left[:, :, None], right[None, :, :])
    return np.asarray(getattr(tools, semiring.gather)(joined, 1))


def main() -> None:
    """Run all semirings."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--size", type=int, default=48)
    parser.add_argument("--device", default="auto")
    options = parser.parse_args()
    size = -(-options.size // TILE) * TILE
    random = np.random.default_rng(0)
    a, b = random.random((2, size, size), dtype=np.float32)
    template = ptxkit.inject.Template.from_cuda(KERNEL)
    print(f"{size} x {size}, {len(template.sites['inner'].occurrences)} injected places, "
          f"compared with {library().__name__}")  # fmt: skip
    for name, semiring in SEMIRINGS.items():
        kernel = ptxkit.load(template.render({"inner": semiring.stub}), device=options.device)
        c = np.zeros((size, size), np.float32)
        blocks = size // TILE
        kernel["product"][(blocks, blocks), (TILE, TILE)](a, b, c, size, semiring.zero)
        error = np.abs(c - expected(semiring, a, b)).max()
        print(f"{name:32} largest difference {error:.1e}")
        assert error < 1e-3


if __name__ == "__main__":
    main()
