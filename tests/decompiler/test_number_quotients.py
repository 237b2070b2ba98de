"""Divisions by numbers that compilers know: each compiler and GPU has its way, a proof has one."""

from __future__ import annotations

import pytest

import ptxkit
from ptxkit.decompiler.verify import same_dataflow

HEAD = """.version 8.0
.target sm_90
.address_size 64
.visible .entry k(.param .u64 p, .param .u64 q) {
    .reg .b16 %h<20>; .reg .b32 %r<20>; .reg .b64 %d<9>;
    ld.param.u64 %d1, [p]; ld.param.u64 %d2, [q]; ld.global.u32 %r1, [%d1]; ld.global.u8 %h1, [%d1];
"""
TAIL = "st.global.u32 [%d2], %r9; ret; }"
PLAIN = "div.u32 %r9, %r1, {0};"
ADDED = """mul.hi.u32 %r3, %r1, {number}; sub.s32 %r4, %r1, %r3; shr.u32 %r5, %r4, 1;
    add.s32 %r6, %r5, %r3; shr.u32 %r9, %r6, {by};"""
WIDE = "cvt.u64.u32 %d3, %r1; mul.hi.u64 %d4, %d3, {number}; cvt.u32.u64 %r9, %d4;"
LONG = "mul.wide.u32 %d3, %r1, {number}; shr.u64 %d4, %d3, {by}; cvt.u32.u64 %r9, %d4;"
BYTE = "mul.lo.s16 %h2, %h1, {number}; shr.u16 %h3, %h2, {by}; cvt.u32.u16 %r9, %h3;"
PLAIN_BYTE = "cvt.u32.u16 %r2, %h1; div.u32 %r9, %r2, {0};"
ADDED_BYTE = """mul.lo.s16 %h2, %h1, {number}; shr.u16 %h3, %h2, 8; sub.s16 %h4, %h1, %h3;
    and.b16 %h5, %h4, 254; shr.u16 %h6, %h5, 1; add.s16 %h7, %h6, %h3; shr.u16 %h8, %h7, {by};
    cvt.u32.u16 %r9, %h8;"""
#: A way, and the divisor that it is one for.
WAYS = {
    "half of what is missing": (ADDED.format(number=613566757, by=2), PLAIN, 7),
    "a larger divisor": (ADDED.format(number=131077, by=14), PLAIN, 32767),
    "the upper half of 64 bits": (WIDE.format(number=562967133945856), PLAIN, 32767),
    "all of the product": (LONG.format(number=3435973837, by=35), PLAIN, 10),
    "a factor of 2 to the 32 and 1": (LONG.format(number=6700417, by=32), PLAIN, 641),
    "a byte": (BYTE.format(number=41, by=12), PLAIN_BYTE, 100),
    "a byte, and half of what is missing": (ADDED_BYTE.format(number=37, by=2), PLAIN_BYTE, 7),
}  # fmt: skip


@pytest.mark.parametrize("name", WAYS)
def test_it_is_that_quotient_and_no_other(name: str) -> None:
    way, plain, divisor = WAYS[name]
    made = ptxkit.parse(f"{HEAD}{way}{TAIL}")
    for other in (divisor - 1, divisor, divisor + 1):
        divided = ptxkit.parse(f"{HEAD}{plain.format(other)}{TAIL}")
        assert same_dataflow(divided, made, "k").equal is (other == divisor)


@pytest.mark.parametrize(
    ("way", "number", "by"),
    [
        (LONG, 3435973830, 35),
        (LONG, 2863311531, 33),
        (BYTE, 40, 12),
        (WIDE, 562967133945858 << 9, 0),
    ],
)
def test_a_product_that_is_no_quotient_is_none(way: str, number: int, by: int) -> None:
    """Some number is divided otherwise: 3,435,973,830 * x >> 35 is 0 for 10."""
    made = ptxkit.parse(f"{HEAD}{way.format(number=number, by=by)}{TAIL}")
    plain = PLAIN_BYTE if way is BYTE else PLAIN
    divisor = round((1 << by if by else 1 << 64) / number)
    if (way, number) == (LONG, 2863311531):  # 3, which it is for
        divisor += 1
    divided = ptxkit.parse(f"{HEAD}{plain.format(max(divisor, 1))}{TAIL}")
    assert not same_dataflow(divided, made, "k").equal


@pytest.mark.parametrize("type", ["unsigned", "unsigned long long", "unsigned short"])
@pytest.mark.parametrize("operator", ["/", "%"])
def test_compilers_for_other_gpus_divide_otherwise(type: str, operator: str) -> None:
    numbers = (3, 7, 10, 14, 60, 100, 127, 641, 1000, 1021, 32767)
    lines = "\n".join(
        f"q[{k}] = p[{k}] {operator} ({type}){number};" for k, number in enumerate(numbers)
    )
    source = f'extern "C" __global__ void k(const {type} *p, {type} *q) {{ {lines} }}'
    first, second = (ptxkit.compile_cuda(source, arch=arch) for arch in ("sm_90", "sm_120"))
    assert same_dataflow(first, second, "k").equal
