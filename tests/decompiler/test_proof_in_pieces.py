"""What E2 proves of long functions, cut where both must be at the same time, and what not."""

from __future__ import annotations

import pytest
from tests.decompiler.proving import bodies_proved

import ptxkit
from ptxkit.decompiler.verify.asked import AS_WRITTEN, asked_options
from ptxkit.decompiler.verify.certificates import verify

HEAD = """.version 8.0
.target sm_90
.address_size 64
.visible .entry k(.param .align 8 .b8 x[16], .param .u32 n) {bounds} {{
    .reg .pred %p<99>; .reg .b16 %h<9>; .reg .b32 %r<99>; .reg .b64 %rd<99>; .reg .f32 %f<99>;
    ld.param.u64 %rd1, [x];
    ld.param.u32 %r1, [n];
    mov.u32 %r2, %tid.x;
"""


def proved(first: str, second: str, bounds: str = "", thorough: bool = False) -> bool:
    return bodies_proved(HEAD, first, second, bounds, thorough=thorough)


STORE = "st.global.u32 [%rd1], %r3; ret;"
#: What is the same, then what is nearly so.
VALUES = {
    "bits in a row, masked or shifted out": (
        "and.b32 %r3, %r1, 1536;",
        "shr.u32 %r3, %r1, 9; and.b32 %r3, %r3, 3; shl.b32 %r3, %r3, 9;",
        "shr.u32 %r3, %r1, 8; and.b32 %r3, %r3, 3; shl.b32 %r3, %r3, 9;",
    ),
    "a mask before or after a shift": (
        "shl.b32 %r3, %r1, 9; and.b32 %r3, %r3, 1536;",
        "and.b32 %r3, %r1, 3; shl.b32 %r3, %r3, 9;",
        "and.b32 %r3, %r1, 7; shl.b32 %r3, %r3, 9;",
    ),
    "a quotient from the upper half of a product": (
        "div.u32 %r3, %r1, 640;",
        "mul.hi.u32 %r3, %r1, -858993459; shr.u32 %r3, %r3, 9;",
        "mul.hi.u32 %r3, %r1, -858993460; shr.u32 %r3, %r3, 9;",
    ),
    "one more than an even number": (
        "shl.b32 %r4, %r1, 1; add.s32 %r4, %r4, -1; mul.wide.s32 %rd3, %r4, 4;"
        "add.s64 %rd4, %rd1, %rd3; ld.global.u32 %r3, [%rd4];",
        "shl.b32 %r4, %r1, 1; add.s32 %r4, %r4, -2; mul.wide.s32 %rd3, %r4, 4;"
        "add.s64 %rd4, %rd1, %rd3; ld.global.u32 %r3, [%rd4+4];",
        "shl.b32 %r4, %r1, 1; mul.wide.s32 %rd3, %r4, 4;"
        "add.s64 %rd4, %rd1, %rd3; ld.global.u32 %r3, [%rd4+-4];",
    ),
    "one more than an even number without a sign": (
        "mad.lo.u32 %r4, %r1, 6, 1; mul.wide.u32 %rd3, %r4, 4;"
        "add.s64 %rd4, %rd1, %rd3; ld.global.u32 %r3, [%rd4];",
        "mul.lo.u32 %r4, %r1, 6; mul.wide.u32 %rd3, %r4, 4;"
        "add.s64 %rd4, %rd1, %rd3; ld.global.u32 %r3, [%rd4+4];",
        "mad.lo.u32 %r4, %r1, 3, 1; mul.wide.u32 %rd3, %r4, 4;"
        "add.s64 %rd4, %rd1, %rd3; ld.global.u32 %r3, [%rd4+4];",
    ),
    "one more than a multiple of three": (
        "mad.lo.u32 %r4, %r1, 3, 1; mul.wide.u32 %rd3, %r4, 4;"
        "add.s64 %rd4, %rd1, %rd3; ld.global.u32 %r3, [%rd4];",
        "mul.lo.u32 %r4, %r1, 3; add.u32 %r4, %r4, 1; cvt.u64.u32 %rd3, %r4; shl.b64 %rd3, %rd3, 2;"
        "add.s64 %rd4, %rd1, %rd3; ld.global.u32 %r3, [%rd4];",
        "mul.lo.u32 %r4, %r1, 3; mul.wide.u32 %rd3, %r4, 4;"
        "add.s64 %rd4, %rd1, %rd3; ld.global.u32 %r3, [%rd4+4];",
    ),
    "a power of two, or nothing": (
        "popc.b32 %r4, %r1; setp.lt.u32 %p1, %r4, 2; selp.b32 %r3, 5, 6, %p1;",
        "add.s32 %r4, %r1, -1; and.b32 %r4, %r4, %r1; setp.eq.s32 %p1, %r4, 0;"
        "selp.b32 %r3, 5, 6, %p1;",
        "popc.b32 %r4, %r1; setp.lt.u32 %p1, %r4, 3; selp.b32 %r3, 5, 6, %p1;",
    ),
    "a long power of two": (
        "ld.param.u64 %rd3, [x+8]; popc.b64 %r4, %rd3; setp.gt.u32 %p1, %r4, 1;"
        "selp.b32 %r3, 5, 6, %p1;",
        "ld.param.u64 %rd3, [x+8]; add.s64 %rd4, %rd3, -1; and.b64 %rd4, %rd4, %rd3;"
        "setp.ne.s64 %p1, %rd4, 0; selp.b32 %r3, 5, 6, %p1;",
        "ld.param.u64 %rd3, [x+8]; add.s64 %rd4, %rd3, 1; and.b64 %rd4, %rd4, %rd3;"
        "setp.ne.s64 %p1, %rd4, 0; selp.b32 %r3, 5, 6, %p1;",
    ),
    "one of two numbers": (
        "and.b32 %r4, %r1, 1; setp.eq.s32 %p1, %r4, 1; selp.b32 %r3, 5, 6, %p1;",
        "and.b32 %r4, %r1, 1; setp.eq.s32 %p1, %r4, 0; selp.b32 %r3, 6, 5, %p1;",
        "and.b32 %r4, %r1, 3; setp.eq.s32 %p1, %r4, 0; selp.b32 %r3, 6, 5, %p1;",
    ),
    "one of four numbers": (
        "and.b32 %r4, %r1, 3; setp.eq.s32 %p1, %r4, 1; selp.b32 %r3, 5, 6, %p1;",
        "and.b32 %r4, %r1, 3; setp.ne.s32 %p1, %r4, 1; selp.b32 %r3, 6, 5, %p1;",
        "and.b32 %r4, %r1, 3; setp.eq.s32 %p1, %r4, 0; selp.b32 %r3, 6, 5, %p1;",
    ),
    "a quotient of a quotient": (
        "div.u32 %r3, %r1, 10; shr.u32 %r3, %r3, 6;",
        "div.u32 %r3, %r1, 640;",
        "div.u32 %r3, %r1, 320;",
    ),
    "a parameter through its address": (
        "ld.param.u32 %r3, [x+12];",
        "mov.b64 %rd3, x; add.s64 %rd3, %rd3, 8; ld.param.u32 %r3, [%rd3+4];",
        "mov.b64 %rd3, x; add.s64 %rd3, %rd3, 8; ld.param.u32 %r3, [%rd3];",
    ),
    "a parameter at an index": (
        "mul.wide.u32 %rd3, %r2, 4; mov.b64 %rd4, x; add.s64 %rd4, %rd4, %rd3;"
        "ld.param.u32 %r3, [%rd4];",
        "mov.b64 %rd4, x; cvt.u64.u32 %rd3, %r2; shl.b64 %rd3, %rd3, 2;"
        "add.s64 %rd4, %rd3, %rd4; ld.param.u32 %r3, [%rd4];",
        "mov.b64 %rd4, x; cvt.u64.u32 %rd3, %r2; shl.b64 %rd3, %rd3, 2;"
        "add.s64 %rd4, %rd3, %rd4; ld.param.u32 %r3, [%rd4+4];",
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", VALUES)
def test_values(name: str) -> None:
    one, same, other = VALUES[name]
    assert proved(one + STORE, same + STORE)
    assert not proved(one + STORE, other + STORE)


def test_threads_are_as_many_as_the_original_says() -> None:
    added, united = (
        f"{what}.{t}32 %r3, %r2, 512;" + STORE for what, t in (("add", "s"), ("or", "b"))
    )
    assert proved(added, united, ".maxntid 512")
    assert proved(added, united, ".reqntid 256, 2")
    assert not proved(added, united, ".maxntid 513")
    assert not proved(added, united)
    size = "mov.u32 %r3, %ntid.x;" + STORE
    assert proved(size, "mov.u32 %r3, 96;" + STORE, ".reqntid 96")
    assert not proved(size, "mov.u32 %r3, 96;" + STORE, ".maxntid 96")


def test_a_wide_load_is_two_loads_but_two_may_not_become_a_wide_one() -> None:
    wide = "ld.global.b64 %rd3, [%rd1];"
    parts = (
        "ld.global.b32 %r4, [%rd1]; ld.global.b32 %r5, [%rd1+4];"
        "cvt.u64.u32 %rd4, %r5; shl.b64 %rd4, %rd4, 32; cvt.u64.u32 %rd3, %r4;"
        "or.b64 %rd3, %rd3, %rd4;"
    )
    end = "st.global.b64 [%rd1+64], %rd3; ret;"
    assert proved(wide + end, parts + end)
    assert not proved(wide + end, parts.replace("%rd1+4", "%rd1+8") + end)
    # Memory need not be aligned for it.
    assert not proved(parts + end, wide + end)


#: A loop that counts and moves on; what it moved on by is computed before, or in it.
EXIT = """
    and.b32 %r4, %r1, 3; neg.s32 %r5, %r4; mov.u32 %r6, %r2; {before}
L:  cvt.u64.u32 %rd3, %r2; add.s64 %rd4, %rd1, %rd3; st.global.u8 [%rd4], 1;
    {inside} add.s32 %r5, %r5, 1; setp.ne.s32 %p1, %r5, 0; @%p1 bra L;
    st.global.u32 [%rd1], %r6; ret;
"""


def test_what_a_loop_leaves_can_be_computed_before_it() -> None:
    inside = EXIT.format(before="", inside="add.s32 %r6, %r6, 512;")
    moved = "shl.b32 %r7, %r1, 9; and.b32 %r7, %r7, 1536; add.s32 %r6, %r6, %r7;"
    assert proved(inside, EXIT.format(before=moved, inside=""))
    assert not proved(inside, EXIT.format(before=moved.replace("1536", "3584"), inside=""))
    assert not proved(EXIT.format(before="", inside="add.s32 %r6, %r6, 511;"),
                      EXIT.format(before=moved, inside=""))  # fmt: skip


def _steps(turns: int, step: str, between: str = "") -> str:
    """Sums that are added to only where a condition holds, one after another, with barriers."""
    parts = ["mov.f32 %f1, 0f00000000; mov.u32 %r9, 0;"]
    for turn in range(turns):
        parts.append(step.format(turn=turn, address=4 * turn) + between)
    return "\n".join((*parts, "st.global.f32 [%rd1], %f1; ret;"))


BRANCH = """
    setp.le.u32 %p1, %r1, {turn}; @%p1 bra J{turn};
    ld.global.f32 %f2, [%rd1+{address}]; add.rn.f32 %f1, %f1, %f2;
    st.global.f32 [%rd1+{address}], %f1;
J{turn}:
    bar.sync 0;
"""
GUARD = """
    setp.gt.u32 %p1, %r1, {turn};
    @%p1 ld.global.f32 %f2, [%rd1+{address}];
    @%p1 add.rn.f32 %f1, %f1, %f2;
    @%p1 st.global.f32 [%rd1+{address}], %f1;
    bar.sync 0;
"""


def test_many_conditions_between_barriers() -> None:
    branches, guards = (_steps(18, step) for step in (BRANCH, GUARD))
    assert proved(branches, guards)
    assert proved(guards, branches)
    assert not proved(
        branches, guards.replace("setp.gt.u32 %p1, %r1, 17;", "setp.gt.u32 %p1, %r1, 16;")
    )
    assert not proved(branches, guards.replace("[%rd1+40], %f1", "[%rd1+44], %f1"))
    assert not proved(branches, _steps(18, GUARD.replace("bar.sync 0;", "")))


def test_two_halves_in_two_registers_or_in_one() -> None:
    """A cut between two shuffles: one side has the second half ready, the other makes it then."""
    load = "ld.global.b64 %rd3, [%rd1];"
    shuffle = "shfl.sync.down.b32 %r{0}, %r{1}, 1, 31, -1;"
    end = "st.global.b32 [%rd1], %r6; st.global.b32 [%rd1+4], %r7; ret;"
    many = "\n".join(
        f"setp.le.u32 %p1, %r1, {k}; @%p1 bra J{k}; st.global.u32 [%rd1+{4 * k}], {k}; J{k}:"
        for k in range(2, 20)
    )
    early = "mov.b64 {%r4, %r5}, %rd3;" + shuffle.format(6, 4) + shuffle.format(7, 5)
    late = (
        "cvt.u32.u64 %r4, %rd3;" + shuffle.format(6, 4)
        + "shr.u64 %rd4, %rd3, 32; cvt.u32.u64 %r5, %rd4;" + shuffle.format(7, 5)
    )  # fmt: skip
    assert proved(many + load + early + end, many + load + late + end)
    assert not proved(many + load + early + end, many + load + late.replace(", 32;", ", 16;") + end)


def test_a_candidate_may_ask_for_a_compiler_that_leaves_it_as_it_is() -> None:
    source = 'extern "C" __global__ void k(int *x, unsigned n) { x[threadIdx.x] = n / 10; }'
    original = ptxkit.compile_cuda(source, arch="sm_90")
    asks = f"// compile with: {AS_WRITTEN}\n"
    assert asked_options(asks + source) == (AS_WRITTEN,)
    assert verify(original, asks + source).level in ("E1", "E2")
    assert not verify(original, asks + source.replace("/ 10", "/ 9")).equivalent


#: A loop that asks first, and one that asks last behind a question before it.
FIRST = """
    mov.u32 %r3, 0;
L:  setp.ge.u32 %p1, %r3, %r1; @%p1 bra E;
    mul.wide.u32 %rd3, %r3, 4; add.s64 %rd4, %rd1, %rd3; st.global.u32 [%rd4], %r3;
    add.s32 %r3, %r3, {step}; bra L;
E:  st.global.u32 [%rd1], %r3; ret;
"""
LAST = """
    mov.u32 %r3, 0; setp.ge.u32 %p1, %r3, %r1; @%p1 bra E;
L:  mul.wide.u32 %rd3, %r3, 4; add.s64 %rd4, %rd1, %rd3; st.global.u32 [%rd4], %r3;
    add.s32 %r3, %r3, {step}; setp.lt.u32 %p1, %r3, %r1; @%p1 bra L;
E:  st.global.u32 [%rd1], %r3; ret;
"""


def test_a_loop_may_ask_first_or_last() -> None:
    assert proved(FIRST.format(step=1), LAST.format(step=1))
    assert proved(LAST.format(step=1), FIRST.format(step=1))
    assert not proved(FIRST.format(step=1), LAST.format(step=2))
    assert not proved(FIRST.format(step=1), LAST.format(step=1).replace("lt.u32", "le.u32"))
    late = FIRST.format(step=1).replace("ge.u32", "gt.u32")
    assert not proved(late, LAST.format(step=1))


#: Indices in 64 bits; in 32 bits they are the same as long as the sum does not overflow.
TILES = """
    setp.lt.u32 %p1, %r1, {tile}; @%p1 bra E;
    add.s32 %r4, %r1, -{tile}; mov.u32 %r3, 0;
L:  {index} shl.b64 %rd3, %rd3, 2; add.s64 %rd4, %rd1, %rd3; st.global.u32 [%rd4], %r3;
    add.s32 %r3, %r3, {tile}; setp.le.u32 %p1, %r3, %r4; @%p1 bra L;
E:  ret;
"""


def test_what_a_loop_bounds_does_not_overflow() -> None:
    wide = "cvt.u64.u32 %rd3, %r3; cvt.u64.u32 %rd5, %r2; add.s64 %rd3, %rd3, %rd5;"
    narrow = "add.s32 %r5, %r3, %r2; cvt.u64.u32 %rd3, %r5;"
    bounds = ".maxntid 512"
    one, other = (TILES.format(tile=512, index=index) for index in (wide, narrow))
    assert proved(one, other, bounds)
    assert proved(other, one, bounds)
    # The last multiple of 256 that is not above 2**32 - 257 is 2**32 - 512.
    one, other = (TILES.format(tile=256, index=index) for index in (wide, narrow))
    assert proved(one, other, bounds)
    assert not proved(one, other, ".maxntid 513")
    # Other tiles that are smaller than blocks leave room for an overflow.
    one, other = (TILES.format(tile=255, index=index) for index in (wide, narrow))
    assert not proved(one, other, bounds)
    # So does a loop that does not say where it ends.
    free = TILES.replace("setp.le.u32 %p1, %r3, %r4", "setp.ne.u32 %p1, %r3, %r1")
    one, other = (free.format(tile=500, index=index) for index in (wide, narrow))
    assert not proved(one, other, bounds)
    # But between multiples of as much as blocks have, nothing overflows.
    one, other = (free.format(tile=512, index=index) for index in (wide, narrow))
    assert proved(one, other, bounds)
    assert not proved(one, other, ".maxntid 513")


def test_memory_of_any_kind_is_global_where_the_original_says_so() -> None:
    named, any_kind = (f"st{space}.u32 [%rd1], %r2; ret;" for space in (".global", ""))
    assert proved(named, any_kind)
    assert not proved(any_kind, named)
    mixed = "st.global.u32 [%rd1+8], 1; st.u32 [%rd1], %r2; ret;"
    assert not proved(mixed, mixed.replace("st.u32", "st.global.u32"))


def test_words_may_be_stored_as_one() -> None:
    two = "st.global.v2.b32 [%rd1], {%r1, %r2}; ret;"
    one = "mov.b64 %rd3, {%r1, %r2}; st.global.b64 [%rd1], %rd3; ret;"
    assert proved(two, one)
    assert proved(one, two)
    assert not proved(two, one.replace("{%r1, %r2}", "{%r2, %r1}"))
    # Two stores need no memory that is aligned for one.
    apart = "st.global.b32 [%rd1], %r1; st.global.b32 [%rd1+4], %r2; ret;"
    assert not proved(apart, one)


def test_numbers_that_are_never_so_small_need_no_care() -> None:
    unit = "cvt.rn.f32.u32 %f1, %r1; fma.rn.f32 %f1, %f1, 0f2F800000, 0f2F000000;"
    care = (
        "setp.lt.f32 %p1, %f1, 0f{0}; mul.rn.f32 %f2, %f1, 0f4B000000; selp.f32 %f1, %f2, %f1, %p1;"
    )
    end = "st.global.f32 [%rd1], %f1; ret;"
    assert proved(unit + care.format("00800000") + end, unit + end)
    assert not proved(unit + care.format("3F000000") + end, unit + end)


#: A number, the same and more, and a pair with it; in a loop each of them stands for others.
RELATED = """ld.global.v2.u32 {{%r3, %r4}}, [%rd1]; add.s32 %r5, %r3, 100;
    mov.u32 %r6, 7; mov.u32 %r7, 0; mov.b64 %rd5, {{%r3, %r4}};
L:  {first} mad.lo.s32 %r6, %r6, 3, %r8; {second} xor.b32 %r6, %r6, %r9; {third}
    add.s32 %r7, %r7, 1; setp.lt.s32 %p1, %r7, %r1; @%p1 bra L;
    cvt.u32.u64 %r10, %rd5; xor.b32 %r6, %r6, %r10; xor.b32 %r6, %r6, %r3; xor.b32 %r6, %r6, %r5;
    st.global.u32 [%rd1], %r6; ret;"""
PLAIN = {"first": "mov.b32 %r8, %r5;", "second": "mov.b32 %r9, %r3;", "third": ""}
TURNED = {"first": "add.s32 %r8, %r3, 100;", "second": "sub.s32 %r9, %r5, 100;", "third": ""}
HALVED = TURNED | {"second": "cvt.u32.u64 %r9, %rd5;"}
#: What is no copy, with what is changed in both.
UNRELATED = {
    "another number": ({}, {"first": "add.s32 %r8, %r3, 101;"}),
    "the other way round": ({}, {"first": "sub.s32 %r8, %r3, 100;"}),
    "the other half": ({}, {"second": "mov.b64 {%r8, %r9}, %rd5;"}),
    "only at first": ({"third": "add.s32 %r5, %r5, 1;"}, {"third": "add.s32 %r5, %r5, 1;"}),
    "only the half at first": ({"third": "add.s64 %rd5, %rd5, 1;"},) * 2,
    "in the second turn": (
        {"third": "xor.b32 %r3, %r3, %r7;"}, {"third": "xor.b32 %r3, %r3, %r7;"},
    ),
}  # fmt: skip


@pytest.mark.parametrize("second", [TURNED, HALVED])
def test_what_both_hold_in_words_of_what_both_hold(second: dict[str, str]) -> None:
    assert proved(RELATED.format(**PLAIN), RELATED.format(**second))


@pytest.mark.parametrize("name", UNRELATED)
def test_what_is_no_longer_related(name: str) -> None:
    more, other = UNRELATED[name]
    first, second = RELATED.format(**PLAIN | more), RELATED.format(**HALVED | other)
    assert not proved(first, second)
    assert proved(first, first) and proved(second, second)
