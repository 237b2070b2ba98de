"""Numbers of floating point whose bits are compared and swapped."""

from __future__ import annotations

import pytest

import ptxkit

LARGEST = """
__device__ float largest(float *address, float value) {
    int *bits = (int *)address;
    int old = *bits, assumed;
    do {
        assumed = old;
        old = atomicCAS(bits, assumed, __float_as_int(fmaxf(value, __int_as_float(assumed))));
    } while (assumed != old);
    return __int_as_float(old);
}
extern "C" __global__ void find(const float *x, int n, float *result) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) largest(result, x[i]);
}
"""
PRODUCTS = """
__device__ void times(double *address, double value) {
    unsigned long long *bits = (unsigned long long *)address;
    unsigned long long old = *bits, assumed;
    do {
        assumed = old;
        old = atomicCAS(bits, assumed, __double_as_longlong(value * __longlong_as_double(assumed)));
    } while (assumed != old);
}
extern "C" __global__ void products(const double *x, double *out, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) times(&out[i % 8], x[i]);
}
"""


@pytest.mark.parametrize(("source", "parameter"), [(LARGEST, "float *"), (PRODUCTS, "double *")])
def test_they_are_pointed_to_as_what_they_are(source: str, parameter: str) -> None:
    found = ptxkit.decompile(ptxkit.compile_cuda(source, arch="sm_90"), engine="symbolic")
    assert found.verdict.same_ptx, found.cuda
    head = found.cuda[found.cuda.index("__global__") : found.cuda.index(") {")]
    assert head.count(parameter) == 2
