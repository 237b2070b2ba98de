"""Flags that a compiler keeps in 16 bits: they are conditions again."""

from __future__ import annotations

from tests.decompiler.lifting import lifted_text

import ptxkit
from ptxkit.decompiler.lift.lifter import Options
from ptxkit.decompiler.verify import verify

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
