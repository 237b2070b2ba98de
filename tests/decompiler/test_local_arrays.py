"""Arrays of a thread's own come back where a compiler made a variable of each element."""

from __future__ import annotations

import pytest

import ptxkit
from ptxkit.cuda import print_module
from ptxkit.decompiler.engines import engine
from ptxkit.decompiler.lift.lifter import Options, lift_module
from ptxkit.decompiler.verify import same_ptx

HEAD = (
    "__global__ void k(const float *__restrict__ x, const float *__restrict__ q, float *y, int n) {"
)
FORCES = """
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    float p[3], f[3];
    for (int c = 0; c < 3; c++) { p[c] = x[i * 3 + c]; f[c] = 0; }
    for (int j = 0; j < n; j++) {
        float d[3], r = 1e-6f;
        for (int c = 0; c < 3; c++) { d[c] = x[j * 3 + c] - p[c]; r += d[c] * d[c]; }
        float s = q[j] * rsqrtf(r * r * r);
        for (int c = 0; c < 3; c++) f[c] += d[c] * s;
    }
    for (int c = 0; c < 3; c++) y[i * 3 + c] = f[c];
}"""


# The row is found before the loop over all: the inner one is written out before that.
ROWS = """
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    float r[3];
    for (int c = 0; c < 3; c++) r[c] = 0;
    const float *p = x + (i / n * n + i % n) * n;
    for (int j = 0; j < n; j++)
        for (int c = 0; c < 3; c++) r[c] += p[j * 3 + c];
    for (int c = 0; c < 3; c++) y[i * 3 + c] = r[c];
}"""


@pytest.mark.parametrize("text", [FORCES, ROWS], ids=["joined loops", "rows"])
def test_elements_that_were_variables_are_those_of_arrays(text: str) -> None:
    module = ptxkit.compile_cuda(HEAD + text, arch="sm_90")
    name = module.functions[0].name
    forms = engine("symbolic").propose(module, module[name], beams=9)
    again = (ptxkit.compile_cuda(print_module(one.tree), arch="sm_90") for one in forms)
    assert any(same_ptx(module, one, name) for one in again)


@pytest.mark.parametrize(
    "text",
    [
        # What only one turn of a loop has is no element.
        "for (int c = 0; c < 3; c++) { float v = x[c] * n; y[c] = v + v * v; } }",
        # What no loop looks into stays a variable.
        "float a = x[0], b = x[n], c = x[n * 3]; y[1] = a * b; y[4] = c * a; y[9] = a - b; }",
    ],
)
def test_other_variables_stay(text: str) -> None:
    module = ptxkit.compile_cuda(HEAD + text, arch="sm_90")
    lifted = print_module(lift_module(module, Options(roll=True, arrays=True)))
    assert "values" not in lifted
