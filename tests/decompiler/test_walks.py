"""Pointers that walk up to others: their types, what they are compared with, and their loops."""

from __future__ import annotations

from tests.decompiler.lifting import compiled_again, lifted_text

import ptxkit
from ptxkit.decompiler.lift.lifter import Options
from ptxkit.decompiler.verify import same_ptx

ROWS = """
extern "C" __global__ void row_sums(const int *starts, const float *values, float *out, int n) {
    int row = blockIdx.x * blockDim.x + threadIdx.x;
    if (row >= n) return;
    float sum = 0.0f;
    const float *p = values + starts[row], *end = values + starts[row + 1];
    for (; p != end; ++p) sum += *p;
    out[row] = sum;
}"""
#: `while (from != end) *to++ = *from++;`, as one of the ways in which a compiler writes it: it has
#: others, of one and the same source.
COPIES = """
.version 8.0
.target sm_90
.address_size 64
.visible .entry copy_all(
    .param .u64 copy_all_param_0,
    .param .u64 copy_all_param_1,
    .param .u64 copy_all_param_2
)
{
    .reg .pred %p<6>;
    .reg .b32 %r<6>;
    .reg .b64 %rd<39>;
    ld.param.u64 %rd26, [copy_all_param_0];
    ld.param.u64 %rd27, [copy_all_param_1];
    ld.param.u64 %rd25, [copy_all_param_2];
    cvta.to.global.u64 %rd1, %rd27;
    cvta.to.global.u64 %rd32, %rd26;
    setp.eq.s64 %p1, %rd32, %rd1;
    @%p1 bra     $L__BB0_8;
    cvta.to.global.u64 %rd33, %rd25;
    add.s64 %rd28, %rd1, -4;
    sub.s64 %rd5, %rd28, %rd32;
    shr.u64 %rd29, %rd5, 2;
    add.s64 %rd30, %rd29, 1;
    and.b64 %rd6, %rd30, 3;
    setp.eq.s64 %p2, %rd6, 0;
    @%p2 bra     $L__BB0_5;
    neg.s64 %rd31, %rd6;
$L__BB0_3:
    .pragma "nounroll";
    add.s64 %rd11, %rd32, 4;
    ld.global.u32 %r1, [%rd32];
    add.s64 %rd12, %rd33, 4;
    st.global.u32 [%rd33], %r1;
    add.s64 %rd31, %rd31, 1;
    setp.ne.s64 %p3, %rd31, 0;
    mov.u64 %rd32, %rd11;
    mov.u64 %rd33, %rd12;
    @%p3 bra     $L__BB0_3;
    mov.u64 %rd32, %rd11;
    mov.u64 %rd33, %rd12;
$L__BB0_5:
    setp.lt.u64 %p4, %rd5, 12;
    @%p4 bra     $L__BB0_8;
    sub.s64 %rd36, %rd1, %rd32;
$L__BB0_7:
    ld.global.u32 %r2, [%rd32];
    st.global.u32 [%rd33], %r2;
    ld.global.u32 %r3, [%rd32+4];
    st.global.u32 [%rd33+4], %r3;
    ld.global.u32 %r4, [%rd32+8];
    st.global.u32 [%rd33+8], %r4;
    ld.global.u32 %r5, [%rd32+12];
    st.global.u32 [%rd33+12], %r5;
    add.s64 %rd36, %rd36, -16;
    setp.ne.s64 %p5, %rd36, 0;
    add.s64 %rd32, %rd32, 16;
    add.s64 %rd33, %rd33, 16;
    @%p5 bra     $L__BB0_7;
$L__BB0_8:
    ret;
}
"""
ITEMS = """
struct Item { int key; float weight; unsigned char used; };
__global__ void weigh(Item *items, const int *table, int n) {
    Item *end = items + n;
    for (Item *p = items + blockIdx.x * blockDim.x + threadIdx.x; p < end; p += 64)
        if (p->used) p->weight += table[p->key];
}"""


def lifted(source: str) -> tuple[ptxkit.Module, str]:
    module = ptxkit.compile_cuda(source, arch="sm_90")
    return module, lifted_text(module, Options(roll=True))


def test_a_walk_is_one_loop() -> None:
    module, text = lifted(ROWS)
    assert "for (const float *ptr = p1 + n; ptr != p1 + n1; ptr++) sum += *ptr;" in text
    assert same_ptx(module, compiled_again(text, "sm_90"), "row_sums")


def test_two_that_walk_side_by_side() -> None:
    text = lifted_text(ptxkit.parse(COPIES), Options(roll=True))
    assert "const int *p1" in text  # only compared, with a pointer to int
    assert "for (; ptr != p1; ptr++) {" in text
    assert text.count("ptr1++;") == 1
    assert "char" not in text


def test_a_walk_over_structures() -> None:
    module, text = lifted(ITEMS)
    assert "ptr->field_8 != 0" in text
    assert "ptr < p0 + n2" in text
    found = ptxkit.decompile(module, "symbolic")
    assert found.verdict.level in ("E1", "E2"), found.cuda


def test_distances_are_numbers() -> None:
    """Neither side of a difference is an array of what comes out."""
    source = """extern "C" __global__ void apart(const int *a, const int *b, long long *out) {
        out[threadIdx.x] = (const char *)(b + threadIdx.x) - (const char *)a + a[0] + b[0];
    }"""
    module, text = lifted(source)
    assert "(char *)(p1 + threadIdx.x) - (char *)p0" in text
    assert same_ptx(module, compiled_again(text, "sm_90"), "apart")
