"""What E2 proves, and what looks like it and is not the same."""

from __future__ import annotations

import pytest
from tests.decompiler.proving import HEAD, proved

import ptxkit
from ptxkit.decompiler.verify import same_dataflow

# What is the same, then what is nearly so.
COMPARISONS = {
    "more than four is not less than five": (
        "setp.gt.s32 %p1, %r1, 4;", "setp.ge.s32 %p1, %r1, 5;", "setp.ge.s32 %p1, %r1, 4;",
    ),
    "less than one is none": (
        "setp.lt.u32 %p1, %r1, 1;", "setp.eq.s32 %p1, %r1, 0;", "setp.lt.s32 %p1, %r1, 1;",
    ),
    "either side of an equality": (
        "add.s32 %r3, %r2, -1; setp.eq.s32 %p1, %r1, %r3;",
        "add.s32 %r3, %r1, 1; setp.eq.s32 %p1, %r2, %r3;",
        "add.s32 %r3, %r1, 1; setp.eq.s32 %p1, %r1, %r3;",
    ),
    "threads have no sign": (
        "mov.u32 %r3, %tid.x; setp.lt.s32 %p1, %r3, 7;",
        "mov.u32 %r3, %tid.x; setp.lt.u32 %p1, %r3, 7;",
        "mov.u32 %r3, %tid.x; setp.lt.u32 %p1, %r3, 8;",
    ),
    "a byte in more bits": (
        "ld.global.u8 %r3, [%rd1]; setp.gt.u32 %p1, %r3, 32;",
        "ld.global.u8 %rs1, [%rd1]; setp.gt.u16 %p1, %rs1, 32;",
        "ld.global.s8 %rs1, [%rd1]; setp.gt.s16 %p1, %rs1, 32;",
    ),
    "equal bytes in more bits": (
        "ld.global.u8 %r3, [%rd1]; ld.global.u8 %r4, [%rd1+1]; setp.eq.u32 %p1, %r3, %r4;",
        "ld.global.u8 %rs1, [%rd1]; ld.global.u8 %rs2, [%rd1+1]; setp.eq.u16 %p1, %rs1, %rs2;",
        "ld.global.u8 %rs1, [%rd1]; ld.global.s8 %rs2, [%rd1+1]; setp.eq.u16 %p1, %rs1, %rs2;",
    ),
    "signed bytes in more bits": (
        "ld.global.s8 %r3, [%rd1]; setp.lt.s32 %p1, %r3, -3;",
        "ld.global.s8 %rs1, [%rd1]; setp.lt.s16 %p1, %rs1, -3;",
        "ld.global.s8 %rs1, [%rd1]; setp.lt.u16 %p1, %rs1, -3;",
    ),
    "a bit that is asked for": (
        "and.b32 %r3, %r1, 64; setp.eq.s32 %p1, %r3, 0;",
        "shr.u32 %r3, %r1, 6; and.b32 %r3, %r3, 1; setp.eq.s32 %p1, %r3, 0;",
        "shl.b32 %r3, %r1, 6; setp.eq.s32 %p1, %r3, 0;",
    ),
    "a distance from zero": (
        "abs.s32 %r3, %r1; setp.lt.u32 %p1, %r3, 126;",
        "add.s32 %r3, %r1, -126; setp.ge.u32 %p1, %r3, -251;",
        "add.s32 %r3, %r1, -126; setp.ge.u32 %p1, %r3, -252;",
    ),
    "a distance that has a sign": (
        "abs.s32 %r3, %r1; setp.lt.s32 %p1, %r3, 126;",
        "abs.s32 %r3, %r1; setp.le.s32 %p1, %r3, 125;",
        "add.s32 %r3, %r1, 125; setp.lt.u32 %p1, %r3, 251;",
    ),
    "few numbers of which none fits": (
        "add.s32 %r3, %r1, -1; setp.lt.u32 %p2, %r3, 3; and.b32 %r4, %r1, 3; "
        "setp.eq.s32 %p3, %r4, 0; and.pred %p1, %p2, %p3;",
        "setp.ne.s32 %p1, %r1, %r1;",
        "add.s32 %r3, %r1, -1; setp.lt.u32 %p2, %r3, 4; and.b32 %r4, %r1, 3; "
        "setp.eq.s32 %p3, %r4, 0; and.pred %p1, %p2, %p3;",
    ),
    "a remainder of a sum": (
        "add.s32 %r3, %r1, 1; and.b32 %r3, %r3, 3; setp.eq.s32 %p1, %r3, 0;",
        "and.b32 %r3, %r1, 3; setp.eq.s32 %p1, %r3, 3;",
        "and.b32 %r3, %r1, 3; setp.eq.s32 %p1, %r3, 1;",
    ),
    "neither of two": (
        "or.b32 %r3, %r1, %r2; setp.eq.s32 %p1, %r3, 0;",
        "setp.eq.s32 %p2, %r1, 0; setp.eq.s32 %p3, %r2, 0; and.pred %p1, %p2, %p3;",
        "setp.eq.s32 %p2, %r1, 0; setp.eq.s32 %p3, %r2, 0; or.pred %p1, %p2, %p3;",
    ),
    "no bit that differs": (
        "xor.b32 %r3, %r1, %r2; setp.eq.s32 %p1, %r3, 0;", "setp.eq.s32 %p1, %r1, %r2;",
        "xor.b32 %r3, %r1, %r2; setp.eq.s32 %p1, %r3, 1;",
    ),
    "multiples that may be zero": (
        "shl.b32 %r3, %r1, 4; setp.eq.s32 %p1, %r3, 0;",
        "mul.lo.s32 %r3, %r1, 16; setp.eq.s32 %p1, %r3, 0;",
        "setp.eq.s32 %p1, %r1, 0;",
    ),
    "the greatest number": (
        "setp.le.s32 %p1, %r1, 2147483647;", "setp.eq.s32 %p1, %r1, %r1;",
        "setp.lt.s32 %p1, %r1, 2147483647;",
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", COMPARISONS)
def test_comparisons(name: str) -> None:
    end = "@%p1 st.global.u32 [%rd1], 1; ret;"
    one, same, other = COMPARISONS[name]
    assert proved(one + end, same + end)
    assert not proved(one + end, other + end)


VALUES = {
    "a product that needs no more bits": (
        "shr.u32 %r3, %r1, 16; mul.wide.u32 %rd2, %r3, %r3;",
        "shr.u32 %r3, %r1, 16; mul.lo.s32 %r4, %r3, %r3; cvt.u64.u32 %rd2, %r4;",
        "shr.u32 %r3, %r1, 15; mul.lo.s32 %r4, %r3, %r3; cvt.u64.u32 %rd2, %r4;",
    ),
    "an index that cannot overflow": (
        "mov.u32 %r3, %tid.x; add.s32 %r4, %r3, 5; mul.wide.s32 %rd2, %r4, 4;",
        "mov.u32 %r3, %tid.x; mul.wide.u32 %rd3, %r3, 4; add.s64 %rd2, %rd3, 20;",
        "add.s32 %r4, %r1, 5; mul.wide.s32 %rd2, %r4, 4;",
    ),
    "a product that was multiplied out": (
        "add.s32 %r3, %r1, 1; mul.lo.s32 %r4, %r3, %r2; cvt.u64.u32 %rd2, %r4;",
        "mad.lo.s32 %r4, %r1, %r2, %r2; cvt.u64.u32 %rd2, %r4;",
        "mad.lo.s32 %r4, %r1, %r2, %r1; cvt.u64.u32 %rd2, %r4;",
    ),
    "the upper half of a word": (
        "{ .reg .b16 %h<3>; mov.b32 {%h1, %h2}, %r1; cvt.u64.u16 %rd2, %h2; }",
        "shr.u32 %r3, %r1, 16; cvt.u64.u32 %rd2, %r3;",
        "{ .reg .b16 %h<3>; mov.b32 {%h1, %h2}, %r1; cvt.u64.u16 %rd2, %h1; }",
    ),
    "a word of two halves": (
        "{ .reg .b16 %h<3>; cvt.u16.u32 %h1, %r1; cvt.u16.u32 %h2, %r2; mov.b32 %r3, {%h1, %h2}; "
        "cvt.u64.u32 %rd2, %r3; }",
        "and.b32 %r4, %r1, 65535; shl.b32 %r5, %r2, 16; or.b32 %r3, %r4, %r5; "
        "cvt.u64.u32 %rd2, %r3;",
        "and.b32 %r4, %r1, 131071; shl.b32 %r5, %r2, 16; or.b32 %r3, %r4, %r5; "
        "cvt.u64.u32 %rd2, %r3;",
    ),
    "some bits in the middle": (
        "bfe.u32 %r3, %r1, 4, 8; cvt.u64.u32 %rd2, %r3;",
        "shr.u32 %r3, %r1, 4; and.b32 %r3, %r3, 255; cvt.u64.u32 %rd2, %r3;",
        "shr.u32 %r3, %r1, 4; and.b32 %r3, %r3, 127; cvt.u64.u32 %rd2, %r3;",
    ),
    "shifts one after another": (
        "shr.u32 %r3, %r1, 4; shr.u32 %r3, %r3, 5; cvt.u64.u32 %rd2, %r3;",
        "shr.u32 %r3, %r1, 9; cvt.u64.u32 %rd2, %r3;",
        "shr.s32 %r3, %r1, 9; cvt.u64.u32 %rd2, %r3;",
    ),
    "upper bits that a factor moves out": (
        "cvt.s64.s32 %rd3, %r1; shr.s64 %rd4, %rd3, 3; and.b64 %rd4, %rd4, -32; shl.b64 %rd2, "
        "%rd4, 1;",
        "shr.s32 %r3, %r1, 8; mul.wide.s32 %rd2, %r3, 64;",
        "shr.u32 %r3, %r1, 8; mul.wide.u32 %rd2, %r3, 64;",
    ),
    "a field that is moved to its place": (
        "and.b32 %r3, %r1, 2097151; shr.u32 %r3, %r3, 3; and.b32 %r3, %r3, 262140; "
        "cvt.u64.u32 %rd2, %r3;",
        "and.b32 %r3, %r1, 2097151; shr.u32 %r3, %r3, 5; shl.b32 %r3, %r3, 2; "
        "cvt.u64.u32 %rd2, %r3;",
        "and.b32 %r3, %r1, 4194303; shr.u32 %r3, %r3, 5; shl.b32 %r3, %r3, 2; "
        "cvt.u64.u32 %rd2, %r3;",
    ),
    "lower and upper bits put together": (
        "and.b32 %r3, %r1, 7; shr.u32 %r4, %r1, 3; mad.lo.s32 %r3, %r4, 8, %r3; "
        "cvt.u64.u32 %rd2, %r3;",
        "cvt.u64.u32 %rd2, %r1;",
        "and.b32 %r3, %r1, 7; shr.s32 %r4, %r1, 3; mad.lo.s32 %r3, %r4, 4, %r3; "
        "cvt.u64.u32 %rd2, %r3;",
    ),
    "what is left without the upper bits": (
        "shr.u32 %r3, %r1, 4; mul.lo.s32 %r3, %r3, -16; add.s32 %r3, %r3, %r1; "
        "cvt.u64.u32 %rd2, %r3;",
        "and.b32 %r3, %r1, 15; cvt.u64.u32 %rd2, %r3;",
        "shr.u32 %r3, %r1, 4; mul.lo.s32 %r3, %r3, -32; add.s32 %r3, %r3, %r1; "
        "cvt.u64.u32 %rd2, %r3;",
    ),
    "the upper half with its sign": (
        "mov.b64 %rd3, {%r1, %r2}; shr.s64 %rd2, %rd3, 34;",
        "shr.s32 %r3, %r2, 2; cvt.s64.s32 %rd2, %r3;",
        "shr.s32 %r3, %r2, 2; cvt.u64.u32 %rd2, %r3;",
    ),
    "a byte with its sign": (
        "bfe.s32 %r3, %r1, 8, 8; cvt.s64.s32 %rd2, %r3;",
        "shr.u32 %r3, %r1, 8; cvt.s32.s8 %r4, %r3; cvt.s64.s32 %rd2, %r4;",
        "bfe.s32 %r3, %r1, 8, 7; cvt.s64.s32 %rd2, %r3;",
    ),
    "bits in the place of others": (
        "bfi.b32 %r3, %r1, %r2, 0, 8; cvt.u64.u32 %rd2, %r3;",
        "and.b32 %r3, %r1, 255; and.b32 %r4, %r2, -256; or.b32 %r3, %r3, %r4; "
        "cvt.u64.u32 %rd2, %r3;",
        "and.b32 %r3, %r1, 255; and.b32 %r4, %r2, -512; or.b32 %r3, %r3, %r4; "
        "cvt.u64.u32 %rd2, %r3;",
    ),
    "bytes of two words": (
        "prmt.b32 %r3, %r1, %r2, 0x5432; cvt.u64.u32 %rd2, %r3;",
        "shf.r.wrap.b32 %r3, %r1, %r2, 16; cvt.u64.u32 %rd2, %r3;",
        "shf.r.wrap.b32 %r3, %r2, %r1, 16; cvt.u64.u32 %rd2, %r3;",
    ),
    "lower bits of a sum": (
        "and.b32 %r3, %r2, 7; mad.lo.s32 %r3, %r1, 24, %r3; and.b32 %r3, %r3, 7; "
        "cvt.u64.u32 %rd2, %r3;",
        "and.b32 %r3, %r2, 7; cvt.u64.u32 %rd2, %r3;",
        "and.b32 %r3, %r2, 7; mad.lo.s32 %r3, %r1, 12, %r3; and.b32 %r3, %r3, 7; "
        "cvt.u64.u32 %rd2, %r3;",
    ),
    "a mask without upper bits": (
        "cvt.u64.u32 %rd3, %r1; cvt.s64.s32 %rd4, %r2; and.b64 %rd2, %rd3, %rd4;",
        "and.b32 %r3, %r1, %r2; cvt.u64.u32 %rd2, %r3;",
        "cvt.s64.s32 %rd3, %r1; cvt.s64.s32 %rd4, %r2; and.b64 %rd2, %rd3, %rd4;",
    ),
    "between two limits": (
        "max.s32 %r3, %r1, 0; min.s32 %r3, %r3, 7; cvt.s64.s32 %rd2, %r3;",
        "max.s32 %r3, %r1, 0; min.s32 %r3, %r3, 7; cvt.u64.u32 %rd2, %r3;",
        "max.s32 %r3, %r1, -1; min.s32 %r3, %r3, 7; cvt.u64.u32 %rd2, %r3;",
    ),
    "what is put together in another order": (
        "mov.u32 %r3, %ctaid.x; or.b32 %r4, %r1, %r2; or.b32 %r4, %r4, %r3; cvt.u64.u32 %rd2, %r4;",
        "mov.u32 %r3, %ctaid.x; or.b32 %r4, %r3, %r1; or.b32 %r4, %r2, %r4; cvt.u64.u32 %rd2, %r4;",
        "mov.u32 %r3, %ctaid.x; or.b32 %r4, %r3, %r1; or.b32 %r4, %r1, %r4; cvt.u64.u32 %rd2, %r4;",
    ),
    "the smallest of three": (
        "min.s32 %r3, %r1, %r2; min.s32 %r3, %r3, 100; cvt.s64.s32 %rd2, %r3;",
        "min.s32 %r3, %r2, 100; min.s32 %r3, %r3, %r1; cvt.s64.s32 %rd2, %r3;",
        "min.s32 %r3, %r2, 100; min.u32 %r3, %r3, %r1; cvt.s64.s32 %rd2, %r3;",
    ),
    "a number without its sign": (
        "sub.s32 %r3, %r1, %r2; abs.s32 %r3, %r3; cvt.s64.s32 %rd2, %r3;",
        "sub.s32 %r3, %r2, %r1; sub.s32 %r4, %r1, %r2; setp.lt.s32 %p1, %r3, 1;"
        " selp.b32 %r3, %r4, %r3, %p1; cvt.s64.s32 %rd2, %r3;",
        "sub.s32 %r3, %r2, %r1; sub.s32 %r4, %r1, %r2; setp.lt.s32 %p1, %r3, 2;"
        " selp.b32 %r3, %r4, %r3, %p1; cvt.s64.s32 %rd2, %r3;",
    ),
    "a sum that was shifted": (
        "mov.u32 %r3, %tid.x; mad.lo.s32 %r4, %r3, 8, 5; shr.u32 %r4, %r4, 3; "
        "cvt.u64.u32 %rd2, %r4;",
        "mov.u32 %r3, %tid.x; cvt.u64.u32 %rd2, %r3;",
        "mov.u32 %r3, %tid.x; mad.lo.s32 %r4, %r3, 8, 9; shr.u32 %r4, %r4, 3; "
        "cvt.u64.u32 %rd2, %r4;",
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", VALUES)
def test_values(name: str) -> None:
    end = "st.global.u64 [%rd1], %rd2; ret;"
    one, same, other = VALUES[name]
    assert proved(one + end, same + end)
    assert not proved(one + end, other + end)


def test_parts_of_a_parameter() -> None:
    head = HEAD.replace(".param .u32 n", ".param .align 8 .b8 n[24]").replace(
        "ld.param.u32 %r1, [n];", "mov.b64 %rd9, n;"
    )
    end = "st.global.u32 [%rd1], %r3; ret; }"
    bodies = (
        "ld.param.u64 %rd2, [n+8]; cvt.u32.u64 %r3, %rd2;",
        "ld.param.u32 %r3, [%rd9+8];",
        "ld.param.u32 %r3, [%rd9+12];",
        "ld.param.u64 %rd2, [n+8]; shr.u64 %rd2, %rd2, 32; cvt.u32.u64 %r3, %rd2;",
        "ld.param.v2.u32 {%r4, %r5}, [n+8]; mov.b64 %rd2, {%r4, %r5}; shr.u64 %rd2, %rd2, 32;"
        " cvt.u32.u64 %r3, %rd2;",
    )
    one, same, upper, half, pair = (ptxkit.parse(head + body + end) for body in bodies)
    assert same_dataflow(one, same, "k").equal
    assert same_dataflow(upper, half, "k").equal
    assert same_dataflow(half, pair, "k").equal
    assert not same_dataflow(one, upper, "k").equal
    assert not same_dataflow(same, pair, "k").equal


def test_an_index_that_may_overflow() -> None:
    # With all bits it is another one from two to the 31st on.
    narrow = "add.s32 %r3, %r1, 5; mul.wide.s32 %rd2, %r3, 4; st.global.u64 [%rd1], %rd2; ret;"
    wide = "mul.wide.s32 %rd2, %r1, 4; add.s64 %rd2, %rd2, 20; st.global.u64 [%rd1], %rd2; ret;"
    assert not proved(narrow, wide)


def test_upper_bits_of_a_sum_that_may_overflow() -> None:
    # Eight times n loses bits, and so does a sum with more than was shifted out.
    plain = "cvt.u64.u32 %rd2, %r1; st.global.u64 [%rd1], %rd2; ret;"
    around = "shl.b32 %r3, %r1, 3; shr.u32 %r3, %r3, 3; cvt.u64.u32 %rd2, %r3;"
    assert not proved(around + "st.global.u64 [%rd1], %rd2; ret;", plain)


LOADED = "ld.global.f32 %f1, [%rd1]; ld.global.f32 %f2, [%rd1+4]; ld.global.f32 %f3, [%rd1+8];"


def test_a_sum_alone_has_the_rounding_that_it_says_or_not() -> None:
    end = "st.global.f32 [%rd1], %f4; ret;"
    assert proved(
        LOADED + "add.f32 %f4, %f1, %f2;" + end, LOADED + "add.rn.f32 %f4, %f1, %f2;" + end
    )
    assert not proved(
        LOADED + "add.f32 %f4, %f1, %f2;" + end, LOADED + "add.rz.f32 %f4, %f1, %f2;" + end
    )


def test_a_product_and_a_sum_may_be_put_together() -> None:
    # An assembler may make one rounding of these two, and not of those.
    silent = "mul.f32 %f4, %f1, %f2; add.f32 %f5, %f4, %f3; st.global.f32 [%rd1], %f5; ret;"
    exact = "mul.rn.f32 %f4, %f1, %f2; add.rn.f32 %f5, %f4, %f3; st.global.f32 [%rd1], %f5; ret;"
    assert not proved(LOADED + silent, LOADED + exact)


STRINGS = """.version 8.0
.target sm_90
.address_size 64
{}
.visible .entry k(.param .u64 x) {{
    .reg .b64 %rd<5>;
    ld.param.u64 %rd1, [x];
    mov.u64 %rd2, {};
    cvta.global.u64 %rd3, %rd2;
    st.global.u64 [%rd1], %rd3;
    ret;
}}"""


@pytest.mark.parametrize(
    ("first", "second", "same"),
    [
        (".global .b8 $str[2] = {65, 0};", ".global .b8 text[2] = {65, 0};", True),
        (".global .b8 $str[2] = {65, 0};", ".global .b8 text[2] = {66, 0};", False),
        (".visible .global .b8 s[2] = {65, 0};", ".visible .global .b8 t[2] = {65, 0};", False),
        (".global .b8 s[2] = {65, 0};", ".visible .global .b8 t[2] = {65, 0};", False),
    ],
)
def test_names_of_private_variables(first: str, second: str, same: bool) -> None:
    names = [one.split("[")[0].split()[-1] for one in (first, second)]
    a, b = (
        ptxkit.parse(STRINGS.format(*pair)) for pair in zip((first, second), names, strict=True)
    )
    assert same_dataflow(a, b, "k").equal is same


def test_variables_that_look_alike_are_not_one() -> None:
    two = ".global .b32 a[4];\n.global .b32 b[4];"
    a, b = (ptxkit.parse(STRINGS.format(two, name)) for name in "ab")
    assert same_dataflow(a, a, "k").equal
    assert not same_dataflow(a, b, "k").equal


CASES = """
    setp.lt.{sign}32 %p1, %r1, 4; setp.lt.{sign}32 %p2, %r1, 2;
    setp.eq.s32 %p3, %r1, 2; setp.eq.s32 %p4, %r1, {last};
    mov.u32 %r5, 7;
    @!%p1 bra E; @%p2 bra E; @%p3 bra E; @%p4 bra E;
    mov.u32 %r5, 8;
E:  st.global.u32 [%rd1], %r5;
    ret;
"""


def test_a_case_that_cannot_be() -> None:
    plain = "mov.u32 %r5, 7; st.global.u32 [%rd1], %r5; ret;"
    assert proved(CASES.format(sign="s", last=3), plain)
    assert proved(CASES.format(sign="u", last=3), plain)
    assert not proved(CASES.format(sign="s", last=4), plain)


def test_what_is_equal_may_stand_for_the_other() -> None:
    text = (
        "setp.ne.s32 %p1, %r1, {}; mov.u32 %r5, {}; @%p1 bra E; {} "
        "E: st.global.u32 [%rd1], %r5; ret;"
    )
    one = text.format("5", "0", "add.s32 %r5, %r1, %r2;")
    assert proved(one, text.format("5", "0", "add.s32 %r5, %r2, 5;"))
    assert not proved(one, text.format("5", "0", "add.s32 %r5, %r2, 6;"))
    two = text.format("%r2", "0", "mul.lo.s32 %r5, %r1, %r1;")
    assert proved(two, text.format("%r2", "0", "mul.lo.s32 %r5, %r1, %r2;"))
    assert not proved(two, text.format("%r2", "0", "mul.lo.s32 %r5, %r1, %r3;"))


def test_what_is_read_in_vain_may_not_be_there() -> None:
    """A value that decides nothing is still read from memory, by a parameter of its own."""
    store = "mov.u32 %r5, 7; st.global.u32 [%rd1], %r5; ret; }"
    head = """.version 8.0
    .target sm_90
    .address_size 64
    .visible .entry k(.param .u64 x, .param .u64 y) {
        .reg .pred %p<9>; .reg .b32 %r<20>; .reg .b64 %rd<20>;
        ld.param.u64 %rd1, [x];
    """
    more = """ld.param.u64 %rd2, [y]; ld.global.u32 %r1, [%rd2];
        setp.ne.s32 %p1, %r1, 12; setp.gt.s32 %p2, %r1, 7; or.pred %p3, %p1, %p2;
        @!%p3 bra L; L: """
    plain, vain = ptxkit.parse(head + store), ptxkit.parse(head + more + store)
    assert same_dataflow(plain, plain, "k").equal
    assert not same_dataflow(plain, vain, "k").equal


def test_both_halves_of_a_register_are_multiplied() -> None:
    body = """mov.u32 %r3, {}; mov.u32 %r4, 1006648320;
    mma.sync.aligned.m16n8k8.row.col.f16.f16.f16.f16
        {{%r5, %r6}}, {{%r3, %r3}}, {{%r4}}, {{%r4, %r4}};
    st.global.u32 [%rd1], %r5; ret;"""
    assert proved(body.format(0x3C003C00), body.format(0x3C003C00))
    assert not proved(body.format(0x3C003C00), body.format(0x40003C00))


REALS = {
    "a number is not at least four and less than one": (
        "setp.ge.f32 %p1, %f1, 0f40800000; setp.lt.f32 %p2, %f1, 0f3F800000;", True,
    ),
    "four is four": (
        "setp.ge.f32 %p1, %f1, 0f40800000; setp.le.f32 %p2, %f1, 0f40800000;", False,
    ),
    "what is not less may be no number": (
        "setp.geu.f32 %p1, %f1, 0f40800000; setp.ltu.f32 %p2, %f1, 0f3F800000;", False,
    ),
    "what is equal to something is a number": (
        "setp.eq.f32 %p1, %f1, 0f40800000; setp.nan.f32 %p2, %f1, %f1;", True,
    ),
    "one is less than the other": (
        "setp.lt.f32 %p1, %f1, %f2; setp.le.f32 %p2, %f2, %f1;", True,
    ),
    "zero has two signs": (
        "setp.ge.f32 %p1, %f1, 0f00000000; setp.le.f32 %p2, %f1, 0f80000000;", False,
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", REALS)
def test_conditions_that_contradict_each_other(name: str) -> None:
    conditions, never = REALS[name]
    begin = "ld.global.f32 %f1, [%rd1]; ld.global.f32 %f2, [%rd1+4];"
    store = "and.pred %p3, %p1, %p2; selp.b32 %r3, {}, 2, %p3; st.global.u32 [%rd1+8], %r3; ret;"
    one, other = (begin + conditions + store.format(number) for number in (1, 5))
    assert proved(one, other) is never


CALLED = """.version 8.0
.target sm_80
.address_size 64
.func g(.param .b64 p);
.visible .entry k(.param .u64 x) {{
    .reg .b32 %r<4>; .reg .b64 %rd<4>;
    ld.param.u64 %rd1, [x]; ld.global.u32 %r1, [%rd1]; ld.global.u64 %rd2, [%rd1+8];
    {{ .param .b64 param0; {stores} call.uni g, (param0); }}
    ret;
}}"""
WHOLE, UPPER, LOWER = (
    "st.param.b64 [param0], %rd2;", "st.param.b32 [param0+4], %r1;", "st.param.b32 [param0], %r1;",
)  # fmt: skip


def test_parts_of_an_argument_that_overlap_have_an_order() -> None:
    apart = [ptxkit.parse(CALLED.format(stores=s)) for s in (LOWER + UPPER, UPPER + LOWER)]
    assert same_dataflow(apart[0], apart[1], "k").equal
    over = [ptxkit.parse(CALLED.format(stores=s)) for s in (WHOLE + UPPER, UPPER + WHOLE)]
    assert not same_dataflow(over[0], over[1], "k").equal
    assert not same_dataflow(over[0], apart[0], "k").equal


#: What is read, then what is nearly the same.
WHOLE_OPERANDS = {
    "an address of which half is asked for": (
        "isspacep.shared %p1, %rd1; @%p1 st.global.u32 [%rd1], 1; ret;",
        "cvt.u32.u64 %r3, %rd1; cvt.u64.u32 %rd2, %r3; isspacep.shared %p1, %rd2;"
        "@%p1 st.global.u32 [%rd1], 1; ret;",
    ),
    "who is there under a guard": (
        "setp.eq.u32 %p1, %r1, 7; @%p1 activemask.b32 %r3; @!%p1 activemask.b32 %r3;"
        "activemask.b32 %r4; st.global.u32 [%rd1], %r3; st.global.u32 [%rd1+4], %r4; ret;",
        "setp.eq.u32 %p1, %r1, 7; activemask.b32 %r3; @%p1 activemask.b32 %r4;"
        "@!%p1 activemask.b32 %r4; st.global.u32 [%rd1], %r3; st.global.u32 [%rd1+4], %r4; ret;",
    ),
    "arguments that are set on two ways": (
        "setp.eq.u32 %p1, %r1, 7; { .param .b32 a; @%p1 bra L; st.param.b32 [a], %r1; bra M;"
        "L: st.param.b32 [a], 5; M: call f, (a); } ret;",
        "setp.eq.u32 %p1, %r1, 7; { .param .b32 a; @%p1 bra L; st.param.b32 [a], %r1; bra M;"
        "L: st.param.b32 [a], 6; M: call f, (a); } ret;",
    ),
}


@pytest.mark.parametrize("name", WHOLE_OPERANDS)
def test_all_of_what_is_read_counts(name: str) -> None:
    function = ".func f(.param .b32 x) { ret; }\n"
    one, other = (
        ptxkit.parse(HEAD.replace(".visible", function + ".visible") + body + "\n}")
        for body in WHOLE_OPERANDS[name]
    )
    assert not same_dataflow(one, other, "k").equal
    assert not same_dataflow(one, other, "k", thorough=True).equal
