"""A thread's instructions with its registers, against what the kernel must compute."""

from __future__ import annotations

from functools import lru_cache

import numpy as np
import pytest

import ptxkit
from ptxkit.run import CpuModule, LaunchError, MemoryAccess, SimulationError

PTX = """.version 8.0
.target sm_80
.address_size 64
.visible .entry mixed(.param .u64 x, .param .f32 scale, .param .u32 times)
{
    .reg .pred %p<3>;
    .reg .b16 %h<3>;
    .reg .b32 %r<8>;
    .reg .f32 %f<4>;
    .reg .f64 %d<2>;
    .reg .b64 %rd<5>;
    ld.param.u64 %rd1, [x];
    ld.param.f32 %f1, [scale];
    ld.param.u32 %r7, [times];
    mov.u32 %r1, %tid.x;
    mul.wide.s32 %rd2, %r1, 4;
    add.s64 %rd3, %rd1, %rd2;
    ld.global.f32 %f2, [%rd3];
    mul.rn.f32 %f3, %f2, %f1;
    cvt.f64.f32 %d1, %f3;
    cvt.rn.f16.f32 %h1, %f3;
    sub.s32 %r2, %r1, 5;
    setp.lt.s32 %p1, %r2, 0;
    @%p1 bra NEGATIVE;
    add.u32 %r2, %r2, 100;
NEGATIVE:
    @!%p1 st.global.f32 [%rd3], %f3;
    mov.u32 %r3, 0;
LOOP:
    add.u32 %r3, %r3, 1;
    setp.lt.u32 %p2, %r3, %r7;
    @%p2 bra LOOP;
    bar.red.popc.u32 %r4, 0, %p1;
    mov.b32 {%h1, %h2}, %r2;
    add.u32 %r5, %r4, 1;
    ret;
}
"""


@lru_cache(maxsize=1)
def mixed() -> CpuModule:
    return ptxkit.load(ptxkit.parse(PTX), device="cpu")


def arguments() -> tuple[np.ndarray, float, int]:
    return np.arange(64, dtype=np.float32), 1.5, 3


def test_values_are_typed() -> None:
    x, scale, times = arguments()
    trace = mixed()["mixed"].trace(1, 64, x, scale, times, thread=(3, 0, 0))
    by_text = {record.text: record for record in trace}
    load = by_text["ld.global.f32 %f2, [%rd3];"]
    assert load.writes == {"%f2": 3.0}
    assert load.reads == {"%rd3": x.ctypes.data + 12}
    assert load.accesses == (MemoryAccess("global", x.ctypes.data + 12, 4, False),)
    assert by_text["mul.rn.f32 %f3, %f2, %f1;"].reads == {"%f2": 3.0, "%f1": 1.5}
    assert by_text["mul.wide.s32 %rd2, %r1, 4;"].writes == {"%rd2": 12}
    assert by_text["cvt.f64.f32 %d1, %f3;"].writes == {"%d1": 4.5}
    assert by_text["cvt.rn.f16.f32 %h1, %f3;"].writes == {"%h1": 4.5}
    assert by_text["sub.s32 %r2, %r1, 5;"].writes == {"%r2": -2}
    assert by_text["setp.lt.s32 %p1, %r2, 0;"].writes == {"%p1": True}
    # Its own branch was taken: the sum is not there, and the guarded store is skipped.
    assert "add.u32 %r2, %r2, 100;" not in by_text
    store = by_text["@!%p1 st.global.f32 [%rd3], %f3;"]
    assert (store.active, store.accesses) == (False, ())
    # What a barrier reduces is known when the thread goes on: five threads had the predicate.
    assert by_text["bar.red.popc.u32 %r4, 0, %p1;"].writes == {"%r4": 5}
    assert by_text["add.u32 %r5, %r4, 1;"].reads == {"%r4": 5}
    assert sum(record.text.startswith("add.u32 %r3") for record in trace) == 3
    assert trace[-1].text == "ret;"


def test_the_other_side_of_the_divergence() -> None:
    trace = mixed()["mixed"][1, 64].trace(*arguments(), thread=40)
    texts = [record.text for record in trace]
    assert "add.u32 %r2, %r2, 100;" in texts
    branch = trace[texts.index("@%p1 bra NEGATIVE;")]
    assert (branch.active, branch.reads) == (False, {"%p1": False})
    store = trace[texts.index("@!%p1 st.global.f32 [%rd3], %f3;")]
    assert store.active
    assert store.accesses[0].write


def test_a_trace_is_what_count_counts() -> None:
    counted = mixed()["mixed"][1, 64](*arguments(), count=True)
    total: dict[int, int] = {}
    for thread in range(64):
        for record in mixed()["mixed"].trace(thread=thread)[1, 64](*arguments()):
            if record.instruction is not None and record.active:
                line = record.instruction.line
                total[line] = total.get(line, 0) + 1
    assert total == {node.line: count for node, count in counted.counts if count}


def test_text(snapshot: object) -> None:
    x, scale, times = arguments()
    text = str(mixed()["mixed"].trace(1, 64, x, scale, times, thread=3))
    for place in (x.ctypes.data, x.ctypes.data + 12):
        text = text.replace(hex(place), "0xADDRESS")
    assert text == snapshot


@pytest.mark.parametrize("last", [False, True])
def test_memory_is_bounded(last: bool) -> None:
    x, scale, _ = arguments()
    trace = mixed()["mixed"].trace(1, 64, x, scale, 1000, limit=10, last=last)
    assert len(trace) == 10
    assert trace.left_out == 15 + 3 * 1000 + 4 - 10
    assert (trace[-1].text == "ret;") is last
    assert f"... {trace.left_out:,} more instructions" in str(trace).splitlines()[0 if last else -1]


def test_calls_and_recursion() -> None:
    source = r"""
    __device__ __noinline__ int f(int n) { return n < 2 ? n : f(n - 1) + f(n - 2); }
    extern "C" __global__ void run(int *x) { x[threadIdx.x] = f(threadIdx.x); }
    """
    module = ptxkit.load(ptxkit.compile_cuda(source, arch="sm_80"))
    x = np.zeros(8, np.int32)
    trace = module["run"].trace(1, 8, x, thread=7)
    assert x[7] == 13
    names = [record.function for record in trace]
    assert names[0] == names[-1] == "run"
    inside = [name for name in names if name != "run"]
    assert len(set(inside)) == 1
    calls = [r for r in trace if r.instruction is not None and r.instruction.name == "call"]
    assert len(calls) > 5
    assert names.count("run") > 3
    results = [r for r in trace if r.function == "run" and 13 in r.writes.values()]
    assert results[-1].text.startswith("ld.param")


def test_warp_operations_are_recorded_once() -> None:
    source = r"""
    extern "C" __global__ void run(int *x) {
        int v = x[threadIdx.x];
        if (threadIdx.x % 2) v = v * v + 1;
        x[threadIdx.x] = __shfl_xor_sync(~0u, v, 1) + __ballot_sync(~0u, v > 3);
    }"""
    module = ptxkit.load(ptxkit.compile_cuda(source, arch="sm_80"))
    for thread in (0, 7):
        trace = module["run"].trace(1, 32, np.arange(32, dtype=np.int32), thread=thread)
        names = [r.instruction.name for r in trace if r.instruction is not None]
        assert names.count("shfl") == names.count("vote") == 1


def test_a_fault_carries_the_trace() -> None:
    _, scale, times = arguments()
    short = np.zeros(8, np.float32)
    with pytest.raises(SimulationError) as caught:
        mixed()["mixed"].trace(1, 64, short, scale, times, thread=8)
    assert caught.value.kind == "out-of-bounds"
    trace = caught.value.trace
    assert trace is not None
    assert trace[-1].text == "ld.global.f32 %f2, [%rd3];"
    assert trace[-1].line == caught.value.line


def test_threads_and_blocks_that_are_not_there() -> None:
    kernel = mixed()["mixed"]
    with pytest.raises(LaunchError, match=r"no thread \(64, 0, 0\) in a launch with \(64, 1, 1\)"):
        kernel.trace(1, 64, *arguments(), thread=64)
    with pytest.raises(LaunchError, match=r"no block \(0, 1, 0\)"):
        kernel.trace(1, 64, *arguments(), block=(0, 1))
    with pytest.raises(LaunchError, match="the thread must be whole numbers from 0"):
        kernel.trace(thread=-1)
    with pytest.raises(LaunchError, match="trace 'mixed' as"):
        kernel.trace(1)


def test_another_block() -> None:
    trace = mixed()["mixed"].trace((2, 2), (8, 2), *arguments(), thread=(1, 1), block=(1, 1))
    assert next(r for r in trace if r.text.startswith("mov.u32 %r1")).writes == {"%r1": 1}


def test_lanes_that_wait_for_others_are_counted_once() -> None:
    module = ptxkit.parse("""
.version 8.0
.target sm_80
.address_size 64
.visible .entry late(.param .u64 out)
{
    .reg .pred %p<2>;
    .reg .b32 %r<4>;
    .reg .b64 %rd<4>;
    mov.u32 %r1, %tid.x;
    setp.lt.u32 %p1, %r1, 7;
    @%p1 bra FEW;
    add.u32 %r1, %r1, 5;
FEW:
    shfl.sync.bfly.b32 %r2, %r1, 1, 31, -1;
    mov.u32 %r3, %tid.x;
    mul.wide.u32 %rd1, %r3, 4;
    ld.param.u64 %rd2, [out];
    add.u64 %rd3, %rd2, %rd1;
    st.global.u32 [%rd3], %r2;
    ret;
}""")
    kernel = ptxkit.load(module, device="cpu")["late"]
    for descending in (False, True):
        out = np.zeros(32, dtype=np.uint32)
        report = kernel[1, 32](out, count=True, descending=descending)
        assert {node.name: count for node, count in report.counts}["shfl"] == 32
