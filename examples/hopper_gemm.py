"""A matrix product for Hopper: tensor copies, an mbarrier pipeline, ``wgmma``, persistent blocks.

``c = a @ b.T`` in half precision with single-precision sums. Each block has three groups of four
warps. One thread of the first fetches boxes of a and b, stage after stage; the other two groups
multiply, each half of the rows. Two blocks that share columns fetch each half of them for both.

    python examples/hopper_gemm.py [M N K]

needs an H100 or H200; without one it checks and assembles the kernel.
"""

from __future__ import annotations

import sys
from functools import cache

from ptxkit.dsl import (
    Ring,
    Size,
    Tile,
    cdiv,
    f16,
    f32,
    fence_copies,
    fence_init,
    kernel,
    mma,
    ptx,
    reg,
    smem,
    sreg,
    tma,
    warp,
    wgmma,
)

DEPTH = 64  # of a stage: a row of a swizzle in half precision
GROUP = 128  # threads of a warpgroup


def blocks(M, N, BM, BN, CLUSTER, SMS):
    """As many as the GPU runs at once, or as there are tiles."""
    return min(cdiv(cdiv(M, BM), CLUSTER) * cdiv(N, BN), SMS // CLUSTER) * CLUSTER


@kernel(
    target="sm_90a",
    grid=blocks,
    block=3 * GROUP,
    cluster=lambda CLUSTER: CLUSTER,
    maxntid=(3 * GROUP, 1, 1),
    minnctapersm=1,
)
def gemm(
    a: Tile("M", "K", f16).mapped("BM", DEPTH, swizzle=128),
    b: Tile("N", "K", f16).mapped("PART", DEPTH, swizzle=128),
    c: Tile("M", "N", f16, out=True).mapped(64, 64, swizzle=128),
    m: Size("M"),
    n: Size("N"),
    k: Size("K"),
    *,
    BM: int = 128,
    BN: int = 256,
    PART: int = 128,
    STAGES: int = 4,
    CLUSTER: int = 2,
    BAND: int = 8,
    SMS: int = 132,
):
    pool = smem.dynamic()
    left = pool.tile(f16, BM, DEPTH, swizzle=128, stages=STAGES)
    right = pool.tile(f16, BN, DEPTH, swizzle=128, stages=STAGES)
    result = pool.tile(f16, 64, 64, swizzle=128, stages=4)  # two for each group
    full, empty = pool.barriers(STAGES), pool.barriers(STAGES)

    tid, rank = reg.u32(init=sreg.tid.x), reg.u32(init=sreg.cluster_ctarank)
    with ptx.if_(tid == 0):
        full.init(1)
        empty.init(2 * CLUSTER)
        fence_init()
    ptx.barrier.cluster.arrive.aligned()
    ptx.barrier.cluster.wait.aligned()

    steps = (k + (DEPTH - 1)) >> 6
    across = (n + (BN - 1)) // BN
    down = (m + (BM * CLUSTER - 1)) // (BM * CLUSTER)
    first = reg.u32(init=sreg.ctaid.x) // CLUSTER
    stride = reg.u32(init=sreg.nctaid.x) // CLUSTER

    def tiles():
        """Row and column of this block's tiles; bands of rows, so that the cache keeps b."""
        for number in ptx.range(first, across * down, stride):
            band = number // (across * BAND)
            height = ptx.min.u32.new(down - band * BAND, BAND)
            inside = number % (across * BAND)
            row = (band * BAND + inside % height) * CLUSTER + rank
            yield row * BM, inside // height * BN

    with ptx.if_(tid < GROUP):
        ptx.setmaxnreg.dec.sync.aligned.u32(40)
        with ptx.if_(tid == 0):
            tma.prefetch(a)
            tma.prefetch(b)
            ring = Ring(STAGES, phase=1)
            everyone = reg.u16(init=(1 << CLUSTER) - 1) if CLUSTER > 1 else None
            for row, column in tiles():
                part = rank * PART
                for step in ptx.range(steps, unroll=False):
                    empty.at(ring.stage).wait(ring.phase)
                    here = full.at(ring.stage)
                    here.expect(left.bytes + right.bytes)
                    tma.load(left.stage(ring.stage), a, (step * DEPTH, row), here)
                    half = right.stage(ring.stage).start() + part * (DEPTH * 2)
                    tma.load(half, b, (step * DEPTH, column + part), here, blocks=everyone)
                    ring.advance()
    with ptx.else_():
        ptx.setmaxnreg.inc.sync.aligned.u32(232)
        product = wgmma.Wgmma(BN, f32, f16)
        sums = product.c.new()
        # From one lane for all, so that the assembler knows that they are equal.
        thread, group = tid & (GROUP - 1), warp.broadcast(tid >> 7) - 1
        rows = group * 64
        ring = Ring(STAGES)
        last = reg.u32(init=0)
        tells, peer = thread < CLUSTER, thread & (CLUSTER - 1)
        x = wgmma.descriptor(left) + rows * (DEPTH * 2)
        y = wgmma.descriptor(right)
        for row, column in tiles():
            for step in ptx.range(steps, unroll=False):
                full.at(ring.stage).wait(ring.phase)
                xs, ys = x + ring.stage * left.bytes, y + ring.stage * right.bytes
                wgmma.fence()
                for part in range(0, DEPTH, product.k):
                    follows = (step > 0) if part == 0 else True
                    product(sums, xs + 2 * part, ys + 2 * part, add=follows)
                wgmma.commit()
                wgmma.wait(1)  # the stage before this one has been read
                empty.at(last).arrive(block=peer, release=False, when=tells & (step > 0))
                last.set(ring.stage)
                ring.advance()
            wgmma.wait(0)
            empty.at(last).arrive(block=peer, release=False, when=tells)
            write(c, result, sums, row + rows, column, thread, group, BN)
        with ptx.if_(thread == 0):
            tma.wait(0)
    ptx.barrier.cluster.arrive.aligned()
    ptx.barrier.cluster.wait.aligned()
    ptx.ret()


def write(c, result, sums, row, column, thread, group, width):
    """Sixty-four columns at a time through shared memory; two buffers take turns."""
    fragment = mma.Fragment("c", 64, 64, f16)
    for part in range(width // 64):
        buffer = result.stage(group * 2 + part % 2)
        with ptx.if_(thread == 0):
            tma.wait(1, read=True)  # the buffer has been read
        ptx.bar.sync(group + 1, GROUP)
        halves = mma.narrowed(sums[32 * part : 32 * part + 32], f16)
        fragment.store_matrix(buffer, halves, lane=thread)
        fence_copies()
        ptx.bar.sync(group + 1, GROUP)
        with ptx.if_(thread == 0):
            tma.store(c, (column + 64 * part, row), buffer)
            tma.commit()


@cache
def processors(device):
    """The multiprocessors of a GPU."""
    import torch

    return torch.cuda.get_device_properties(device).multi_processor_count


def multiply(a, b, BN=256, CLUSTER=2, **options):
    """``a @ b.T`` of two tensors on the GPU."""
    options.setdefault("SMS", processors(a.device))
    return gemm(a, b, BN=BN, CLUSTER=CLUSTER, PART=BN // CLUSTER, **options)


def main() -> None:
    import ptxkit.run.cuda_driver as driver

    if not driver.is_available() or driver.architecture(0) != "sm_90":
        found = gemm.resources()
        print(
            f"hopper_gemm needs an H100 or H200; checked: {len(gemm.check())} findings, "
            f"{found.registers} registers, {gemm.shared_bytes()} bytes of shared memory"
        )
        return
    import torch

    m, n, k = (int(one) for one in sys.argv[1:4]) if len(sys.argv) > 3 else (8192, 8192, 8192)
    a = torch.randn((m, k), device="cuda", dtype=torch.float16)
    b = torch.randn((n, k), device="cuda", dtype=torch.float16)
    ours, theirs = multiply(a, b), a @ b.t()
    error = (ours.float() - theirs.float()).abs().max() / theirs.float().abs().max()
    times = timed({"ptxkit": lambda: multiply(a, b), "torch": lambda: a @ b.t()})
    rates = {name: 2e-9 * m * n * k / ms for name, ms in times.items()}
    print(
        f"{m} x {n} x {k}: ptxkit {rates['ptxkit']:.0f} TFLOPS, torch {rates['torch']:.0f} TFLOPS, "
        f"ratio {rates['ptxkit'] / rates['torch']:.2f}; largest relative error {error:.1e}"
    )


def timed(works, rounds=8, repeat=10):
    """Milliseconds of one call of each: they take turns, and the best round counts."""
    import torch

    best = dict.fromkeys(works, float("inf"))
    for _ in range(rounds):
        for name, work in works.items():
            begin, end = (torch.cuda.Event(enable_timing=True) for _ in "be")
            begin.record()
            for _ in range(repeat):
                work()
            end.record()
            torch.cuda.synchronize()
            best[name] = min(best[name], begin.elapsed_time(end) / repeat)
    return best


if __name__ == "__main__":
    main()
