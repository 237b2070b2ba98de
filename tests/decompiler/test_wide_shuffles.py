"""Shuffles of ``double`` and ``long long``, which are two instructions each."""

from __future__ import annotations

import pytest

import ptxkit

KERNELS = {
    "v += __shfl_down_sync(": """__global__ void sum(const double *x, double *y) {
        double v = x[threadIdx.x];
        for (int o = 16; o > 0; o >>= 1) v += __shfl_down_sync(0xffffffff, v, o);
        if (threadIdx.x == 0) y[0] = v;
    }""",
    "/ __shfl_sync(": """__global__ void scaled(const double *x, double *y, int lane) {
        double v = x[threadIdx.x];
        y[threadIdx.x] = v / __shfl_sync(0xffffffff, v, lane);
    }""",
    ", 1, 16)": """__global__ void larger(const unsigned long long *x, unsigned long long *y) {
        unsigned long long v = x[threadIdx.x];
        unsigned long long o = __shfl_xor_sync(0xffffffff, v, 1, 16);
        y[threadIdx.x] = v > o ? v : o;
    }""",
}


@pytest.mark.parametrize("text", KERNELS)
@pytest.mark.parametrize("arch", ["sm_75", "sm_120"])
def test_one_call(text: str, arch: str) -> None:
    made = ptxkit.decompile(ptxkit.compile_cuda(KERNELS[text], arch=arch), "symbolic")
    assert made.verdict.level == "E1", made.cuda
    assert text in made.cuda and made.cuda.count("__shfl") == 1


def test_two_calls_with_a_store_between_stay_two() -> None:
    source = """__global__ void halves(
        const unsigned long long *x, unsigned *y, volatile unsigned *z
    ) {
        unsigned long long v = x[threadIdx.x];
        unsigned high = __shfl_down_sync(0xffffffff, (unsigned)(v >> 32), 1);
        *z = 1;
        unsigned low = __shfl_down_sync(0xffffffff, (unsigned)v, 1);
        ((unsigned long long *)y)[threadIdx.x] = (unsigned long long)high << 32 | low;
    }"""
    made = ptxkit.decompile(ptxkit.compile_cuda(source, arch="sm_90"), "symbolic")
    assert made.verdict.equivalent
    assert made.cuda.count("__shfl") == 2
