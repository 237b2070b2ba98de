"""A matrix product on tensor cores: ``ldmatrix``, ``mma.m16n8k16`` and a ring of ``cp.async``.

``c = a @ b.T`` in half precision with single-precision sums. A block of four warps computes 128
by 128 elements, each warp 64 by 64; three stages of swizzled tiles are in flight.

    python examples/mma_gemm.py

runs on a GPU if there is one, else on the simulator.
"""

import numpy as np

from ptxkit.dsl import Size, Tile, cp_async, f16, f32, kernel, mma, ptx, reg, smem, sreg, view

SIDE, DEPTH, THREADS, STAGES = 128, 32, 128, 3
PRODUCT = mma.Mma("m16n8k16", f32, f16)


@kernel(target="sm_80", grid=lambda M, N: (N // SIDE, M // SIDE), block=THREADS)
def gemm(
    a: Tile("M", "K", f16),
    b: Tile("N", "K", f16),
    c: Tile("M", "N", f32, out=True),
    n: Size("N"),
    k: Size("K"),
):
    """M and N are multiples of 128, K of 32."""
    pool = smem.dynamic()
    left = pool.tile(f16, SIDE, DEPTH, swizzle=64, stages=STAGES)
    right = pool.tile(f16, SIDE, DEPTH, swizzle=64, stages=STAGES)
    tid = reg.u32(init=sreg.tid.x)
    lane, warp = tid & 31, tid >> 5
    row, column = reg.u32(init=sreg.ctaid.y) * SIDE, reg.u32(init=sreg.ctaid.x) * SIDE
    rows = view(a, f16, strides=(k, 1)).moved(row, 0)
    columns = view(b, f16, strides=(k, 1)).moved(column, 0)

    def fetch(step, stage):
        cp_async.tile(left.stage(stage), rows.moved(0, step * DEPTH), tid, THREADS)
        cp_async.tile(right.stage(stage), columns.moved(0, step * DEPTH), tid, THREADS)

    steps = k // DEPTH
    for stage in range(STAGES - 1):
        with ptx.if_(steps > stage):
            fetch(reg.u32(init=stage), stage)
        cp_async.commit()

    sums = [[PRODUCT.c.new(0.0) for _ in range(8)] for _ in range(4)]
    top, side = (warp >> 1) * 64, (warp & 1) * 64
    stage = reg.u32(init=0)
    for step in ptx.range(steps, unroll=False):
        cp_async.wait(STAGES - 2)
        ptx.bar.sync(0)  # this stage is there, and the one before it has been read
        following = step + (STAGES - 1)
        with ptx.if_(following < steps):
            fetch(following, following % STAGES)
        cp_async.commit()
        here, there = left.stage(stage), right.stage(stage)
        for depth in range(0, DEPTH, 16):
            xs = [PRODUCT.a.load_matrix(here, top + 16 * i, depth, lane=lane) for i in range(4)]
            for j in range(8):
                y = PRODUCT.b.load_matrix(there, side + 8 * j, depth, lane=lane)
                for i, x in enumerate(xs):
                    PRODUCT(sums[i][j], x, y)
        stage += 1
        ptx.mov.u32(stage, 0, when=stage == STAGES)

    result = view(c, f32, strides=(n, 1)).moved(row, column)
    for i in range(4):
        for j in range(8):
            PRODUCT.c.store(result, sums[i][j], top + 16 * i, side + 8 * j, lane)
    ptx.ret()


def main() -> None:
    random = np.random.default_rng(0)
    a = random.standard_normal((128, 160)).astype(np.float16)
    b = random.standard_normal((256, 160)).astype(np.float16)
    result = gemm(a, b, device="auto")
    error = np.abs(result - a.astype(np.float64) @ b.T.astype(np.float64)).max()
    print(f"mma_gemm: 128 x 256 x 160, largest error {error:.1e}")
    assert error < 1e-3


if __name__ == "__main__":
    main()
