"""Tuning the epilogue of a matrix product: the cheapest GELU that is still right.

The kernel is compiled once, with a place for what happens to a sum before it is stored. Five
ways to compute GELU go there. Each is run for its error (on the simulator or a GPU) and assembled
for its cost: registers and bytes of machine code, and on a GPU its time.

    python examples/inject_epilogue.py [--tolerance 1e-3] [--device cpu|cuda|auto]
"""

from __future__ import annotations

import argparse
import math
import time
from typing import Any

import numpy as np
from rich.console import Console
from rich.table import Table

import ptxkit

ARCH = "sm_90"
SIZE = 32
KERNEL = """
extern "C" __global__ void linear(const float *a, const float *b, const float *bias, float *c,
                                  int n)
{
    int row = blockIdx.y * blockDim.y + threadIdx.y, column = blockIdx.x * blockDim.x + threadIdx.x;
    float sum = bias[column], y;
    for (int k = 0; k < n; k++) sum += a[row * n + k] * b[k * n + column];
    /* PTX_INJECT epilogue
        in  f32 x = sum
        out f32 y
    */
    c[row * n + column] = y;
}
"""


def bits(value: float) -> str:
    """A float constant as PTX writes it."""
    return f"0f{np.float32(value).view(np.uint32):08X}"


HALF, ONE, TWO = bits(0.5), bits(1), bits(2)
INNER = f"""
    .reg .f32 t, u;
    mul.f32 t, %_x, %_x;
    fma.rn.f32 t, t, {bits(0.044715 * math.sqrt(2 / math.pi))}, {bits(math.sqrt(2 / math.pi))};
    mul.f32 t, t, %_x;"""
OUTER = f"""
    mul.f32 u, %_x, {HALF};
    fma.rn.f32 %_y, u, t, u;"""
# tanh t = 1 - 2 / (exp 2t + 1)
EXPONENTIAL = f"""
    mul.f32 t, t, {bits(2 / math.log(2))};
    ex2.approx.f32 t, t;
    add.f32 t, t, {ONE};"""
CANDIDATES = {
    "tanh.approx": f"{INNER}\n    tanh.approx.f32 t, t;{OUTER}",
    "exp and fast division": f"{INNER}{EXPONENTIAL}\n    div.approx.f32 t, {TWO}, t;"
    f"\n    sub.f32 t, {ONE}, t;{OUTER}",
    "exp and exact division": f"{INNER}{EXPONENTIAL}\n    div.rn.f32 t, {TWO}, t;"
    f"\n    sub.f32 t, {ONE}, t;{OUTER}",
    "x sigmoid 1.702 x": f"""
    .reg .f32 t;
    mul.f32 t, %_x, {bits(-1.702 / math.log(2))};
    ex2.approx.f32 t, t;
    add.f32 t, t, {ONE};
    div.approx.f32 %_y, %_x, t;""",
    "a clipped parabola": f"""
    .reg .f32 t;
    fma.rn.f32 t, %_x, {bits(0.25)}, {HALF};
    max.f32 t, t, {bits(0)};
    min.f32 t, t, {ONE};
    mul.f32 %_y, %_x, t;""",
}


def exact(x: Any) -> Any:
    """GELU in double precision."""
    return x * 0.5 * (1 + np.vectorize(math.erf)(x / math.sqrt(2)))


def main() -> None:
    """Measure all candidates and choose."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--tolerance", type=float, default=1e-3)
    parser.add_argument("--device", default="auto")
    options = parser.parse_args()
    random = np.random.default_rng(0)
    a, b = random.normal(0, 0.5, (2, SIZE, SIZE)).astype(np.float32)
    bias = random.normal(0, 1, SIZE).astype(np.float32)
    wanted = exact(a.astype(float) @ b + bias)

    template = ptxkit.inject.Template.from_cuda(KERNEL, ARCH)
    sets = [{"epilogue": stub} for stub in CANDIDATES.values()]
    texts = template.render_many(sets)
    cubins = template.assemble_many(sets, ARCH)
    on_gpu = not isinstance(ptxkit.load(texts[0], device=options.device), ptxkit.run.CpuModule)
    # The simulator's time tells nothing about a GPU's.
    clock = "us" if on_gpu else "us in the simulator"
    table = Table("epilogue", "largest error", "registers", "bytes of code", clock, "fits")
    costs = {}
    for name, text, cubin in zip(CANDIDATES, texts, cubins, strict=True):
        c = np.zeros((SIZE, SIZE), np.float32)
        module = ptxkit.load(text, device=options.device)
        launch = module["linear"][(2, 2), (SIZE // 2, SIZE // 2)]
        launch(a, b, bias, c, SIZE)
        begin = time.perf_counter()
        launch(a, b, bias, c, SIZE)
        seconds = time.perf_counter() - begin
        error = np.abs(c - wanted).max()
        needs = cubin.resources["linear"]
        fits = error <= options.tolerance
        if fits:
            costs[name] = (needs.code, needs.registers)
        table.add_row(name, f"{error:.1e}", str(needs.registers), str(needs.code),
                      f"{seconds * 1e6:,.0f}", "yes" if fits else "no")  # fmt: skip
    Console(width=100).print(table)
    best = min(costs, key=costs.__getitem__, default=None)
    print(f"least bytes of code, then registers, within {options.tolerance:g}: {best or 'none'}")


if __name__ == "__main__":
    main()
