"""A matrix product over any semiring: one kernel, whose inner operation is injected.

The kernel is compiled once. A stack program says how a product is added to the sum, so
the same kernel gives the ordinary product, shortest paths (min, +), widest paths (max,
min) and reachability. The results are compared with torch where it is installed, else
with numpy.
"""

from __future__ import annotations

from typing import Any

import numpy as np

import ptxkit
from ptxkit import inject, stack

SOURCE = """
extern "C" __global__ void product(float *c, const float *a, const float *b, float zero, int n) {
    __shared__ float left[16][16], right[16][16];
    int row = blockIdx.y * 16 + threadIdx.y, column = blockIdx.x * 16 + threadIdx.x;
    float sum = zero;
    for (int tile = 0; tile < n; tile += 16) {
        left[threadIdx.y][threadIdx.x] = a[row * n + tile + threadIdx.x];
        right[threadIdx.y][threadIdx.x] = b[(tile + threadIdx.y) * n + column];
        __syncthreads();
        for (int k = 0; k < 16; ++k) {
            float x = left[threadIdx.y][k], y = right[k][threadIdx.x];
            /* PTX_INJECT step
                in  f32 x
                in  f32 y
                mod f32 sum
            */
        }
        __syncthreads();
    }
    c[row * n + column] = sum;
}
"""

# Name: the program, the zero of the sum, and the same with arrays.
SEMIRINGS: dict[str, tuple[str, float, Any, Any]] = {
    "ordinary (+, *)": ("x y sum fma.rn.f32", 0.0, "mul", "sum"),
    "shortest paths (min, +)": ("sum x y add.rn.f32 min.f32", np.inf, "add", "amin"),
    "widest paths (max, min)": ("sum x y min.f32 max.f32", -np.inf, "minimum", "amax"),
    "longest paths (max, +)": ("sum x y add.rn.f32 max.f32", -np.inf, "add", "amax"),
}


def reference(a: Any, b: Any, multiply: str, total: str) -> Any:
    """The product by torch, or by numpy where torch is not installed."""
    try:
        import torch
    except ImportError:
        pairs = getattr(np, {"mul": "multiply"}.get(multiply, multiply))(a[:, :, None], b[None])
        return getattr(np, {"amin": "min", "amax": "max"}.get(total, total))(pairs, axis=1)
    left, right = torch.from_numpy(a)[:, :, None], torch.from_numpy(b)[None]
    return getattr(getattr(torch, multiply)(left, right), total)(dim=1).numpy()


def main(n: int = 32, device: str = "auto") -> dict[str, float]:
    template = inject.Template.from_cuda(SOURCE)
    args = template.sites["step"].args
    generator = np.random.default_rng(0)
    a, b = (generator.standard_normal((n, n)).astype(np.float32) for _ in range(2))
    errors = {}
    for name, (program, zero, multiply, total) in SEMIRINGS.items():
        stub = stack.compile(program, dict(args), {"sum": args["sum"]})
        kernel = ptxkit.load(template.render({"step": stub}), device=device)["product"]
        c = np.zeros((n, n), np.float32)
        kernel[(n // 16, n // 16), (16, 16)](c, a, b, zero, n)
        errors[name] = float(np.abs(c - reference(a, b, multiply, total)).max())
        print(f"{name:26} largest difference {errors[name]:.2g}")
    return errors


if __name__ == "__main__":
    main()
