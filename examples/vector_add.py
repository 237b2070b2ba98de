"""The sum of two vectors, four elements a thread: the first kernel to read.

    python examples/vector_add.py

runs on a GPU if there is one, else on the simulator.
"""

import numpy as np

from ptxkit.dsl import Size, Tile, cdiv, f32, kernel, ptx, reg, sreg, view

THREADS, EACH = 128, 4


@kernel(target="sm_80", grid=lambda N: cdiv(N, THREADS * EACH), block=THREADS)
def add(
    x: Tile("N", f32, align=16),
    y: Tile("N", f32, align=16),
    out: Tile("N", f32, out=True, align=16),
    n: Size("N"),
):
    left, right, total = view(x, f32), view(y, f32), view(out, f32)
    first = (reg.u32(init=sreg.ctaid.x) * THREADS + reg.u32(init=sreg.tid.x)) * EACH
    with ptx.if_(first + (EACH - 1) < n):  # four at once
        pairs = zip(left.load(first, count=EACH), right.load(first, count=EACH), strict=True)
        total.store(first, value=[a + b for a, b in pairs])
    with ptx.else_():
        for i in ptx.range(first, n):
            total.store(i, value=left.load(i) + right.load(i))
    ptx.ret()


def main() -> None:
    random = np.random.default_rng(0)
    x, y = (random.standard_normal(10_003).astype(np.float32) for _ in "xy")
    result = add(x, y, device="auto")
    print(f"vector_add: {x.size} elements, largest error {np.abs(result - (x + y)).max()}")
    assert (result == x + y).all()


if __name__ == "__main__":
    main()
