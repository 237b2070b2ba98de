"""Functions that are called by their addresses: what they do is not known, but the same."""

from __future__ import annotations

import pytest

import ptxkit
from ptxkit.decompiler.verify import same_dataflow

_CALL = """
    {{ .param .b32 a; .param .b32 r;
      st.param.b32 [a], {argument};
      p{number}: .callprototype (.param .b32 _) _ (.param .b32 _);
      call (r), {target}, (a), p{number};
      ld.param.b32 {result}, [r]; }}"""

_KERNEL = """.version 8.0
.target sm_80
.address_size 64
{head}
.visible .entry k(.param .u64 x, .param .u64 f, .param .u64 g) {{
    .reg .b32 %r<9>; .reg .f32 %f<9>; .reg .b64 %d<9>; .reg .pred %p<3>;
    ld.param.u64 %d1, [x];
    ld.param.u64 %d2, [f];
    ld.param.u64 %d3, [g];
    mov.u32 %r5, %tid.x;
    {body}
    ret;
}}"""


def _call(argument: str = "%r1", target: str = "%d2", result: str = "%r2", number: int = 0) -> str:
    return _CALL.format(argument=argument, target=target, result=result, number=number)


def _proved(first: str, second: str, heads: tuple[str, str] = ("", "")) -> bool:
    a, b = (
        ptxkit.parse(_KERNEL.format(head=head, body=body))
        for head, body in zip(heads, (first, second), strict=True)
    )
    return same_dataflow(a, b, "k", thorough=True).equal


_ONE = f"ld.global.u32 %r1, [%d1]; {_call()} st.global.u32 [%d1], %r2;"
#: The same, in other registers; and the number goes through one of another type.
_SAME = (
    "ld.global.f32 %f1, [%d1]; mov.b64 %d4, %d2; mov.b32 %r3, %f1;"
    + _call("%r3", "%d4", "%r4")
    + "mov.b32 %f2, %r4; st.global.f32 [%d1], %f2;"
)


def test_a_function_that_is_called_by_its_address_is_the_same_on_both_sides() -> None:
    assert _proved(_ONE, _SAME)


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("mov.b32 %r3, %f1;", "mov.b32 %r3, %f1; add.u32 %r3, %r3, 1;"),  # another argument
        ("mov.b64 %d4, %d2;", "mov.b64 %d4, %d3;"),  # another target
        ("mov.b32 %f2, %r4;", "mov.b32 %f2, %r3;"),  # not what it returns
        ("(.param .b32 _) _ (.param .b32 _);", "(.param .b32 _) _ (.param .align 4 .b8 _[4]);"),
        ("st.global.f32 [%d1], %f2;", "st.global.f32 [%d1], %f2;" + _call(number=1)),  # once more
    ],
)
def test_another_call_by_address_is_refused(old: str, new: str) -> None:
    assert old in _SAME
    assert not _proved(_ONE, _SAME.replace(old, new))


def test_a_direct_call_is_no_call_by_address() -> None:
    head = ".visible .func (.param .b32 r) h(.param .b32 a) { ret; }"
    direct = _SAME.replace("call (r), %d4, (a), p0;", "call (r), h, (a);")
    assert direct != _SAME
    assert not _proved(_ONE, direct, (head, head))
    # Nor is a function that has the name of a prototype.
    named = head.replace(" h(", " p0(")
    assert not _proved(_ONE, direct.replace("h,", "p0,"), (named, named))


def test_calls_by_address_keep_their_order() -> None:
    """Each may read and write all memory: they are not exchanged, nor moved over an access."""
    first, second = _call("1", "%d2", "%r2", 0), _call("2", "%d3", "%r3", 1)
    stored = "st.global.u32 [%d1], %r2; st.global.u32 [%d1+4], %r3;"
    assert _proved(first + second + stored, first + second + stored)
    assert not _proved(first + second + stored, second + first + stored)
    load, use = "ld.global.u32 %r1, [%d1];", "add.u32 %r1, %r1, %r2; st.global.u32 [%d1+4], %r1;"
    called = _call("1")
    assert _proved(load + called + use, load + called + use)
    assert not _proved(load + called + use, called + load + use)
    store = "st.global.u32 [%d1], 7;"
    assert not _proved(store + called + use, called + store + use)
    # Nor is one of two that do the same left out, or one whose result nobody takes.
    again = _call("1", number=1)
    assert not _proved(called + again + use, called + use)
    assert not _proved(called + again + use, called + use + again)


def test_the_same_threads_call_by_address() -> None:
    """What is called may wait for others, so that it matters who comes there together."""
    one = "setp.eq.u32 %p1, %r5, 0; mov.b32 %r1, 1; @%p1 bra L; mov.b32 %r1, 2; L:" + _call()
    apart = (
        "setp.eq.u32 %p1, %r5, 0; @%p1 bra L;"
        + _call("2", number=0)
        + "bra M; L:"
        + _call("1", number=1)
        + "M:"
    )
    store = "st.global.u32 [%d1], %r2;"
    assert _proved(one + store, one + store)
    assert not _proved(one + store, apart + store)


_FUNCTION = """.func (.param .b32 r) h(.param .b32 a) {{
    .reg .b32 %r<3>; ld.param.u32 %r1, [a]; add.u32 %r1, %r1, {by}; st.param.b32 [r], %r1; ret; }}
.visible .global .u64 table[1] = {{ h }};"""


def test_what_may_be_behind_an_address_is_compared_too() -> None:
    """A function of the module that nobody names in a call may be the one that is called."""
    body = "mov.u64 %d4, table; ld.global.u64 %d2, [%d4];" + _ONE
    same, other = (body.replace("%r2", "%r3") if number else body for number in (0, 1))
    two, three = (_FUNCTION.format(by=by) for by in (2, 3))
    assert _proved(same, other, (two, two))
    assert not _proved(same, other, (two, three))
    # So is it where a caller of the kernel says what to call.
    assert not _proved(_ONE, _SAME, (two, three))
    assert not _proved(_ONE, _SAME, (two, ""))
