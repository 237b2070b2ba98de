"""Registers that nobody has set hold anything, not 0 as on the simulator."""

from __future__ import annotations

import ptxkit
from ptxkit.decompiler.verify.execution import same_execution

SUM = """.version 8.0
.target sm_80
.address_size 64
.visible .entry k(.param .u64 .ptr x, .param .u64 .ptr y, .param .u32 n) {
    .reg .pred %p<3>;
    .reg .b32 %r<8>;
    .reg .b64 %rd<4>;
    ld.param.u64 %rd1, [x];
    ld.param.u64 %rd2, [y];
    ld.param.u32 %r1, [n];
    mov.u32 %r5, %tid.x;
    setp.eq.u32 %p1, %r1, 0;
    FIRST
    @%p1 bra END;
    SECOND
LOOP:
    ld.global.u32 %r3, [%rd1];
    add.u32 %r2, %r2, %r3;
    add.u32 %r1, %r1, -1;
    add.u64 %rd1, %rd1, 4;
    setp.ne.u32 %p2, %r1, 0;
    @%p2 bra LOOP;
END:
    mul.wide.u32 %rd3, %r5, 4;
    add.u64 %rd2, %rd2, %rd3;
    st.global.u32 [%rd2], %r2;
    ret;
}"""


def _kernel(first: str, second: str = "") -> ptxkit.Module:
    return ptxkit.parse(SUM.replace("FIRST", first).replace("SECOND", second))


def test_a_sum_begins_with_zero() -> None:
    original = _kernel("mov.u32 %r2, 0;")
    assert same_execution(original, _kernel("mov.u32 %r2, 0; mov.u32 %r4, 1;"), "k").equal
    for first, second in (("", "mov.u32 %r2, 0;"), ("@%p1 mov.u32 %r2, 0;", "")):
        found = same_execution(original, _kernel(first, second), "k", wanted=8, most=40)
        assert not found.equal and "registers that nobody has set" in found.reason


def test_what_is_read_and_not_used_may_be_anything() -> None:
    """Compilers leave registers unset where nothing comes of them."""
    original = _kernel("mov.u32 %r2, 0;")
    idle = "xor.b32 %r2, %r6, %r6;"
    assert same_execution(original, _kernel(idle), "k").equal
