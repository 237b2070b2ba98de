"""Tune the epilogue of a matrix product: which formula for GELU is cheap and good enough?

A GEMM kernel is compiled once, with a hole where its result gets bias and activation.
Each candidate is a stack program. All of them are put into the kernel, assembled, run and
compared with the exact function; the one that needs the fewest instructions within the
tolerance wins. On a GPU the kernels are timed too.
"""

from __future__ import annotations

import math
from time import perf_counter
from typing import Any

import numpy as np

import ptxkit
from ptxkit import inject, stack

SOURCE = """
extern "C" __global__ void gemm(float *c, const float *a, const float *b, const float *bias,
                                int n) {
    int row = blockIdx.y * 16 + threadIdx.y, column = blockIdx.x * 16 + threadIdx.x;
    float sum = 0, shift = bias[column], y;
    for (int k = 0; k < n; ++k) sum += a[row * n + k] * b[k * n + column];
    /* PTX_INJECT epilogue
        in  f32 sum
        in  f32 shift
        out f32 y
    */
    c[row * n + column] = y;
}
"""

_V = "sum shift add.rn.f32 f32.to#0"
CANDIDATES = {
    # v * sigmoid(1.702 v)
    "sigmoid": f"{_V} f32.from#0 -2.4554669 mul.rn.f32 ex2.approx.f32 1.0 add.rn.f32 "
    "rcp.approx.f32 f32.from#0 mul.rn.f32",
    # v / 2 * (1 + tanh(0.79788 (v + 0.044715 v^3)))
    "tanh": f"{_V} f32.from#0 f32.dup mul.rn.f32 0.035677408 0.7978846 fma.rn.f32 f32.from#0 "
    "mul.rn.f32 tanh.approx.f32 f32.from#0 0.5 mul.rn.f32 f32.dup f32.to#1 f32.from#1 fma.rn.f32",
    # the same, tanh by exp
    "tanh by exp": f"{_V} f32.from#0 f32.dup mul.rn.f32 -0.10294324 -2.3022082 fma.rn.f32 "
    "f32.from#0 mul.rn.f32 ex2.approx.f32 1.0 add.rn.f32 rcp.approx.f32 f32.from#0 mul.rn.f32",
    "relu": f"{_V} f32.from#0 0.0 max.f32",
    # v * clamp(0.5 + 0.3 v)
    "hard": f"{_V} f32.from#0 0.3 0.5 fma.rn.f32 0.0 max.f32 1.0 min.f32 f32.from#0 mul.rn.f32",
}


def exact(a: Any, b: Any, bias: Any) -> Any:
    """GELU of the product, in double precision."""
    v = a.astype(np.float64) @ b.astype(np.float64) + bias
    return v * 0.5 * (1 + np.vectorize(math.erf)(v / math.sqrt(2)))


def main(n: int = 32, tolerance: float = 2e-3, device: str = "auto") -> str:
    template = inject.Template.from_cuda(SOURCE)
    args = template.sites["epilogue"].args
    inputs = {name: args[name] for name in ("sum", "shift")}
    generator = np.random.default_rng(0)
    a, b = (generator.standard_normal((n, n)).astype(np.float32) / 4 for _ in range(2))
    bias = generator.standard_normal(n).astype(np.float32)
    wanted = exact(a, b, bias)
    best, cost = "", math.inf
    for name, program in CANDIDATES.items():
        stub, told = stack.report(program, inputs, {"y": args["y"]})
        module = ptxkit.parse(template.render({"epilogue": stub}))
        registers = ptxkit.assemble(module, arch="sm_90").resources["gemm"].registers
        c = np.zeros((n, n), np.float32)
        loaded = ptxkit.load(module, device=device)
        # The simulator's time tells nothing about a GPU's.
        where = " in the simulator" if isinstance(loaded, ptxkit.run.CpuModule) else ""
        launch = loaded["gemm"][(n // 16, n // 16), (16, 16)]
        launch(c, a, b, bias, n)
        begin = perf_counter()
        launch(c, a, b, bias, n)
        seconds = perf_counter() - begin
        error = float(np.abs(c - wanted).max())
        print(f"{name:12} {told.emitted:2} instructions, {registers} registers, "
              f"error {error:.2g}, {seconds * 1e3:.2f} ms{where}")  # fmt: skip
        if error <= tolerance and told.emitted < cost:
            best, cost = name, told.emitted
    print(f"fewest instructions within {tolerance:g}: {best}")
    return best


if __name__ == "__main__":
    main()
