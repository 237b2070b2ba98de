"""What E2 proves where ways come together, and by what is known there; and what it does not."""

from __future__ import annotations

import re
from itertools import islice

import pytest
from tests.decompiler.proving import bodies_proved

import ptxkit
from ptxkit.cuda import print_module
from ptxkit.decompiler.engines import SymbolicEngine
from ptxkit.decompiler.verify.certificates import compiled
from ptxkit.decompiler.verify.dataflow import same_dataflow
from ptxkit.decompiler.verify.dataflow.joins import paired
from ptxkit.decompiler.verify.dataflow.regions import Code, Program

HEAD = """.version 8.0
.target sm_90
.address_size 64
.visible .entry k(.param .align 8 .b8 x[16], .param .u32 n) {bounds} {{
    .reg .pred %p<99>; .reg .b32 %r<99>; .reg .b64 %rd<99>; .reg .f32 %f<99>;
    ld.param.u64 %rd1, [x];
    ld.param.u32 %r1, [n];
    mov.u32 %r2, %tid.x;
"""


def proved(first: str, second: str) -> bool:
    return bodies_proved(HEAD, first, second, "", thorough=True)


#: A loop that counts to a number of memory, and leaves it alone; then what comes behind it.
LOOP = """ld.global.u32 %r3, [%rd1]; setp.lt.u32 %p1, %r3, 8; @%p1 bra E;
    and.b32 %r6, %r3, 2147483640; mov.b32 %r4, 0; mov.b32 %r5, %r3;
L:  st.global.u32 [%rd1+16], %r4; add.s32 %r4, %r4, 8; {turn} setp.ne.u32 %p2, %r4, %r6;
    @%p2 bra L; {behind}
    st.global.u32 [%rd1+4], %r7;
E:  ret;"""
LOW = "and.b32 %r4, %r1, 7; setp.ne.u32 %p1, %r4, 0; @%p1 bra E; "
NATURAL = "setp.lt.s32 %p1, %r1, {least}; @%p1 bra E; cvt.{type} %rd3, %r1;"
#: A place that a number of memory tells, and turns of a loop until another one is reached.
BESIDE = "ld.global.u32 %r3, [%rd1]; mul.wide.u32 %rd3, %r3, 8; mov.b32 %r4, 0;"
TURNS = " add.s32 %r4, %r4, 1; setp.lt.s32 %p2, %r4, %r1; @%p2 bra L; ret;"
#: Bits that are 0 in the first turn of a loop, and a sum that is 0 where that is not known.
BITS = """ld.global.u64 %rd3, [%rd1]; ld.global.u32 %r9, [%rd1+24]; ld.global.u32 %r3, [%rd1+28];
    ld.global.u32 %r4, [%rd1+8]; ld.global.u64 %rd6, [%rd1+16]; and.b64 %rd6, %rd6, 65535;
    and.b32 %r3, %r3, 3; mov.b32 %r5, 0;
L:  abs.s64 %rd7, %rd6; shr.u64 %rd8, %rd7, 24; neg.s64 %rd9, %rd8; {sum} and.b32 %r8, %r4, %r5;
    {bits} mov.b64 %rd3, %rd9; mov.b32 %r9, %r7; st.global.u64 [%rd1+40], %rd9;
    add.s32 %r5, %r5, 1; setp.lt.u32 %p2, %r5, %r3; @%p2 bra L;
    st.global.u32 [%rd1+48], %r9; st.global.u64 [%rd1+56], %rd3; ret;"""
#: Memory that nobody changes, and a loop that only counts.
CONSTANT = "ld.param.u64 %rd2, [x+8]; ld.global.nc.u32 %r3, [%rd2];"
COUNT = """mov.b32 %r4, 0; L: add.s32 %r4, %r4, %r3; setp.lt.s32 %p2, %r4, %r1; @%p2 bra L;
    st.global.u32 [%rd1+4], %r4; """
#: What is the same, then what is nearly so.
PAIRS = {
    "a pointer that moves on, as an offset beside a place that was looked up": (
        BESIDE + "mov.u64 %rd4, %rd1; L: add.s64 %rd5, %rd4, %rd3; st.global.u32 [%rd5], %r1;"
        " add.s64 %rd4, %rd4, 64;" + TURNS,
        BESIDE + "add.s64 %rd5, %rd1, %rd3; add.s64 %rd5, %rd5, 32; L:"
        " st.global.u32 [%rd5+-32], %r1; add.s64 %rd5, %rd5, 64;" + TURNS,
        BESIDE + "add.s64 %rd5, %rd1, %rd3; add.s64 %rd5, %rd5, 32; L:"
        " st.global.u32 [%rd5+-32], %r1; add.s64 %rd5, %rd5, 32;" + TURNS,
    ),
    "what holds nothing before a loop's first turn": (
        BITS.format(sum="", bits="neg.s32 %r7, %r8;"),
        BITS.format(sum="", bits="not.b32 %r7, %r8; add.s32 %r7, %r7, 1;"),
        BITS.format(
            sum="mov.b64 %rd10, 0; add.s64 %rd9, %rd9, %rd10;",
            bits="setp.lt.s32 %p3, %r8, 2; neg.s32 %r6, %r8; selp.b32 %r7, %r8, %r6, %p3;",
        ),
    ),
    "a load behind a loop of what was loaded before it": (
        CONSTANT + "ld.global.nc.u32 %r7, [%rd2+8];" + COUNT + "st.global.u32 [%rd1], %r7; ret;",
        CONSTANT + COUNT + "ld.global.nc.u32 %r7, [%rd2+8]; st.global.u32 [%rd1], %r7; ret;",
        CONSTANT + COUNT + "ld.global.nc.u32 %r7, [%rd2+12]; st.global.u32 [%rd1], %r7; ret;",
    ),
    "a load of what was loaded before, if at all": (
        CONSTANT + "setp.lt.s32 %p3, %r1, 9; mov.b32 %r7, 0; @%p3 ld.global.nc.u32 %r7, [%rd2+8];"
        + COUNT + "@%p3 st.global.u32 [%rd1], %r7; ret;",
        None,
        CONSTANT + COUNT + "setp.lt.s32 %p3, %r1, 9; ld.global.nc.u32 %r7, [%rd2+8];"
        " @%p3 st.global.u32 [%rd1], %r7; ret;",
    ),
    "a number that is not negative has no sign": (
        NATURAL.format(least=1, type="s64.s32") + "st.global.u64 [%rd1], %rd3; E: ret;",
        NATURAL.format(least=1, type="u64.u32") + "st.global.u64 [%rd1], %rd3; E: ret;",
        None,
    ),
    "a number that may be negative has one": (
        NATURAL.format(least=-1, type="s64.s32") + "st.global.u64 [%rd1], %rd3; E: ret;",
        None,
        NATURAL.format(least=-1, type="u64.u32") + "st.global.u64 [%rd1], %rd3; E: ret;",
    ),
    "a difference from a constant": (
        "ld.global.f32 %f1, [%rd1]; sub.f32 %f2, %f1, 0f3FC00000; st.global.f32 [%rd1], %f2; ret;",
        "ld.global.f32 %f1, [%rd1]; add.f32 %f2, %f1, 0fBFC00000; st.global.f32 [%rd1], %f2; ret;",
        "ld.global.f32 %f1, [%rd1]; add.f32 %f2, %f1, 0f3FC00000; st.global.f32 [%rd1], %f2; ret;",
    ),
    "a difference of a constant from a number": (
        "ld.global.f32 %f1, [%rd1]; sub.f32 %f2, 0f3FC00000, %f1; st.global.f32 [%rd1], %f2; ret;",
        None,
        "ld.global.f32 %f1, [%rd1]; add.f32 %f2, %f1, 0fBFC00000; st.global.f32 [%rd1], %f2; ret;",
    ),
    "what was asked before a loop holds behind it": (
        LOOP.format(turn="", behind="mov.b32 %r7, 1;"),
        LOOP.format(turn="", behind="setp.lt.u32 %p3, %r3, 8; selp.b32 %r7, 2, 1, %p3;"),
        LOOP.format(turn="", behind="setp.lt.u32 %p3, %r3, 9; selp.b32 %r7, 2, 1, %p3;"),
    ),
    "what a loop changes is not what was asked": (
        LOOP.format(turn="add.s32 %r5, %r5, -1;", behind="mov.b32 %r7, 1;"),
        None,
        LOOP.format(turn="add.s32 %r5, %r5, -1;",
                    behind="setp.lt.u32 %p3, %r5, 8; selp.b32 %r7, 2, 1, %p3;"),
    ),
    "one counter in words of another and of what stays": (
        LOOP.format(turn="add.s32 %r5, %r5, -8;", behind="mov.b32 %r7, %r5;"),
        LOOP.format(turn="", behind="sub.s32 %r7, %r3, %r4;"),
        LOOP.format(turn="", behind="sub.s32 %r7, %r3, %r4; add.s32 %r7, %r7, 8;"),
    ),
    "what a counter has come to, by what bounds it": (
        LOOP.format(turn="add.s32 %r5, %r5, -8;", behind="mov.b32 %r7, %r5;"),
        LOOP.format(turn="", behind="sub.s32 %r7, %r3, %r6;"),
        LOOP.format(turn="", behind="and.b32 %r7, %r3, 7;"),  # not where the number has a sign
    ),
    "some bits of those that are known": (
        LOW + "mov.b32 %r5, 1; st.global.u32 [%rd1], %r5; E: ret;",
        LOW + "and.b32 %r6, %r1, 4; setp.ne.u32 %p2, %r6, 0; selp.b32 %r5, 9, 1, %p2;"
        "st.global.u32 [%rd1], %r5; E: ret;",
        LOW + "and.b32 %r6, %r1, 8; setp.ne.u32 %p2, %r6, 0; selp.b32 %r5, 9, 1, %p2;"
        "st.global.u32 [%rd1], %r5; E: ret;",
    ),
    "bits of the upper half of a word": (
        "ld.global.u64 %rd3, [%rd1]; mov.b64 {_, %r4}, %rd3; and.b32 %r4, %r4, 2147483647;"
        "setp.eq.u32 %p1, %r4, 0; selp.b32 %r5, 1, 2, %p1; st.global.u32 [%rd1], %r5; ret;",
        "ld.global.u64 %rd3, [%rd1]; and.b64 %rd4, %rd3, 9223372032559808512;"
        "setp.eq.u64 %p1, %rd4, 0; selp.b32 %r5, 1, 2, %p1; st.global.u32 [%rd1], %r5; ret;",
        "ld.global.u64 %rd3, [%rd1]; and.b64 %rd4, %rd3, 9223372036854775807;"
        "setp.eq.u64 %p1, %rd4, 0; selp.b32 %r5, 1, 2, %p1; st.global.u32 [%rd1], %r5; ret;",
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", PAIRS)
def test_what_is_the_same_is_proved_and_nothing_else(name: str) -> None:
    first, same, other = PAIRS[name]
    assert same is None or proved(first, same)
    assert other is None or not proved(first, other)


def _branches(count: int, turned: bool, selected: int = -1, wrong: int = -1) -> str:
    """Many questions about memory, each with an answer that the next one depends on."""
    lines = ["ld.global.u32 %r3, [%rd1];"]
    for k in range(count):
        by = 2 * k + 3 + (k == wrong)
        lines.append(f"ld.global.u32 %r4, [%rd1+{4 * k + 4}]; setp.lt.u32 %p1, %r4, %r3;")
        if k == selected:
            lines.append(f"xor.b32 %r5, %r3, {by}; mul.lo.s32 %r6, %r3, 5;"
                         "selp.b32 %r3, %r5, %r6, %p1;")  # fmt: skip
            continue
        yes, no = f"xor.b32 %r3, %r3, {by};", "mul.lo.s32 %r3, %r3, 5;"
        guard, first, second = ("@!%p1", no, yes) if turned else ("@%p1", yes, no)
        lines.append(f"{guard} bra A{k}; {second} bra B{k}; A{k}: {first} B{k}:")
    return "\n".join((*lines, "st.global.u32 [%rd1], %r3; ret;"))


def test_ways_that_come_together_again_and_again() -> None:
    first, second = _branches(9, turned=False), _branches(9, turned=True, selected=4)
    assert proved(first, second)
    assert not proved(first, _branches(9, turned=True, selected=4, wrong=6))


def test_the_same_places_are_found_in_both() -> None:
    texts = _branches(9, turned=False), _branches(9, turned=True, selected=4)
    programs = []
    for text in texts:
        module = ptxkit.parse(HEAD.format(bounds="") + text + "}")
        programs.append(Program(Code(module, module["k"], {}, lambda name: (name,))))
    found = paired(programs[0], programs[1])
    lines = [[p.blocks[b].steps[0].line for p, b in zip(programs, pair, strict=True)]
             for pair in found]  # fmt: skip
    # What begins with the next question, and the store at the end, without what one side selects.
    assert len(found) == 8
    assert lines == sorted(lines)


SHRUNK = """extern "C" __global__ void shrink(const double *x, double *y, double by, int n) {
    for (int i = threadIdx.x; i < n; i += blockDim.x) {
        double g = x[2 * i] * x[2 * i + 1], w = 0;
        if (g > by) { w = g - by; if (w > 1) w = 1 + w / g; }
        else if (g < -by) { w = g + by; if (w < -1) w = -1 - w / g; }
        y[i] = w;
    }
}"""


def test_a_compiler_may_round_a_product_and_a_sum_once() -> None:
    original = ptxkit.compile_cuda(SHRUNK, arch="sm_90")
    names = {one.name for one in original.kernels[0].instructions if ".rn" not in one.modifiers}
    assert {"mul", "sub"} <= names
    forms = SymbolicEngine().provable_forms(original, original.kernels[0])
    made = [compiled(one.tree, "sm_90").module for one in islice(forms, 3)]
    assert any(m is not None and same_dataflow(original, m, "shrink", thorough=True).equal
               for m in made)  # fmt: skip
    rounded = ptxkit.parse(original.emit().replace("mul.f64", "mul.rn.f64"))
    assert not same_dataflow(original, rounded, "shrink", thorough=True).equal


WAITED = """.version 8.0
.target sm_90
.address_size 64
.visible .entry k(.param .u64 .ptr .global a, .param .u64 .ptr .global v) {
    .reg .b32 %r<2>; .reg .b64 %rd<6>; .reg .f32 %f<6>;
    ld.param.u64 %rd1, [a]; ld.param.u64 %rd2, [v]; mov.u32 %r1, %tid.x;
    mul.wide.u32 %rd3, %r1, 4; add.s64 %rd4, %rd1, %rd3; add.s64 %rd5, %rd2, %rd3;
    ld.global.f32 %f1, [%rd4]; ld.volatile.global.f32 %f2, [%rd5];
    ld.volatile.global.f32 %f3, [%rd5+4]; add.f32 %f4, %f2, %f3; mul.f32 %f5, %f4, %f1;
    st.global.f32 [%rd4], %f5; ret;
}"""


def test_what_is_read_before_waiting_for_others_is_so_in_all_forms() -> None:
    module = ptxkit.parse(WAITED)
    for form in SymbolicEngine().forms(module, module["k"]):
        read = re.findall(r"\b([av])\[", print_module(form.tree).partition("{")[2])
        assert read[:3] == ["a", "v", "v"]


TABLE = """.version 8.0
.target sm_90
.address_size 64
{space} .align 4 .u32 table[4] = {{1, 2, 3, 4}};
.visible .entry k(.param .u64 .ptr .global x, .param .u32 n) {{
    .reg .b32 %r<4>; .reg .b64 %rd<5>;
    ld.param.u64 %rd1, [x]; ld.param.u32 %r1, [n]; and.b32 %r1, %r1, 3;
    mul.wide.u32 %rd2, %r1, 4; mov.u64 %rd3, table; add.s64 %rd4, %rd3, %rd2;
    {body}
    st.global.u32 [%rd1+4], %r2; ret;
}}"""


@pytest.mark.parametrize("space", [".const", ".global"])
def test_nobody_stores_to_constant_memory(space: str) -> None:
    load, store = f"ld{space}.u32 %r2, [%rd4];", "st.global.u32 [%rd1], 7;"
    first, second = (
        ptxkit.parse(TABLE.format(space=space, body=body)) for body in (load + store, store + load)
    )
    assert same_dataflow(first, second, "k").equal is (space == ".const")
