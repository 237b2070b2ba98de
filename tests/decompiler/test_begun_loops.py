"""Unrolled loops that do not begin at 0, or whose first turns know where they are."""

from __future__ import annotations

from tests.decompiler.lifting import lifted_text

import ptxkit
from ptxkit.decompiler.lift.lifter import Options
from ptxkit.decompiler.verify import verify

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


#: All turns of both loops are written out, and each value is read once for all of them.
SMOOTH = """
__constant__ float weights[9];
extern "C" __global__ void smooth(float *out, const float *in, int pitch) {
    __shared__ float part[16][48];
    for (int i = 0; i < 6; i++)
        part[threadIdx.x][threadIdx.y + i * 8] = in[(i * 8 + threadIdx.y) * pitch + threadIdx.x];
    __syncthreads();
    #pragma unroll
    for (int i = 1; i < 5; i++) {
        float sum = 0.0f;
        #pragma unroll
        for (int j = -4; j <= 4; j++)
            sum += weights[4 - j] * part[threadIdx.x][threadIdx.y + i * 8 + j];
        out[i * 8 * pitch + threadIdx.x] = sum;
    }
}
"""
#: The counter of the loop begins at 8, and what moves on with it begins elsewhere.
ALONG = """
extern "C" __global__ void along(float *out, const float *in) {
    __shared__ float part[256];
    part[threadIdx.x] = in[threadIdx.x];
    __syncthreads();
    for (int i = 1; i < 9; i++) {
        float sum = 0.0f;
        for (int j = -8; j <= 8; j++) sum += in[8 - j] * part[threadIdx.x + i * 16 + j];
        out[threadIdx.x + i * 16] = sum;
    }
}
"""


def test_an_inner_loop_goes_from_a_number_to_a_number() -> None:
    module = ptxkit.compile_cuda(SMOOTH, arch="sm_90")
    text = lifted_text(module, Options(roll=True))
    assert "= -4; " in text and "weights[4 - " in text, text
    assert text.count("weights[") == 2 and text.count("for (") == 3, text


def test_what_moves_along_begins_where_it_did() -> None:
    module = ptxkit.compile_cuda(ALONG, arch="sm_90")
    text = lifted_text(module, Options(roll=True))
    assert verify(module, text, "along").equivalent, text
    assert "ptr" not in text, text


#: What one of four turns has read or stored, the next one knows.
PEAKS = """
extern "C" __global__ void peaks(float *found, int *count, const float *__restrict__ x,
                                 const int *__restrict__ ends) {
    int last = 0, from = ends[threadIdx.x], n = ends[threadIdx.x + 1] - from;
    x += from, found += from;
    found[0] = x[0];
    for (int i = 1; i < n - 1; i++)
        if (x[i] > found[last] && x[i] > x[i + 1]) found[++last] = x[i];
    count[threadIdx.x] = last;
}
"""


def test_turns_that_know_what_the_one_before_has_read() -> None:
    module = ptxkit.compile_cuda(PEAKS, arch="sm_90")
    text = lifted_text(module, Options(roll=True))
    assert text.count("for (") == 1 and "do {" not in text, text
    assert verify(module, text, "peaks").equivalent, text


#: For a loop that has no turn, all that follows it is there once more.
LEVELS = """
extern "C" __global__ void levels(float *out, int width, int count, int reach,
                                  cudaTextureObject_t picture) {
    int y = threadIdx.x;
    for (int level = 0; level < count; level++) {
        int end = width >> level;
        float sum = 0.0f;
        for (int x = -reach; x <= reach; x++) sum += tex2D<float>(picture, x, y);
        out[y * width] = sum;
        for (int x = 1; x < end; x++) {
            sum += tex2D<float>(picture, x + reach, y);
            sum -= tex2D<float>(picture, x - reach, y);
            out[y * width + x] = sum + level;
        }
    }
}
"""


def test_what_follows_a_loop_without_turns_is_there_once() -> None:
    module = ptxkit.compile_cuda(LEVELS, arch="sm_90")
    assert module.emit().count("tex.2d") > 16
    text = lifted_text(module, Options(roll=True))
    assert text.count("tex2D") == 3, text


#: The first turns are written out, and the first of them knows what is divided.
FILLED = """
extern "C" __global__ void fill(const float *x, float *y, int first, int last, int which) {
    float kept[40];
    for (int row = threadIdx.x; row < 1000; row += 32) {
        float b = 1.0f;
        for (int n = first; n < last; n++) {
            b = b / (1.0f + x[n]);
            kept[n - first] = b;
        }
        y[row] = kept[which];
    }
}
"""


def test_elements_are_counted_from_the_second_turn_where_the_first_knows_more() -> None:
    module = ptxkit.compile_cuda(FILLED, arch="sm_90")
    text = lifted_text(module, Options(roll=True))
    assert "local[j - n2] = f;" in text, text
    assert "local[1]" not in text, text
