"""Sides of instructions: which of them launches show, and what is told of the others."""

from __future__ import annotations

import subprocess
import sys

import numpy as np
import pytest

import ptxkit
from ptxkit.decompiler.verify import Execution, same_execution
from ptxkit.decompiler.verify.coverage import Coverage
from ptxkit.decompiler.verify.dataflow.decode import Decoder
from ptxkit.decompiler.verify.inputs import DATA
from ptxkit.decompiler.verify.pair import Pair
from ptxkit.decompiler.verify.possible import Possible
from ptxkit.decompiler.verify.trials import Trial, trials
from ptxkit.decompiler.verify.usage import usage_of
from ptxkit.syntax.scopes import Scopes
from ptxkit.toolchain import compile_cuda

CODE = """.version 8.0
.target sm_80
.address_size 64
.visible .entry k(.param .u64 x) {{
    .reg .pred %p<4>; .reg .b16 %h<4>; .reg .b32 %r<9>; .reg .f32 %f<4>; .reg .b64 %rd<4>;
    ld.param.u64 %rd1, [x];
    mov.u32 %r1, %tid.x;
    mul.wide.u32 %rd2, %r1, 4;
    add.u64 %rd3, %rd1, %rd2;
    ld.global.s32 %r2, [%rd3]; mov.b32 %f1, %r2; setp.gt.s32 %p1, %r2, 10; setp.gt.s32 %p2, %r2, 20;
    {what}
    st.global.u32 [%rd3], %r3;
    ret;
}}"""
#: An instruction, numbers that threads read, and the sides that these show, as bits of all.
SHOWN = {
    "selp.b32 %r3, 1, 2, %p1;": {(11, 12): (1, 3), (1,): (2, 3), (1, 11): (3, 3)},
    "min.s32 %r3, %r2, 5;": {(1, 5): (1, 3), (9,): (2, 3), (-1, 9): (3, 3)},
    "max.u32 %r3, %r2, 5;": {(1,): (1, 3), (-1,): (2, 3)},
    "and.b32 %r3, %r2, 12;": {(3,): (12, 15), (4,): (6, 15), (12,): (2, 15), (31,): (11, 15)},
    "and.b32 %r3, %r2, -4;": {(7,): (15, 15), (-1,): (11, 15), (8,): (7, 15)},
    "and.b32 %r3, %r2, 2147483640;": {(8,): (7, 15), (7,): (13, 15)},
    "and.b32 %r3, %r2, 2147483647;": {(8,): (14, 15), (-8,): (15, 15)},
    "shr.u32 %r3, %r2, 4;": {(15, 3): (0, 1), (16,): (1, 1)},
    "rem.u32 %r3, %r2, 7;": {(6,): (2, 3), (7,): (1, 3), (8,): (3, 3)},
    "bfe.u32 %r3, %r2, 4, 4;": {(15,): (0, 3), (16,): (2, 3), (256,): (1, 3)},
    "abs.s32 %r3, %r2;": {(0,): (0, 3), (-3, 2): (3, 3)},
    "slct.b32.s32 %r3, 1, 2, %r2;": {(0, 4): (1, 3), (-1,): (2, 3)},
    "@%p1 mov.u32 %r3, 3;": {(11,): (0, 128), (11, 1): (128, 128)},
    "or.pred %p3, %p1, %p2; selp.b32 %r3, 1, 0, %p3;": {(25, 1): (0, 3), (11, 1): (1, 3)},
    "setp.lt.and.s32 %p3, %r2, 15, %p1; selp.b32 %r3, 1, 0, %p3;": {
        (1,): (1, 15), (21,): (2, 15), (14,): (4, 15), (15,): (10, 15),
    },
    "setp.ge.u32 %p3, %r2, 15; selp.b32 %r3, 1, 0, %p3;": {
        (1, 99): (3, 15), (14, 15): (15, 15), (14,): (10, 15), (0,): (34, 15), (-1,): (17, 15),
    },
    "setp.lt.f32 %p3, %f1, 0f3F800000; selp.b32 %r3, 1, 0, %p3;": {
        (0, 0x40000000): (3, 15), (0x3F800000,): (10, 15), (0x3F7FFFFF,): (5, 15),
    },
    "setp.ne.s32 %p3, %r2, 15; selp.b32 %r3, 1, 0, %p3;": {(15,): (2, 3), (99,): (1, 3)},
    "add.sat.f32 %f2, %f1, 0f3F000000; mov.b32 %r3, %f2;": {
        (0x3F800000,): (2, 3), (0xBF800000 - (1 << 32),): (1, 3), (0x3E800000,): (0, 3),
    },
    "cvt.sat.f32.f32 %f2, %f1; mov.b32 %r3, %f2;": {(0x40000000,): (2, 3), (0x3E800000,): (0, 3)},
}  # fmt: skip


@pytest.mark.parametrize("what", SHOWN)
def test_what_a_launch_shows_of_an_instruction(what: str) -> None:
    module = ptxkit.parse(CODE.format(what=what))
    kernel = ptxkit.load(module, "cpu")["k"]
    wanted = what.removeprefix("@%p1 ").split()[0]
    for numbers, expected in SHOWN[what].items():
        x = np.array(numbers, np.int32)
        report = kernel[1, x.size](x, count=True)
        found = [(seen, all) for node, _, seen, all in report.sides if node.opcode == wanted]
        assert found == [expected], (what, numbers)


def test_counting_sides_changes_nothing() -> None:
    for what in SHOWN:
        kernel = ptxkit.load(ptxkit.parse(CODE.format(what=what)), "cpu")["k"]
        numbers = np.arange(-40, 60, dtype=np.int32) * 3
        results = []
        for count in (False, True):
            x = numbers.copy()
            kernel[1, x.size](x, count=count)
            results.append(x.tobytes())
        assert results[0] == results[1], what


#: Instructions, and whether the last of them can ever show its first side.
POSSIBLE = {
    "ld.global.u8 %r3, [%rd3]; and.b32 %r4, %r3, 255;": False,
    "ld.global.s8 %r3, [%rd3]; and.b32 %r4, %r3, 255;": True,
    "ld.global.u16 %r3, [%rd3]; and.b32 %r4, %r3, 255;": True,
    "mov.u32 %r3, %tid.x; and.b32 %r4, %r3, 1023;": False,
    "mov.u32 %r3, %tid.x; and.b32 %r4, %r3, 511;": True,
    "selp.b32 %r3, 1, 0, %p1; shr.u32 %r4, %r3, 1;": False,
    "selp.b32 %r3, 2, 0, %p1; shr.u32 %r4, %r3, 1;": True,
    "mov.u32 %r3, 0; L: add.u32 %r3, %r3, 1; @%p1 bra L; and.b32 %r4, %r3, 255;": True,
    "mov.u32 %r3, 0; L: xor.b32 %r3, %r3, 1; @%p1 bra L; and.b32 %r4, %r3, 255;": False,
    "shr.u32 %r3, %r2, 28; rem.u32 %r4, %r3, 16;": False,
    "shr.s32 %r3, %r2, 28; rem.u32 %r4, %r3, 16;": True,
    "mov.u32 %r5, %tid.x; mad.lo.u32 %r3, %r5, 4, 3; and.b32 %r4, %r3, 4095;": False,
    "mov.u32 %r5, %tid.x; mad.lo.u32 %r3, %r5, 4, %r2; and.b32 %r4, %r3, 4095;": True,
    "mov.u32 %r5, 0x4444; ld.global.u8 %r6, [%rd3]; "
    "prmt.b32 %r3, %r5, %r6, 0x7604; and.b32 %r4, %r3, 65535;": False,
}


@pytest.mark.parametrize("code", POSSIBLE)
def test_bits_that_can_be_set(code: str) -> None:
    module = ptxkit.parse(CODE.format(what=code))
    function = module["k"]
    decoder = Decoder(function, Scopes(module), {}, lambda name: (name,))
    steps = [decoder.step(one) for one in function.instructions]
    place = [one.opcode for one in function.instructions].index("st.global.u32") - 1
    assert bool(Possible(steps).impossible(steps[place]) & 1) is not POSSIBLE[code]


# ---- what is the same in other words --------------------------------------------------------

HASHED = """extern "C" __global__ void k(const unsigned *a, unsigned *o, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x; if (i >= n) return;
    unsigned h = 7; %s }"""
#: Programs with rare sides, and others that are the same but for their loops.
RIGHT = {
    "a loop that is unrolled": (
        "for (int j = 0; j < n; j++) h = h * 31 + a[j]; o[i] = h == 12345u ? 7u : h;",
        "\n#pragma unroll 1\nfor (int j = 0; j < n; j++) h = h * 31 + a[j];"
        " o[i] = h == 12345u ? 7u : h;",
    ),
    "a choice in a loop that is unrolled": (
        "\n#pragma unroll 1\nfor (int j = 0; j < n; j++)"
        " { h = h * 31 + a[j]; o[j * n + i] = h == 12345u ? 7u : h; }",
        "\n#pragma unroll 4\nfor (int j = 0; j < n; j++)"
        " { h = h * 31 + a[j]; o[j * n + i] = h == 12345u ? 7u : h; }",
    ),
    "a bound that is written as a choice": (
        "for (int j = 0; j < n; j++) h += a[j] == 77777u; o[i] = min(h, 1000u);",
        "\n#pragma unroll 1\nfor (int j = 0; j < n; j++) h += a[j] == 77777u;"
        " o[i] = h < 1000u ? h : 1000u;",
    ),
    "a condition that never decides": (
        "for (int j = 0; j < n; j++) h = h * 31 + a[j]; if (h == 12345u || (h & 1)) o[i] = 3;",
        "\n#pragma unroll 1\nfor (int j = 0; j < n; j++) h = h * 31 + a[j];"
        " if ((h & 1) || h == 12345u) o[i] = 3;",
    ),
}


def compared(first: str, second: str) -> Execution:
    one, two = (compile_cuda(HASHED % body, arch="sm_90") for body in (first, second))
    return same_execution(one, two, "k")


@pytest.mark.parametrize("name", RIGHT)
def test_the_same_choices_in_other_words(name: str) -> None:
    found = compared(*RIGHT[name])
    assert found.equal, found.reason


@pytest.mark.parametrize("name", RIGHT)
def test_and_with_another_number(name: str) -> None:
    first, second = RIGHT[name]
    wrong = second.replace("12345u", "12346u").replace("1000u : ", "999u : ")
    wrong = wrong.replace(": 1000u", ": 999u")
    assert wrong != second
    assert not compared(first, wrong).equal


def test_a_side_that_came_is_not_hidden() -> None:
    module = ptxkit.parse(CODE.format(what="selp.b32 %r3, 1, 2, %p1;"))
    covered = Coverage.of(module, module["k"])
    kernel = ptxkit.load(module, "cpu")["k"]
    covered.add(kernel[1, 1](np.array([1], np.int32), count=True))
    assert len(covered.hiding()) >= 1
    covered.add(kernel[1, 4](np.array([10, 11, 20, 21], np.int32), count=True))
    assert not covered.hiding()


#: What only some threads do: under a guard, and behind a branch.
SOME = """extern "C" __global__ void k(const int *a, int *o, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x, v = a[i]; %s }"""
UNDER = (
    'asm volatile("{.reg .pred p; setp.lt.s32 p, %0, %1; @p red.global.gpu.relaxed.max.s32 [%2], '
    '%3;}" :: "r"(i), "r"(n), "l"(o + (i & 3)), "r"(v) : "memory");'
)
BEHIND = "if (i < n) atomicMax(o + (i & 3), v);"


def test_an_atomic_under_a_guard_is_one_behind_a_branch() -> None:
    module = compile_cuda(SOME % UNDER, arch="sm_90")
    assert "bra" not in module.emit()
    found = same_execution(module, compile_cuda(SOME % BEHIND, arch="sm_90"), "k")
    assert found.equal, found.reason


@pytest.mark.parametrize(
    ("right", "wrong"),
    [
        ("v);", "v + (v * 747796405 == 12345));"),
        ("v);", "v * 747796405 == 12345 ? 0x80000000 : v);"),
        ("i < n)", "i < n && v * 747796405 != 12345)"),
        ("i < n)", "i <= n)"),
        ("Max(o", "Max((unsigned *)o"),
        ("Max", "Min"),
    ],
)
def test_but_no_other_one(right: str, wrong: str) -> None:
    module = compile_cuda(SOME % UNDER, arch="sm_90")
    other = compile_cuda(SOME % BEHIND.replace(right, wrong), arch="sm_90")
    assert not same_execution(module, other, "k").equal


def test_an_index_that_is_cut_out_of_a_number_is_tried_with_all_of_it() -> None:
    """Where numbers are indices only small ones are tried: a mask would cut nothing off."""
    module = compile_cuda(
        'extern "C" __global__ void k(const int *a, float *o)'
        " { int i = threadIdx.x; atomicAdd(o + (a[i] & 63), 1.0f); }",
        arch="sm_90",
    )
    pair = Pair(module, module, "k", "k")
    for trial in trials(pair.usage, pair.rules, 20):
        pair.launch(trial)
    (mask,) = (one.span[0] for one in module["k"].instructions if one.name == "and")
    assert not pair.coverage[0].hiding().get(mask, 0) & 1


def test_what_is_too_narrow_is_no_pointer() -> None:
    """Indices and addresses lie in the same shared memory: one may seem to be the other."""
    module = compile_cuda(
        'extern "C" __global__ void k(const int *a, float *o) { __shared__ float *p[64];'
        " int i = threadIdx.x, v = a[i]; p[i] = o + v; __syncthreads(); *p[63 - i] = 1.0f;"
        " ((int *)p)[i] = v; __syncthreads(); o[((int *)p)[63 - i]] = 2.0f; }",
        arch="sm_90",
    )
    assert all(not one.through for one in usage_of(module, module["k"]).pointers)


# ---- memory ----------------------------------------------------------------------------------

WHERE = """
import ptxkit
from ptxkit.decompiler.verify.pair import Pair
from ptxkit.decompiler.verify.trials import trials
m = ptxkit.parse('''%s''')
pair = Pair(m, m, "k", "k")
print([hex(a.address) for a in pair.maker.make(next(trials(pair.usage, pair.rules, 1))).arenas])
"""


@pytest.mark.skipif(sys.platform != "linux", reason="elsewhere memory lies anywhere")
def test_memory_lies_in_the_same_place_in_every_process() -> None:
    code = WHERE % CODE.format(what="mov.u32 %r3, 1;")
    runs = [
        subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
        for _ in range(2)
    ]
    assert runs[0].stdout == runs[1].stdout
    assert "0x2" in runs[0].stdout


def test_a_launch_that_fails_says_nothing_about_memory() -> None:
    source = 'extern "C" __global__ void k(int *x, int n) { x[n] = threadIdx.x; }'
    module = compile_cuda(source, arch="sm_90")
    pair = Pair(module, module, "k", "k")
    beyond = Trial(0, "small", (1, 1, 1), (1, 1, 1), (16 * DATA,))
    assert pair.outside(beyond) is None
    assert pair.outside(Trial(0, "small", (1, 1, 1), (1, 1, 1), (5,))) is None
