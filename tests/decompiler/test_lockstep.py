"""Copies of what threads come together for: only where all of them come to the same copy."""

from __future__ import annotations

import pytest
from tests.decompiler.proving import bodies_proved

HEAD = """.version 8.0
.target sm_90
.address_size 64
.visible .entry k(.param .u64 x, .param .u32 n) {bounds} {{
    .reg .pred %p<9>; .reg .b32 %r<19>; .reg .b64 %rd<9>;
    ld.param.u64 %rd1, [x];
    ld.param.u32 %r1, [n];
    mov.u32 %r2, %tid.x; mov.b32 %r9, {lanes};
"""
ASKS = """ld.volatile.global.u32 %r3, [%rd1]; setp.eq.u32 %p1, %r3, 0;
    vote.sync.any.pred %p2, %p1, %r9;"""
ONCE = f"L: {ASKS} @%p2 bra L; st.global.u32 [%rd1+8], %r3; ret;"
#: A compiler has asked once before the loop.
TURNED = f"{ASKS} @!%p2 bra E; L: {ASKS} @%p2 bra L; E: st.global.u32 [%rd1+8], %r3; ret;"
#: Some threads begin at the one copy, some at the other one.
PARTED = f"setp.lt.u32 %p3, %r2, 7; @%p3 bra L; {TURNED}"
#: Some go on with the one, some with the other.
LATER = f"{ASKS} @!%p2 bra E; L: {ASKS} @!%p2 bra E; setp.eq.u32 %p3, %r3, 7; @%p3 bra L; " + (
    f"M: {ASKS} @%p2 bra M; E: st.global.u32 [%rd1+8], %r3; ret;"
)


@pytest.mark.parametrize(
    ("body", "lanes", "equal"),
    [
        (TURNED, "-1", True),
        (TURNED, "65535", False),
        (TURNED, "%r1", False),
        (PARTED, "-1", False),
        (LATER, "-1", False),
    ],
)
def test_all_threads_are_at_the_same_copy(body: str, lanes: str, equal: bool) -> None:
    head = HEAD.replace("{lanes}", lanes)
    assert bodies_proved(head, ONCE, body, "", thorough=True) is equal
