"""Kernels whose PTX comes back only if the text is what a person would write."""

from __future__ import annotations

import pytest

import ptxkit

#: A kernel, what is in its text, and what is not.
KERNELS = {
    "what is there is compared with what was assumed": (
        """__global__ void k(float *most, const float *x, int n) {
            int i = blockIdx.x * blockDim.x + threadIdx.x;
            if (i >= n) return;
            int *bits = (int *)most, old = *bits, seen;
            do {
                seen = old;
                old = atomicCAS(bits, seen, __float_as_int(fmaxf(x[i], __int_as_float(seen))));
            } while (seen != old); }""",
        ["unsigned int old = *", "assumed != old"],
        ["bool"],
    ),
    "a sum of single precision": (
        """__global__ void k(const double *a, const int *at, const double *b, double *o, int n) {
            int r = blockIdx.x * blockDim.x + threadIdx.x;
            if (r < n) {
                float s = 0;
                for (int c = at[r]; c < at[r + 1]; c++) s += a[c] * b[c];
                o[r] += s; } }""",
        ["float sum = 0.0f;", "sum += "],
        ["(float)", "(double)"],
    ),
    "a walk that may end before": (
        """__global__ void k(const float *x, float *o, float far) {
            int t = threadIdx.x; float s = 0;
            for (int i = 0; i < 100; i++) {
                float d = fabsf(x[t] - s) - 0.5f;
                if (d < 0.01f) { o[t] = s; return; }
                s += d;
                if (s > far) break; }
            o[t] = -1.0f; }""",
        ["for (", "< 100;", "break;"],
        ["while (true)", ">= 100"],
    ),
    "what was stored is read again": (
        """__global__ void k(const float *x, float *o, float b, int n) {
            int t = threadIdx.x;
            o[t] = t < n ? x[t] : 0;
            o[t] += t + n < 2 * n ? x[t + n] : 0;
            if (o[t] < b) o[t] = b; }""",
        [],
        [],
    ),
    "a tile with neighbours on all sides": (
        """__global__ void k(const float *x, float *o, int w) {
            __shared__ float s[16][16];
            int c = blockIdx.x * 14 + threadIdx.x, r = blockIdx.y * 14 + threadIdx.y;
            s[threadIdx.y][threadIdx.x] = x[r * w + c];
            __syncthreads();
            if (threadIdx.y >= 1 && threadIdx.y < 15 && threadIdx.x >= 1 && threadIdx.x < 15)
                o[r * w + c] = s[threadIdx.y][threadIdx.x - 1] + s[threadIdx.y][threadIdx.x + 1]
                    + s[threadIdx.y - 1][threadIdx.x] + s[threadIdx.y + 1][threadIdx.x]; }""",
        ["s[16][16]", "threadIdx.x >= 1 && threadIdx.x < 15"],
        ["<= 13"],
    ),
    "a sum that has a name": (
        """__global__ void k(int *x, const int *y, int step) {
            extern __shared__ int s[];
            int t = threadIdx.x;
            s[t] = y[t];
            __syncthreads();
            int a = step * (2 * t + 1) - 1, b = step * (2 * t + 2) - 1;
            a += a >> 5; b += b >> 5;
            x[t] = s[b] - s[a]; }""",
        [],
        [],
    ),
}


@pytest.mark.parametrize("name", KERNELS)
def test_the_same_ptx(name: str) -> None:
    source, parts, others = KERNELS[name]
    found = ptxkit.decompile(ptxkit.compile_cuda(source, arch="sm_90"), "symbolic")
    assert found.verdict.level == "E1", found.cuda
    assert all(part in found.cuda for part in parts), found.cuda
    assert not any(part in found.cuda for part in others), found.cuda
