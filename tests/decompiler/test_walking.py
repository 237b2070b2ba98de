"""Loops that compilers move addresses through: as indices that are counted, as written."""

from __future__ import annotations

import re

from tests.decompiler.lifting import lifted_text

import ptxkit
from ptxkit.cuda import nodes as n
from ptxkit.cuda.types import FLOAT, INT, VOID, Pointer
from ptxkit.decompiler.lift.lifter import Options
from ptxkit.decompiler.refine.walking import walking

TILES = """
extern "C" __global__ void tiles(const float *a, const float *b, float *out, int m, int w) {
    __shared__ float left[16][16];
    __shared__ float right[16][16];
    int x = threadIdx.x, y = threadIdx.y;
    int first = m * 16 * blockIdx.y;
    int last = first + m - 1;
    float sum = 0.0f;
    for (int i = first, j = 16 * blockIdx.x; i <= last; i += 16, j += 16 * w) {
        left[y][x] = a[i + m * y + x];
        right[y][x] = b[j + w * y + x];
        __syncthreads();
        for (int k = 0; k < 16; k++) sum += left[y][k] * right[k][x];
        __syncthreads();
    }
    out[w * 16 * blockIdx.y + 16 * blockIdx.x + w * y + x] = sum;
}
"""
BINS = """
extern "C" __global__ void bins(unsigned *out, const unsigned *in) {
    __shared__ unsigned part[1536];
    for (unsigned i = 0; i < 8; i++) part[threadIdx.x + i * 192] = in[threadIdx.x + i * 192];
    __syncthreads();
    for (unsigned bin = threadIdx.x; bin < 256; bin += 192) {
        unsigned sum = 0;
        for (unsigned i = 0; i < 6; i++) sum += part[bin + i * 256];
        out[blockIdx.x * 256 + bin] = sum;
    }
}
"""
OFTEN = """
extern "C" __global__ void often(float *out, const float *x, int rows, int n) {
    __shared__ float part[1024];
    for (int row = blockIdx.x; row < rows; row += gridDim.x) {
        for (int i = threadIdx.x; i < 1024; i += blockDim.x) {
            float sum = 0.0f;
            for (int k = row * n + i; k < row * n + n; k += 1024) sum += x[k];
            part[i] = sum;
        }
        for (int half = 512; half > 0; half >>= 1) {
            __syncthreads();
            for (int i = threadIdx.x; i < half; i += blockDim.x) part[i] += part[half + i];
        }
        __syncthreads();
        if (threadIdx.x == 0) out[row] = part[0];
    }
}
"""


def _decompiled(source: str) -> ptxkit.Decompiled:
    module = ptxkit.compile_cuda(source, arch="sm_90")
    return ptxkit.decompile(module, engine="symbolic")


def test_pointers_that_walk_are_indices() -> None:
    """One is counted with the loop's own counter, the other with one that starts with the block."""
    found = _decompiled(TILES)
    assert found.verdict.same_ptx
    assert "float *" not in found.cuda.partition("{")[2]


def test_what_moves_along_is_written_by_the_counter() -> None:
    """All of a sum's terms are in its loop, and all copies in theirs: also the first ones."""
    found = _decompiled(BINS)
    assert found.verdict.same_ptx
    assert "char" not in found.cuda
    assert re.search(r"for \(int (\w+) = 0; \1 < 8; \1\+\+\)", found.cuda)
    assert re.search(r"for \(int (\w+) = 0; \1 < 6; \1\+\+\)", found.cuda)


def test_bytes_of_shared_memory_are_elements_though_their_start_moves_later() -> None:
    text = lifted_text(ptxkit.compile_cuda(BINS, arch="sm_90"), Options())
    assert "char" not in text


def test_an_index_of_threads_is_written_wherever_it_is_used() -> None:
    assert _decompiled(OFTEN).verdict.same_ptx


SWAPPED = """
extern "C" __global__ void sums(const float *in, float *out, int n) {
    __shared__ float first[512], second[512];
    float *from = first, *to = second;
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    from[threadIdx.x] = i < n ? in[i] : 0.0f;
    __syncthreads();
    for (int step = 1; step < blockDim.x; step *= 2) {
        to[threadIdx.x] = from[threadIdx.x];
        if (threadIdx.x >= step) to[threadIdx.x] += from[threadIdx.x - step];
        __syncthreads();
        float *other = from;
        from = to;
        to = other;
    }
    if (i < n) out[i] = from[threadIdx.x];
}
"""


def test_addresses_of_shared_arrays_that_change_places_are_pointers() -> None:
    found = _decompiled(SWAPPED)
    assert found.verdict.equivalent
    assert "__cvta" not in found.cuda and "char" not in found.cuda
    assert found.cuda.count("__shared__ float ") == 2


def test_a_loop_without_a_step_is_no_trouble() -> None:
    p, i, out, n1 = map(n.Name, ("p", "i", "out", "n1"))
    turn = (
        n.Assign(n.Index(out, i), n.Index(p, n.integer(1))),
        n.Assign(p, n.integer(4), "+="),
        n.Assign(i, n.integer(4), "+="),
    )
    body = (
        n.Declare(INT, "i", n.integer(3)),
        n.Declare(Pointer(FLOAT), "p", n.Binary("+", n.Name("x"), n.integer(3))),
        n.For(None, n.Binary("<", i, n1), None, turn),
    )
    ((_, made),) = walking(n.Function("k", (), body, VOID))
    assert n.Index(n.Name("x"), n.Binary("+", i, n.integer(1))) in list(made.walk())
