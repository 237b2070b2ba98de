"""Loops in loops, whose rests, limits and rows a compiler has taken apart."""

from __future__ import annotations

from tests.decompiler.lifting import lifted_text

import ptxkit
from ptxkit.decompiler.lift.lifter import Options

PATCH = """
extern "C" __global__ void patch(float *out, const float *in, int size, int channels, int width) {
    extern __shared__ float kept[];
    for (int j = 0; j < size; j++) {
        for (int i = 0; i < size; i++) {
            int off = (j * size + i) * channels;
            for (int c = threadIdx.x; c < channels; c += 32)
                kept[off + c] = in[((blockIdx.y + j) * width + i) * channels + c];
        }
    }
    __syncthreads();
    out[blockIdx.x * blockDim.x + threadIdx.x] = kept[threadIdx.x];
}"""

CAUSAL = """
extern "C" __global__ void causal(float *out, const float *weights, const float *in, int steps,
                                  int width, int size) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    int t = i % steps;
    int h = i / steps;
    float *row = out + t * width + h * size;
    for (int u = 0; u <= t; u++) {
        const float *value = in + u * width + h * size;
        float weight = weights[t * steps + u];
        for (int k = 0; k < size; k++) row[k] += weight * value[k];
    }
}"""

BLUR = """
extern "C" __global__ void blur(float *out, const float *in, int width, int height, int reach) {
    int x = blockIdx.x * blockDim.x + threadIdx.x;
    int y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x >= width || y >= height) return;
    float sum = 0.0f;
    int count = 0;
    for (int dy = -reach; dy <= reach; dy++)
        for (int dx = -reach; dx <= reach; dx++) {
            sum += in[min(max(y + dy, 0), height - 1) * width + min(max(x + dx, 0), width - 1)];
            count++;
        }
    out[y * width + x] = sum / count;
}"""

COLORS = """
extern "C" __global__ void colors(int *out, const unsigned char *in, int width, int reach) {
    int x = blockIdx.x * blockDim.x + threadIdx.x;
    int y = blockIdx.y * blockDim.y + threadIdx.y;
    int red = 0, green = 0;
    for (int i = -reach; i <= reach; i++)
        for (int j = -reach; j <= reach; j++) {
            red += in[((y + i) * width + x + j) * 3];
            green += in[((y + i) * width + x + j) * 3 + 1];
        }
    out[y * width + x] = red - green;
}"""


def _rolled(source: str) -> str:
    return lifted_text(ptxkit.compile_cuda(source, arch="sm_90"), Options(roll=True))


def test_a_rest_by_a_stride_beside_other_offsets_is_one_loop() -> None:
    text = _rolled(PATCH)
    assert text.count("for (") == 3
    assert "+= 32)" in text
    assert "& 3" not in text


def test_a_loop_that_reaches_its_limit_is_one_for() -> None:
    text = _rolled(CAUSAL)
    assert "do {" not in text
    assert text.count(" <= ") == 1
    assert text.count("for (") == 2


def test_a_row_of_the_inner_loop_is_declared_in_the_outer_one() -> None:
    lines = [line.strip() for line in _rolled(CAUSAL).splitlines()]
    outer = next(k for k, line in enumerate(lines) if " <= " in line)
    rows = [k for k, line in enumerate(lines) if line.startswith("const float *row")]
    assert rows
    assert rows[-1] > outer


def test_what_counts_turns_beside_the_index_counts_each() -> None:
    text = _rolled(BLUR)
    assert text.count("for (") == 2
    assert text.count("++;\n") == 1
    assert "+ 2;" not in text


def test_a_loop_whose_last_turn_is_asked_for_is_one_loop() -> None:
    text = _rolled(COLORS)
    assert text.count("for (") == 2
    assert "do {" not in text


def test_they_are_equal() -> None:
    verdict = ptxkit.decompile(ptxkit.compile_cuda(CAUSAL, arch="sm_90"), engine="symbolic").verdict
    assert verdict.equivalent
