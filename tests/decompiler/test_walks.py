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
COPIES = """
extern "C" __global__ void copy_all(const int *from, const int *end, int *to) {
    while (from != end) *to++ = *from++;
}"""
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
    _, text = lifted(COPIES)
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
