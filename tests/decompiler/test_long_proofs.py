"""What E2 proves of functions of many hundred instructions, and what is nearly the same."""

from __future__ import annotations

from time import process_time

import pytest
from tests.decompiler.proving import bodies_proved

import ptxkit
from ptxkit.decompiler.budget import Budget
from ptxkit.decompiler.engines import SymbolicEngine
from ptxkit.decompiler.verify import same_dataflow
from ptxkit.decompiler.verify.certificates import compiled

HEAD = """.version 8.0
.target sm_90
.address_size 64
.visible .entry k(.param .u64 x, .param .u32 n, .param .u32 m) {bounds} {{
    .reg .pred %p<20>; .reg .b32 %r<40>; .reg .b64 %rd<20>;
    .shared .align 8 .b8 s[512];
    ld.param.u64 %rd1, [x];
    ld.param.u32 %r1, [n];
    ld.param.u32 %r19, [m];
    mov.u32 %r2, %tid.x;
"""


def proved(first: str, second: str, bounds: str = ".maxntid 256") -> bool:
    return bodies_proved(HEAD, first, second, bounds, thorough=True)


STORE = "st.global.u32 [%rd1], %r3; ret;"
#: What is the same, then what is nearly so.
VALUES = {
    "a quotient of a number with a sign": (
        "div.s32 %r3, %r1, 8;",
        "shr.s32 %r4, %r1, 31; shr.u32 %r4, %r4, 29; add.s32 %r4, %r4, %r1; shr.s32 %r3, %r4, 3;",
        "shr.s32 %r3, %r1, 3;",
    ),
    "a quotient by the least number": (
        "div.s32 %r3, %r1, 1073741824;",
        "shr.s32 %r4, %r1, 31; shr.u32 %r4, %r4, 2; add.s32 %r4, %r4, %r1; shr.s32 %r3, %r4, 30;",
        "div.s32 %r3, %r1, -2147483648;",
    ),
    "a mask of bits that are never set": (
        "and.b32 %r3, %r2, 257;",
        "and.b32 %r3, %r2, 1;",
        "and.b32 %r3, %r2, 129;",
    ),
    "bits of a sum that something else does not reach": (
        "mad.lo.s32 %r4, %r2, 2048, %r1; shr.u32 %r4, %r4, 8; and.b32 %r3, %r4, 7;",
        "shr.u32 %r4, %r1, 8; and.b32 %r3, %r4, 7;",
        "shr.u32 %r4, %r1, 8; and.b32 %r3, %r4, 15;",
    ),
    "the smaller one": (
        "and.b32 %r3, %r1, 3; min.u32 %r3, %r3, 3;",
        "and.b32 %r3, %r1, 3;",
        "and.b32 %r3, %r1, 3; min.u32 %r3, %r3, 2;",
    ),
    "the larger one of numbers with a sign": (
        "and.b32 %r3, %r1, 3; max.s32 %r3, %r3, 0;",
        "and.b32 %r3, %r1, 3;",
        "and.b32 %r3, %r1, 3; max.s32 %r3, %r3, 1;",
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", VALUES)
def test_values(name: str) -> None:
    one, same, other = VALUES[name]
    assert proved(one + STORE, same + STORE)
    assert not proved(one + STORE, other + STORE)
    assert not proved(other + STORE, one + STORE)


def test_low_bits_tell_fewer_of_them() -> None:
    asks = "and.b32 %r4, %r1, 3; setp.ne.s32 %p1, %r4, {0}; @%p1 bra E; and.b32 %r5, %r1, 1;"
    usual = asks + "setp.eq.s32 %p2, %r5, 0; @%p2 bra E; st.global.u32 [%rd1], 1; E: ret;"
    plain = asks + "st.global.u32 [%rd1], 1; E: ret;"
    assert proved(usual.format(1), plain.format(1))
    assert not proved(usual.format(2), plain.format(2))


def test_memory_that_nobody_changes_may_be_loaded_like_any_other() -> None:
    constant = "ld.global.nc.u32 %r3, [%rd1+8];" + STORE
    plain = constant.replace(".nc", "")
    assert proved(constant, plain)
    assert not proved(plain, constant)
    two = "ld.global{0}.u32 %r4, [%rd1+16]; ld.global{1}.u32 %r3, [%rd1+8]; add.s32 %r3, %r3, %r4;"
    some = two.format(".nc", "") + STORE
    assert not proved(some, two.format("", ".nc") + STORE)


def test_memory_of_another_kind() -> None:
    """A load may be before or behind a store to memory of another kind, and to no other."""
    load, store = "ld.global.u32 %r3, [%rd1+8];", "st.shared.u32 [s], %r1;"
    end = "bar.sync 0;" + STORE
    assert proved(load + store + end, store + load + end)
    for other in ("st.global.u32 [%rd1+8], %r1;", "st.u32 [%rd1+8], %r1;",
                  "st.volatile.shared.u32 [s], %r1;"):  # fmt: skip
        assert not proved(load + other + end, other + load + end)
    inside = "ld.shared.u32 %r3, [s];"
    assert not proved(inside + store + end, store + inside + end)
    waits = "bar.sync 0;"
    assert not proved(load + store + waits + STORE, store + waits + load + STORE)


FIRST = """
    mov.u32 %r{i}, 0;
L{i}: setp.ge.u32 %p1, %r{i}, %r1; @%p1 bra E{i};
    mul.wide.u32 %rd3, %r{i}, 4; add.s64 %rd4, %rd1, %rd3; ld.global.u32 %r5, [%rd4];
    add.s32 %r3, %r3, %r5; add.s32 %r{i}, %r{i}, {step}; bra L{i};
E{i}: shfl.sync.down.b32 %r3, %r3, 1, 31, -1;
"""
LAST = """
    mov.u32 %r{i}, 0; setp.ge.u32 %p1, %r{i}, %r1; @%p1 bra E{i};
L{i}: mul.wide.u32 %rd3, %r{i}, 4; add.s64 %rd4, %rd1, %rd3; ld.global.u32 %r5, [%rd4];
    add.s32 %r3, %r3, %r5; add.s32 %r{i}, %r{i}, {step};
    setp.lt.u32 %p1, %r{i}, %r1; @%p1 bra L{i};
E{i}: shfl.sync.down.b32 %r3, %r3, 1, 31, -1;
"""


def test_each_loop_may_ask_first_or_last() -> None:
    def both(one: str, other: str, step: int = 1) -> str:
        loops = one.format(i=10, step=1) + other.format(i=11, step=step)
        return "mov.u32 %r3, 0;" + loops + STORE

    assert proved(both(FIRST, LAST), both(LAST, FIRST))
    assert proved(both(LAST, FIRST), both(FIRST, LAST))
    assert not proved(both(FIRST, LAST), both(LAST, FIRST, 2))
    late = LAST.replace("setp.lt.u32", "setp.le.u32")
    assert not proved(both(FIRST, FIRST), both(LAST, late))


#: An index in 64 bits or in 32: multiples of as many as there are threads leave no carry.
STRIDES = """
    mov.u32 %r3, %ctaid.x; mul.lo.s32 %r3, %r3, {tile}; mul.lo.s32 %r4, %r19, {tile};
L:  {index} shl.b64 %rd3, %rd3, 2; add.s64 %rd4, %rd1, %rd3; st.global.u32 [%rd4], %r3;
    add.s32 %r3, %r3, %r4; setp.ne.u32 %p1, %r3, %r1; @%p1 bra L;
    ret;
"""


def test_multiples_of_a_power_of_two_do_not_overflow() -> None:
    wide = "cvt.u64.u32 %rd3, %r3; cvt.u64.u32 %rd5, %r2; add.s64 %rd3, %rd3, %rd5;"
    narrow = "add.s32 %r5, %r3, %r2; cvt.u64.u32 %rd3, %r5;"
    one, other = (STRIDES.format(tile=256, index=index) for index in (wide, narrow))
    assert proved(one, other)
    assert proved(other, one)
    one, other = (STRIDES.format(tile=128, index=index) for index in (wide, narrow))
    assert not proved(one, other)
    uneven = STRIDES.replace("%r19, {tile}", "%r19, 255")
    one, other = (uneven.format(tile=256, index=index) for index in (wide, narrow))
    assert not proved(one, other)


#: The answer to a question is kept while threads wait for each other, or it is asked again.
KEPT = """
    setp.gt.u32 %p1, %r1, 7; @%p1 bra A; membar.cta; bra B; A: membar.gl;
B:  vote.sync.any.pred %p2, %p3, -1; {again}
    @%p4 bra C; st.global.u32 [%rd1], 1; C: ret;
"""


def test_an_answer_may_be_kept() -> None:
    kept, again = KEPT.format(again="mov.pred %p4, %p1;"), "setp.gt.u32 %p4, %r1, {0};"
    asked = "setp.eq.u32 %p3, %r2, 0;"
    assert proved(asked + kept, asked + KEPT.format(again=again.format(7)))
    assert not proved(asked + kept, asked + KEPT.format(again=again.format(8)))


#: A product before or behind a barrier, of numbers that depend on a condition.
PRODUCT = """
    setp.gt.u32 %p1, %r1, %r2; @%p1 bra A; mov.u32 %r4, %r1; bra B; A: ld.global.u32 %r4, [%rd1];
B:  ld.global.u32 %r5, [%rd1+4]; mul.lo.s32 %r6, %r4, %r5; {before} bar.sync 0; {behind}
    st.global.u32 [%rd1+8], %r6; st.global.u32 [%rd1+12], %r7; ret;
"""


def test_a_product_may_be_computed_later() -> None:
    multiply = "mul.lo.s32 %r7, %r6, %r5;"
    before, behind = (PRODUCT.format(**{"before": "", "behind": ""} | {at: multiply})
                      for at in ("before", "behind"))  # fmt: skip
    assert proved(before, behind)
    assert proved(behind, before)
    for wrong in ("%r6, %r6;", "%r5, %r5;"):
        assert not proved(before, behind.replace("%r6, %r5;", wrong))
    assert not proved(before, behind.replace("mul.lo.s32 %r7", "add.s32 %r7"))


#: Sums of tiles: whole ones, and a last one with a question for each number.
REDUCE = """extern "C" __global__ void __launch_bounds__(512) k(
        const unsigned long long *x, unsigned long long *o, unsigned n, unsigned tiles) {
    __shared__ unsigned long long part[16];
    unsigned lane = threadIdx.x & 31, at = blockIdx.x * 16384u;
    unsigned long long sum = 0;
    if (n - at >= 16384u) {
        #pragma unroll
        for (int j = 0; j < 32; j++) sum += x[(size_t)at + threadIdx.x + j * 512];
        while (n - at >= tiles * 16384u + 16384u) {
            at += tiles * 16384u;
            #pragma unroll
            for (int j = 0; j < 32; j++) sum += x[(size_t)at + threadIdx.x + j * 512];
        }
    } else {
        unsigned left = n - at;
        #pragma unroll
        for (int j = 0; j < 32; j++)
            if (threadIdx.x + j * 512u < left) sum += x[(size_t)at + threadIdx.x + j * 512u];
    }
    #pragma unroll
    for (int d = 1; d < 32; d *= 2) {
        unsigned long long other = __shfl_down_sync(~0u, sum, d);
        if (lane + d < 32) sum += other;
    }
    if (lane == 0) part[threadIdx.x / 32] = sum;
    __syncthreads();
    if (threadIdx.x == 0) {
        #pragma unroll
        for (int w = 1; w < 16; w++)
            if (w * 32u < n) sum += part[w];
        o[blockIdx.x] = sum;
    }
}"""


def test_a_reduction_of_a_block() -> None:
    original = ptxkit.compile_cuda(REDUCE, arch="sm_90")
    assert len(original["k"].instructions) > 500
    # The last form has every bit as PTX has it.
    *_, exact = SymbolicEngine().provable_forms(original, original["k"])
    right = compiled(exact.tree).module
    assert right is not None
    start = process_time()
    assert same_dataflow(original, right, "k", thorough=True).equal
    enough = Budget(2 * (process_time() - start))
    for wrong in (
        REDUCE.replace("lane + d < 32", "lane + d < 31"),
        REDUCE.replace("j * 512u < left", "j * 512u <= left"),
    ):
        assert wrong != REDUCE
        other = ptxkit.compile_cuda(wrong, arch="sm_90")
        # Who is accepted is so in the time that the right one took.
        enough = Budget(enough.seconds)
        assert not same_dataflow(other, right, "k", thorough=True, budget=enough).equal
