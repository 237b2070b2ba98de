"""Volumes unfolded into columns: three loops, the innermost unrolled, and indices of 64 bits."""

from __future__ import annotations

import re

import numpy as np
from tests.decompiler.lifting import compiled_again, lifted_text

import ptxkit
from ptxkit.decompiler.lift.lifter import Options

UNFOLD = """
extern "C" __global__ void unfold(long long count, const float *x, int d, int h, int w, int kd,
                                  int kh, int kw, int pad, int dh, int dw, float *y) {
    for (long long at = blockDim.x * blockIdx.x + threadIdx.x; at < count;
         at += blockDim.x * gridDim.x) {
        int col = at % dw;
        long long rest = at / dw;
        int row = rest % dh;
        int depth = rest / dh;
        const float *from = x + (depth * h + row - pad) * w + col - pad;
        float *to = y + ((long long)depth * dh + row) * dw + col;
        for (int i = 0; i < kd; ++i)
            for (int j = 0; j < kh; ++j)
                for (int k = 0; k < kw; ++k) {
                    int a = depth - pad + i, b = row - pad + j, c = col - pad + k;
                    *to = a >= 0 && b >= 0 && c >= 0 && a < d && b < h && c < w
                        ? from[(i * h + j) * w + k] : 0.0f;
                    to += d * dh * dw;
                }
    }
}
"""


def test_three_loops_that_move_a_pointer() -> None:
    text = lifted_text(ptxkit.compile_cuda(UNFOLD, arch="sm_90"), Options(roll=True))
    assert text.count("for (") == 3 and "& 3" not in text, text
    # What is left is not computed from the quotient once more, which the loop reads, too.
    assert len(re.findall(r" % ", text)) == 2 and len(re.findall(r" / ", text)) == 2, text
    # Nobody asks before a loop whether an inner one has turns: but for the first of all.
    assert len(re.findall(r"if \(", text)) == 2, text


#: Both ways of a division set two registers that are read behind, in this loop and elsewhere.
QUOTIENTS = """
extern "C" __global__ void quotients(unsigned long long *x, unsigned long long a, int n) {
    unsigned long long i = threadIdx.x, left = 0, q = x[i];
    for (int k = 0; k < n; k++) {
        left += q % a;
        q = q / a + x[k];
    }
    x[i] = left * q;
}
"""


def test_both_results_of_a_division_may_be_carried() -> None:
    module = ptxkit.compile_cuda(QUOTIENTS, arch="sm_90")
    text = lifted_text(module, Options())
    assert "0xffffffff" not in text and "%" in text, text
    again = compiled_again(text, "sm_90")
    numbers = np.random.default_rng(3).integers(0, 2**63, 64).astype(np.uint64)
    numbers[::3] >>= np.uint64(40)
    for divisor in (3, 2**33 + 1):
        results = []
        for one in (module, again):
            x = numbers.copy()
            ptxkit.load(one, device="cpu")["quotients"][1, 32](x, divisor, 9)
            results.append(x)
        assert (results[0] != numbers).any()
        np.testing.assert_array_equal(*results)


#: Of floats the opposite of ``<`` is not ``>=``.
FLOATS = """
extern "C" __global__ void asked(float *x, float a, float b, int n) {
    if (!(a < b || n < 1)) {
        for (int i = 0; i < n; i++) x[i] = a;
    }
}
"""


def test_a_question_about_floats_keeps_its_sense() -> None:
    found = ptxkit.decompile(ptxkit.compile_cuda(FLOATS, arch="sm_90"), engine="symbolic")
    assert found.verdict.equivalent, found.cuda


IMAGES = """
extern "C" __global__ void images(long long n, const float *x, long long height, long long width,
                                  long long kh, long long kw, long long pad, long long columns,
                                  int channels, float *y) {
    for (long long at = (long long)blockIdx.x * blockDim.x + threadIdx.x; at < n;
         at += (long long)blockDim.x * gridDim.x) {
        long long col = at % columns, row = at / columns;
        for (int c = 0; c < channels; ++c)
            for (long long i = 0; i < kh; ++i)
                for (long long j = 0; j < kw; ++j) {
                    long long h = row - pad + i, w = col - pad + j;
                    y[((c * kh + i) * kw + j) * n + at] =
                        h >= 0 && w >= 0 && h < height && w < width
                            ? x[(c * height + h) * width + w] : 0.0f;
                }
    }
}
"""


def test_bounds_are_asked_for_one_by_one() -> None:
    found = ptxkit.decompile(ptxkit.compile_cuda(IMAGES, arch="sm_90"), engine="symbolic")
    assert found.verdict.equivalent, found.verdict.reasons
    assert found.cuda.count("for (") == 4 and found.cuda.count("if (") == 1, found.cuda
    assert found.cuda.count(">= 0") == 2 and "|" not in found.cuda, found.cuda
