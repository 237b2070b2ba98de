"""Unrolled loops that do not begin at 0, or whose first turns know where they are."""

from __future__ import annotations

from tests.decompiler.lifting import lifted_text

import ptxkit
from ptxkit.decompiler.lift.lifter import Options

RUNNING = """
extern "C" __global__ void running(float *out, int n, int reach, cudaTextureObject_t picture) {
    int y = threadIdx.x;
    float sum = 0.0f;
    out[y * n] = sum;
    for (int x = 1; x < n; x++) {
        sum += tex2D<float>(picture, x + reach, y);
        sum -= tex2D<float>(picture, x - reach - 1, y);
        out[y * n + x] = sum;
    }
}
"""
WEIGHED = """
__constant__ float weights[32];
extern "C" __global__ void weighed(float *out, int reach, cudaTextureObject_t picture) {
    int x = threadIdx.x, y = threadIdx.y;
    float total = 0.0f;
    for (int i = -reach; i <= reach; i++)
        for (int j = -reach; j <= reach; j++)
            total += weights[i + reach] * weights[j + reach] * tex2D<float>(picture, x + j, y + i);
    out[y * 32 + x] = total;
}
"""


def test_a_loop_begins_where_what_it_moved_on_began() -> None:
    module = ptxkit.compile_cuda(RUNNING, arch="sm_90")
    assert module.emit().count("tex.2d") == 10  # four turns at once, and one
    text = lifted_text(module, Options(roll=True))
    assert "for (int k = 1; k < n1; k++)" in text and text.count("tex2D") == 2, text


def test_first_turns_that_begin_at_minus_something_know_their_weights() -> None:
    module = ptxkit.compile_cuda(WEIGHED, arch="sm_90")
    text = lifted_text(module, Options(roll=True))
    assert text.count("tex2D") == 1 and "weights[0]" not in text, text
    assert text.count("for (") == 2, text
