"""Flags that a compiler keeps in 16 bits: they are conditions again."""

from __future__ import annotations

from tests.decompiler.lifting import lifted_text

import ptxkit
from ptxkit.decompiler.lift.lifter import Options
from ptxkit.decompiler.verify import same_ptx, verify

CHANGES = """extern "C" __global__ void changes(const int *x, int *y, int n, int m) {
    bool changed = false;
    int sum = 0;
    #pragma unroll 1
    for (int i = 0; i < n; i++) {
        changed = false;
        sum += x[i];
        if (x[i] != x[i + 1]) {
            changed = true;
            #pragma unroll 1
            for (int j = threadIdx.x; j < m; j += 32) atomicAdd(&y[j], sum);
            sum = 0;
        }
    }
    if (!changed) y[m] = sum;
}"""
COUNTED = """extern "C" __global__ void counted(const unsigned short *x, unsigned short *y, int n) {
    unsigned short last = 0;
    #pragma unroll 1
    for (int i = 0; i < n; i++) last = x[i] > 3 ? 1 : 2;
    y[0] = last;
}"""


def test_what_is_only_set_to_0_and_1_is_a_condition() -> None:
    module = ptxkit.compile_cuda(CHANGES, arch="sm_90")
    assert any(one.name == "selp" and ".u16" in one.modifiers
               for one in module["changes"].instructions)  # fmt: skip
    for careful in (False, True):
        text = lifted_text(module, Options(careful=careful, keep_loops=True))
        assert "bool " in text and "short" not in text
        assert verify(module, text).same_dataflow


def test_other_numbers_of_16_bits_stay_numbers() -> None:
    text = lifted_text(ptxkit.compile_cuda(COUNTED, arch="sm_90"))
    assert "bool " not in text


MANY = """__global__ void many(bool *b, const bool *a, const bool *c, const float *x, bool v) {
    int i = threadIdx.x;
    b[i] = a[i] && !c[i];
    b[i + 32] = a[i] ? c[i] : v;
    b[i + 64] = x[i] > 0.5f;
    b[i + 96] ^= v;
    if (a[i + 1] != v) b[i + 128] = true;
}"""


def test_what_a_name_says_is_bool_is_written_so() -> None:
    module = ptxkit.compile_cuda(MANY, arch="sm_90")
    text = lifted_text(module)
    assert "many(bool *p0, const bool *p1, const bool *p2, const float *p3, bool n4)" in text
    assert "char" not in text and "short" not in text and "? 1" not in text
    name = module.functions[0].name
    assert same_ptx(module, ptxkit.compile_cuda(text, arch="sm_90"), name)
    # Who has to be careful takes bytes for what they are: nobody knows that each is 0 or 1.
    assert "bool *" not in lifted_text(module, Options(careful=True))


def test_a_byte_that_holds_more_is_no_bool() -> None:
    source = """__global__ void k(bool *b, unsigned char v) {
        ((unsigned char *)b)[threadIdx.x] = v; }"""
    module = ptxkit.compile_cuda(source, arch="sm_90")
    text = lifted_text(module)
    assert "bool *p0" not in text and verify(module, text).equivalent
