"""Indices that are added up in 32 bits where the original does it in 64."""

from __future__ import annotations

import pytest

import ptxkit
from ptxkit.decompiler.verify import same_execution
from ptxkit.decompiler.verify.dataflow import same_dataflow
from ptxkit.decompiler.verify.execution import Execution

#: A block has a room of its own, in which each lane has a place: what is added is below the room.
ROOMS = """.version 8.0
.target sm_90
.address_size 64
.visible .entry k(.param .u64 .ptr .global x, .param .u32 n) {{
    .reg .pred %p<2>; .reg .b32 %r<10>; .reg .b64 %d<6>;
    ld.param.u64 %d1, [x];
    ld.param.u32 %r8, [n];
    mov.u32 %r1, %ctaid.x;
    mov.u32 %r2, %tid.x;
    and.b32 %r3, %r2, 7;
    shl.b32 %r4, %r1, {room};
    {added}
    setp.ge.u32 %p1, %r2, %r8;
    @%p1 bra END;
    shl.b64 %d4, %d4, 2;
    add.s64 %d5, %d1, %d4;
    st.global.u32 [%d5], %r2;
END:
    ret;
}}"""
WIDE = "cvt.u64.u32 %d2, %r4; cvt.u64.u32 %d3, %r3; add.s64 %d4, %d2, %d3;"
NARROW = "add.s32 %r5, %r4, %r3; cvt.u64.u32 %d4, %r5;"
#: One sum after another, each of bits that the other has not.
NARROW_TWICE = (
    "and.b32 %r6, %r2, 3; and.b32 %r7, %r2, 4;"
    "add.s32 %r5, %r4, %r6; add.s32 %r9, %r5, %r7; cvt.u64.u32 %d4, %r9;"
)


def compared(room: int, added: str) -> Execution:
    a, b = (ptxkit.parse(ROOMS.format(room=room, added=how)) for how in (WIDE, added))
    return same_execution(a, b, "k")


@pytest.mark.parametrize("added", [NARROW, NARROW_TWICE])
def test_what_cannot_overflow_may_be_added_in_fewer_bits(added: str) -> None:
    found = compared(3, added)
    assert found.equal, found.reason


def test_what_may_overflow_may_not() -> None:
    """In the last room there are only places for half of what is added."""
    found = compared(2, NARROW)
    assert not found.equal
    assert "adds in 32 bits" in found.reason


@pytest.mark.parametrize(("room", "equal"), [(3, True), (4, True), (2, False)])
def test_sums_without_a_carry_are_proved(room: int, equal: bool) -> None:
    a, b = (ptxkit.parse(ROOMS.format(room=room, added=how)) for how in (WIDE, NARROW))
    assert same_dataflow(a, b, "k").equal is equal
