"""Programs that differ in single instructions, most of them behind a condition that is rare.

Each comes with a program that is written in other words and does the same: refusing everything is
no verifier.
"""

from __future__ import annotations

import pytest
from tests.kernels import suite

import ptxkit
from ptxkit.decompiler.verify import certify, verify
from ptxkit.decompiler.verify.dataflow import same_dataflow

#: A number that no launch draws: the product of an odd number with it is this one by chance only.
RARE = """extern "C" __global__ void k(const unsigned *a, unsigned *o, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    unsigned v = a[i], h = v * 2246822519u, m = v %s;
    %s
    o[i] = m; }"""
GUARDED = (
    'asm volatile("{.reg .pred p; setp.eq.u32 p, %%1, 12345; @p %s}"'
    ' : "+r"(m) : "r"(h), "l"(o + i + n) : "memory");'
)
PLAIN, OTHER_WORDS = "* 6u + 3u", "* 5u + 3u + v"
INSIDE = """extern "C" __device__ __noinline__ unsigned there() { return __activemask(); }
extern "C" __global__ void k(const unsigned *a, unsigned *o) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    bool rare = a[i] * 2246822519u == 12345u; unsigned odd = 0, first, second;
    %s
    o[2 * i] = first ^ odd; o[2 * i + 1] = second; }"""
LOADED = """extern "C" __global__ void k(const unsigned *a, unsigned *o, unsigned v) {
    if (v * 2246822519u == 12345u) { unsigned r[8];
        asm volatile("wmma.load.a.sync.aligned.row.m16n16k16.global.f16"
            " {%%0, %%1, %%2, %%3, %%4, %%5, %%6, %%7}, [%%8], %d;" : "=r"(r[0]), "=r"(r[1]),
            "=r"(r[2]), "=r"(r[3]), "=r"(r[4]), "=r"(r[5]), "=r"(r[6]), "=r"(r[7]) : "l"(a));
        o[threadIdx.x] = r[0] ^ r[1] ^ r[2] ^ r[3] ^ r[4] ^ r[5] ^ r[6] ^ r[7];
    } else o[threadIdx.x] = %s; }"""
MIXED = """extern "C" __global__ void k(const unsigned short *a, float *o, unsigned v) {
    float r = %s;
    if (v * 2246822519u == 12345u)
        asm("%s.rn.f32.f16 %%0, %%1, %%2;" : "=f"(r) : "h"(a[threadIdx.x]), "f"(3.0f));
    o[threadIdx.x] = r; }"""
CONSTANT = """__constant__ unsigned table[16] = {3, 1, 4, 1, 5, 9, 2, 6, 5, 3, 5, 8, 9, 7, 9, 3};
extern "C" __global__ void k(const unsigned *a, unsigned *o) {
    unsigned v = a[threadIdx.x], r = 0; bool usual = v * 2246822519u != 12345u;
    %s
    o[threadIdx.x] = r; }"""
LOCAL = """extern "C" __global__ void k(const unsigned *a, unsigned *o, int n) {
    unsigned t[8], v = a[threadIdx.x], r = 0; bool usual = v * 2246822519u != 12345u;
    for (int j = 0; j < 8; j++) t[j] = a[n + j];
    %s
    o[threadIdx.x] = r; }"""
READ = (
    'unsigned w; unsigned long long at = %s; asm volatile("{.reg .b64 x; mov.u64 x, %s;'
    ' add.u64 x, x, %%1; ld.%s.u32 %%0, [x];}" : "=r"(w) : "l"(at)); if (usual) r = w;'
)
EACH = """extern "C" __global__ void k(const unsigned *a, unsigned *o, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x; unsigned v = a[i]; %s }"""
LOOP = """unsigned s = v; for (int j = 0; j < 8; j++) {
    if (a[i + j] * 2246822519u == 12345u) %s;
    if (a[i + j] & 1) { %s; } else s ^= a[i + j + 1]; } o[i] = s;"""
BITS = """unsigned q = v * 2246822519u / 4294967290u; asm volatile("" : "+r"(q));
    o[i] = %s;"""
ADDED = """extern "C" __global__ void k(const float *x, float *y, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x; if (i >= n) return;
    float s = %s; unsigned one = 1; asm volatile("" : "+r"(one));
    for (unsigned j = 0; j < 4; j += one) s += x[i * 4 + j];
    y[i] = s / (1.0f + fabsf(s)) + 7.0f; }"""
LAST = """extern "C" __global__ void k(const int *x, int *y, int n) {
    int row[17], t = threadIdx.x; if (n < 0 || n > 16) return;
    #pragma unroll 1
    for (int j = 0; j <= %s; j++) row[j] = x[j + t] * 3;
    y[t] = row[x[t] & 15 ? n : n / 2]; }"""
#: What it is about: the original, another program, and one that does the same.
PAIRS = {
    "a number that was never put into a register": (
        RARE % (PLAIN, GUARDED % "mov.u32 %0, 5;"),
        RARE % (PLAIN, GUARDED % "mov.u32 %0, 7;"),
        RARE % (OTHER_WORDS, GUARDED % "mov.u32 %0, 5;"),
    ),
    "a store that never ran": (
        RARE % (PLAIN, GUARDED % "st.global.u32 [%2], 5;"),
        RARE % (PLAIN, GUARDED % "st.global.u32 [%2], 7;"),
        RARE % (OTHER_WORDS, GUARDED % "st.global.u32 [%2], 5;"),
    ),
    "a place that was never stored to": (
        RARE % (PLAIN, GUARDED % "st.global.u32 [%2], 5;"),
        RARE % (PLAIN, GUARDED % "st.global.u32 [%2+4], 5;"),
        RARE % (OTHER_WORDS, GUARDED % "st.global.u32 [%2], 5;"),
    ),
    "which threads are there under a guard": (
        RARE % (PLAIN, GUARDED % "activemask.b32 %0; @!p activemask.b32 %0;"),
        RARE % (PLAIN, 'asm volatile("activemask.b32 %0;" : "=r"(m));'),
        "",
    ),
    "which threads are there inside of a function": (
        INSIDE % "if (rare) { first = there(); odd = 1; } else first = there(); second = there();",
        INSIDE % "first = there(); if (rare) { second = there(); odd = 1; } else second = there();",
        "",
    ),
    "the stride of a matrix that is never loaded": (
        LOADED % (16, "v * 6u"), LOADED % (24, "v * 6u"), LOADED % (16, "v * 5u + v"),
    ),
    "a sum of two precisions for a difference": (
        MIXED % ("v", "add"), MIXED % ("v", "sub"), "",
    ),
    "constant memory that there is not": (
        CONSTANT % "if (usual) r = table[v & 15];",
        CONSTANT % (READ % ("(usual ? v & 15 : 1u << 28) * 4ull", "table", "const")),
        CONSTANT % "r = table[v & 15]; if (!usual) r = 0;",
    ),
    "local memory that there is not": (
        LOCAL % "if (usual) r = t[v & 7];",
        LOCAL % "unsigned w = *(volatile unsigned *)(t + (usual ? v & 7 : 1u << 20)); "
        "if (usual) r = w;",
        LOCAL % "r = t[v & 7]; if (!usual) r = 0;",
    ),
    "what threads vote on": (
        EACH % "o[i] = __any_sync(~0u, v / 1000u == v % 4093u);",
        EACH % "o[i] = __any_sync(~0u, v / 1001u == v % 4093u);",
        EACH % "unsigned w = v / 1000u; o[i] = 0 != __any_sync(~0u, v - v / 4093u * 4093u == w);",
    ),
    "what an atomic compares with, if that is no constant": (
        EACH % "o[i + n] = atomicCAS(o + i, v * 2654435761u, 7u);",
        EACH % "o[i + n] = atomicCAS(o + i, v * 2654435763u, 7u);",
        EACH % "unsigned w = v * 2654435761u; o[n + i] = atomicCAS(&o[i], w, 7u) + 0u * w;",
    ),
    "what an atomic would have put there": (
        EACH % "atomicCAS(o + i, v ^ 21845u, v + 1u);",
        EACH % "atomicCAS(o + i, v ^ 21845u, v + 2u);",
        EACH % "unsigned w = 1u + v; atomicCAS(o + i, 21845u ^ v, w);",
    ),
    "a sum of products that is compared, far from equal": (
        EACH % "o[i] = v * 40503u + (v >> 7) * 977u < 12u ? 5u : v;",
        EACH % "o[i] = v * 40503u + (v >> 7) * 977u < 14u ? 5u : v;",
        EACH % "unsigned w = (v >> 7) * 977u; o[i] = v * 40503u + w < 12u ? 5u : v;",
    ),
    "where a branch never went": (
        EACH % (LOOP % ("continue", "s += a[j]")),
        EACH % (LOOP % ("break", "s += a[j]")),
        EACH % (LOOP % ("continue", "s = a[j] + s")).replace("j < 8", "j <= 7"),
    ),
    "a mask that aligns what was always aligned": (
        EACH % (BITS % "(v * 4u + q) & ~3u"),
        EACH % (BITS % "v * 4u + q"),
        EACH % (BITS % "(q + v + v + v + v) / 4u * 4u"),
    ),
    "the least number for zero": (ADDED % "0.0f", ADDED % "1e-45f", ""),
    "an element behind the last of a local array": (LAST % "n", LAST % "n + 1", ""),
}  # fmt: skip


@pytest.mark.parametrize("name", PAIRS)
def test_what_differs_is_not_accepted(name: str) -> None:
    original, wrong, _ = PAIRS[name]
    arch = "sm_100" if original.startswith(MIXED[:80]) else "sm_90"
    found = verify(ptxkit.compile_cuda(original, arch=arch), wrong, arch=arch)
    assert found.compiles
    assert not found.equivalent, found.badge


@pytest.mark.parametrize("name", [name for name, found in PAIRS.items() if found[2]])
def test_what_is_the_same_is_accepted(name: str) -> None:
    original, _, right = PAIRS[name]
    found = verify(ptxkit.compile_cuda(original, arch="sm_90"), right)
    assert found.equivalent, found.reasons


#: A question that only sizes at the end of 32 bits answer otherwise, and the same in other words.
ENDS = {
    "less": ("i <= n - 4", "i + 4 <= n", "!(i > n - 4)"),
    "twice": ("i < 2 * n", "(i >> 1) < n", "!(2 * n <= i)"),
    "absolute": ("i < abs(n)", "(unsigned)i < (unsigned)abs(n)", "!(abs(n) <= i)"),
    "product": ("i < n * m", "i < (long long)n * m", "!(m * n <= i)"),
    "24 bits": ("i * m < n", "__mul24(i, m) < n", "!(n <= i * m)"),
}


@pytest.mark.parametrize("name", ENDS)
def test_sizes_where_numbers_end(name: str) -> None:
    text = 'extern "C" __global__ void k(int *c, int n, int m) { int i = threadIdx.x; c[i] = %s; }'
    plain, wrong, same = (text % f"{one} ? 1 : 2" for one in ENDS[name])
    module = ptxkit.compile_cuda(plain, arch="sm_90")
    assert not verify(module, wrong).equivalent
    assert verify(module, same).equivalent


def test_a_race_excuses_nothing_where_every_launch_has_it() -> None:
    text = """extern "C" __global__ void k(int *x, int *y) {
    int i = threadIdx.x, v = x[0]; x[0] = i + v; y[i] = (v >> 31) + i * %d; }"""
    module = ptxkit.compile_cuda(text % 3, arch="sm_90")
    assert not verify(module, text % 4).equivalent
    assert verify(module, text % 3).equivalent


def test_a_race_excuses_nothing_that_differs_one_thread_after_another() -> None:
    """Only the first to come reads what was there, and which that is nobody can say."""
    text = """extern "C" __global__ void k(int *x, int *y, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) { int v = x[0]; x[0] = 1; y[i] = v ? i : %s; } }"""
    module = ptxkit.compile_cuda(text % "-i", arch="sm_90")
    assert not verify(module, text % "1 - i - (i < 1)").equivalent
    assert verify(module, text % "(i < 1 ? 0 : -i)").equivalent


def test_any_block_may_be_the_first() -> None:
    text = """extern "C" __global__ void k(int *x, int *y, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x, b = blockIdx.x;
    if (i < n) { int v = x[0]; x[0] = i; y[i] = v >= 0 ? i : %s; } }"""
    module = ptxkit.compile_cuda(text % "b", arch="sm_90")
    assert not verify(module, text % "b + (b >> 2)").equivalent
    assert verify(module, text % "b + (b >> 31)").equivalent


def test_fields_of_64_bits_take_their_place_whole() -> None:
    """A place of 259 is outside; of a field of 32 bits it is 3."""
    text = """.version 8.0
.target sm_90
.address_size 64
.visible .entry k(.param .u64 x, .param .u%(bits)d n, .param .u32 m) {
    .reg .b64 %%rd<3>; .reg .b%(bits)d %%w<3>; .reg .b32 %%r<3>; .reg .pred %%p<2>;
    ld.param.u64 %%rd1, [x]; ld.param.u%(bits)d %%w1, [n]; ld.param.u32 %%r2, [m];
    setp.ne.u32 %%p1, %%r2, 305419896; mov.b%(bits)d %%w2, %%w1; @%%p1 bra L;
    mov.u32 %%r1, %(place)d; bfe.u%(bits)d %%w2, %%w1, %%r1, 4;
L:  st.global.u%(bits)d [%%rd1], %%w2; ret; }"""

    def same(bits: int) -> bool:
        one, two = (ptxkit.parse(text % {"bits": bits, "place": k}) for k in (259, 3))
        return same_dataflow(one, two, "k").equal

    assert same(32) and not same(64)


@pytest.mark.parametrize(
    "expression",
    ["x[i] / 1000000000000000ull / 7ull", "(unsigned long long)((long long)x[i] >> n)"],
)
def test_long_divisions_and_shifts_are_followed(expression: str) -> None:
    text = f"""extern "C" __global__ void k(unsigned long long *x, int n) {{
    int i = threadIdx.x; x[i] = {expression}; }}"""
    module = ptxkit.compile_cuda(text, arch="sm_90")
    assert same_dataflow(module, ptxkit.parse(module.emit()), "k").equal


def test_a_field_of_a_negative_length_is_run() -> None:
    text = """.version 8.0
.target sm_90
.address_size 64
.visible .entry k(.param .u64 x, .param .u32 n) {
    .reg .b64 %rd<2>; .reg .b32 %r<4>;
    ld.param.u64 %rd1, [x]; ld.param.u32 %r1, [n];
    mov.u32 %r3, -1; bfe.u32 %r2, %r1, 0, %r3; st.global.u32 [%rd1], %r2; ret; }"""
    wrong = 'extern "C" __global__ void k(unsigned *x, unsigned n) { x[0] = n >> 1; }'
    assert not verify(ptxkit.parse(text), wrong).equivalent


#: A pointer that is null on one condition, and what is read through it.
POINTED = """.version 8.0
.target sm_80
.address_size 64
.shared .align 8 .b8 room[8192];
.visible .entry k(.param .u64 x, .param .u64 y, .param .u32 n) {{
    .reg .pred %p<2>;
    .reg .b32 %r<5>;
    .reg .b64 %rd<6>;
    ld.param.u64 %rd1, [x];
    ld.param.u64 %rd2, [y];
    ld.param.u32 %r1, [n];
    mov.u32 %r2, %tid.x;
    setp.{asked}.s32 %p1, %r2, %r1;
    {chosen}
    ld.{space}.u32 %r3, [%rd3+{offset}];
    add.u32 %r4, %r3, {added};
    mul.wide.u32 %rd4, %r2, 4;
    add.u64 %rd5, %rd2, %rd4;
    st.global.u32 [%rd5], %r4;
    ret;
}}"""
MAYBE_NULL = {"asked": "ge", "chosen": "selp.b64 %rd3, 0, %rd1, %p1;", "space": "global",
              "offset": 8, "added": 5}  # fmt: skip
NEVER_NULL = MAYBE_NULL | {"chosen": "mov.b64 %rd3, %rd1;"}
#: What is no copy of the first, or not to be taken for one by what a null pointer excuses.
NULLS = {
    "another sum": (MAYBE_NULL, NEVER_NULL | {"added": 6}),
    "elsewhere": (MAYBE_NULL, NEVER_NULL | {"offset": 4}),
    "null only in the copy": (NEVER_NULL, MAYBE_NULL),
    "null more often": (MAYBE_NULL | {"asked": "gt"}, MAYBE_NULL),
    "null where it was not": (MAYBE_NULL, MAYBE_NULL | {"asked": "lt"}),
    "no member of nothing": (MAYBE_NULL | {"offset": 4096}, NEVER_NULL | {"offset": 4096}),
    "shared memory begins there": (
        MAYBE_NULL | {"space": "shared"}, NEVER_NULL | {"space": "shared"},
    ),
    "any memory": (MAYBE_NULL | {"chosen": "selp.b64 %rd3, %rd2, %rd1, %p1;"}, NEVER_NULL),
}  # fmt: skip


@pytest.mark.parametrize(("first", "second"), NULLS.values(), ids=NULLS)
def test_a_null_pointer_excuses_nothing_else(
    first: dict[str, object], second: dict[str, object]
) -> None:
    original, other = (ptxkit.parse(POINTED.format(**one)) for one in (first, second))
    assert same_dataflow(original, original, "k").equal
    assert not same_dataflow(original, other, "k").equal


def test_no_launch_comes_through_a_null_pointer() -> None:
    texts = (MAYBE_NULL, NEVER_NULL, NEVER_NULL | {"chosen": "mov.b64 %rd3, 0;"})
    original, other, broken = (ptxkit.parse(POINTED.format(**one)) for one in texts)
    assert same_dataflow(original, other, "k").equal
    # Where all launches fail, nothing is said.
    assert not same_dataflow(broken, other, "k").equal
    assert not certify(other, original, "k").equivalent


@pytest.mark.parametrize(
    "asked", ["setp.lt.and.u32 %p2, %r2, %r1, {};", "vote.sync.any.pred %p2, {}, -1;"]
)
def test_what_is_not_so(asked: str) -> None:
    text = """.version 8.0
.target sm_90
.address_size 64
.visible .entry k(.param .u64 x, .param .u32 n) {
    .reg .pred %p<3>; .reg .b32 %r<3>; .reg .b64 %rd<3>;
    ld.param.u64 %rd1, [x]; ld.param.u32 %r1, [n];
    mov.u32 %r2, %tid.x;
    setp.eq.u32 %p1, %r2, 7;
    ASKED
    mad.wide.u32 %rd2, %r2, 4, %rd1;
    @%p2 st.global.u32 [%rd2], %r2;
    ret; }"""
    original, wrong = (text.replace("ASKED", asked.format(one)) for one in ("!%p1", "%p1"))
    same = wrong.replace("setp.eq", "setp.ne")
    module = ptxkit.parse(original)
    assert same_dataflow(module, ptxkit.parse(same), "k").equal
    assert not same_dataflow(module, ptxkit.parse(wrong), "k").equal


def test_what_the_last_turns_do_shows_where_one_block_has_all_the_work() -> None:
    """A compiler does four turns at once, and what is left by itself."""
    kernel = next(k for k in suite() if k.name == "odd_even_sort")
    module, entry = kernel.module("sm_90"), kernel.entry("sm_90")
    head, _, last = module.emit().rpartition("and.b32")
    assert last.partition(";")[0].endswith(", 1")
    wrong = ptxkit.parse(f"{head}and.b32{last.replace(', 1;', ', -1;', 1)}")
    assert not certify(module, wrong, entry).equivalent
    assert certify(module, ptxkit.parse(module.emit()), entry).same_ptx


#: What threads come together for, in two arms of a branch that all of them take the same way.
TOGETHER = {
    "a barrier": "__syncthreads();",
    "lanes": "v = __shfl_xor_sync(~0u, v, 1);",
    "sums": "v = __reduce_add_sync(~0u, v);",
    "a call": "v = wait(v);",
}


@pytest.mark.parametrize("name", TOGETHER)
def test_other_threads_come_together(name: str) -> None:
    text = """__device__ __noinline__ int wait(int v) { __syncthreads(); return v + 1; }
    extern "C" __global__ void k(const int *a, int *o, unsigned n, unsigned m) {
    int i = threadIdx.x, v = a[i]; if (%s == 77u) { asm volatile("// one"); DO }
    else { asm volatile("// other"); DO } o[i] = v; }""".replace("DO", TOGETHER[name])
    module = ptxkit.compile_cuda(text % "n * 2654435761u", arch="sm_90")
    assert not verify(module, text % "(unsigned)v * 2654435761u").equivalent
    assert verify(module, text % "(n + m) * 2654435761u - m * 2654435761u").equivalent


def test_memory_that_is_constant_lies_behind_the_same_pointers() -> None:
    text = """extern "C" __global__ void k(const int *a, const int *b, int *o, int n) {
    int i = threadIdx.x, x = %s; o[i] = x + n; __syncthreads(); o[i + n] = %s; }"""
    module = ptxkit.compile_cuda(text % ("__ldg(a + i)", "b[i ^ 1]"), arch="sm_90")
    assert not verify(module, text % ("a[i]", "__ldg(b + (i ^ 1))")).equivalent
    assert verify(module, text % ("a[i]", "b[i ^ 1]")).equivalent
