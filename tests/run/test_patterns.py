"""Instructions that are lowered by a pattern do what they do when they are lowered alone."""

from __future__ import annotations

import numpy as np
import pytest

import ptxkit
from ptxkit.run import patterns
from ptxkit.run.module_context import UnsupportedError

HEAD = ".version 8.0\n.target sm_80\n.address_size 64\n"


def run(body: str, registers: str = ".reg .b32 %r<9>; .reg .b64 %rd<9>; .reg .pred %p<9>;") -> int:
    text = f"{HEAD}.visible .entry k(.param .u64 out) {{ {registers} .reg .b64 %rx<2>;\n{body}\n"
    text += "ld.param.u64 %rx1, [out]; st.global.u32 [%rx1], %r1; ret; }"
    out = np.zeros(1, np.uint32)
    ptxkit.load(text, check=False)["k"][1, 1](out, threads=1)
    return int(out[0])


@pytest.fixture(autouse=True)
def _fresh() -> None:
    patterns._patterns.clear()


def test_the_second_time_is_as_the_first() -> None:
    body = """mov.u32 %r2, 5; mov.u32 %r3, 7; mov.u32 %r4, %ntid.x;
        mad.lo.s32 %r5, %r2, %r3, %r4; mad.lo.s32 %r6, %r3, %r3, %r2;
        setp.gt.s32 %p1, %r6, %r5; selp.b32 %r7, %r6, 1000, %p1;
        @%p1 add.s32 %r7, %r7, 3; @!%p1 add.s32 %r7, %r7, 100; add.cc.u32 %r8, %r7, -1;
        addc.u32 %r1, %r8, 0;"""
    first = run(body)
    known = len(patterns._patterns)
    assert known >= 9
    assert run(body) == first == 57
    assert len(patterns._patterns) == known


def test_other_registers_and_repeated_ones() -> None:
    assert run("mov.u32 %r2, 5; mov.u32 %r3, 7; sub.s32 %r1, %r3, %r2;") == 2
    # The same text but for the names: of two registers, and of one.
    assert run("mov.u32 %r4, 5; mov.u32 %r2, 7; sub.s32 %r1, %r4, %r2;") == 2**32 - 2
    assert run("mov.u32 %r4, 5; sub.s32 %r1, %r4, %r4;") == 0


def test_the_type_of_a_register_counts() -> None:
    body = "mov.b32 %a1, 0x80000001; cvt.u32.u16 %r1, %a1;"
    wide = ".reg .b32 %r<9>; .reg .b32 %a<9>;"
    assert run("mov.b32 %a1, 0x80000001; cvt.u32.u8 %r1, %a1;", wide) == 1
    narrow = ".reg .b32 %r<9>; .reg .b16 %a<9>;"
    assert run("mov.b16 %a1, 0x4321; cvt.u32.u8 %r1, %a1;", narrow) == 0x21
    assert run(body, wide) == 1


def test_special_registers_are_no_registers() -> None:
    assert run("mov.u32 %r1, %ntid.x;") == 1
    assert run("mov.u32 %r1, %nctaid.y;") == 1
    assert run("mov.u32 %r1, %tid.x;") == 0
    own = ".reg .b32 %r<9>; .reg .b32 %laneid;"
    assert run("mov.u32 %laneid, 77; mov.u32 %r1, %laneid;", own) == 77
    assert run("mov.u32 %r1, %laneid;") == 0


def test_blocks_with_names_of_their_own() -> None:
    body = "mov.u32 %r1, 5; { .reg .b32 %r<4>; mov.u32 %r1, 9; } add.u32 %r1, %r1, 1;"
    assert run(body) == 6
    local = "mov.u32 %r1, 5; { .param .b32 a; st.param.b32 [a], %r1; ld.param.b32 %r1, [a]; }"
    assert run(local) == 5


def test_what_is_not_declared_is_refused_every_time() -> None:
    for _ in range(2):
        with pytest.raises(UnsupportedError, match="not a declared register"):
            run("mov.u32 %r1, 5; add.u32 %r1, %r1, %r1; add.u32 %zz1, %r1, %r1;")


def test_patterns_do_not_grow_without_end(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(patterns, "_MOST", 8)
    for number in range(40):
        assert run(f"mov.u32 %r1, {number};") == number
    assert len(patterns._patterns) <= 8


def test_parameters_lie_elsewhere_in_every_kernel() -> None:
    def second(before: str, *values: int) -> int:
        text = f"""{HEAD}.visible .entry k(.param .u64 out, {before} .param .u32 n) {{
            .reg .b32 %r<3>; .reg .b64 %rd<3>;
            ld.param.u64 %rd1, [out]; ld.param.u32 %r1, [n]; st.global.u32 [%rd1], %r1; ret; }}"""
        out = np.zeros(1, np.uint32)
        ptxkit.load(text)["k"][1, 1](out, *values, threads=1)
        return int(out[0])

    assert second("", 11) == 11
    assert second(".param .u32 a,", 5, 12) == 12
    assert second(".param .u64 a, .param .u8 b,", 5, 6, 13) == 13
    assert second("", 14) == 14


def test_parameters_of_functions_are_not_those_of_kernels() -> None:
    text = f"""{HEAD}.func (.param .b32 r) f(.param .u64 pad, .param .u32 n) {{
        .reg .b32 %r<3>;
        ld.param.u32 %r1, [n]; add.u32 %r1, %r1, 1; st.param.b32 [r], %r1; ret; }}
    .visible .entry k(.param .u64 out, .param .u32 n) {{
        .reg .b32 %r<4>; .reg .b64 %rd<3>;
        ld.param.u64 %rd1, [out]; ld.param.u32 %r1, [n];
        {{ .reg .b32 temp_param_reg; .param .b64 p; .param .b32 q; .param .b32 r;
          st.param.b64 [p], %rd1; st.param.b32 [q], %r1;
          call.uni (r), f, (p, q); ld.param.b32 %r2, [r]; }}
        st.global.u32 [%rd1], %r2; ret; }}"""
    out = np.zeros(1, np.uint32)
    for n in (3, 40):
        ptxkit.load(text)["k"][1, 1](out, n, threads=1)
        assert out[0] == n + 1


def test_a_name_that_a_block_declares_for_itself() -> None:
    body = """mov.u32 %r2, 3; mov.u32 x, 4;
        { .reg .b64 x; mov.u64 x, 0x100000005; cvt.u32.u64 %r3, x; }
        add.u32 %r1, x, %r3;"""
    registers = ".reg .b32 %r<9>; .reg .b32 x;"
    assert run(body, registers) == run(body, registers) == 9
