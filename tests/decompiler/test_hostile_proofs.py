"""Pairs that are not the same, and for which a proof was once claimed: none may be E2."""

from __future__ import annotations

import pytest

import ptxkit
from ptxkit.decompiler.verify import same_dataflow, verify

LAST = """extern "C" __global__ void k(const unsigned long long *x,
        volatile unsigned long long *out,
        unsigned *q, int n) {
    unsigned long long low = x[0] & 0xffff;
    unsigned y = (unsigned)x[1], last = 0;
    int i = 0;
    #pragma unroll 1
    do { LAST; out[0] = low; i++; } while (i < n);
    q[threadIdx.x] = last;
}"""
COPIED = """extern "C" __global__ void k(const int *p, int *q, int ok) {
    __shared__ int s[64];
    int t = threadIdx.x;
    asm volatile("cp.async.ca.shared.global [%0], [%1], 4, %2;" ::
        "r"((unsigned)__cvta_generic_to_shared(&s[t & 63])), "l"(p + t), "r"(ok > 0 ? 4 : 0)
        : "memory");
    asm volatile("cp.async.wait_all;" ::: "memory");
    int v = 0;
    LOAD
    q[t] = s[t & 63] + v;
}"""
FETCHED = """extern "C" __global__ void k(const int *p, int *q, int n) {
    int t = threadIdx.x, v = 0;
    asm volatile("prefetch.global.L2 [%0];" :: "l"(p + t));
    LOAD
    q[t] = v;
}"""
GIVEN = """struct A { int v[16]; };
extern "C" __global__ void k(const __grid_constant__ A a, int *q, unsigned n, int flag) {
    int r = 1;
    if (flag == 123456) { r = 0; LOAD }
    q[threadIdx.x] = r;
}"""
ANY = """extern "C" __global__ void k(const int *p, const int *p2, int *q, int n) {
    __shared__ int s[64];
    int t = threadIdx.x;
    s[t & 63] = t;
    __syncthreads();
    const int *w = n == 12345 ? s : p;
    int v = w[t & 63], d;
    LOAD
    q[t] = v + p2[t];
}"""
ENDED = """__device__ __noinline__ void f(int n) {
    if (n == 12345) asm volatile("exit;");
    asm volatile("nanosleep.u32 1;");
}
extern "C" __global__ void k(const int *__restrict__ p, int *__restrict__ q, int n) {
    int t = threadIdx.x;
    LOAD
}"""
VOLATILE = 'asm volatile("ld.global.u32 %0, [%1];" : "=r"('
#: A kernel, and what is written in the original and in a candidate that does something else.
PAIRS = {
    "bits that are 0 for 16,000 turns": (LAST, "last = y & (i >> 14)", "last = 0"),
    "a product that is 0 for so long": (LAST, "last = y * (i >> 14)", "last = 0"),
    "a sum of such bits": (LAST, "last += y & (i >> 14)", "last += 0"),
    "what a copy of no bytes names": (
        COPIED, "if (ok > 0) v = p[t];", "{ int w = p[t]; v = ok > 0 ? w : 0; }",
    ),
    "what is fetched, if it is there": (
        FETCHED, "if (t < n) v = p[t];", f"int d; {VOLATILE}d) : \"l\"(p + t)); v = t < n ? d : 0;",
    ),
    "beyond the end of a parameter": (
        GIVEN, "if (n < 16) r = a.v[n];", "int w = a.v[n]; r = n < 16 ? w : 0;",
    ),
    "global memory where it may be none": (ANY, "", f"{VOLATILE}d) : \"l\"(w + (t & 63)));"),
    "a load before what ends its thread": (
        ENDED, "f(n); q[t] = p[t];", "int v = p[t]; f(n); q[t] = v;",
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", PAIRS)
def test_what_differs_is_not_proved(name: str) -> None:
    text, first, second = PAIRS[name]
    word = "LAST" if "LAST" in text else "LOAD"
    original = ptxkit.compile_cuda(text.replace(word, first), arch="sm_90")
    assert verify(original, text.replace(word, first)).level in ("E1", "E2")
    candidate = ptxkit.compile_cuda(text.replace(word, second), arch="sm_90")
    assert not same_dataflow(original, candidate, "k", thorough=True).equal
    assert verify(original, text.replace(word, second)).level != "E2"


HEAD = """.version 8.0
.target sm_80
.address_size 64
.visible .entry k(.param .u64 p, .param .u64 q) {
    .shared .align 4 .b8 s[128];
    .reg .pred %p<9>; .reg .b32 %r<99>; .reg .b64 %d<9>;
    ld.param.u64 %d1, [p]; ld.param.u64 %d2, [q]; ld.global.u32 %r1, [%d1];
"""
#: What threads do, and what looks like it.
CODES = {
    "the same number, of another kind of memory": (
        "setp.eq.s32 %p1, %r1, 9; mov.b32 %r2, 0; cvt.u64.u32 %d3, %r1;"
        " @%p1 ld.shared.u32 %r2, [%r1]; st.global.u32 [%d2], %r2; ret; }",
        "setp.eq.s32 %p1, %r1, 9; mov.b32 %r2, 0; cvt.u64.u32 %d3, %r1;"
        " @%p1 ld.shared.u32 %r2, [%r1]; @%p1 ld.global.u32 %r3, [%d3];"
        " st.global.u32 [%d2], %r2; ret; }",
    ),
    "a shared variable as if it were global": (
        "st.global.u32 [%d2], %r1; ret; }",
        "mov.u64 %d3, s; ld.global.u32 %r3, [%d3+64]; st.global.u32 [%d2], %r1; ret; }",
    ),
    "what comes behind another number of turns": (
        "ld.global.u64 %d5, [%d1+16]; and.b64 %d6, %d5, 65535; mov.u32 %r5, 0; mov.u32 %r12, 5;"
        " L: add.u32 %r5, %r5, 1; setp.lt.u32 %p2, %r5, %r12; @%p2 bra L;"
        " st.global.u32 [%d2+4], %r1; st.global.u64 [%d2+8], %d6; ret; }",
        "ld.global.u64 %d5, [%d1+16]; and.b64 %d6, %d5, 65535; mov.u32 %r5, 1; mov.u32 %r12, 5;"
        " L: add.u32 %r5, %r5, 1; setp.lt.u32 %p2, %r5, %r12; @%p2 bra L; neg.s32 %r1, %r1;"
        " st.global.u32 [%d2+4], %r1; st.global.u64 [%d2+8], %d6; ret; }",
    ),
}


@pytest.mark.parametrize("name", CODES)
def test_code_that_differs_is_not_proved(name: str) -> None:
    first, second = (ptxkit.parse(HEAD + code) for code in CODES[name])
    assert same_dataflow(first, first, "k", thorough=True).equal
    for thorough in (False, True):
        assert not same_dataflow(first, second, "k", thorough=thorough).equal


@pytest.mark.parametrize(
    "code",
    [
        "shr.u32 %r3, %r1, 0xffffffff; sub.u32 %r1, %r1, %r3;",
        "mul.lo.s32 %r1, %r1, %r1;" * 60,
        "bra NOWHERE;",
    ],
)
def test_odd_code_ends_soon(code: str) -> None:
    module = ptxkit.parse(f"{HEAD} {code} st.global.u32 [%d2], %r1; ret; }}")
    proof = same_dataflow(module, module, "k")
    assert proof.equal or "NOWHERE" in proof.reason
