"""Clusters and cooperative launches on the simulator."""

from __future__ import annotations

from functools import lru_cache

import numpy as np
import pytest

import ptxkit
from ptxkit.run import CpuModule, LaunchError, SimulationError

SOURCE = r"""
#include <cooperative_groups.h>
namespace cg = cooperative_groups;

extern "C" __global__ void reverse_twice(int *a, int *b, int n) {
    cg::grid_group grid = cg::this_grid();
    int i = grid.thread_rank();
    a[i] = 3 * i;
    grid.sync();
    b[i] = a[n - 1 - i];
    grid.sync();
    a[i] = b[(i + 7) % n];
}

extern "C" __global__ void histogram(const unsigned char *x, unsigned *bins, int n) {
    // Every block of the cluster holds a share of the bins; all add to all of them.
    __shared__ unsigned share[64];
    cg::cluster_group cluster = cg::this_cluster();
    for (int i = threadIdx.x; i < 64; i += blockDim.x) share[i] = 0;
    cluster.sync();
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) {
        unsigned *there = cluster.map_shared_rank(share, x[i] / 64);
        atomicAdd(there + x[i] % 64, 1u);
    }
    cluster.sync();
    for (int i = threadIdx.x; i < 64; i += blockDim.x)
        atomicAdd(bins + cluster.block_rank() * 64 + i, share[i]);
}

extern "C" __global__ void __cluster_dims__(2, 2, 1) ranks(int *out) {
    cg::cluster_group cluster = cg::this_cluster();
    int block = blockIdx.y * gridDim.x + blockIdx.x;
    if (threadIdx.x == 0) out[block] = cluster.block_rank();
}
"""


@lru_cache(maxsize=1)
def module() -> CpuModule:
    return ptxkit.load(ptxkit.compile_cuda(SOURCE, arch="sm_90"), device="cpu")


@pytest.mark.parametrize("threads", [1, 2])
def test_grid_sync_of_a_cooperative_launch(threads: int) -> None:
    n = 16 * 96
    a, b = np.zeros((2, n), np.int32)
    kernel = module()["reverse_twice"]
    kernel[16, 96].with_options(cooperative=True)(a, b, n, threads=threads)
    i = np.arange(n)
    assert np.array_equal(a, (3 * (n - 1 - i))[(i + 7) % n])


def test_shared_memory_of_other_blocks() -> None:
    x = np.random.default_rng(1).integers(0, 256, 5000).astype(np.uint8)
    bins = np.zeros(256, np.uint32)
    module()["histogram"][8, 64].with_options(cluster=4)(x, bins, x.size)
    assert np.array_equal(bins, np.bincount(x, minlength=256))


def test_the_directive_gives_the_cluster() -> None:
    out = np.zeros((4, 6), np.int32)
    module()["ranks"][(6, 4), 32](out)
    y, x = np.mgrid[0:4, 0:6]
    assert np.array_equal(out, x % 2 + 2 * (y % 2))
    with pytest.raises(LaunchError, match="whole clusters"):
        module()["ranks"][(5, 4), 32](out)


def kernel(body: str, directives: str = "") -> CpuModule:
    text = f""".version 8.8
.target sm_100a
.address_size 64
.shared .align 16 .b64 words[16];
.visible .entry k(.param .u64 out) {directives}
{{
.reg .b64 %a, %x<4>;
.reg .b32 %t, %w<8>;
.reg .pred %p<4>;
ld.param.u64 %a, [out];
mov.u32 %t, %tid.x;
{body}
ret;
}}
"""
    return ptxkit.load(text, device="cpu")


def test_a_rank_that_is_not_there() -> None:
    loaded = kernel("mapa.shared::cluster.u32 %w1, words, 2;")
    with pytest.raises(SimulationError, match="mapa of rank 2 in a cluster of 2 blocks"):
        loaded["k"][2, 1].with_options(cluster=2)(np.zeros(1, np.uint64))


def test_a_block_that_has_ended() -> None:
    loaded = kernel(
        """mov.u32 %w0, %cluster_ctarank;
setp.eq.u32 %p0, %w0, 0;
@%p0 ret;
mapa.shared::cluster.u32 %w1, words, 0;
ld.shared::cluster.u32 %w2, [%w1];"""
    )
    with pytest.raises(SimulationError, match="rank 0 has ended") as caught:
        loaded["k"][2, 1].with_options(cluster=2)(np.zeros(1, np.uint64))
    assert caught.value.kind == "exited-block"


def test_arriving_and_waiting_apart() -> None:
    loaded = kernel(
        """barrier.cluster.arrive.release;
mov.u32 %w0, %clock;
barrier.cluster.wait.acquire;
barrier.cluster.arrive.relaxed;
setp.ne.u32 %p0, %t, 0;
@%p0 exit;
barrier.cluster.wait;
mov.u32 %w1, %cluster_ctarank;
mul.wide.u32 %x0, %w1, 8;
add.u64 %x0, %x0, %a;
st.global.u64 [%x0], 7;"""
    )
    out = np.zeros(4, np.uint64)
    loaded["k"][4, 96].with_options(cluster=4)(out)
    assert out.tolist() == [7] * 4


def test_a_deadlock_at_the_barrier_of_the_cluster() -> None:
    loaded = kernel(
        """mov.u32 %w0, %cluster_ctarank;
setp.eq.u32 %p0, %w0, 0;
@%p0 bra OTHER;
barrier.cluster.arrive;
barrier.cluster.wait;
ret;
OTHER:
bar.sync 1, 96;"""
    )
    with pytest.raises(SimulationError) as caught:
        loaded["k"][2, 64].with_options(cluster=2)(np.zeros(1, np.uint64))
    assert caught.value.kind == "deadlock"
    message = caught.value.diagnostic.message
    waits = "64 wait at the barrier of the cluster (line 16), 64 wait at a barrier (line 19)"
    assert waits in message


def test_special_registers_of_a_launch_without_clusters() -> None:
    loaded = kernel(
        """mov.u32 %w0, %cluster_nctarank;
st.global.u32 [%a], %w0;
mov.pred %p0, %is_explicit_cluster;
selp.u32 %w0, 1, 0, %p0;
st.global.u32 [%a+4], %w0;"""
    )
    out = np.full(2, 9, np.uint32)
    loaded["k"][1, 1](out)
    assert out.tolist() == [1, 0]
    loaded["k"][1, 1].with_options(cluster=1)(out)
    assert out.tolist() == [1, 1]


def test_launch_control_takes_over_clusters() -> None:
    cancel = "clusterlaunchcontrol.try_cancel.async.shared::cta.mbarrier::complete_tx::bytes.b128"
    body = f"""
mov.u32 %w0, %ctaid.x;
setp.ne.u32 %p0, %t, 0;
mov.u32 %w6, 0;
@!%p0 mbarrier.init.shared.b64 [words+64], 1;
bar.sync 0;
NEXT:
@%p0 bra DONE;
mul.wide.u32 %x0, %w0, 4;
add.u64 %x0, %x0, %a;
red.global.add.u32 [%x0], 1;
mbarrier.arrive.expect_tx.shared.b64 _, [words+64], 16;
{cancel} [words], [words+64];
W: mbarrier.try_wait.parity.shared.b64 %p1, [words+64], %w6;
@!%p1 bra W;
xor.b32 %w6, %w6, 1;
{{ .reg .b128 answer; ld.shared.b128 answer, [words];
clusterlaunchcontrol.query_cancel.is_canceled.pred.b128 %p2, answer;
@%p2 clusterlaunchcontrol.query_cancel.get_first_ctaid::x.b32.b128 %w0, answer; }}
@%p2 bra NEXT;
DONE:
"""
    out = np.zeros(50, np.uint32)
    report = kernel(body)["k"][50, 32](out, threads=1)
    assert out.tolist() == [1] * 50
    assert report.warp_instructions < 50 * 20
