"""Variables of modules: which is which, what they begin with, and what points to them."""

from __future__ import annotations

import pytest

import ptxkit
from ptxkit.decompiler.verify import same_dataflow, same_execution, same_ptx
from ptxkit.syntax import Module

HEAD = ".version 8.0\n.target sm_80\n.address_size 64\n"


def module(text: str) -> Module:
    return ptxkit.parse(HEAD + text)


LOCAL = """
.visible .entry {name}(.param .u64 x) {{
    .shared .align 4 .b8 buf[{size}];
    .reg .b32 %r<3>;
    mov.u32 %r1, buf;
    st.shared.u32 [buf], %r1;
    ret;
}}"""


def test_shared_memory_of_two_functions_may_have_one_name() -> None:
    def both(first: int, second: int) -> Module:
        return module(LOCAL.format(name="k", size=first) + LOCAL.format(name="j", size=second))

    original, smaller = both(16, 64), both(8, 64)
    assert same_ptx(original, original, "k") and same_ptx(original, smaller, "j")
    assert not same_ptx(original, smaller, "k")


SHARING = """
.visible .entry k(.param .u64 x) {{
    .reg .b32 %r<3>;
    mov.u32 %r1, 1;
    st.global.u32 [{0}], %r1;
    ret;
}}
.visible .entry j(.param .u64 x) {{
    .reg .b32 %r<3>;
    ld.global.u32 %r1, [{1}];
    st.global.u32 [{1}+4], %r1;
    ret;
}}"""
FLAGS = ".global .align 4 .b8 %s[8];\n"


def test_a_variable_of_two_kernels_stays_one() -> None:
    original = module(FLAGS % "flag" + SHARING.format("flag", "flag"))
    renamed = module(FLAGS % "f" + SHARING.format("f", "f"))
    apart = module(FLAGS % "f" + FLAGS % "g" + SHARING.format("f", "g"))
    for same in (same_ptx, lambda *given: same_dataflow(*given).equal):
        assert same(original, renamed, "k") and same(original, renamed, "j")
        assert not (same(original, apart, "k") and same(original, apart, "j"))


def test_a_variable_that_both_have_is_no_other_one() -> None:
    original = module(FLAGS % "b" + SHARING.format("b", "b"))
    candidate = module(FLAGS % "a" + FLAGS % "b" + SHARING.format("a", "b"))
    assert not same_ptx(original, candidate, "k")
    assert not same_dataflow(original, candidate, "k").equal


POINTING = """
.visible .entry k(.param .u64 y) {{
    .reg .b32 %r<3>;
    .reg .b64 %rd<5>;
    ld.param.u64 %rd1, [y];
    ld.global.u64 %rd2, [{pointer}];
    ld.global.u32 %r1, [%rd2];
    {more}
    st.global.u32 [%rd1], %r1;
    st.global.u64 [%rd1+8], %rd2;
    st.global.u64 [{pointer}], %rd2;
    ret;
}}"""
AROUND = "add.u64 %rd3, %rd2, 1; add.u64 %rd2, %rd3, -1;"
#: What it points to otherwise, and whether that is the same.
TARGETS = {
    "called otherwise": ("p", ".global .u32 z = 1; .global .u64 p = generic(z);", True),
    "both called otherwise": ("q", ".global .u32 b = 1; .global .u64 q = generic(b);", True),
    "another number": ("p", ".global .u32 a = 2; .global .u64 p = generic(a);", False),
    "another variable": (
        "p", ".global .u32 a = 1; .global .u32 b = 1; .global .u64 p = generic(b);", False,
    ),
    "another place": ("p", ".global .u32 a = 1; .global .u64 p = generic(a)+4;", False),
}  # fmt: skip


@pytest.mark.parametrize("what", TARGETS)
def test_pointers_are_compared_by_what_they_point_to(what: str) -> None:
    pointer, declared, same = TARGETS[what]
    begin = ".global .u32 a = 1; .global .u64 p = generic(a);"
    original = module(begin + POINTING.format(pointer="p", more=""))
    candidate = module(declared + POINTING.format(pointer=pointer, more=AROUND))
    assert same_dataflow(original, candidate, "k").equal is same
    found = same_execution(original, candidate, "k")
    assert found.equal is same, found.reason
    assert found.different is not same


GUARDED = """
.visible .entry k(.param .u64 x, .param .u64 y, .param .u32 n) {{
    .reg .pred %p<3>;
    .reg .b32 %r<6>;
    .reg .b64 %rd<6>;
    ld.param.u64 %rd1, [x];
    ld.param.u64 %rd2, [y];
    ld.param.u32 %r1, [n];
    mov.u32 %r2, %tid.x;
    mul.wide.u32 %rd3, %r2, 4;
    add.s64 %rd4, %rd1, %rd3;
    add.s64 %rd5, %rd2, %rd3;
    {before}
    setp.ge.u32 %p1, %r2, %r1;
    @%p1 bra DONE;
    {behind}
    st.global.u32 [%rd5], %r3;
DONE:
    ret;
}}"""


def test_nothing_is_proved_where_more_is_loaded() -> None:
    """Beyond the end there may be no memory: a load that is done anyway stops the kernel."""
    load = "ld.global.u32 %r3, [%rd4];"
    guarded = module(GUARDED.format(before="", behind=load))
    hoisted = module(GUARDED.format(before=load, behind=""))
    assert "loads what the original does not" in same_dataflow(guarded, hoisted, "k").reason
    assert same_dataflow(hoisted, guarded, "k").equal


def test_parameters_may_be_declared_otherwise() -> None:
    text = """
.visible .entry k(.param .u64 y, .param .{type} a) {{
    .reg .b32 %r<3>;
    .reg .b64 %rd<3>;
    ld.param.u64 %rd1, [y];
    ld.param.u32 %r1, [a];
    st.global.u32 [%rd1], %r1;
    ret;
}}"""
    found = same_execution(module(text.format(type="f32")), module(text.format(type="u32")), "k")
    assert found.equal, found.reason


def test_memory_that_nobody_writes_is_a_promise() -> None:
    """A load that is told so may see what was there before."""
    load = "ld.global.u32 %r3, [%rd4];"
    plain = module(GUARDED.format(before="", behind=load))
    trusting = module(GUARDED.format(before="", behind=load.replace(".u32", ".nc.u32")))
    assert not same_dataflow(plain, trusting, "k").equal
    assert not same_execution(plain, trusting, "k").equal
    assert same_execution(trusting, plain, "k").equal


READ_AGAIN = """
.visible .entry k(.param .u64 x, .param .u64 y, .param .u64 z) {{
    .reg .b32 %r<6>;
    .reg .b64 %rd<8>;
    ld.param.u64 %rd1, [x];
    ld.param.u64 %rd2, [y];
    ld.param.u64 %rd3, [z];
    mov.u32 %r1, %tid.x;
    mul.wide.u32 %rd4, %r1, 4;
    add.s64 %rd5, %rd1, %rd4;
    add.s64 %rd6, %rd2, %rd4;
    add.s64 %rd7, %rd3, %rd4;
    {loads}
    xor.b32 %r5, %r2, %r3;
    add.u32 %r5, %r5, %r4;
    st.global.u32 [%rd7], %r5;
    ret;
}}"""


def test_what_is_constant_may_be_read_again() -> None:
    """Of a pointer that the original always reads so, but not of one that it reads plainly, too."""
    constant, plain = "ld.global.nc.u32 %r{}, [{}];", "ld.global.u32 %r{}, [{}];"

    def reading(*loads: str) -> Module:
        return module(READ_AGAIN.format(loads="\n".join(loads)))

    own, other = constant.format(2, "%rd6"), plain.format(4, "%rd5")
    once = reading(own, "mov.u32 %r3, %r2;", other)
    twice = reading(own, constant.format(3, "%rd6+0"), other)
    found = same_execution(once, twice, "k")
    assert found.equal, found.reason
    mixed = reading(constant.format(2, "%rd5"), plain.format(3, "%rd5"), other)
    trusting = reading(constant.format(2, "%rd5"), constant.format(3, "%rd5"), other)
    assert "for constant" in same_execution(mixed, trusting, "k").reason
