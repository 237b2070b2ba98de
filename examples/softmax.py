"""Softmax of rows, a warp for each: the maximum and the sum by shuffles.

A row's length is known while the kernel is traced, so each lane keeps its part in registers.

    python examples/softmax.py

runs on a GPU if there is one, else on the simulator.
"""

import numpy as np

from ptxkit.dsl import Size, Tile, cdiv, f32, kernel, ptx, reg, sreg, view, warp

WARPS = 4


@kernel(target="sm_80", grid=lambda M: cdiv(M, WARPS), block=32 * WARPS)
def softmax(
    x: Tile("M", "N", f32),
    out: Tile("M", "N", f32, out=True),
    m: Size("M"),
    *,
    N: int,
):
    lane = warp.lane()
    row = reg.u32(init=sreg.ctaid.x) * WARPS + (reg.u32(init=sreg.tid.x) >> 5)
    with ptx.if_(row < m):
        source, target = view(x, f32, strides=(N, 1)), view(out, f32, strides=(N, 1))
        values = []
        for first in range(0, N, 32):
            value = reg.f32(init=float("-inf"))
            inside = None if first + 32 <= N else lane < N - first
            ptx.ld.global_.f32(value, source.at(row, lane + first), when=inside)
            values.append(value)
        largest = values[0]
        for value in values[1:]:
            largest = ptx.max.f32.new(largest, value)
        largest = warp.reduce("max", largest)
        powers = [ptx.ex2.approx.f32.new((one - largest) * 1.4426950408889634) for one in values]
        total = powers[0]
        for power in powers[1:]:
            total = total + power
        share = ptx.rcp.rn.f32.new(warp.reduce("add", total))
        for first, power in zip(range(0, N, 32), powers, strict=True):
            inside = None if first + 32 <= N else lane < N - first
            target.store(row, lane + first, value=power * share, when=inside)
    ptx.ret()


def main() -> None:
    x = np.random.default_rng(0).standard_normal((37, 200)).astype(np.float32) * 4
    result = softmax(x, device="auto")
    wide = np.exp(x.astype(np.float64) - x.max(1, keepdims=True))
    error = np.abs(result - wide / wide.sum(1, keepdims=True)).max()
    print(f"softmax: 37 rows of 200, largest error {error:.1e}")
    assert error < 1e-6


if __name__ == "__main__":
    main()
