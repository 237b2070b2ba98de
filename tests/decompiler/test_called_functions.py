"""Functions that are called: what they give back and what they are given has its type."""

from __future__ import annotations

import pytest

import ptxkit

HEAD = """struct Hit { double t; int id; };
struct V { float x, y, z; };
"""
PAIR = """
__device__ __noinline__ int2 pair(int a, int b) { return make_int2(a + b, a * b); }
extern "C" __global__ void pairs(int2 *out, int n) {
    int i = threadIdx.x;
    if (i < n) out[i] = pair(i, n);
}"""
HITS = """
__device__ __noinline__ float4 four(float a) { return make_float4(a, a * 2, a * 3, a + 1); }
__device__ __noinline__ Hit nearest(const double *t, int n) {
    Hit h;
    h.t = 1e30;
    h.id = -1;
    for (int i = 0; i < n; i++) if (t[i] < h.t) { h.t = t[i]; h.id = i; }
    return h;
}
extern "C" __global__ void hits(const double *t, float4 *q, int *ids, double *best, int n) {
    int i = threadIdx.x;
    Hit h = nearest(t + i * n, n);
    ids[i] = h.id;
    best[i] = h.t;
    q[i] = four((float)h.t);
    Hit g = nearest(t, n);
    if (g.id == h.id) q[i].x = 0;
}"""
DOTS = """
__device__ __noinline__ float dot3(V a, V b) { return a.x * b.x + a.y * b.y + a.z * b.z; }
extern "C" __global__ void dots(const V *a, const V *b, float *o, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) o[i] = dot3(a[i], b[i]);
}"""
POLY = """
__device__ __noinline__ float horner(const float *c, int n, float x) {
    float r = 0;
    for (int i = n - 1; i >= 0; i--) r = r * x + c[i];
    return r;
}
extern "C" __global__ void poly(const float *coef, int deg, const float *x, float *y, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) y[i] = horner(coef, deg + 1, x[i]);
}"""


@pytest.mark.parametrize("arch", ["sm_75", "sm_90"])
@pytest.mark.parametrize("source", [PAIR, HITS])
def test_what_is_given_back_in_parts_is_kept(source: str, arch: str) -> None:
    found = ptxkit.decompile(ptxkit.compile_cuda(HEAD + source, arch=arch), "symbolic")
    assert found.verdict.same_ptx, found.cuda
    assert "gap_" not in found.cuda and "*)&" not in found.cuda


def test_what_is_only_passed_on_is_a_pointer_and_others_do_not_change_that() -> None:
    module = ptxkit.compile_cuda(HEAD + DOTS + POLY, arch="sm_90")
    found = ptxkit.decompile(module, "symbolic")
    assert found.verdict.equivalent, found.notes
    assert "long long" not in found.cuda.partition("poly(")[2]
    assert {name: part.equivalent for name, part in found.verdict.parts.items()} == {
        "dots": True, "poly": True,
    }  # fmt: skip
