"""Loops around an element, from ``-r`` to ``r``, which compilers write out in several ways."""

from __future__ import annotations

import pytest

import ptxkit
from ptxkit.cuda import print_module
from ptxkit.decompiler.engines import FORMS
from ptxkit.decompiler.lift.lifter import lift_module
from ptxkit.decompiler.verify import compiled, same_ptx

HEAD = """
    int x = blockIdx.x * blockDim.x + threadIdx.x;
    int y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x >= w || y >= h) return;
    float sum = 0.0f;
"""
WINDOWS = {
    "beside": """for (int i = -r; i <= r; i++)
        for (int j = -r; j <= r; j++) sum += a[(y + i) * w + x + j];""",
    "clamped": """for (int i = -r; i <= r; i++)
        for (int j = -r; j <= r; j++) {
            int xx = min(max(x + j, 0), w - 1);
            int yy = min(max(y + i, 0), h - 1);
            sum += a[yy * w + xx] * b[(i + r) * (2 * r + 1) + j + r];
        }""",
    "half": """int k = r / 2;
        for (int j = -k; j <= k; j++)
            if (x + j >= 0 && x + j < w) sum += a[x + j] * b[j + k];""",
    "counting": """int k = r / 2;
        size_t c = 0;
        for (int i = -k; i <= k; i++)
            for (int j = -k; j <= k; j++) {
                sum += a[(y - i) * w + x - j] * b[c];
                c++;
            }""",
}


@pytest.mark.parametrize("name", WINDOWS)
def test_a_loop_around_an_element_is_one(name: str) -> None:
    text = (
        "__global__ void k(const float *a, const float *b, float *out, int w, int h, int r) {"
        f"{HEAD}{WINDOWS[name]}\n out[y * w + x] = sum;\n}}"
    )
    module = ptxkit.compile_cuda(text, arch="sm_90")
    lifted = print_module(lift_module(module, FORMS[0]))
    assert lifted.count("for (") == WINDOWS[name].count("for (")
    assert "do {" not in lifted
    # Not the very same, but no other loop: as many turns, unrolled in the same way.
    made = compiled(lifted, "sm_90").module
    assert made is not None
    loads = [m.emit().count("ld.global") for m in (module, made)]
    assert loads[0] == loads[1]


def test_a_window_is_found_again() -> None:
    text = (
        "__global__ void k(const float *a, const float *b, float *out, int w, int h, int r) {"
        f"{HEAD}{WINDOWS['beside']}\n out[y * w + x] = sum;\n}}"
    )
    module = ptxkit.compile_cuda(text, arch="sm_90")
    found = ptxkit.decompile(module, engine="symbolic")
    assert found.verdict.level == "E1"
    again = ptxkit.compile_cuda(found.cuda, arch="sm_90")
    assert same_ptx(module, again, module.kernels[0].name, again.kernels[0].name)
