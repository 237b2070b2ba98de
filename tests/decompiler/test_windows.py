"""Loops from -r to r that a compiler unrolled: windows with weights, clamped or cut off."""

from __future__ import annotations

import re

from tests.decompiler.lifting import lifted_text

import ptxkit
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
