"""What may be taken for global memory: what the original takes for that."""

from __future__ import annotations

import pytest
from tests.decompiler.proving import bodies_proved

HEAD = """.version 8.0
.target sm_90
.address_size 64
.const .align 4 .b32 table[8];
.visible .entry k(.param .u64 x, .param .u64 y, .param .u32 n) {bounds} {{
    .reg .pred %p<9>; .reg .b32 %r<19>; .reg .b64 %rd<19>;
    ld.param.u64 %rd1, [x];
    ld.param.u64 %rd2, [y];
    ld.param.u32 %r1, [n];
"""
#: One access to memory of any kind, and others that are known to be of global memory.
BODY = """ld{first}.u32 %r2, [%rd1]; setp.lt.u32 %p1, %r1, 7; {guard} ld{second}.u32 %r3, [%rd2+4];
    add.u32 %r4, %r2, 1; st{third}.u32 [%rd2+8], %r4; atom{fourth}.add.u32 %r5, [%rd2+16], %r4;
    st.global.u32 [%rd2+24], %r5; ret;"""
WRITTEN = {"first": "", "second": ".global", "third": ".global", "fourth": ".global", "guard": ""}


@pytest.mark.parametrize(
    ("changes", "equal"),
    [
        ({"second": ""}, True),
        ({"second": "", "third": "", "fourth": ""}, True),
        ({"first": ".global"}, False),
        ({"first": ".global", "second": ""}, False),
        ({"third": ".shared"}, False),
        ({"fourth": "", "third": ".shared"}, False),
    ],
)
def test_memory_of_any_kind_may_be_global_but_need_not(
    changes: dict[str, str], equal: bool
) -> None:
    bodies = (BODY.format(**WRITTEN), BODY.format(**(WRITTEN | changes)))
    assert bodies_proved(HEAD, *bodies, "", thorough=True) is equal


def test_it_is_global_only_when_the_original_says_so() -> None:
    # The original touches it under a guard; the candidate may not take it for global without one.
    sometimes = BODY.format(**(WRITTEN | {"guard": "@%p1"})).replace("[%rd2+", "[%rd1+")
    always = sometimes.replace("ld.u32 %r2", "ld.global.u32 %r2")
    assert not bodies_proved(HEAD, sometimes, always, "", thorough=True)


#: A loop that keeps, or loads again, a number of a table.
LOOP = """mov.u32 %r2, 0; {before}
L:  {inside} st.{space}.u32 [{store}], %r2; add.u32 %r2, %r2, %r3;
    setp.lt.u32 %p1, %r2, %r1; @%p1 bra L; ret;"""


@pytest.mark.parametrize(
    ("kept", "again", "equal"),
    [
        ("ld.const.u32 %r3, [table+4];", "ld.const.u32 %r3, [table+4];", True),
        ("ld.const.u32 %r3, [table+4];", "ld.const.u32 %r3, [table+8];", False),
        ("ld.global.u32 %r3, [%rd1+4];", "ld.global.u32 %r3, [%rd1+4];", False),
    ],
)
def test_constant_memory_may_be_loaded_again(kept: str, again: str, equal: bool) -> None:
    first = LOOP.format(before=kept, inside="", space="global", store="%rd1")
    second = LOOP.format(before="", inside=again, space="global", store="%rd1")
    assert bodies_proved(HEAD, first, second, "", thorough=True) is equal
