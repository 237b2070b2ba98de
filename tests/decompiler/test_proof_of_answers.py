"""What E2 makes of comparisons that hold: of signs, of widths, and of answers that are kept."""

from __future__ import annotations

from tests.decompiler.proving import bodies_proved

HEAD = """.version 8.0
.target sm_90
.address_size 64
.visible .entry k(.param .u64 x, .param .u32 n) {bounds} {{
    .reg .pred %p<9>; .reg .b32 %r<9>; .reg .b64 %rd<9>;
    ld.param.u64 %rd1, [x];
    ld.param.u32 %r1, [n];
    mov.u32 %r2, %tid.x;
    ld.global.u32 %r3, [%rd1];
"""


def proved(first: str, second: str) -> bool:
    return bodies_proved(HEAD, first, second, "", thorough=False)


INSIDE = """
    setp.ge.s32 %p1, {left}, %r3; @%p1 bra E;
    {extended} {then}
E:  ret;
"""
SIGNED, UNSIGNED = "cvt.s64.s32 %rd2, %r3;", "cvt.u64.u32 %rd2, %r3;"


def test_what_is_more_than_the_number_of_a_thread_has_no_sign() -> None:
    then = "st.global.u64 [%rd1+8], %rd2;"
    one, other = (INSIDE.format(left="%r2", extended=e, then=then) for e in (SIGNED, UNSIGNED))
    assert proved(one, other)
    assert proved(other, one)
    one, other = (INSIDE.format(left="%r1", extended=e, then=then) for e in (SIGNED, UNSIGNED))
    assert not proved(one, other)


def test_a_question_that_is_another_one_in_other_words() -> None:
    then = """
    rem.u64 %rd3, %rd2, 7; setp.{asked}.s64 %p2, %rd3, 3; @%p2 bra E; mov.u32 %r4, 0;
L:  st.global.u32 [%rd1], %r4; add.s32 %r4, %r4, 1; setp.lt.u32 %p3, %r4, %r1; @%p3 bra L;"""
    for asked in ("ne", "eq"):
        loop = then.format(asked=asked)
        one, other = (INSIDE.format(left="%r2", extended=e, then=loop) for e in (SIGNED, UNSIGNED))
        assert proved(one, other)
        assert not proved(one, other.replace("%rd3, 3", "%rd3, 4"))


def test_a_sum_of_small_numbers_is_compared_in_few_bits() -> None:
    wide = """
    mov.u32 %r4, %ntid.x; cvt.u64.u32 %rd2, %r2; cvt.u64.u32 %rd3, %r4; add.s64 %rd4, %rd2, %rd3;
    cvt.s64.s32 %rd5, %r3; setp.lt.s64 %p1, %rd4, %rd5; @%p1 st.global.u32 [%rd1], 1; ret;"""
    narrow = """
    mov.u32 %r4, %ntid.x; add.s32 %r5, %r2, %r4;
    setp.lt.s32 %p1, %r5, %r3; @%p1 st.global.u32 [%rd1], 1; ret;"""
    assert proved(wide, narrow)
    assert proved(narrow, wide)
    assert not proved(wide, narrow.replace("lt.s32", "lt.u32"))
    large = [body.replace("%r4, %ntid.x", "%r4, %r1") for body in (wide, narrow)]
    assert not proved(*large)


KEPT = """
    setp.ge.s32 %p1, %r2, %r3; {before} @%p1 bra N; mov.u32 %r4, 0;
L:  st.global.u32 [%rd1], %r4; add.s32 %r4, %r4, 1; setp.lt.u32 %p3, %r4, %r1; @%p3 bra L;
N:  bar.sync 0; mov.u32 %r6, 0;
M:  st.global.u32 [%rd1+8], %r6; add.s32 %r6, %r6, 1; setp.lt.u32 %p4, %r6, %r1; @%p4 bra M;
    {behind}
    @{asked} bra E; st.global.u32 [%rd1+4], %r3;
E:  ret;
"""


def test_an_answer_is_kept_or_asked_for_again() -> None:
    again = "cvt.u32.u64 %r3, %rd2; setp.ge.s32 %p2, %r2, %r3;"
    one = KEPT.format(before=SIGNED, behind=again, asked="%p2")
    kept = KEPT.format(before="", behind="", asked="%p1")
    assert proved(one, kept)
    assert proved(kept, one)
    assert not proved(one, kept.replace("@%p1 bra E", "@!%p1 bra E"))
    assert not proved(one.replace("%p2, %r2", "%p2, %r1"), kept)
    assert not proved(one.replace("cvt.u32.u64 %r3, %rd2", "ld.global.u32 %r3, [%rd1]"), kept)
