"""What scans over many blocks are proved by: they wait for others, and hold what nobody has set."""

from __future__ import annotations

import pytest
from tests.decompiler.proving import bodies_proved

import ptxkit
from ptxkit.cuda import print_module
from ptxkit.decompiler.lift.lifter import lift_module

HEAD = """.version 8.0
.target sm_80
.address_size 64
.visible .entry k(.param .u64 x, .param .u64 y, .param .u64 n) {{{bounds}
    .reg .pred %p<5>; .reg .b32 %r<12>; .reg .b64 %rd<12>;
    ld.param.u64 %rd1, [x]; ld.param.u64 %rd2, [y]; ld.param.u64 %rd3, [n];
    mov.u32 %r1, %tid.x;
"""


def _proved(first: str, second: str) -> bool:
    return bodies_proved(HEAD, first, second, "", thorough=True)


SET_SOMETIMES = """
    setp.eq.u32 %p1, %r1, 0;
    @%p1 bra L;
    ld.global.u32 {0}, [%rd1];
    ld.global.u32 {1}, [%rd1+4];
L:  st.global.u32 [%rd2], {0};
    st.global.u32 [%rd2+4], {1};
    ret;
"""


@pytest.mark.parametrize(
    ("first", "second", "equal"),
    [
        (("%r2", "%r3"), ("%r2", "%r3"), True),
        (("%r2", "%r3"), ("%r7", "%r4"), True),
        # One that is read twice is the same number twice, and two are any two.
        (("%r2", "%r2"), ("%r2", "%r3"), False),
        (("%r2", "%r3"), ("%r2", "%r2"), False),
    ],
)
def test_unset_registers_are_those_of_the_original(
    first: tuple[str, str], second: tuple[str, str], equal: bool
) -> None:
    a, b = (SET_SOMETIMES.format(*names) for names in (first, second))
    assert _proved(a, b) is equal


def test_what_the_original_sets_is_not_left_unset() -> None:
    unset = SET_SOMETIMES.format("%r2", "%r3")
    assert not _proved("mov.u32 %r2, 0;" + unset, unset)
    assert not _proved("mov.u32 %r2, 0; mov.u32 %r3, 0;" + unset, unset)


PARTS = """
    shr.u64 %rd4, %rd3, 30;
    and.b64 %rd5, %rd3, {mask};
    setp.ne.s64 %p1, %rd5, 0;
    selp.u64 %rd6, 1, 0, %p1;
    add.s64 %rd7, %rd4, %rd6;
    setp.eq.s64 %p2, %rd7, 0;
    @%p2 bra L;
    st.global.u32 [%rd2], %r1;
L:  ret;
"""
WHOLE = """
    setp.eq.s64 %p2, %rd3, 0;
    @%p2 bra L;
    st.global.u32 [%rd2], %r1;
L:  ret;
"""


def test_a_number_of_which_all_bits_are_zeros_is_zero() -> None:
    assert _proved(PARTS.format(mask=(1 << 30) - 1), WHOLE)
    assert not _proved(PARTS.format(mask=(1 << 29) - 1), WHOLE)


WAITING = """
    cvt.u32.u64 %r2, %rd3;
TURN:
    {before}
WAIT:
    ld.volatile.global.u32 %r3, [%rd1];
    setp.eq.u32 %p1, %r3, 99;
    @%p1 bra WAIT;
    {after}
    shl.b64 %rd5, %rd4, 2;
    add.s64 %rd6, %rd2, %rd5;
    st.global.u32 [%rd6], %r3;
    add.s32 %r2, %r2, -32;
    setp.ne.s32 %p2, %r3, 101;
    @%p2 bra TURN;
    ret;
"""


def test_an_index_is_made_before_or_after_a_loop() -> None:
    late = WAITING.format(before="", after="cvt.s64.s32 %rd4, %r2;")
    assert _proved(late, WAITING.format(before="cvt.s64.s32 %rd4, %r2;", after=""))
    assert not _proved(late, WAITING.format(before="cvt.u64.u32 %rd4, %r2;", after=""))


PAIR = """
    ld.global.v2.u64 {%rd4, %rd5}, [%rd1];
    st.global.u64 [%rd2], %rd4;
    st.global.u64 [%rd2+8], %rd5;
    ret;
"""
HALVES = """
    ld.global.u64 %rd4, [%rd1];
    ld.global.u64 %rd5, [%rd1+8];
    st.global.u64 [%rd2], %rd4;
    st.global.u64 [%rd2+8], %rd5;
    ret;
"""


def test_the_upper_half_of_what_is_wide_may_be_loaded_alone() -> None:
    assert _proved(PAIR, HALVES)
    assert not _proved(HALVES, PAIR)  # who says that it is aligned?


SUM = "mov.u32 %r3, 0;" + "".join(
    f"ld.global.u32 %r4, [%rd2+{4 * place}]; add.u32 %r3, %r3, %r4;" for place in range(30)
)
INDEXED = "shl.b64 %rd4, %rd3, 2; add.s64 %rd5, %rd1, %rd4; ld.global.u32 %r3, [%rd5];"
CASES = """
    setp.{0}.u64 %p1, %rd3, 7;
    @%p1 bra L;
    {1}
    st.global.u32 [%rd2], %r3;
    ret;
L:  {2}
    st.global.u32 [%rd2], %r3;
    ret;
"""


def test_what_is_loaded_may_be_far_from_where_the_original_loads_it() -> None:
    original = CASES.format("eq", SUM, INDEXED)
    assert _proved(original, CASES.format("ne", "ld.global.u32 %r3, [%rd1+28];", SUM))
    assert not _proved(original, CASES.format("ne", "ld.global.u32 %r3, [%rd1+24];", SUM))


HINTED = """.version 8.0
.target sm_80
.address_size 64
.visible .entry k(.param .u64 x, .param .u64 y) {{
    .reg .b64 %rd<4>;
    ld.param.u64 %rd1, [x]; ld.param.u64 %rd2, [y];
    ld{0}.cg.u64 %rd3, [%rd1];
    st{0}.cg.u64 [%rd2], %rd3;
    ret;
}}"""


def test_hints_have_names_for_global_memory_alone() -> None:
    plain, generic = (
        print_module(lift_module(ptxkit.parse(HINTED.format(space)))) for space in (".global", "")
    )
    assert "__stcg(" in plain and "__ldcg(" in plain and "asm" not in plain
    assert '"ld.cg.u64 ' in generic and '"st.cg.u64 ' in generic and "__ldcg" not in generic
