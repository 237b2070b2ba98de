"""Loops that a compiler made two of, for both answers to a question inside of them."""

from __future__ import annotations

import pytest
from tests.decompiler.lifting import lifted_text

import ptxkit
from ptxkit.decompiler.lift.lifter import Options

GATHER = """
extern "C" __global__ void gather(int b, int c, int n, int m, const float *x, const int *index,
                                  float *out) {
    for (int i = blockIdx.x; i < b; i += gridDim.x)
        for (int l = blockIdx.y; l < c; l += gridDim.y)
            for (int j = threadIdx.x; j < m; j += blockDim.x)
                out[(i * c + l) * m + j] = x[(i * c + l) * n + index[i * m + j]];
}
"""
KINDS = """
extern "C" __global__ void kinds(float *x, const float *y, int n, int kind) {
    for (int i = threadIdx.x; i < n; i += blockDim.x) {
        float v = y[i];
        if (kind == 1)
            v = v * v;
        else
            v = sinf(v) + 1.0f;
        x[i] += v;
    }
}
"""
#: Two loops in the source, too: they do not end in the same way.
TWO = """
extern "C" __global__ void two(float *x, int n, int kind) {
    if (kind == 1) {
        for (int i = threadIdx.x; i < n; i += 32) x[i] = 1.0f;
    } else {
        for (int i = threadIdx.x; i < n; i += 64) x[i] = 2.0f;
    }
}
"""


def _lifted(source: str) -> str:
    return lifted_text(ptxkit.compile_cuda(source, arch="sm_90"), Options(roll=True))


@pytest.mark.parametrize(("source", "loops"), [(GATHER, 3), (KINDS, 1), (TWO, 2)])
def test_how_many_loops_there_are(source: str, loops: int) -> None:
    text = _lifted(source)
    assert text.count("for (") + text.count("do {") == loops, text


@pytest.mark.parametrize("source", [GATHER, KINDS])
def test_they_are_the_same_ptx(source: str) -> None:
    found = ptxkit.decompile(ptxkit.compile_cuda(source, arch="sm_90"), engine="symbolic")
    assert found.verdict.same_ptx, found.cuda


def test_an_index_that_moves_with_a_counter_is_written_by_it() -> None:
    """The start of the second one is computed outside of both loops."""
    assert "p5[sum3 + n3 * bid]" in _lifted(GATHER)


#: A question of the source, between two things that are not the same.
ASKED = """
extern "C" __global__ void asked(float *x, const float *y, float p, int n) {
    if (p != 2.0f) {
        for (int i = 0; i < n; i++) x[i] = powf(y[i], p) + expf(y[i]);
    } else {
        for (int i = 0; i < n; i++) x[i] = y[i];
    }
}
"""


def test_a_question_of_the_source_stays() -> None:
    text = _lifted(ASKED)
    assert text.count("powf(") == 1 and "else" in text, text
