"""What E2 proves of updates of memory that are spelled otherwise, and of old numbers."""

from __future__ import annotations

import pytest
from tests.decompiler.proving import bodies_proved

import ptxkit
from ptxkit.decompiler.budget import UNLIMITED
from ptxkit.decompiler.verify.dataflow.cuts import at_barriers
from ptxkit.decompiler.verify.dataflow.product import Product
from ptxkit.decompiler.verify.dataflow.proof import _Pair
from ptxkit.decompiler.verify.variables import Variables

HEAD = """.version 8.0
.target sm_90
.address_size 64
.visible .entry k(.param .align 8 .b8 x[16], .param .u32 n) {bounds} {{
    .reg .pred %p<9>; .reg .b32 %r<9>; .reg .b64 %rd<9>; .reg .f32 %f<9>;
    .shared .align 8 .b8 places[1024];
    ld.param.u64 %rd1, [x];
    ld.param.u32 %r1, [n];
    mov.u32 %r2, %tid.x;
"""
#: What is left of an old number is asked for in a loop, or before it.
EXCHANGED = """setp.lt.u32 %p1, %r2, %r1; mov.b32 %r3, 0; mov.b32 %r5, 0; mov.b32 %r4, {otherwise};
    @%p1 atom.global.exch.b32 %r3, [%rd1], 5; {before}
L:  {inside} st.global.u32 [%rd1], %r4; add.s32 %r5, %r5, 1;
    setp.lt.u32 %p2, %r5, %r1; @%p2 bra L;
    ret;"""
#: What is the same, then what is nearly so.
PAIRS = {
    "nobody asks for the old number": (
        "atom.global.gpu.relaxed.max.s32 %r3, [%rd1], %r1; ret;",
        "red.global.max.s32 [%rd1], %r1; ret;",
        "red.global.max.u32 [%rd1], %r1; ret;",
    ),
    "somebody does": (
        "atom.relaxed.gpu.global.add.s32 %r3, [%rd1], %r1; st.global.u32 [%rd1+4], %r3; ret;",
        "atom.global.add.u32 %r3, [%rd1], %r1; st.global.u32 [%rd1+4], %r3; ret;",
        "red.global.add.u32 [%rd1], %r1; st.global.u32 [%rd1+4], %r3; ret;",
    ),
    "for whom it is done in one step": (
        "red.global.add.u32 [%rd1], %r1; ret;",
        "red.relaxed.gpu.global.add.u32 [%rd1], %r1; ret;",
        "red.relaxed.sys.global.add.u32 [%rd1], %r1; ret;",
    ),
    "what it orders": (
        "atom.release.gpu.global.add.u32 %r3, [%rd1], %r1; ret;",
        "red.release.global.add.u32 [%rd1], %r1; ret;",
        "red.relaxed.global.add.u32 [%rd1], %r1; ret;",
    ),
    "sums of real numbers": (
        "mov.b32 %f1, %r1; atom.global.add.f32 %f2, [%rd1], %f1; ret;",
        "mov.b32 %f1, %r1; red.global.add.f32 [%rd1], %f1; ret;",
        "red.global.add.u32 [%rd1], %r1; ret;",
    ),
    "the block's own shared memory": (
        "mov.b32 %r3, places; st.shared::cta.b32 [%r3], %r1; ld.shared.b32 %r4, [%r3+4];"
        "st.global.u32 [%rd1], %r4; ret;",
        "mov.b32 %r3, places; st.shared.u32 [%r3], %r1; ld.shared::cta.b32 %r4, [%r3+4];"
        "st.global.u32 [%rd1], %r4; ret;",
        "mov.b32 %r3, places; st.shared.u32 [%r3], %r1; ld.shared::cluster.b32 %r4, [%r3+4];"
        "st.global.u32 [%rd1], %r4; ret;",
    ),
    "a part of what came back, if it came": (
        EXCHANGED.format(otherwise=0, before="", inside="and.b32 %r4, %r3, 31;"),
        EXCHANGED.format(otherwise=0, before="and.b32 %r4, %r3, 31;", inside=""),
        EXCHANGED.format(otherwise=0, before="and.b32 %r4, %r3, 63;", inside=""),
    ),
    "a part of it, and another number if it did not": (
        EXCHANGED.format(otherwise=0, before="", inside="and.b32 %r4, %r3, 31;"),
        EXCHANGED.format(otherwise=0, before="@%p1 and.b32 %r4, %r3, 31;", inside=""),
        EXCHANGED.format(otherwise=1, before="@%p1 and.b32 %r4, %r3, 31;", inside=""),
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", PAIRS)
def test_what_is_the_same_is_proved_and_nothing_else(name: str) -> None:
    first, same, other = PAIRS[name]
    assert bodies_proved(HEAD, first, same, "", thorough=True)
    assert not bodies_proved(HEAD, first, other, "", thorough=True)


#: What is asked before threads wait, or afterwards.
ASKED = """mov.b32 %r3, 0; sub.s32 %r4, %r1, 2;
L:  {before} bar.sync 0; {after} selp.b32 %r5, 16, 0, %p1; st.global.u32 [%rd1], %r5;
    add.s32 %r3, %r3, 1; setp.ne.s32 %p2, %r3, %r1; @%p2 bra L;
    ret;"""


@pytest.mark.parametrize(("limit", "proved"), [("%r4", True), ("%r1", False)])
def test_a_question_is_found_once_the_loop_has_turned(limit: str, proved: bool) -> None:
    asked = "setp.lt.s32 %p1, %r3, {};"
    head = HEAD.format(bounds="")
    first = ptxkit.parse(head + ASKED.format(before=asked.format("%r4"), after="") + "}")
    second = ptxkit.parse(head + ASKED.format(before="", after=asked.format(limit)) + "}")
    pair = _Pair(
        first, second, first["k"], second["k"], ({}, {}), Variables(first, second), UNLIMITED
    )
    product = Product(pair._make(at_barriers), 24, True)
    assert (not (product.settle() or product.difference())) is proved
