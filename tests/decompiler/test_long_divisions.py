"""The shorter way of divisions is left out only where it gives what the longer one does."""

from __future__ import annotations

import numpy as np
import pytest

import ptxkit
from ptxkit.decompiler.verify.quotients import with_long_divisions

KERNEL = """.version 8.0
.target sm_90
.address_size 64
.visible .entry k(.param .u64 x, .param .u64 o) {{
    .reg .pred %p<3>; .reg .b32 %r<9>; .reg .b64 %d<20>;
    ld.param.u64 %d1, [x]; ld.param.u64 %d2, [o];
    mov.u32 %r0, %tid.x; mul.wide.u32 %d3, %r0, 16;
    add.s64 %d1, %d1, %d3; add.s64 %d2, %d2, %d3;
    {load}
    {ask}
    {go}
    {short}
    bra DONE;
LONG:
    {long}
DONE:
    st.global.v2.u64 [%d2], {{%d8, %d9}}; ret;
}}"""
RIGHT = {
    "load": "ld.global.v2.u64 {%d4, %d5}, [%d1]; mov.b64 %d8, 0; mov.b64 %d9, 0;",
    "ask": "or.b64 %d6, %d4, %d5; and.b64 %d7, %d6, -4294967296; setp.ne.s64 %p1, %d7, 0;",
    "go": "@%p1 bra LONG;",
    "short": "cvt.u32.u64 %r1, %d4; cvt.u32.u64 %r2, %d5; div.u32 %r3, %r1, %r2;"
    "cvt.u64.u32 %d8, %r3;",
    "long": "div.u64 %d8, %d4, %d5;",
}
#: A quotient, and what is left.
BOTH = {
    "short": RIGHT["short"] + "mul.lo.s32 %r4, %r3, %r2; sub.s32 %r5, %r1, %r4;"
    "cvt.u64.u32 %d9, %r5;",
    "long": RIGHT["long"] + "mul.lo.s64 %d10, %d8, %d5; sub.s64 %d9, %d4, %d10;",
}
ALIKE: dict[str, dict[str, str]] = {
    "a quotient": {},
    "both": BOTH,
    "what is left": {
        "short": RIGHT["short"].replace("div", "rem"),
        "long": RIGHT["long"].replace("div", "rem"),
    },
    "with a sign": {"long": "div.s64 %d8, %d4, %d5;"},
    "the opposite": {"ask": RIGHT["ask"].replace("setp.ne", "setp.eq"), "go": "@!%p1 bra LONG;"},
    "a shift": {
        "ask": "or.b64 %d6, %d4, %d5; shr.u64 %d7, %d6, 32; setp.ne.s64 %p1, %d7, 0;",
    },
    "a copy of the answer": {"go": "mov.pred %p2, %p1; @%p2 bra LONG;"},
    "its opposite": {"go": "not.pred %p2, %p1; @!%p2 bra LONG;"},
    "a jump between": {"go": "@!%p1 bra SHORT; bra.uni LONG; SHORT:"},
    "jumps on both ways": {"go": "@%p1 bra A; bra.uni SHORT; A: bra.uni LONG; SHORT:"},
    "a divisor that is small": {
        "load": RIGHT["load"] + "ld.global.u32 %d5, [%d1+8];",
        "ask": "and.b64 %d7, %d4, -4294967296; setp.ne.s64 %p1, %d7, 0;",
    },
}
WRONG: dict[str, dict[str, str]] = {
    "the other way round": {"short": RIGHT["short"].replace("%r1, %r2;", "%r2, %r1;")},
    "signed words": {"short": RIGHT["short"].replace("div.u32", "div.s32")},
    "a remainder": {"short": RIGHT["short"].replace("div", "rem")},
    "another number": {"long": "div.u64 %d8, %d5, %d4;"},
    "one number alone": {"ask": RIGHT["ask"].replace("or.b64 %d6, %d4, %d5", "mov.b64 %d6, %d4")},
    "a bit too few": {"ask": RIGHT["ask"].replace("-4294967296", "-8589934592")},
    "both bits": {"ask": RIGHT["ask"].replace("or.b64", "and.b64")},
    "large numbers": {"go": "@!%p1 bra LONG;"},
    "the opposite of a copy": {"go": "mov.pred %p2, %p1; @!%p2 bra LONG;"},
    "the opposite for the answer": {"go": "not.pred %p2, %p1; @%p2 bra LONG;"},
    "a jump to the other way": {"go": "@%p1 bra SHORT; bra.uni LONG; SHORT:"},
    "jumps to the other ways": {"go": "@!%p1 bra A; bra.uni SHORT; A: bra.uni LONG; SHORT:"},
    "the answer to a later question": {
        "go": "mov.pred %p2, %p1; setp.ne.s64 %p1, %d4, 7; @%p1 bra LONG;",
    },
    "another sign": {"short": RIGHT["short"].replace("cvt.u64.u32", "cvt.s64.s32")},
    "one register more": {"short": RIGHT["short"] + "mov.b64 %d9, 1;"},
    "one register less": {"long": RIGHT["long"] + "mov.b64 %d9, 1;"},
    "a store": {"short": RIGHT["short"] + "st.global.u64 [%d1], %d8;"},
    "another rest": {**BOTH, "short": BOTH["short"].replace("%r3, %r2; sub", "%r3, %r1; sub")},
    "asked before": {"ask": RIGHT["ask"] + "add.s64 %d4, %d4, %d4;"},
    "one more question": {"go": "setp.eq.s64 %p2, %d4, 7; @%p2 bra LONG; @%p1 bra DONE;"},
    "a carry": {"short": RIGHT["short"] + "add.cc.u32 %r6, %r1, %r2;"},
    "under a guard": {"short": RIGHT["short"].replace("div", "@%p2 div")},
    "a small one that is not": {
        "load": RIGHT["load"] + "ld.global.s32 %d5, [%d1+8];",
        "ask": ALIKE["a divisor that is small"]["ask"],
    },
}


#: The shorter way behind everything else, and the longer one there.
ELSEWHERE = {
    "short": ("@!%p1 bra FAST;", "{long}", "FAST:", "{short}"),
    "long": ("@%p1 bra LONG;", "{short}", "LONG:", "{long}"),
}


@pytest.mark.parametrize("what", ELSEWHERE)
def test_ways_may_lie_anywhere(what: str) -> None:
    go, here, label, there = ELSEWHERE[what]
    start, _, end = KERNEL.partition("{go}")
    end = end[end.index("DONE:") :].removesuffix("}}")
    text = f"{start} {go} {here} {end} {label} {there} bra DONE; }}}}"
    module = ptxkit.parse(text.format(**RIGHT))
    plain = with_long_divisions(module)
    assert plain is not module
    numbers = np.array([(2**32 + 7, 3), (7, 2**32 + 1), (100, 7), (2**63, 5)], np.uint64)
    out = np.zeros_like(numbers)
    ptxkit.load(plain, device="cpu")["k"][1, 4](numbers, out)
    assert out[:, 0].tolist() == [a // b for a, b in numbers.tolist()]


def made(change: dict[str, str]) -> ptxkit.Module:
    return ptxkit.parse(KERNEL.format(**RIGHT | change))


@pytest.mark.parametrize("what", ALIKE)
def test_the_longer_way_is_always_right(what: str) -> None:
    module = made(ALIKE[what])
    plain = with_long_divisions(module)
    assert plain is not module
    assert "@" not in "".join(one.text for one in plain["k"].instructions)
    edges = [1, 2, 3, 7, 2**31 - 1, 2**31, 2**32 - 1, 2**32, 2**32 + 1, 2**63 - 1, 2**63, 2**64 - 1]
    # What a division by zero gives is not said; the divisor may be the lower word alone.
    divisors = [b for b in edges if b % 2**32]
    numbers = np.array([(a, b) for a in [0, *edges] for b in divisors], np.uint64)
    left = []
    for one in (module, plain):
        out = np.zeros_like(numbers)
        ptxkit.load(one, device="cpu")["k"][1, len(numbers)](numbers.copy(), out)
        left.append(out)
    assert left[0].any()
    np.testing.assert_array_equal(*left)


@pytest.mark.parametrize("what", WRONG)
def test_what_may_differ_stays(what: str) -> None:
    module = made(WRONG[what])
    assert with_long_divisions(module) is module


def test_a_register_that_is_returned_is_read() -> None:
    module = ptxkit.parse(
        ".func (.reg .b64 %q) f(.reg .b64 %a, .reg .b64 %b) {"
        ".reg .pred %p; .reg .b32 %r<4>; .reg .b64 %d<3>;"
        "or.b64 %d1, %a, %b; and.b64 %d2, %d1, -4294967296; setp.ne.s64 %p, %d2, 0; @%p bra LONG;"
        "cvt.u32.u64 %r1, %a; cvt.u32.u64 %r2, %b; div.u32 %r3, %r2, %r1; cvt.u64.u32 %q, %r3;"
        "bra DONE; LONG: div.u64 %q, %a, %b; DONE: ret; }"
    )
    assert with_long_divisions(module) is module
