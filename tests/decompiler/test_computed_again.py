"""What a loop keeps from one turn to the next because it asks for it: as it was written."""

from __future__ import annotations

import re

import ptxkit

ESCAPE = """
__global__ void escape(int *out, float step, float far, int turns) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    float a = i * step - 2.0f, b = far * i, x = 0.0f, y = 0.0f;
    int n;
    for (n = 0; n < 500 && x * x + y * y < 4.0f; n++) {
        float t = x * x - y * y + a;
        y = 2.0f * x * y + b;
        x = t;
    }
    out[i] = n;
}
"""


def test_products_that_the_next_turn_reads_are_computed_by_it() -> None:
    found = ptxkit.decompile(ptxkit.compile_cuda(ESCAPE, arch="sm_90"), "symbolic")
    assert found.verdict.same_ptx
    assert re.search(r"for \(.*(\w+) \* \1 \+ (\w+) \* \2 < 4\.0f; \w+\+\+\)", found.cuda)
    assert "do {" not in found.cuda
