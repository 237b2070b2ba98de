"""Loops from -r to r that a compiler unrolled: windows with weights, clamped or cut off."""

from __future__ import annotations

import re

import pytest
from tests.decompiler.lifting import lifted_text

import ptxkit
from ptxkit.cuda import nodes as n
from ptxkit.decompiler.lift.grids import window
from ptxkit.decompiler.lift.lifter import Options

WEIGHTED = """
extern "C" __global__ void smooth(const float *x, float *out, const float *taps, int n, int r) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    float sum = 0.0f;
    for (int k = -r; k <= r; k++)
        if (i + k >= 0 && i + k < n) sum += taps[k + r] * x[i + k];
    out[i] = sum;
}"""
CLAMPED = """
extern "C" __global__ void soften(const float *x, float *out, int w, int h, int r, float a) {
    int col = blockIdx.x * blockDim.x + threadIdx.x;
    int row = blockIdx.y * blockDim.y + threadIdx.y;
    if (col >= w || row >= h) return;
    float sum = 0.0f, all = 0.0f;
    for (int dy = -r; dy <= r; dy++)
        for (int dx = -r; dx <= r; dx++) {
            float weight = __expf(-(dx * dx + dy * dy) * a);
            int y = min(max(row + dy, 0), h - 1), x1 = min(max(col + dx, 0), w - 1);
            sum += weight * x[y * w + x1];
            all += weight;
        }
    out[row * w + col] = sum / all;
}"""


def lifted(source: str) -> str:
    return lifted_text(ptxkit.compile_cuda(source, arch="sm_90"), Options(roll=True))


def test_weights_are_taken_by_the_index() -> None:
    text = lifted(WEIGHTED)
    assert text.count("for (") == 1
    assert re.search(r"(ptr|p2)\[\w \+ n4\] \*", text), text
    found = ptxkit.decompile(ptxkit.compile_cuda(WEIGHTED, arch="sm_90"), "symbolic")
    assert found.verdict.same_ptx, found.cuda


def test_a_clamped_window_is_two_loops() -> None:
    text = lifted(CLAMPED)
    assert text.count("for (") == 2
    assert "do {" not in text
    assert "& 3" not in text


def test_nothing_is_left_over() -> None:
    """A dead start, a copy, and a step that nobody asks for."""
    source = WEIGHTED.replace("taps[k + r] * ", "")
    text = ptxkit.decompile(ptxkit.compile_cuda(source, arch="sm_90"), "symbolic").cuda
    assert text.count("= -") == 1, text


AROUND = """
__constant__ float weights[25];
extern "C" __global__ void blur(const float *x, float *out, int w, int h) {
    int col = blockIdx.x * blockDim.x + threadIdx.x, row = blockIdx.y * blockDim.y + threadIdx.y;
    if (col < 2 || row < 2 || col >= w - 2 || row >= h - 2) return;
    float sum = 0.0f;
    for (int dy = -2; dy <= 2; dy++)
        for (int dx = -2; dx <= 2; dx++)
            sum += weights[(dy + 2) * 5 + dx + 2] * x[(row + dy) * w + col + dx];
    out[row * w + col] = sum;
}"""
IN_A_TILE = """
extern "C" __global__ void sum3(const float *x, float *out, int n) {
    __shared__ float t[18][18];
    t[threadIdx.y][threadIdx.x] = x[threadIdx.y * 18 + threadIdx.x];
    __syncthreads();
    if (threadIdx.x < 1 || threadIdx.y < 1 || threadIdx.x > 16 || threadIdx.y > 16) return;
    float s = 0.0f;
    for (int dy = -1; dy <= 1; dy++)
        for (int dx = -1; dx <= 1; dx++) s += t[threadIdx.y + dy][threadIdx.x + dx];
    out[threadIdx.y * n + threadIdx.x] = s;
}"""


@pytest.mark.parametrize("arch", ["sm_90", "sm_120"])
def test_a_window_is_counted_by_rows_and_columns(arch: str) -> None:
    module = ptxkit.compile_cuda(AROUND, arch=arch)
    text = lifted_text(module, Options(roll=True))
    assert "[(j + dy) * n2 + i + dx]" in text
    assert "weights[(dy + 2) * 5 + dx + 2]" in text
    if arch == "sm_90":
        assert ptxkit.decompile(module, "symbolic", effort=0).verdict.same_ptx


def test_a_window_in_a_tile() -> None:
    assert "t[threadIdx.y + dy][threadIdx.x + dx]" in lifted(IN_A_TILE)


@pytest.mark.parametrize(
    ("places", "wanted"),
    [
        # Rows of two, and what goes from the end of one to the next row.
        ("0 1 w w+1 2*w 2*w+1", ((0, 3), (0, 2))),
        ("-1 0 1 w-1 w w+1", ((0, 2), (-1, 3))),
        ("0 1 2 w w+1 w+3", None),
        ("0 1 w w+1", None),
        # One row alone is counted by one counter.
        ("0 1 2 3 4 5", None),
    ],
)
def test_terms_that_are_a_window(
    places: str, wanted: tuple[tuple[int, int], tuple[int, int]] | None
) -> None:
    def place(text: str) -> n.Expression:
        times, _, more = text.partition("w")
        if "w" not in text:
            return n.integer(int(text))
        by = n.Binary("*", n.Name("w"), n.integer(int(times.rstrip("*") or 1)))
        return n.Binary("+", by, n.integer(int(more or 0)))

    found = window([n.Index(n.Name("x"), place(one)) for one in places.split()], {})
    assert (None if found is None else (found.rows, found.columns)) == wanted


NORMALISED = """
extern "C" __global__ void conv(const float *x, float *out, int w, int h, const float *weights) {
    int col = blockIdx.x * blockDim.x + threadIdx.x, row = blockIdx.y * blockDim.y + threadIdx.y;
    if (col >= w || row >= h) return;
    float sum = 0.0f, all = 0.0f;
    for (int dy = -1; dy <= 1; dy++)
        for (int dx = -1; dx <= 1; dx++) {
            int c = min(max(col + dx, 0), w - 1), r = min(max(row + dy, 0), h - 1);
            float weight = weights[(dy + 1) * 3 + dx + 1];
            sum += weight * x[r * w + c];
            all += weight;
        }
    out[row * w + col] = sum / all;
}"""


def test_a_window_that_is_held_inside_of_borders() -> None:
    """Two sums take the same weights: each of them is a loop."""
    module = ptxkit.compile_cuda(NORMALISED, arch="sm_90")
    text = lifted_text(module, Options(roll=True))
    assert "min(max(i + dx, 0), n2 - 1)" in text and "min(max(j + dy, 0), n3 - 1)" in text
    assert text.count("for (") == 3 and text.count("\n") < 20
    assert ptxkit.decompile(module, "symbolic", effort=0).verdict.equivalent
