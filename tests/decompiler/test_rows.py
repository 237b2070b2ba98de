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
