"""A matrix product in single precision: tiles in shared memory, fetched by ``cp.async``.

Each block computes 64 by 64 elements, each thread 4 by 4 of them. While it multiplies one pair
of tiles, the next is on its way.

    python examples/tiled_matmul.py

runs on a GPU if there is one, else on the simulator.
"""

import numpy as np

from ptxkit.dsl import Size, Tile, cp_async, f32, kernel, ptx, reg, smem, sreg, view

SIDE, DEPTH, THREADS = 64, 16, 256


@kernel(target="sm_80", grid=lambda M, N: (N // SIDE, M // SIDE), block=THREADS)
def matmul(
    a: Tile("M", "K", f32),
    b: Tile("K", "N", f32),
    c: Tile("M", "N", f32, out=True),
    n: Size("N"),
    k: Size("K"),
):
    """Sizes are multiples of the tiles' sides."""
    left = smem.tile(f32, SIDE, DEPTH, stages=2)
    right = smem.tile(f32, DEPTH, SIDE, stages=2)
    tid = reg.u32(init=sreg.tid.x)
    row, column = reg.u32(init=sreg.ctaid.y) * SIDE, reg.u32(init=sreg.ctaid.x) * SIDE
    rows = view(a, f32, strides=(k, 1)).moved(row, 0)
    columns = view(b, f32, strides=(n, 1)).moved(0, column)

    def fetch(step, stage):
        cp_async.tile(left.stage(stage), rows.moved(0, step * DEPTH), tid, THREADS)
        cp_async.tile(right.stage(stage), columns.moved(step * DEPTH, 0), tid, THREADS)

    sums = [[reg.f32(init=0.0) for _ in range(4)] for _ in range(4)]
    top, side = (tid >> 4) * 4, (tid & 15) * 4
    stage, steps = reg.u32(init=0), k // DEPTH
    fetch(reg.u32(init=0), stage)
    cp_async.commit()
    for step in ptx.range(steps):
        with ptx.if_(step + 1 < steps):
            fetch(step + 1, stage ^ 1)
        cp_async.commit()
        cp_async.wait(1)  # all but the tiles that were asked for last
        ptx.bar.sync(0)
        for depth in range(DEPTH):
            xs = [left.stage(stage).load(top + i, depth) for i in range(4)]
            ys = right.stage(stage).load(depth, side, count=4)
            for i, x in enumerate(xs):
                for j, y in enumerate(ys):
                    ptx.fma.rn.f32(sums[i][j], x, y, sums[i][j])
        ptx.bar.sync(0)
        stage ^= 1
    result = view(c, f32, strides=(n, 1)).moved(row, column)
    for i in range(4):
        result.store(top + i, side, value=sums[i])
    ptx.ret()


def main() -> None:
    random = np.random.default_rng(0)
    a = random.standard_normal((128, 96)).astype(np.float32)
    b = random.standard_normal((96, 192)).astype(np.float32)
    result = matmul(a, b, device="auto")
    error = np.abs(result - a.astype(np.float64) @ b).max()
    print(f"tiled_matmul: 128 x 192 x 96, largest error {error:.1e}")
    assert error < 1e-4


if __name__ == "__main__":
    main()
