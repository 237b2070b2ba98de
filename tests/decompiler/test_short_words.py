"""Numbers of 16 bits computed in registers of 16 bits or of 32: one form, where none overflows."""

from __future__ import annotations

import pytest

import ptxkit
from ptxkit.decompiler.verify import same_dataflow

HEAD = """.version 8.0
.target sm_90
.address_size 64
.visible .entry k(.param .u64 p, .param .u64 q) {
    .reg .b16 %h<20>; .reg .b32 %r<20>; .reg .b64 %d<9>; .reg .pred %p<9>; .reg .f32 %f<9>;
    ld.param.u64 %d1, [p]; ld.param.u64 %d2, [q]; mov.u32 %r2, %tid.x;
    ld.global.u8 %h1, [%d1]; ld.global.u8 %h2, [%d1+1];
"""
WIDE = "cvt.u32.u16 %r3, %h1; cvt.u32.u16 %r4, %h2; "
SHORT_MEAN = "mul.lo.s16 %h3, %h1, 3; add.s16 %h4, %h3, %h2; add.s16 %h5, %h4, 2;"
MEAN = WIDE + "mad.lo.s32 %r5, %r3, 3, %r4; add.s32 %r6, %r5, 2; shr.u32 %r7, %r6, 2;"
BYTE, REAL = "st.global.u8 [%d2], {};", "cvt.rn.f32.{0} %f1, {1}; st.global.f32 [%d2], %f1;"
SHIFTED = SHORT_MEAN + "shr.u16 %h6, %h5, {};"
DIFFERENCE = "sub.s16 %h3, %h1, %h2; shr.s16 %h4, %h3, 1;"
PRODUCT = "mul.lo.s16 %h3, %h1, {0}; shr.u16 %h4, %h3, 1; cvt.u32.u16 %r8, %h4;"
WIDE_PRODUCT = WIDE + "mul.lo.s32 %r5, %r3, {0}; shr.u32 %r8, %r5, 1;"
WORD = "st.global.u32 [%d2], %r8;"
FLAG = "and.b32 %r8, %r2, 1; setp.{}.s32 %p1, %r8, {}; selp.b32 %r8, 5, 7, %p1;"
FEW = "setp.gt.f32 %p1, %f1, 0f{0}; selp.f32 %f1, 0f{0}, %f1, %p1; st.global.f32 [%d2], %f1;"
#: Two texts, and whether they are the same.
PAIRS = {
    "a mean, stored": (SHIFTED.format(2) + BYTE.format("%h6"), MEAN + BYTE.format("%r7"), True),
    "another mean": (SHIFTED.format(3) + BYTE.format("%h6"), MEAN + BYTE.format("%r7"), False),
    "a mean as a number": (
        SHIFTED.format(2) + "and.b16 %h7, %h6, 255;" + REAL.format("u16", "%h7"),
        MEAN + REAL.format("u32", "%r7"), True,
    ),
    "a part of a mean": (
        SHIFTED.format(2) + "and.b16 %h7, %h6, 127;" + REAL.format("u16", "%h7"),
        MEAN + REAL.format("u32", "%r7"), False,
    ),
    "a number below nothing": (
        DIFFERENCE + REAL.format("s16", "%h4"),
        WIDE + "sub.s32 %r5, %r3, %r4; shr.s32 %r6, %r5, 1;" + REAL.format("s32", "%r6"), True,
    ),
    "the same without its sign": (
        DIFFERENCE + REAL.format("u16", "%h4"),
        WIDE + "sub.s32 %r5, %r3, %r4; shr.s32 %r6, %r5, 1;" + REAL.format("s32", "%r6"), False,
    ),
    "a product that fits": (PRODUCT.format(257) + WORD, WIDE_PRODUCT.format(257) + WORD, True),
    "a product that does not": (PRODUCT.format(258) + WORD, WIDE_PRODUCT.format(258) + WORD, False),
    "one of two numbers": (FLAG.format("eq", 1) + WORD, FLAG.format("ne", 0) + WORD, True),
    "the other one": (FLAG.format("eq", 1) + WORD, FLAG.format("eq", 0) + WORD, False),
    "no byte is larger": (
        "cvt.rn.f32.u16 %f1, %h1;" + FEW.format("437F0000"), REAL.format("u16", "%h1"), True,
    ),
    "one is": (
        "cvt.rn.f32.u16 %f1, %h1;" + FEW.format("437E0000"), REAL.format("u16", "%h1"), False,
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", PAIRS)
def test_it_is_proved_where_it_is_the_same(name: str) -> None:
    *both, same = PAIRS[name]
    first, second = (ptxkit.parse(f"{HEAD}{text} ret; }}") for text in both)
    assert same_dataflow(first, second, "k").equal is same
