"""A ``switch`` comes back as one, whatever the compiler made of it."""

from __future__ import annotations

import re

import pytest

import ptxkit

_KERNEL = """extern "C" __global__ void k(const {type} *op, const float *a, float *out, int n) {{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    float x = a[i], y = out[i];
    switch (op[i]) {{ {cases} }}
    out[i] = y;
}}"""
_X = re.compile(r"\bx\b")
_BODIES = ("y = x + y;", "y = x * y;", "y = fmaxf(x, y);", "y = sqrtf(y);", "y -= x;", "y = -x;")


def _source(type: str, numbers: list[int], default: str = "") -> str:
    cases = " ".join(
        f"case {number}: {re.sub(_X, f'(x + {place})', _BODIES[place % len(_BODIES)])} break;"
        for place, number in enumerate(numbers)
    )
    return _KERNEL.format(type=type, cases=cases + default)


FOUND = {
    "few": ("int", [0, 1, 2, 3], " default: y = 7.0f;"),
    "in halves": ("int", [0, 1, 2, 3, 4, 5, 6, 7], ""),
    "far apart": ("int", [3, 100, 2000, 5000, 70000, 123456], ""),
    "below zero": ("int", [-5, -1, 4, 9], ""),
    "letters": ("char", [65, 67, 71, 84], " default: y = 1.0f;"),
    "many": ("unsigned", [*range(10, 24), 40], " default: y = -1.0f;"),
}


@pytest.mark.parametrize(
    ("what", "arch"), [(what, ("sm_90", "sm_120")[k % 2]) for k, what in enumerate(FOUND)]
)
def test_switch_comes_back(what: str, arch: str) -> None:
    type, numbers, default = FOUND[what]
    module = ptxkit.compile_cuda(_source(type, numbers, default), arch=arch)
    found = ptxkit.decompile(module, names="plain", forms="plain")
    assert found.verdict.equivalent
    assert "goto" not in found.cuda
    assert [int(x) for x in re.findall(r"case (-?\d+):", found.cuda)] == numbers


LOOP = """extern "C" __global__ void k(const unsigned char *code, float *out, int n) {
    float acc = 0;
    int i = threadIdx.x;
    for (int pc = 0; pc < n; pc++) {
        switch (code[pc]) {
        case 0: acc += 1.f; break;
        case 1: acc *= out[i]; break;
        case 2: acc = sqrtf(acc); break;
        case 3: out[i] = acc; break;
        case 4: out[i] = 0; return;
        case 5: continue;
        default: acc -= 1.f;
        }
        acc += 0.25f;
    }
    out[i] += acc;
}"""


@pytest.mark.parametrize("arch", ["sm_75", "sm_120"])
def test_switch_in_a_loop(arch: str) -> None:
    found = ptxkit.decompile(ptxkit.compile_cuda(LOOP, arch=arch), "symbolic", effort=0)
    assert found.verdict.equivalent
    assert "goto" not in found.cuda
    assert found.cuda.count("case ") == 6 and "default:" in found.cuda


def test_other_questions_stay() -> None:
    source = """extern "C" __global__ void k(int *x) {
        int v = x[threadIdx.x];
        if (v == 0) x[threadIdx.x] = 10; else if (v == 1) x[threadIdx.x] = 20;
        else if (v < 100) x[threadIdx.x] = v * 3; else x[threadIdx.x] = v * v;
    }"""
    found = ptxkit.decompile(ptxkit.compile_cuda(source, arch="sm_90"), effort=0)
    assert found.verdict.equivalent
    assert "switch" not in found.cuda


TABLE = """.version 8.0
.target sm_80
.address_size 64
.visible .entry k(.param .u64 p) {
.reg .pred %p<2>; .reg .b32 %r<4>; .reg .b64 %rd<3>;
ld.param.u64 %rd1, [p];
cvta.to.global.u64 %rd2, %rd1;
ld.global.u32 %r1, [%rd2];
add.s32 %r2, %r1, -7;
setp.gt.u32 %p1, %r2, 3;
@%p1 bra OTHER;
T: .branchtargets A, B, C, B;
brx.idx %r2, T;
A: mov.u32 %r3, 1; bra END;
B: mov.u32 %r3, 20; bra END;
C: mov.u32 %r3, 300; bra END;
OTHER: mov.u32 %r3, 4000;
END: st.global.u32 [%rd2], %r3;
ret;
}
"""


def test_table_of_jumps_with_its_guard() -> None:
    found = ptxkit.decompile(ptxkit.parse(TABLE))
    assert found.verdict.equivalent
    assert re.findall(r"case (\d+):", found.cuda) == ["0", "1", "3", "2"]
    assert "if (" not in found.cuda


def test_a_loop_that_asks_the_same_question_again_ends() -> None:
    source = """extern "C" __global__ void k(const int *x, int *out) {
        int v = x[0];
        while (v != 3) { if (v == 1) v = x[1]; else if (v == 2) v = x[2]; else v = x[3]; }
        out[0] = v;
    }"""
    found = ptxkit.decompile(ptxkit.compile_cuda(source, arch="sm_90"), verify=False)
    assert "goto" not in found.cuda
