"""Parameters that point to rows of a known length have one index for each dimension."""

import re

import ptxkit

PLANES = """
__global__ void smoothed(float (*to)[40][30], float (*from)[40][30]) {
    unsigned x = threadIdx.x + 1, y = blockIdx.x + 1, z = blockIdx.y + 1;
    if (x < 29 && y < 39)
        to[z][y][x] = from[z][y][x - 1] + from[z][y + 1][x] + from[z - 1][y][x] + from[z][39][0];
}"""

TAKEN = """
__device__ __noinline__ float first(const float *row) { return row[0]; }
__global__ void heads(float *out, float (*rows)[64]) {
    out[threadIdx.x] = first(rows[threadIdx.x]);
}"""


def test_indices_of_rows() -> None:
    found = ptxkit.decompile(ptxkit.compile_cuda(PLANES), engine="symbolic")
    assert found.verdict.equivalent, found.verdict.reasons
    assert re.search(r"float \(\*\w+\)\[40\]\[30\], float \(\*\w+\)\[40\]\[30\]\)", found.cuda)
    assert re.search(r"\w+\[[^]]+\]\[39\]\[0\]", found.cuda)
    assert "1200" not in found.cuda


def test_rows_that_are_handed_on() -> None:
    """What takes a pointer into them is not rewritten."""
    found = ptxkit.decompile(ptxkit.compile_cuda(TAKEN), engine="symbolic")
    assert found.verdict.equivalent, found.verdict.reasons


TILED = """extern "C" __global__ void product(
    int m, int n, int k, const float *a, const float *b, float *c) {
    __shared__ float left[16][16], right[16][16];
    int x = threadIdx.x, y = threadIdx.y, row = blockIdx.y * 16 + y, column = blockIdx.x * 16 + x;
    float sum = 0.0f;
    for (int t = 0; t < (k + 15) / 16; t++) {
        left[y][x] = row < m && t * 16 + x < k ? a[row * k + t * 16 + x] : 0.0f;
        right[y][x] = column < n && t * 16 + y < k ? b[(t * 16 + y) * n + column] : 0.0f;
        __syncthreads();
        for (int i = 0; i < 16; i++) sum += left[y][i] * right[i][x];
        __syncthreads();
    }
    if (row < m && column < n) c[row * n + column] = sum;
}"""


def test_tiles_whose_indices_move_on() -> None:
    """A compiler takes the variables that an address began with for those of the loop."""
    found = ptxkit.decompile(ptxkit.compile_cuda(TILED, arch="sm_90"), engine="symbolic")
    assert found.verdict.equivalent, found.verdict.reasons
    assert "__shared__ float left[16][16];" in found.cuda
    assert "__shared__ float right[16][16];" in found.cuda
    assert "__cvta" not in found.cuda and "char" not in found.cuda
