"""Instructions that are lowered by a pattern do what they do when they are lowered alone."""

from __future__ import annotations

import numpy as np
import pytest

import ptxkit
from ptxkit.run import patterns
from ptxkit.run.lower import UnsupportedError

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
