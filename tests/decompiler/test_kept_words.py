"""What is made before an inner loop of what that keeps, and of what it changes."""

from __future__ import annotations

import pytest
from tests.decompiler.proving import bodies_proved

HEAD = """.version 8.0
.target sm_90
.address_size 64
.visible .entry k(.param .u64 x, .param .u64 n) {bounds} {{
    .reg .pred %p<9>; .reg .b32 %r<19>; .reg .b64 %rd<19>;
    ld.param.u64 %rd1, [x];
    ld.param.u64 %rd2, [n];
    ld.global.u32 %r1, [%rd1];
    mov.u32 %r2, %tid.x;
    cvt.u64.u32 %rd3, %r2;
    mov.b64 %rd4, 0;
"""
#: Two loops; the inner one counts from where the outer one is, which both keep.
LOOPS = """
L:  add.u64 %rd5, %rd4, %rd3; mov.b64 %rd6, %rd5; mov.b32 %r3, 0; {before}
M:  {inside}
    st.global.u64 [%rd1+8], %rd6; st.global.u32 [%rd1+16], %r4;
    add.u32 %r3, %r3, 1; add.u64 %rd6, %rd6, 1024;
    setp.ne.u32 %p1, %r3, 8; @%p1 bra M;
    add.u64 %rd4, %rd4, 8192; setp.lt.u64 %p2, %rd4, %rd2; @%p2 bra L;
    ret;"""
MADE = "cvt.u32.u64 %r5, {of}; add.u32 %r4, %r5, %r1;"


@pytest.mark.parametrize(("of", "equal"), [("%rd5", True), ("%rd6", False), ("%rd4", False)])
def test_what_stays_is_made_before_the_loop(of: str, equal: bool) -> None:
    inside = LOOPS.format(before="", inside=MADE.format(of=of))
    before = LOOPS.format(before=MADE.format(of="%rd5"), inside="")
    assert bodies_proved(HEAD, inside, before, "", thorough=True) is equal


#: Before a loop that is come to in two ways, a number of bytes, or of words; what the loop does.
COUNTED = """
    add.u32 %r5, %r1, 9; setp.lt.u32 %p1, %r2, 7; @%p1 bra B; mul.lo.u32 %r5, %r1, %r1;
B:  cvt.u64.u32 %rd5, %r5; {before} mov.b32 %r3, 0; mov.b64 %rd6, %rd1;
L:  {inside} ld.global.u64 %rd9, [%rd8]; st.global.u64 [%rd1], %rd9;
    add.u32 %r3, %r3, 1; add.u64 %rd6, %rd6, 4096;
    setp.ne.u32 %p2, %r3, %r1; @%p2 bra L; ret;"""
IN_BYTES = {"before": "mul.lo.u64 %rd7, %rd5, 24;", "inside": "add.u64 %rd8, %rd6, %rd7;"}
IN_WORDS = {
    "before": "mul.lo.u64 %rd7, %rd5, 3; add.u64 %rd7, %rd7, 2;",
    "inside": "shl.b64 %rd8, %rd7, 3; add.u64 %rd8, %rd8, %rd6; sub.u64 %rd8, %rd8, 16;",
}


@pytest.mark.parametrize(
    ("changes", "equal"),
    [
        ({}, True),
        ({"before": IN_WORDS["before"].replace("5, 3", "5, 4")}, False),
        ({"inside": IN_WORDS["inside"].replace("16", "24")}, False),
        ({"inside": IN_WORDS["inside"].replace(", 3;", ", 2;")}, False),
    ],
)
def test_bytes_are_multiples_of_words(changes: dict[str, str], equal: bool) -> None:
    bodies = COUNTED.format(**IN_BYTES), COUNTED.format(**(IN_WORDS | changes))
    assert bodies_proved(HEAD, *bodies, "", thorough=True) is equal
