"""Types of parts: of vectors, of structures in several places, of pairs of halves."""

from __future__ import annotations

import pytest

import ptxkit

SOURCES = {
    "a whole number beside others in a vector": (
        """__global__ void k(float4 *o, const float *x, const int *d, int n) {
            int i = threadIdx.x, best = -1;
            #pragma unroll 1
            for (int j = 0; j < n; j++) if (d[j] > d[i]) best = j;
            o[i] = make_float4(x[i], x[i] * 2, x[i] + 1, __int_as_float(best)); }""",
        ["__int_as_float("],
        ["__float_as_int"],
    ),
    "a whole number in a structure that is stored at once": (
        """struct Hit { float t; int id; float2 uv; };
        __global__ void k(Hit *h, const float *x, int n) {
            int i = threadIdx.x; Hit b; b.t = 1e30f; b.id = -1; b.uv = make_float2(0, 0);
            #pragma unroll 1
            for (int j = 0; j < n; j++) if (x[j] < b.t) {
                b.t = x[j]; b.id = j; b.uv = make_float2(x[j] * 2, x[j] + 3); }
            h[i] = b; }""",
        ["int field_4;", ".field_4 = "],
        ["__float_as_int", "__int_as_float"],
    ),
    "one class for several parameters": (
        """struct Matrix { int w, h; float *e; };
        __global__ void k(Matrix a, Matrix b, Matrix c) {
            int i = threadIdx.x; if (i < a.h) c.e[i * c.w] = a.e[i] + b.e[i * b.w]; }""",
        ["struct Matrix {", "(Matrix "],
        ["Matrix1"],
    ),
    "one class for several kernels": (
        """struct Grid { float *e; int w, h; };
        __global__ void k(Grid a) { if (threadIdx.x < a.w) a.e[threadIdx.x] = 1; }
        __global__ void l(Grid a, float *o) { if (threadIdx.x < a.h) *o = a.e[threadIdx.x]; }""",
        ["struct Grid {", "int field_12;"],
        ["Grid1"],
    ),
    "pairs of halves": (
        """#include <cuda_fp16.h>
        __global__ void k(__half2 *x) {
            __half2 v = x[threadIdx.x];
            v = __hmul2(__hadd2(v, __float2half2_rn(1.0f)), __float2half2_rn(0.5f));
            if (__hbgt2(v, x[0])) v = __hgt2(v, x[1]);
            x[threadIdx.x] = v; }""",
        ["__float2half2_rn(1.0f)", "__float2half2_rn(0.5f)", "__hbgt2(", "__hgt2("],
        ["asm", "as_uint", "as_ushort"],
    ),
    "a vector by value where nothing has a name": (
        """extern "C" __global__ void k(float *o, float4 w, int2 s) {
            o[threadIdx.x + s.y] = w.x * w.w; }""",
        ["float4 ", "int2 ", ".x * ", ".w"],
        ["struct", "field"],
    ),
    "structures in shared memory": (
        """struct Item { int key; float w; };
        extern "C" __global__ void k(const int *d, const float *w, float *o) {
            __shared__ Item s[64]; int t = threadIdx.x;
            s[t].key = d[t]; s[t].w = w[t]; __syncthreads();
            for (int r = 32; r > 0; r >>= 1) {
                if (t < r && s[t + r].w > s[t].w) s[t] = s[t + r];
                __syncthreads(); }
            if (t == 0) { o[0] = s[0].w; o[1] = s[0].key * 3; } }""",
        ["__shared__ Struct0 s[64];", ".field_4"],
        ["_as_int", "_as_float"],
    ),
    "bytes of a vector": (
        """extern "C" __global__ void k(const uchar4 *x, const char4 *y, float *o) {
            uchar4 v = x[threadIdx.x]; char4 w = y[threadIdx.x];
            o[threadIdx.x] = v.x * 0.5f + v.y * 0.25f + v.z - v.w
                + w.x * 2.0f + w.y * 3.0f + w.z * 4.0f + w.w; }""",
        ["const uchar4 *", "const char4 *"],
        ["__byte_perm", "asm", ">>", "&"],
    ),
    "some parts of a vector are stored": (
        """extern "C" __global__ void k(float4 *x, float a) {
            float4 v = x[threadIdx.x];
            v.x *= a; v.y += a; v.z -= v.w; x[threadIdx.x] = v; }""",
        ["float4 *"],
        ["(float2 *)", "(float4 *)"],
    ),
    "short numbers with a sign in pairs": (
        """extern "C" __global__ void k(const short2 *x, int *o) {
            short2 v = x[threadIdx.x]; o[threadIdx.x] = v.x * 3 + v.y; }""",
        ["const short2 *"],
        ["(short)"],
    ),
}


@pytest.mark.parametrize("arch", ["sm_90", "sm_120"])
@pytest.mark.parametrize("name", SOURCES)
def test_parts_have_their_types(name: str, arch: str) -> None:
    source, parts, others = SOURCES[name]
    module = ptxkit.compile_cuda(source, arch=arch)
    found = ptxkit.decompile(module, "symbolic", effort=0)
    assert found.verdict.equivalent
    assert not any(part in found.cuda for part in others), found.cuda
    assert all(part in found.cuda for part in parts), found.cuda


def test_parameters_are_what_their_names_say_though_vectors_are_read() -> None:
    source = """__global__ void sums(const float *x, float *out, int n) {
        int i = blockIdx.x * blockDim.x + threadIdx.x;
        float4 v = ((const float4 *)(x + (long long)blockIdx.y * n))[i];
        out[i] = v.x + v.y + v.z + v.w;
    }"""
    found = ptxkit.decompile(ptxkit.compile_cuda(source, arch="sm_90"), "symbolic", effort=0)
    assert found.verdict.equivalent, found.verdict.reasons
    assert "__global__ void sums(const float *" in found.cuda and "extern" not in found.cuda
    assert "char *" not in found.cuda


def test_some_parts_of_vectors_by_value() -> None:
    source = """__global__ void k(float *o, char *d, char4 c, uint3 g, float4 w, float4 *y) {
        int i = threadIdx.x;
        o[i] = w.y + (g.x & 255) + ((__float_as_int(w.z) >> 8) & 255);
        d[i] = c.z + 1;
        y[i] = w; }"""
    found = ptxkit.decompile(ptxkit.compile_cuda(source, arch="sm_90"), "symbolic", effort=0)
    assert found.verdict.equivalent, found.verdict.reasons
    head, _, rest = found.cuda.partition("{")
    assert head.startswith("__global__ void k(float *") and "char *" in head
    for part in ("char4 ", "uint3 ", "float4 "):
        assert part in head
    assert "] = a4;" in rest
    assert not any(part in rest for part in ("struct", "field", "char *", "make_float4"))
