"""Lifted kernels, compiled again, do what the first ones do."""

from __future__ import annotations

import numpy as np
import pytest

import ptxkit
from ptxkit import cuda
from ptxkit.decompiler.lift.lifter import lift_module
from ptxkit.decompiler.verify import compiled

SOURCE = """
extern "C" __global__ void saxpy(float a, const float *x, float *y, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) y[i] = a * x[i] + y[i];
}
"""


def test_saxpy_comes_back() -> None:
    module = ptxkit.compile_cuda(SOURCE, arch="sm_80")
    text = cuda.print_module(lift_module(module))
    assert "goto" not in text
    assert "asm" not in text
    again = ptxkit.compile_cuda(text, arch="sm_80")
    results = []
    for one in (module, again):
        x, y = np.arange(100, dtype=np.float32), np.linspace(-3, 3, 100, dtype=np.float32)
        ptxkit.load(one, device="cpu")["saxpy"][2, 64](1.7, x, y, 90)
        results.append(y)
    np.testing.assert_array_equal(*results)
    assert results[0][10] != np.linspace(-3, 3, 100, dtype=np.float32)[10]


def test_long_beside_long_long_finds_an_overload() -> None:
    """Names tell ``long`` from ``long long``, and so do ``min`` and ``max``."""
    module = ptxkit.compile_cuda(
        """__global__ void k(unsigned long *x, unsigned long n, unsigned long long m, long a,
                             long long b) {
            unsigned long long i = blockIdx.x * blockDim.x + threadIdx.x;
            x[i] = min((unsigned long long)n, i * m) + max((long long)a, b);
        }""",
        arch="sm_80",
    )
    text = cuda.print_module(lift_module(module))
    assert "unsigned long n" in text and "min(" in text and "max(" in text
    assert compiled(text, "sm_80").module is not None, text


def test_a_loop_that_asks_what_assembly_gave_declares_it_where_it_is_asked() -> None:
    module = ptxkit.parse(""".version 8.0
.target sm_90
.address_size 64
.visible .entry k(.param .u64 .ptr x) {
    .reg .pred %p<2>;
    .reg .b32 %r<2>;
    .reg .b64 %rd<3>;
    .shared .align 8 .b64 barrier;
    ld.param.u64 %rd1, [x];
    mov.u32 %r1, barrier;
    mbarrier.init.shared::cta.b64 [%r1], 1;
    mbarrier.arrive.shared::cta.b64 %rd2, [%r1];
WAIT:
    mbarrier.try_wait.parity.shared::cta.b64 %p1, [%r1], 0;
    @!%p1 bra WAIT;
    st.global.u32 [%rd1], 1;
    ret;
}""")
    text = cuda.print_module(lift_module(module))
    assert "try_wait" in text and "while" in text
    assert compiled(text, "sm_90").module is not None, text


CLAMPED = """struct Point { float at, speed; }; struct Room { float damping, least, most; };
extern "C" __global__ void clamped(Point *points, Room room) {
    Point p = points[threadIdx.x];
    if (p.at < room.least || p.at > room.most) p.speed *= -room.damping;
    points[threadIdx.x] = p; }"""


def test_numbers_in_local_memory_are_compared_as_they_are() -> None:
    """Without optimisation they lie there: what is not less may be no number at all."""
    module = ptxkit.compile_cuda(CLAMPED, arch="sm_90", debug=True)
    text = cuda.print_module(lift_module(module))
    results = []
    for one in (module, ptxkit.compile_cuda(text, arch="sm_90")):
        points = np.array([0.5, 1.0, -2.0, 1.0, 3.0, 1.0, np.nan, 1.0], np.float32)
        room = np.array([0.5, 0.0, 2.0], np.float32)
        ptxkit.load(one, device="cpu")["clamped"][1, 4](points, room.tobytes())
        results.append(points.tobytes())
    assert results[0] == results[1], text


@pytest.mark.parametrize("loop", ["", "L: add.s32 %r2, %r2, 1; setp.lt.s32 %p2, %r2, %r1;"])
def test_code_goes_on_behind_a_trap_under_a_guard(loop: str) -> None:
    module = ptxkit.parse(f""".version 8.0
    .target sm_90
    .address_size 64
    .visible .entry k(.param .u64 p, .param .u64 q) {{
        .reg .pred %p<3>; .reg .b32 %r<3>; .reg .b64 %d<3>;
        ld.param.u64 %d1, [p]; ld.param.u64 %d2, [q]; ld.global.u32 %r1, [%d1]; mov.u32 %r2, 0;
        {loop} setp.eq.s32 %p1, %r1, -1; @%p1 trap; {"@%p2 bra L;" if loop else ""}
        st.global.u32 [%d2], %r1; ret; }}""")
    found = ptxkit.decompile(module, engine="symbolic")
    assert found.verdict.equivalent
    assert "__trap();" in found.cuda
    assert "*q = n;" in found.cuda
