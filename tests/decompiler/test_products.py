"""What E2 proves of sums of what a loop carries: an assembler may put a product into a sum."""

from __future__ import annotations

import pytest
from tests.decompiler.proving import proved

LOOP = """
    mov.u32 %r3, 0;
    mov.f32 %f5, 0f3F800000;
    ld.global.f32 %f0, [%rd1];
    {before}
L:  {inside}
    mul.wide.s32 %rd3, %r3, 4; add.s64 %rd4, %rd1, %rd3; st.global.f32 [%rd4+4096], %f2;
    {after}
    add.s32 %r3, %r3, 1;
    setp.lt.s32 %p1, %r3, %r2;
    @%p1 bra L;
    ret;
"""
LOADED = "mov.f32 %f1, %f0;"
PRODUCT = "mul.f32 %f1, %f0, %f0;"
OPEN, ROUNDED = "sub.f32 %f2, %f5, %f1;", "sub.rn.f32 %f2, %f5, %f1;"
AGAIN = "ld.global.f32 %f1, [%rd4+8192];"


def loop(before: str, inside: str, after: str = "") -> str:
    return LOOP.format(before=before, inside=inside, after=after)


@pytest.mark.parametrize("after", ["", AGAIN])
def test_what_was_loaded_is_no_product(after: str) -> None:
    assert proved(loop(LOADED, OPEN, after), loop(LOADED, ROUNDED, after))


def test_a_difference_may_be_computed_before_a_loop() -> None:
    assert proved(loop(LOADED, OPEN), loop(LOADED + OPEN, ""))
    assert proved(loop(LOADED, OPEN), loop(LOADED + ROUNDED, ""))
    assert not proved(loop(LOADED, OPEN), loop(LOADED + OPEN.replace("%f5, %f1", "%f1, %f5"), ""))


@pytest.mark.parametrize(
    ("before", "after"),
    [
        (PRODUCT, ""),
        (PRODUCT, AGAIN),
        (LOADED, PRODUCT),
        (LOADED, AGAIN + "@%p1 mul.f32 %f1, %f0, %f5;"),
        (LOADED, AGAIN + "neg.f32 %f1, %f1;" + "mul.f32 %f4, %f0, %f1; neg.f32 %f1, %f4;"),
        ("mul.f32 %f3, %f0, %f0;" + LOADED, "mov.f32 %f1, %f3;"),
        ("mul.f32 %f3, %f0, %f0;" + LOADED, "mov.f32 %f1, %f3; mov.f32 %f3, %f0;"),
    ],
)
def test_a_product_on_some_way_stays_one(before: str, after: str) -> None:
    head = "setp.eq.s32 %p1, %r1, 0;"
    assert proved(loop(head + before, OPEN, after), loop(head + before, OPEN, after))
    assert not proved(loop(head + before, OPEN, after), loop(head + before, ROUNDED, after))


#: A product as an assembler still sees it, in a register of its own.
SEEN_THROUGH = {
    "neg": "neg.f32 %f4, %f3;",
    "neg twice": "neg.f32 %f4, %f3; neg.f32 %f4, %f4;",
    "times 1": "mul.f32 %f4, %f3, 0f3F800000;",
    "times -1": "mul.f32 %f4, %f3, 0fBF800000;",
    "rounded, times 1": "mul.rn.f32 %f4, %f3, 0f3F800000;",
    "the larger of it and itself": "max.f32 %f4, %f3, %f3;",
    "the smaller of it and itself": "min.f32 %f4, %f3, %f3;",
    "its format": "cvt.f32.f32 %f4, %f3;",
    "the other sign, as a bit": "mov.b32 %r5, %f3; xor.b32 %r5, %r5, 0x80000000; mov.b32 %f4, %r5;",
    "memory of its own": "st.local.f32 [own], %f3; ld.local.f32 %f4, [own];",
    "another lane": "shfl.sync.idx.b32 %f4, %f3, 0, 31, -1;",
    "one of two": "setp.eq.s32 %p1, %r1, 0; selp.f32 %f4, %f3, %f0, %p1;",
}
SUM = """.local .align 4 .b8 own[4];
    ld.global.f32 %f0, [%rd1]; mov.f32 %f5, 0f3F800000;
    mul{product}.f32 %f3, %f0, %f0; {seen} add{total}.f32 %f2, %f4, %f5;
    st.global.f32 [%rd1+4096], %f2; ret;
"""
#: Other products and sums, which may be put together whatever is asked for.
OTHERS = "mul.f32 %f7, %f0, %f0; add.f32 %f8, %f7, %f5; st.global.f32 [%rd1+8192], %f8;"


def summed(seen: str, product: str = "", total: str = "") -> str:
    text = SUM.format(seen=seen, product=product, total=total)
    return text.replace("st.global", OTHERS + " st.global", 1)


@pytest.mark.parametrize("seen", SEEN_THROUGH)
def test_an_assembler_sees_through_what_changes_no_number(seen: str) -> None:
    way = SEEN_THROUGH[seen]
    assert proved(summed(way), summed(way))
    assert not proved(summed(way), summed(way, product=".rn"))
    assert not proved(summed(way), summed(way, total=".rn"))


@pytest.mark.parametrize(
    "way",
    [
        "sqrt.rn.f32 %f4, %f3;",
        "max.f32 %f4, %f3, %f5;",
        "abs.f32 %f4, %f3;",
        "st.shared.f32 [%rd2], %f3; ld.shared.f32 %f4, [%rd2];",
        "cvt.rzi.s32.f32 %r5, %f3; cvt.rn.f32.s32 %f4, %r5;",
    ],
)
def test_what_was_rounded_is_rounded_however_that_is_said(way: str) -> None:
    assert proved(summed(way), summed(way, product=".rn"))
