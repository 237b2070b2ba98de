"""E3 accepts no counter in floating point for an integer: in launches neither is large."""

from __future__ import annotations

import pytest

import ptxkit
from ptxkit.decompiler.verify import verify

KERNEL = """
extern "C" __global__ void mean(const float *x, float *y, int n) {{
    float sum = 0.0f, least = 1.0f;
    {type} count = 0;
    for (int i = threadIdx.x; i < n; i += 32)
        if (x[i] > 0.0f) {{ sum += x[i]; {more}; }}
    y[threadIdx.x] = (sum + least) / ((float)count + 1.0f);
}}
"""
WHOLE = KERNEL.format(type="int", more="count++")
FLOAT = KERNEL.format(type="float", more="count += 1.0f")


@pytest.mark.parametrize(
    "candidate",
    [FLOAT, FLOAT.replace("count += 1.0f", "count -= -1.0f"),
     FLOAT.replace("count += 1.0f", "count = x[i] > 0.5f ? count + 1.0f : count + 1.0f")],
)  # fmt: skip
def test_what_counts_in_floats_is_not_accepted_for_an_integer(candidate: str) -> None:
    verdict = verify(ptxkit.compile_cuda(WHOLE, arch="sm_90"), candidate)
    assert not verdict.equivalent and "floating point" in " ".join(verdict.reasons)


@pytest.mark.parametrize("text", [WHOLE, FLOAT])
def test_what_counts_as_the_original_does_is(text: str) -> None:
    candidate = text.replace("x[i] > 0.0f", "!(x[i] <= 0.0f) && x[i] == x[i]")
    assert candidate != text
    assert verify(ptxkit.compile_cuda(text, arch="sm_90"), candidate).equivalent
