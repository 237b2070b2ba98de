"""Asynchronous copies and mbarriers on the simulator."""

from __future__ import annotations

import numpy as np
import pytest

import ptxkit
from ptxkit.run import CpuModule, SimulationError, UnsupportedError

PIPELINE = r"""
#include <cuda/pipeline>
#include <cuda/barrier>
#include <cooperative_groups.h>
namespace cg = cooperative_groups;

// Four stages in flight, filled by one warp and emptied by the others.
extern "C" __global__ void stages(const float *in, float *out, int tiles) {
    constexpr int stages = 4;
    __shared__ alignas(16) float buffer[stages][128];
    __shared__ cuda::pipeline_shared_state<cuda::thread_scope_block, stages> state;
    auto block = cg::this_thread_block();
    auto role = threadIdx.x < 32 ? cuda::pipeline_role::producer : cuda::pipeline_role::consumer;
    auto pipe = cuda::make_pipeline(block, &state, role);
    if (threadIdx.x < 32) {
        for (int t = 0; t < tiles; ++t) {
            pipe.producer_acquire();
            for (int i = threadIdx.x; i < 32; i += 32)
                cuda::memcpy_async(&buffer[t % stages][4 * i], in + t * 128 + 4 * i,
                                   cuda::aligned_size_t<16>(16), pipe);
            pipe.producer_commit();
        }
    } else {
        for (int t = 0; t < tiles; ++t) {
            pipe.consumer_wait();
            for (int i = threadIdx.x - 32; i < 128; i += 96)
                out[t * 128 + i] = 2 * buffer[t % stages][127 - i];
            pipe.consumer_release();
        }
    }
}

extern "C" __global__ void bulk(const int *in, int *out, int tiles) {
    __shared__ alignas(128) int buffer[256];
    __shared__ cuda::barrier<cuda::thread_scope_block> bar;
    if (threadIdx.x == 0) init(&bar, blockDim.x);
    __syncthreads();
    for (int t = 0; t < tiles; ++t) {
        cuda::barrier<cuda::thread_scope_block>::arrival_token token;
        if (threadIdx.x == 0) {
            cuda::device::memcpy_async_tx(buffer, in + 256 * t,
                                          cuda::aligned_size_t<16>(sizeof(buffer)), bar);
            token = cuda::device::barrier_arrive_tx(bar, 1, sizeof(buffer));
        } else {
            token = bar.arrive();
        }
        bar.wait(std::move(token));
        for (int i = threadIdx.x; i < 256; i += blockDim.x) buffer[i] += i;
        cuda::ptx::fence_proxy_async(cuda::ptx::space_shared);
        __syncthreads();
        if (threadIdx.x == 0) {
            cuda::ptx::cp_async_bulk(cuda::ptx::space_global, cuda::ptx::space_shared,
                                     out + 256 * t, buffer, sizeof(buffer));
            cuda::ptx::cp_async_bulk_commit_group();
            cuda::ptx::cp_async_bulk_wait_group_read(cuda::ptx::n32_t<0>());
        }
        __syncthreads();
    }
}
"""


@pytest.mark.filterwarnings("ignore::ptxkit.toolchain.messages.CompilerWarning")
def test_pipelines_of_the_cuda_library() -> None:
    loaded = ptxkit.load(ptxkit.compile_cuda(PIPELINE, arch="sm_90"), device="cpu")
    x = np.random.default_rng(0).standard_normal((20, 128)).astype(np.float32)
    y = np.zeros_like(x)
    loaded["stages"][1, 128](x, y, 20)
    assert np.array_equal(y, 2 * x[:, ::-1])
    a = np.arange(256 * 8, dtype=np.int32).reshape(8, 256)
    b = np.zeros_like(a)
    loaded["bulk"][1, 64](a, b, 8)
    assert np.array_equal(b, a + np.arange(256))


def kernel(body: str, target: str = "sm_90a") -> CpuModule:
    text = f""".version 9.2
.target {target}
.address_size 64
.visible .entry k(.param .u64 in, .param .u64 out)
{{
.shared .align 128 .b8 area[512];
.shared .align 8 .b64 bar;
.reg .b64 %in, %out, %x<8>;
.reg .b32 %t, %w<8>;
.reg .b16 %h<4>;
.reg .pred %p<4>;
ld.param.u64 %in, [in];
ld.param.u64 %out, [out];
mov.u32 %t, %tid.x;
{body}
ret;
}}
"""
    return ptxkit.load(text, device="cpu")


def run(body: str, threads: int = 1, target: str = "sm_90a") -> np.ndarray:
    source = np.arange(512, dtype=np.uint8)
    out = np.zeros(512, np.uint8)
    kernel(body, target)["k"][1, threads](source, out)
    return out


_LOAD = "cp.async.bulk.shared::cta.global.mbarrier::complete_tx::bytes"
_START = "mbarrier.init.shared.b64 [bar], 1;\nmbarrier.arrive.expect_tx.shared.b64 _, [bar], {};\n"
_WAIT = "W: mbarrier.try_wait.parity.shared.b64 %p3, [bar], 0;\n@!%p3 bra W;\n"
_SHOW = "cp.async.bulk.global.shared::cta.bulk_group [%out], [area], 512;\n"


def test_a_copy_that_ignores_bytes_on_both_sides() -> None:
    out = run(
        _START.format(64)
        + f"{_LOAD}.ignore_oob [area], [%in], 64, 3, 5, [bar];\n" + _WAIT + _SHOW
    )  # fmt: skip
    assert out[:3].tolist() == [0] * 3
    assert out[3:59].tolist() == list(range(3, 59))
    assert out[59:].tolist() == [0] * 453


def test_a_copy_of_some_bytes_of_every_sixteen() -> None:
    out = run(
        _START.format(64) + f"{_LOAD} [area], [%in], 64, [bar];\n" + _WAIT
        + "mov.u16 %h1, 0x00F1;\n"
        "cp.async.bulk.global.shared::cta.bulk_group.cp_mask [%out], [area], 64, %h1;\n",
        target="sm_100a",
    )  # fmt: skip
    expected = [i if (0xF1 >> (i % 16)) & 1 else 0 for i in range(64)]
    assert out[:64].tolist() == expected


def test_zeros_in_bulk() -> None:
    out = run(
        _START.format(512) + f"{_LOAD} [area], [%in], 512, [bar];\n" + _WAIT
        + "st.bulk.weak.shared::cta [area+64], 128, 0;\n" + _SHOW,
        target="sm_100a",
    )  # fmt: skip
    expected = (np.arange(512) % 256).astype(np.uint8)
    expected[64:192] = 0
    assert np.array_equal(out, expected)


@pytest.mark.parametrize(
    ("body", "kind", "message"),
    [
        (
            f"mov.u32 %w0, 24;\n{_LOAD} [area], [%in], %w0, [bar];",
            "misaligned",
            "not a multiple of 16",
        ),
        (f"{_LOAD} [area], [%in+4], 16, [bar];", "misaligned", "must be a multiple of 16"),
        (f"{_LOAD} [area], [%in+400], 128, [bar];", "out-of-bounds", "argument 'in'"),
        (f"{_LOAD} [area+32], [%in], 512, [bar];", "out-of-bounds", "shared memory has"),
        (f"{_LOAD} [area], [%in], 16, [bar];", "mbarrier", "has not been initialised"),
        ("mbarrier.arrive.shared.b64 %x0, [bar];", "mbarrier", "has not been initialised"),
        ("mbarrier.init.shared.b64 [bar], 0;", "mbarrier", "1 to 1048575 arrivals"),
        (
            "mbarrier.init.shared.b64 [bar], 2;\nmbarrier.arrive.shared.b64 %x0, [bar], 3;",
            "mbarrier",
            "3 arrivals at an mbarrier that waits for 2",
        ),
        ("mbarrier.init.b64 [%in], 2;", "mbarrier", "must lie in shared memory"),
        ("cp.async.ca.shared.global [area], [%in+2], 4;", "misaligned", "multiple of 4"),
        (
            "mbarrier.init.shared.b64 [bar], 2;\nmbarrier.arrive.shared.b64 %x0, [bar];\n" + _WAIT,
            "deadlock",
            "1 waits at an mbarrier whose phase does not complete",
        ),
    ],
)
def test_faults(body: str, kind: str, message: str) -> None:
    with pytest.raises(SimulationError, match=message) as caught:
        run(body)
    assert caught.value.kind == kind


def test_a_wait_may_end_without_success() -> None:
    out = run(
        "mbarrier.init.shared.b64 [bar], 2;\nmbarrier.arrive.shared.b64 %x0, [bar];\n"
        "mbarrier.try_wait.shared.b64 %p1, [bar], %x0, 1000;\n"
        "selp.u32 %w1, 1, 2, %p1;\nst.global.u32 [%out], %w1;\n"
    )
    assert out[0] == 2


@pytest.mark.parametrize(
    "instruction",
    [
        "wgmma.fence.sync.aligned;",
        "cp.async.bulk.tensor.1d.shared::cluster.global.mbarrier::complete_tx::bytes "
        "[area], [%in, {%w0}], [bar];",
        "multimem.st.global.u32 [%in], %w0;",
        "tcgen05.wait::ld.sync.aligned;",
    ],
)
def test_what_is_not_simulated_stops_that_kernel_only(instruction: str) -> None:
    text = f""".version 9.0
.target {"sm_90a" if "wgmma" in instruction else "sm_100a"}
.address_size 64
.visible .entry good(.param .u64 out) {{ ret; }}
.visible .entry bad()
{{
.shared .align 128 .b8 area[512];
.shared .align 8 .b64 bar;
.reg .b64 %in;
.reg .b32 %w0;
{instruction}
ret;
}}
"""
    loaded = ptxkit.load(text, device="cpu")
    loaded["good"][1, 1](np.zeros(1))
    with pytest.raises(UnsupportedError) as caught:
        loaded["bad"]
    found = caught.value.diagnostic
    assert found.line == 11
    assert instruction.split(" ")[0].rstrip(";") in found.message
    assert "not simulated" in found.message
