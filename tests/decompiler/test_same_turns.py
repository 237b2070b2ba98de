"""Loops whose turns all do the very same, which compilers write out."""

from __future__ import annotations

import pytest

import ptxkit
from ptxkit.cuda import print_statements, read
from ptxkit.decompiler.lift.same_turns import SameTurns


@pytest.mark.parametrize("turns", [20, 1000])
def test_turns_without_an_index_are_a_loop(turns: int) -> None:
    source = f"""
    __global__ void knock(int *x, int *y, int v) {{
        int i = threadIdx.x;
        for (int k = 0; k < {turns}; k++) {{
            atomicAdd(&x[i], v);
            atomicMax(&x[i + 1], y[0]);
            atomicXor(&y[i], 2 * v);
        }}
    }}"""
    found = ptxkit.decompile(ptxkit.compile_cuda(source, arch="sm_90"), "symbolic")
    assert found.verdict.same_ptx
    assert f" < {turns}; " in found.cuda and found.cuda.count("atomicAdd") == 1, found.cuda


def test_what_is_not_the_same_or_leaves_stays() -> None:
    texts = (
        "(do (!= j 50) (eval (call atomicAdd x j)) (eval (call atomicAdd x j)) (+= j 2))",
        "(do (!= j 51) (eval (call atomicAdd x 1)) (eval (call atomicAdd x 1)) (+= j 3))",
        "(do (!= j 50) (if (== v 1) (then (break))) (if (== v 1) (then (break))) (+= j 2))",
    )
    for text in texts:
        loop = read(text)
        made = SameTurns({}, lambda: "k").run((loop,))
        assert made == (loop,), print_statements(made)
