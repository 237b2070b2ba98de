"""Threads that come together in several places do so in the same order."""

from __future__ import annotations

import pytest
from tests.decompiler.proving import proved

HEAD = "mov.u32 %r3, %tid.x; and.b32 %r4, %r3, 1; setp.eq.u32 %p1, %r4, 0; xor.b32 %r7, %r3, 2;"
END = "st.global.u32 [%rd1], %r9; st.global.u32 [%rd1+4], %r8; ret;"
#: Even lanes exchange among themselves, then all do.
FIRST = (
    "mov.u32 %r8, 0; @!%p1 bra S; shfl.sync.idx.b32 %r8, %r1, %r7, 31, 0x55555555;"
    "S: shfl.sync.idx.b32 %r9, %r2, %r7, 31, -1;"
)
#: All come to the first place, and the even ones to the second: each thread does the same.
SECOND = (
    "selp.b32 %r10, %r1, %r2, %p1; selp.b32 %r11, 0x55555555, -1, %p1; mov.u32 %r8, 0;"
    "shfl.sync.idx.b32 %r12, %r10, %r7, 31, %r11; @!%p1 bra S; mov.u32 %r8, %r12;"
    "shfl.sync.idx.b32 %r9, %r2, %r7, 31, -1; bra T; S: mov.u32 %r9, %r12; T:"
)


@pytest.mark.parametrize("rare", ["", "setp.eq.and.u32 %p1, %r2, 0x12345678, %p1;"])
def test_all_come_to_the_place_where_all_came(rare: str) -> None:
    one, other = (HEAD + rare + body + END for body in (FIRST, SECOND))
    assert proved(one, one) and proved(other, other)
    assert not proved(one, other) and not proved(other, one)


def test_ways_that_exclude_each_other_may_stand_in_either_order() -> None:
    even, odd = (f"shfl.sync.bfly.b32 %r9, %r{k}, 2, 31, {mask};"
                 for k, mask in ((1, "0x55555555"), (2, "0xaaaaaaaa")))  # fmt: skip
    mov = "mov.u32 %r8, 0;"
    one = f"{mov} @!%p1 bra S; {even} bra T; S: {odd} T:"
    other = f"{mov} @%p1 bra S; {odd} bra T; S: {even} T:"
    assert proved(HEAD + one + END, HEAD + other + END)
    wrong = other.replace("0x55555555", "0xaaaaaaaa")
    assert not proved(HEAD + one + END, HEAD + wrong + END)
