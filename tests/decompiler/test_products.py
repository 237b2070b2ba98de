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
