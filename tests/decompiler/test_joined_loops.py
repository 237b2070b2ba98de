"""Loops that count alike are one where a compiler mixed their turns."""

from __future__ import annotations

import pytest

import ptxkit
from ptxkit.cuda import nodes as n
from ptxkit.cuda import read
from ptxkit.decompiler.tidy.joined_loops import joined_loops

SUMS = """extern "C" __global__ void k(const float *x, float *sums, int n) {
    __shared__ float a[16], b[16];
    int t = threadIdx.x;
    a[t] = x[t]; b[t] = x[t + n];
    __syncthreads();
    if (t == 0) {
        float s = 0.0f, m = 0.0f;
        LOOPS
        sums[0] = s; sums[1] = m;
    }
}"""
TOGETHER = "for (int i = 0; i < 16; i++) { s += a[i]; m += b[i]; }"
APART = "for (int i = 0; i < 16; i++) s += a[i]; for (int i = 0; i < 16; i++) m += b[i];"


@pytest.mark.parametrize(("loops", "count"), [(TOGETHER, 1), (APART, 2)])
def test_there_are_as_many_loops_as_there_were(loops: str, count: int) -> None:
    module = ptxkit.compile_cuda(SUMS.replace("LOOPS", loops), arch="sm_90")
    found = ptxkit.decompile(module, "symbolic", effort=0)
    assert found.verdict.same_ptx
    assert found.cuda.count("for (") == count, found.cuda


@pytest.mark.parametrize(
    ("between", "second", "joined"),
    [
        ("", "(for (let int j 0) (< j 8) (+= j 1) (= ([] y j) 1.0f))", True),
        ("(let float b 2.0f)", "(for (let int j 0) (< j 8) (+= j 1) (= ([] y j) b))", True),
        # What the first one makes is asked for.
        ("(let float b a)", "(for (let int j 0) (< j 8) (+= j 1) (= ([] y j) b))", False),
        ("", "(for (let int j 0) (< j 8) (+= j 1) (= ([] y j) a))", False),
        ("", "(for (let int j 0) (< j 8) (+= j 1) (= ([] y j) ([] x (+ j 1))))", False),
        # Another count; something else between them.
        ("", "(for (let int j 0) (< j 9) (+= j 1) (= ([] y j) 1.0f))", False),
        ("", "(for (let int j 1) (< j 8) (+= j 1) (= ([] y j) 1.0f))", False),
        ("(eval (call __syncthreads))", "(for (let int j 0) (< j 8) (+= j 1) (= ([] y j) 1.0f))",
         False),
    ],
)  # fmt: skip
def test_what_goes_together(between: str, second: str, joined: bool) -> None:
    kernel = read(
        f"""(kernel k (params (param (ptr float) x) (param (ptr float) y))
        (let float a 0.0f)
        (for (let int i 0) (< i 8) (+= i 1) (+= a ([] y i)) (= ([] x i) a))
        {between} {second})""".replace("([] y i)", "1.0f")
    )
    assert isinstance(kernel, n.Function) and kernel.body
    made = joined_loops(kernel, lambda: True)
    assert sum(isinstance(s, n.For) for s in made.body or ()) == 2 - joined
