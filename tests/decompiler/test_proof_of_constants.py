"""What E2 makes of constants: of other formats, next to the greatest number, and in braces."""

from __future__ import annotations

from tests.decompiler.proving import bodies_proved

HEAD = """.version 8.0
.target sm_90
.address_size 64
.visible .entry k(.param .u64 x, .param .u32 n) {bounds} {{
    .reg .pred %p<3>; .reg .b16 %h<3>; .reg .b32 %r<5>; .reg .b64 %rd<3>; .reg .f32 %f<2>;
    ld.param.u64 %rd1, [x];
    ld.param.u32 %r1, [n];
    ld.global.u32 %r2, [%rd1];
"""


def proved(first: str, second: str) -> bool:
    return bodies_proved(HEAD, first, second, "", thorough=False)


def test_a_float_that_becomes_a_half_is_that_half() -> None:
    store = "st.global.b16 [%rd1], %h1; ret;"
    made = "mov.f32 %f1, {}; cvt.rn.f16.f32 %h1, %f1;" + store
    plain = "mov.b16 %h1, {};" + store
    assert proved(plain.format("0x3C00"), made.format("0f3F800000"))
    assert proved(plain.format("0x8000"), made.format("0f80000000"))
    assert not proved(plain.format("0x0000"), made.format("0f80000000"))
    # To the nearest, and of two the even one.
    assert proved(plain.format("0x3C02"), made.format("0f3F803000"))
    assert not proved(plain.format("0x3C01"), made.format("0f3F803000"))


def test_what_overflows_or_is_no_number_stays_as_it_is() -> None:
    made = "mov.f32 %f1, {}; cvt.rn.f16.f32 %h1, %f1; st.global.b16 [%rd1], %h1; ret;"
    plain = "mov.b16 %h1, {}; st.global.b16 [%rd1], %h1; ret;"
    assert not proved(plain.format("0x7C00"), made.format("0f477FF000"))
    assert not proved(plain.format("0x7E00"), made.format("0f7FC00000"))


def test_a_float_that_becomes_an_integer_is_that_integer() -> None:
    store = "st.global.u32 [%rd1], %r3; ret;"
    made = "mov.f32 %f1, {}; cvt.rzi.{}.f32 %r3, %f1;" + store
    plain = "mov.u32 %r3, {};" + store
    assert proved(plain.format("8"), made.format("0f41080000", "s32"))  # 8.5
    assert proved(plain.format("-1"), made.format("0fBFC00000", "s32"))  # -1.5
    assert not proved(plain.format("-2"), made.format("0fBFC00000", "s32"))
    assert proved(plain.format("0x80000000"), made.format("0f4F000000", "u32"))
    # Too large, below zero, and no number: what instructions make of these is not said here.
    assert not proved(plain.format("0x7FFFFFFF"), made.format("0f4F000000", "s32"))
    assert not proved(plain.format("0"), made.format("0fBF800000", "u32"))
    assert not proved(plain.format("0"), made.format("0f7FC00000", "s32"))
    # A register of more bits is filled up with the sign.
    wide = "mov.f32 %f1, 0fBFC00000; cvt.rzi.s32.f32 %rd2, %f1; st.global.u64 [%rd1], %rd2; ret;"
    assert not proved("mov.u64 %rd2, 0xFFFFFFFF; st.global.u64 [%rd1], %rd2; ret;", wide)


def test_a_remainder_by_a_number_is_what_compilers_make_of_it() -> None:
    store = "st.global.u32 [%rd1], %r3; ret;"
    left = "mov.u32 %r4, {}; rem.{} %r3, %r2, %r4;" + store
    masked = "and.b32 %r3, %r2, 7;" + store
    assert proved(masked, left.format(8, "u32"))
    assert not proved(masked, left.format(8, "s32"))  # of -1 it is -1
    assert not proved(masked, left.format(7, "u32"))
    thread = "mov.u32 %r2, %tid.x;"
    assert proved(thread + masked, thread + left.format(8, "s32"))
    signed = "shr.s32 %r3, %r2, 31; shr.u32 %r3, %r3, 29; add.s32 %r3, %r2, %r3;"
    signed += "and.b32 %r3, %r3, -8; sub.s32 %r3, %r2, %r3;" + store
    assert proved(signed, left.format(8, "s32"))
    assert not proved(signed, left.format(16, "s32"))


def test_the_one_number_that_a_limit_changes() -> None:
    least = "min.s32 %r3, %r2, 2147483646; st.global.u32 [%rd1], %r3; ret;"
    asked = (
        "setp.eq.s32 %p1, %r2, {}; selp.b32 %r3, 2147483646, %r2, %p1;"
        " st.global.u32 [%rd1], %r3; ret;"
    )
    assert proved(least, asked.format("2147483647"))
    assert proved(asked.format("2147483647"), least)
    assert not proved(least, asked.format("2147483646"))
    assert not proved(least.replace("min.s32", "min.u32"), asked.format("2147483647"))
    most = "max.u32 %r3, %r2, 1; st.global.u32 [%rd1], %r3; ret;"
    zero = asked.format("0").replace("2147483646", "1")
    assert proved(most, zero)
    assert not proved(most.replace("max.u32", "max.s32"), zero)


def test_one_in_braces_is_one() -> None:
    one, braces = (
        f"mov.b16 %h1, 7; st.global.b16 [%rd1], {text}; ret;" for text in ("%h1", "{ %h1 }")
    )
    assert proved(braces, one)
    assert not proved(braces, one.replace("7;", "8;"))
