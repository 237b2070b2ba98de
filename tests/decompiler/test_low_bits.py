"""What E2 proves of flags, masks and the lowest bits of numbers; and what it does not."""

from __future__ import annotations

import pytest
from tests.decompiler.proving import bodies_proved

HEAD = """.version 8.0
.target sm_90
.address_size 64
.visible .entry k(.param .align 8 .b8 x[16], .param .u32 n) {bounds} {{
    .reg .pred %p<99>; .reg .b16 %h<99>; .reg .b32 %r<99>; .reg .b64 %rd<99>; .reg .f32 %f<99>;
    .shared .align 8 .b8 places[65536];
    ld.param.u64 %rd1, [x];
    ld.param.u32 %r1, [n];
    mov.u32 %r2, %tid.x;
"""
#: A flag of 8 bits that goes around a loop, through a shuffle: masked when it is used, or made.
FLAG = """mov.b32 %r3, 0; mov.b16 %h1, 0;
L:  cvt.u32.u16 %r4, %h1; {used} shfl.sync.bfly.b32 %r5, %r4, 1, 31, -1; {made}
    cvt.u16.u32 %h2, %r5; {asked} setp.eq.s16 %p1, %h3, 0; @%p1 bra S; or.b16 %h1, %h1, %h2;
S:  ld.global.u16 %h4, [%rd1+8]; {made_too} xor.b16 %h1, %h1, %h4;
    add.s32 %r3, %r3, 1; setp.lt.u32 %p2, %r3, %r1; @%p2 bra L;
    st.global.u8 [%rd1], %h1; ret;"""
#: A loop that adds what is no constant to an index, and to an address of shared memory or to none.
PLACE = """setp.eq.u32 %p1, %r1, 0; @%p1 bra E; mov.u32 %r3, %ntid.x; cvt.u64.u32 %rd3, %r2;
    cvt.u64.u32 %rd4, %r3; mov.b32 %r6, places; shl.b32 %r7, %r3, 3; {begin}
L:  {place} st.shared.u64 [%r9], 0; add.s64 %rd3, %rd3, %rd4; {turn}
    add.s32 %r1, %r1, -1; setp.ne.u32 %p2, %r1, 0; @%p2 bra L;
    st.global.u64 [%rd1], %rd3;
E:  ret;"""
#: How many turns are left behind a loop that makes eight at a time, for each of several counts.
LEFT = """mov.b32 %r3, 1280; bra H;
O:  add.s32 %r3, %r3, 1280;
H:  sub.s32 %r10, %r1, %r2; sub.s32 %r10, %r10, %r3; shr.u32 %r10, %r10, 8;
    add.s32 %r11, %r10, 1; and.b32 %r12, %r11, 7; mov.b32 %r4, 0;
L:  st.global.u32 [%rd1], %r4; add.s32 %r4, %r4, 8; setp.lt.u32 %p1, %r4, %r11; @%p1 bra L;
    {left} add.s32 %r13, %r13, %r12; add.s32 %r13, %r13, %r11; st.global.u32 [%rd1+4], %r13;
    setp.lt.u32 %p2, %r3, %r1; @%p2 bra O;
    ret;"""
#: Some bits of a byte, by numbers that nobody knows.
DIGIT = """ld.global.u8 %r3, [%rd1]; ld.global.u32 %r4, [%rd1+4]; {by} %r3, %r3, %r1;
    and.b32 %r3, %r4, %r3; cvt.u16.u32 %h1, %r3; {cut} cvt.u32.u16 %r3, %h1;
    st.global.u32 [%rd1], %r3; ret;"""
#: A part of a number that is not negative, or is.
PART = """add.s32 %r3, %r1, 15; setp.lt.s32 %p1, %r3, {least}; @%p1 bra E; {divided}
    st.global.u32 [%rd1], %r4;
E:  ret;"""
SIGNED = """shr.s32 %r4, %r3, 31; shr.u32 %r4, %r4, 26; add.s32 %r4, %r4, %r3;
    shr.s32 %r4, %r4, 6;"""
#: Three numbers side by side: the first has one bit, the next one more.
BESIDE = """ld.global.v2.u32 {{%r3, %r4}}, [%rd1]; and.b32 %r5, %r3, 1; shl.b32 %r6, %r1, 2;
    or.b32 %r5, %r5, %r6; and.b32 %r6, %r4, {kept}; shl.b32 %r6, %r6, 1; {put} %r5, %r5, %r6;
    st.global.u32 [%rd1], %r5; ret;"""
#: The lowest two bits of two numbers side by side.
LOWEST = """ld.global.v2.u32 {{%r3, %r4}}, [%rd1]; and.b32 %r3, %r3, {kept}; {cut}
    shl.b32 %r4, %r4, 1; add.s32 %r3, %r3, %r4; {later} st.global.u32 [%rd1], %r3; ret;"""
REVERSED = "prmt.b32 {0}, {0}, 0, 291; "
#: What is the same, then what is nearly so.
PAIRS = {
    "a flag that is masked when it is used or when it is made": (
        FLAG.format(used="and.b32 %r4, %r4, 255;", made="", made_too="",
                    asked="and.b16 %h3, %h2, 255;"),
        FLAG.format(used="", made="and.b32 %r5, %r5, 255;", made_too="and.b16 %h4, %h4, 255;",
                    asked="mov.b16 %h3, %h2;"),
        FLAG.format(used="", made="", made_too="and.b16 %h4, %h4, 255;",
                    asked="and.b16 %h3, %h2, 255;"),
    ),
    "an upper half that is asked for": (
        "ld.global.u32 %r3, [%rd1]; mov.b32 {_, %h1}, %r3; st.global.u8 [%rd1], %h1; ret;",
        "ld.global.u32 %r3, [%rd1]; shr.u32 %r3, %r3, 16; st.global.u8 [%rd1], %r3; ret;",
        "ld.global.u32 %r3, [%rd1]; and.b32 %r3, %r3, 255; mov.b32 {_, %h1}, %r3;"
        "st.global.u8 [%rd1], %h1; ret;",
    ),
    "a multiple beside a mask": (
        "ld.global.u64 %rd3, [%rd1]; add.s64 %rd3, %rd3, 4; and.b64 %rd3, %rd3, -4;"
        "st.global.u64 [%rd1], %rd3; ret;",
        "ld.global.u64 %rd3, [%rd1]; and.b64 %rd3, %rd3, -4; add.s64 %rd3, %rd3, 4;"
        "st.global.u64 [%rd1], %rd3; ret;",
        "ld.global.u64 %rd3, [%rd1]; and.b64 %rd3, %rd3, -4; add.s64 %rd3, %rd3, 3;"
        "st.global.u64 [%rd1], %rd3; ret;",
    ),
    "what is shifted right alone keeps what the sum wraps": (
        "ld.global.u64 %rd3, [%rd1]; add.s64 %rd3, %rd3, 4; shr.u64 %rd3, %rd3, 2;"
        "st.global.u64 [%rd1], %rd3; ret;",
        None,
        "ld.global.u64 %rd3, [%rd1]; shr.u64 %rd3, %rd3, 2; add.s64 %rd3, %rd3, 1;"
        "st.global.u64 [%rd1], %rd3; ret;",
    ),
    "bytes in the other order, put together": (
        "ld.global.v2.u32 {%r3, %r4}, [%rd1];" + REVERSED.format("%r3") + REVERSED.format("%r4") +
        "mov.b64 %rd3, {%r4, %r3}; st.global.u64 [%rd1], %rd3; ret;",
        "ld.global.v2.u32 {%r3, %r4}, [%rd1];" + REVERSED.format("%r3") + REVERSED.format("%r4") +
        "cvt.u64.u32 %rd3, %r3; shl.b64 %rd3, %rd3, 32; cvt.u64.u32 %rd4, %r4;"
        "or.b64 %rd3, %rd3, %rd4; st.global.u64 [%rd1], %rd3; ret;",
        "ld.global.v2.u32 {%r3, %r4}, [%rd1];" + REVERSED.format("%r3") + REVERSED.format("%r4") +
        "cvt.u64.u32 %rd3, %r3; shl.b64 %rd3, %rd3, 31; cvt.u64.u32 %rd4, %r4;"
        "or.b64 %rd3, %rd3, %rd4; st.global.u64 [%rd1], %rd3; ret;",
    ),
    "what is no number": (
        "ld.global.f32 %f1, [%rd1]; abs.f32 %f2, %f1; setp.nan.f32 %p1, %f2, %f2;"
        "selp.b32 %r3, 1, 2, %p1; st.global.u32 [%rd1], %r3; ret;",
        "ld.global.f32 %f1, [%rd1]; setp.nan.f32 %p1, %f1, 0f00000000;"
        "selp.b32 %r3, 1, 2, %p1; st.global.u32 [%rd1], %r3; ret;",
        "ld.global.f32 %f1, [%rd1]; setp.nan.f32 %p1, %f1, 0f7FC00000;"
        "selp.b32 %r3, 1, 2, %p1; st.global.u32 [%rd1], %r3; ret;",
    ),
    "an address that goes along with the lower half of an index": (
        PLACE.format(begin="shl.b32 %r8, %r2, 3; add.s32 %r8, %r8, %r6;", place="mov.b32 %r9, %r8;",
                     turn="add.s32 %r8, %r8, %r7;"),
        PLACE.format(begin="", turn="",
                     place="cvt.u32.u64 %r8, %rd3; shl.b32 %r8, %r8, 3; add.s32 %r9, %r6, %r8;"),
        PLACE.format(begin="shl.b32 %r8, %r2, 3; add.s32 %r8, %r8, %r6;", place="mov.b32 %r9, %r8;",
                     turn="add.s32 %r8, %r8, 8;"),
    ),
    "a mask that is wider than what is left of a byte": (
        DIGIT.format(by="shr.u32", cut="and.b16 %h1, %h1, 255;"),
        DIGIT.format(by="shr.u32", cut=""),
        DIGIT.format(by="shr.u32", cut="and.b16 %h1, %h1, 127;"),
    ),
    "what is moved up is no byte any more": (
        DIGIT.format(by="shl.b32", cut="and.b16 %h1, %h1, 255;"),
        None,
        DIGIT.format(by="shl.b32", cut=""),
    ),
    "a quotient of what is not negative": (
        PART.format(least=64, divided=SIGNED),
        PART.format(least=64, divided="shr.u32 %r4, %r3, 6;"),
        PART.format(least=64, divided="shr.u32 %r4, %r3, 7;"),
    ),
    "a quotient of what may be negative": (
        PART.format(least=-64, divided=SIGNED),
        None,
        PART.format(least=-64, divided="shr.u32 %r4, %r3, 6;"),
    ),
    "what has no bit in common": (
        BESIDE.format(kept=1, put="or.b32"),
        BESIDE.format(kept=1, put="add.s32"),
        BESIDE.format(kept=1, put="sub.s32"),
    ),
    "what may have a bit in common": (
        BESIDE.format(kept=3, put="or.b32"),
        None,
        BESIDE.format(kept=3, put="add.s32"),
    ),
    "two numbers that are cut together": (
        LOWEST.format(kept=1, cut="", later="and.b32 %r3, %r3, 3;"),
        LOWEST.format(kept=1, cut="and.b32 %r4, %r4, 1;", later=""),
        LOWEST.format(kept=1, cut="and.b32 %r4, %r4, 3;", later=""),
    ),
    "two numbers of which one goes over into the other": (
        LOWEST.format(kept=3, cut="", later="and.b32 %r3, %r3, 3;"),
        None,
        LOWEST.format(kept=3, cut="and.b32 %r4, %r4, 1;", later=""),
    ),
    "the lowest bits of what a loop leaves alone": (
        LEFT.format(left="and.b32 %r13, %r12, 3;"),
        LEFT.format(left="and.b32 %r13, %r11, 3;"),
        LEFT.format(left="and.b32 %r13, %r10, 3;"),
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", PAIRS)
def test_what_is_the_same_is_proved_and_nothing_else(name: str) -> None:
    first, same, other = PAIRS[name]
    assert same is None or bodies_proved(HEAD, first, same, "", thorough=True)
    assert other is None or not bodies_proved(HEAD, first, other, "", thorough=True)
