"""What a rendered kernel computes: aliases, loops, control flow, inlining, functions."""

from __future__ import annotations

import warnings

import numpy as np
import pytest

import ptxkit
from inject.kernels import accepted, render, run
from ptxkit.inject import Template
from ptxkit.toolchain import CompilerWarning, sass

ALIASES = """
extern "C" __global__ void k(const int *in, int *out)
{
    int i = threadIdx.x;
    int a = in[i], b;
    /* PTX_INJECT mix
        in  s32 x = a
        in  s32 same = a
        in  s32 next = a + 1
        mod s32 changed = a
        out s32 b
    */
    out[i] = a;
    out[i + 8] = b;
}
"""


def test_operands_with_one_value_do_not_disturb_each_other() -> None:
    # The stub overwrites every input before it reads the others.
    stub = """
        mov.s32 %_b, %_same;
        mov.s32 %_x, 1000;
        add.s32 %_b, %_b, %_same;
        mov.s32 %_same, 2000;
        add.s32 %_changed, %_changed, %_next;
        add.s32 %_b, %_b, %_x;
    """
    ptx = render(ALIASES, {"mix": stub})
    values, out = np.arange(8, dtype=np.int32) * 3, np.zeros(16, np.int32)
    run(ptx, "k", values, out)
    np.testing.assert_array_equal(out[:8], values + values + 1)
    np.testing.assert_array_equal(out[8:], 2 * values + 1000)
    assert accepted(ptx)


def test_an_input_that_is_overwritten_keeps_its_value_outside() -> None:
    source = """
    extern "C" __global__ void k(int *x) {
        int i = threadIdx.x, a = x[i], b;
        /* PTX_INJECT f
            in s32 a
            out s32 b
        */
        x[i] = a * 100 + b;
    }"""
    ptx = render(source, {"f": "mov.s32 %_b, %_a;\nmov.s32 %_a, 77;"})
    x = np.arange(8, dtype=np.int32)
    run(ptx, "k", x)
    np.testing.assert_array_equal(x, np.arange(8) * 101)


CHAIN = """
extern "C" __global__ void k(unsigned *x, int n)
{
    unsigned v = x[threadIdx.x], w = 1;
    for (int i = 0; i < n; i++) {
        unsigned next;
        /* PTX_INJECT step
            in  u32 v
            out u32 next
            mod u32 w
        */
        v = next;
    }
    x[threadIdx.x] = v + w;
}
"""


def test_a_value_that_goes_round_a_loop() -> None:
    # Here compilers give an output the register of an input that is not needed any more.
    ptx = render(CHAIN, {"step": "mul.lo.u32 %_next, %_v, 3;\nadd.u32 %_w, %_w, %_v;"})
    x = np.arange(8, dtype=np.uint32)
    v, w = x.astype(np.uint64), np.ones(8, np.uint64)
    for _ in range(5):
        v, w = v * 3, w + v
    run(ptx, "k", x, 5)
    np.testing.assert_array_equal(x, (v + w).astype(np.uint32))
    assert accepted(ptx)


def test_control_flow_in_a_stub() -> None:
    # Labels and registers of a stub are its own at every occurrence.
    stub = """
        .reg .pred p;
        .reg .u32 n;
        mov.u32 n, 0;
        mov.u32 %_next, %_v;
    LOOP:
        setp.lt.u32 p, %_next, 100;
        @!p bra DONE;
        shl.b32 %_next, %_next, 1;
        add.u32 %_next, %_next, 1;
        add.u32 n, n, 1;
        bra LOOP;
    DONE:
        add.u32 %_w, %_w, n;
    """
    source = CHAIN.replace("for (", "#pragma unroll\n    for (").replace("int n)", "int)")
    source = source.replace("i < n", "i < 3")
    template = Template.from_cuda(source)
    assert len(template.sites["step"].occurrences) == 3
    ptx = template.render({"step": stub})
    x = np.arange(8, dtype=np.uint32)
    expected = []
    for start in range(8):
        v, w = start, 1
        for _ in range(3):
            while v < 100:
                v, w = 2 * v + 1, w + 1
        expected.append(v + w)
    run(ptx, "k", x, 0)
    np.testing.assert_array_equal(x, expected)
    assert accepted(ptx)


MANY = """
template <int Scale> __device__ __forceinline__ float apply(float v)
{
    float r;
    /* PTX_INJECT inner
        in  f32 v
        in  s32 scale = Scale
        out f32 r
    */
    return r;
}

__device__ __noinline__ float far_away(float v)
{
    float r;
    /* PTX_INJECT inner
        in  f32 v
        in  s32 scale = 10
        out f32 r
    */
    return r;
}

extern "C" __global__ void one(float *x)
{
    x[threadIdx.x] = apply<2>(x[threadIdx.x]) + far_away(x[threadIdx.x]);
}

extern "C" __global__ void two(float *x)
{
    float v = x[threadIdx.x];
#pragma unroll
    for (int i = 0; i < 4; i++) v = apply<3>(v);
    x[threadIdx.x] = v;
}
"""
TIMES = ".reg .f32 s;\ncvt.rn.f32.s32 s, %_scale;\nmul.f32 %_r, %_v, s;"
PLUS = ".reg .f32 s;\ncvt.rn.f32.s32 s, %_scale;\nadd.f32 %_r, %_v, s;"


@pytest.fixture(scope="module")
def many() -> Template:
    return Template.from_cuda(MANY)


def results(ptx: str) -> tuple[list[float], list[float]]:
    one = np.arange(1, 5, dtype=np.float32)
    two = one.copy()
    run(ptx, "one", one, threads=4)
    run(ptx, "two", two, threads=4)
    return one.tolist(), two.tolist()


def test_one_site_through_templates_inlining_and_unrolling(many: Template) -> None:
    site = many.sites["inner"]
    function = next(name for name in many.functions if "far_away" in name)
    assert set(site.functions) == {"one", "two", function}
    assert sum(one.function == "two" for one in site.occurrences) == 4
    ptx = many.render({"inner": TIMES})
    assert results(ptx) == ([12.0, 24.0, 36.0, 48.0], [81.0, 162.0, 243.0, 324.0])
    assert accepted(ptx)


def test_a_stub_for_one_kernel(many: Template) -> None:
    ptx = many.render({"inner": TIMES, ("two", "inner"): PLUS})
    assert results(ptx) == ([12.0, 24.0, 36.0, 48.0], [13.0, 14.0, 15.0, 16.0])


def test_a_stub_for_one_occurrence(many: Template) -> None:
    ptx = many.render({"inner": TIMES, ("two", "inner", 3): PLUS})
    assert results(ptx)[1] == [30.0, 57.0, 84.0, 111.0]
    whole = many.sites["inner"].occurrences
    number = next(one.index for one in whole if one.function == "one")
    ptx = many.render({"inner": TIMES, ("inner", number): PLUS})
    assert results(ptx)[0] == [13.0, 24.0, 35.0, 46.0]


def test_every_kernel_by_itself(many: Template) -> None:
    function = next(name for name in many.functions if "far_away" in name)
    keys = {("one", "inner"): PLUS, ("two", "inner"): TIMES, (function, "inner"): TIMES}
    ptx = many.render(keys)
    assert results(ptx) == ([13.0, 24.0, 35.0, 46.0], [81.0, 162.0, 243.0, 324.0])
    assert many.render(keys) == ptx


def test_a_volatile_site_stays_and_a_pure_one_goes() -> None:
    source = """
    extern "C" __global__ void k(int *x) {
        int unused;
        /* PTX_INJECT f %s
            in s32 i = threadIdx.x
            out s32 unused
        */
        x[0] = 1;
    }"""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", CompilerWarning)
        kept, dropped = (Template.from_cuda(source % flag) for flag in ("", "pure"))
    assert len(kept.sites["f"].occurrences) == 1
    assert kept.sites["f"].occurrences[0].flags == {"volatile"}
    assert dropped.sites["f"].occurrences == ()
    # The name is still known, and a stub for it is checked.
    assert "INJECT" not in dropped.render({"f": "mov.s32 %_unused, %_i;"})
    with pytest.raises(ptxkit.inject.StubError):
        dropped.render({"f": "mov.s32 %_unused, %_j;"})


def test_memory_keeps_loads_and_stores_in_their_places() -> None:
    source = """
    extern "C" __global__ void k(int *x) {
        x[0] = 1;
        /* PTX_INJECT f memory
            in b64 x
        */
        x[1] = x[0];
    }"""
    stub = "st.global.s32 [%_x], 5;"
    x = np.zeros(2, np.int32)
    run(render(source, {"f": stub}), "k", x, threads=1)
    assert x.tolist() == [5, 5]


def test_the_moves_cost_nothing() -> None:
    source = """
    extern "C" __global__ void k(const float *a, const float *b, float *c) {
        int i = threadIdx.x;
        float x = a[i], y = b[i], acc = c[i];
        #pragma unroll
        for (int j = 0; j < 4; j++) {
            %s
        }
        c[i] = acc;
    }"""
    site = "/* PTX_INJECT f\n in f32 x\n in f32 y\n mod f32 acc\n*/"
    ptx = render(source % site, {"f": "fma.rn.f32 %_acc, %_x, %_y, %_acc;"})
    plain = ptxkit.compile_cuda(source % "acc = __fmaf_rn(x, y, acc);")

    def code(module: object) -> list[str]:
        return [one.opcode for one in sass(ptxkit.assemble(module, "sm_90"))["k"]]

    assert code(ptx) == code(plain)
