"""Words of PTX: registers stay apart, special registers stay, numbers are the program's."""

from __future__ import annotations

import re

import pytest

from ptxkit.decompiler.neural.ptxwords import read_function
from ptxkit.decompiler.neural.vocabulary import CLASSES, PER_CLASS, Vocabulary
from ptxkit.errors import PtxkitError

from . import programs

HEAD = ".visible .entry k(.param .u64 k_0, .param .f32 k_1) {\n"


def _texts(body: str) -> str:
    return " ".join(read_function(HEAD + body + "}").texts)


def test_registers_that_differ_are_different_words() -> None:
    lines = [f"add.s32 %r{k}, %r{k + 1000}, %r{k + 2000};" for k in range(1, 30)]
    words = [w for w in _texts("\n".join(lines)).split() if w.startswith("%")]
    assert len(set(words)) == len(words) == 87


def test_a_register_that_is_written_twice_is_no_alias() -> None:
    body = "mov.u32 %r1, 1; mov.u32 %r1, %tid.x; st.global.u32 [%rd1], %r1; ret;"
    assert _texts(body) == "mov.u32 %r1 1 mov.u32 %r1 threadIdx.x st.global.u32 %rd1 %r1 ret"


def test_a_guarded_move_is_no_alias() -> None:
    body = "@%p1 mov.u32 %r1, 7; st.global.u32 [%rd1], %r1;"
    assert _texts(body) == "@ %p1 mov.u32 %r1 7 st.global.u32 %rd1 %r1"


def test_numbers_are_those_of_the_program() -> None:
    body = "fma.rn.f32 %f1, %f2, 0fC0028F5C, 0f3DCCCCCD; add.f64 %fd1, %fd2, 0d3FF8000000000000;"
    assert _texts(body) == "fma.rn.f32 %f1 %f2 -2.04 0.1 add.f64 %fd1 %fd2 1.5"


def test_values_know_where_they_were_made() -> None:
    words = read_function(HEAD + "add.s32 %r1, %r2, 1; mul.lo.s32 %r3, %r1, %r1; ret; }")
    assert words.made_at == [-1, -1, -1, -1, -1, -1, 0, 0, -1]


def test_a_value_that_is_used_once_is_said_where_it_is_used() -> None:
    body = """ld.param.f32 %f9, [k_1]; setp.gt.f32 %p1, %f9, 0f3F800000; @%p1 bra $A;
    ld.global.f32 %f1, [%rd1+4]; neg.f32 %f2, %f1; mul.f32 %f3, %f2, %f9; add.f32 %f4, %f3, %f3;
    st.global.f32 [%rd2], %f4; $A: ret;"""
    assert _texts(body) == (
        "@ setp.gt.f32 p1 1.0 bra L0 mul.f32 %f1 neg.f32 ld.global.f32 %rd1 +4 p1 "
        "st.global.f32 %rd2 add.f32 %f1 %f1 L0 ret"
    )


@pytest.mark.parametrize(
    "between",
    ["st.global.f32 [%rd2], %f9;", "bar.sync 0;", "$A:", "add.s64 %rd1, %rd1, 4;"],
    ids=["store", "barrier", "label", "new address"],
)
def test_a_load_is_not_moved_over_what_may_change_it(between: str) -> None:
    body = f"mov.b64 %rd1, %rd3; ld.global.f32 %f1, [%rd1]; {between} st.global.f32 [%rd4], %f1;"
    other = "mov.b64 %rd1, %rd5; ret;"
    assert "ld.global.f32 %f1 %rd" in _texts(body + other)


def test_the_thread_index_is_one_word() -> None:
    body = """mov.u32 %r1, %ctaid.x; mov.u32 %r2, %ntid.x; mov.u32 %r3, %tid.x;
    mad.lo.s32 %r4, %r2, %r1, %r3; mad.lo.s32 %r5, %r2, %r2, %r3;
    st.global.v2.u32 [%rd1], {%r4, %r5};"""
    assert _texts(body) == (
        "st.global.v2.u32 %rd1 globalIdx.x mad.lo.s32 blockDim.x blockDim.x threadIdx.x"
    )


def test_text_without_a_function_is_refused() -> None:
    with pytest.raises(PtxkitError, match="no function"):
        read_function("// nothing here")


def test_words_of_compiled_kernels_lose_no_instruction() -> None:
    for pair in programs.pairs():
        assert pair.source.texts.count("ret") == 1
        assert not any(re.match(r"[\[\],;]", word) for word in pair.source.texts)
        assert len(pair.source.texts) == len(pair.source.made_at) == len(pair.source.statements)


def test_unknown_numbers_get_slots_and_come_back() -> None:
    source = read_function(HEAD + "mul.f32 %f1, %f2, 0f42F6E979; st.global.f32 [%rd1], %f1; ret; }")
    vocabulary = Vocabulary.build([source.texts[:2]] * 9, [["store.f32", "end"]] * 9, 2)
    numbers, slots = vocabulary.encode_source(source)
    assert slots == {"123.456": 0}
    answer = ["literal.f32", "123.456", "end"]
    encoded = vocabulary.encode_answer(answer, slots)
    assert encoded is not None
    assert vocabulary.decode_answer(encoded, slots) == answer
    assert vocabulary.encode_answer(["literal.f32", "9.75"], slots) is None
    registers = [n for n in numbers if n >= len(vocabulary)]
    assert max(registers) < len(vocabulary) + len(CLASSES) * PER_CLASS


def test_loops_that_were_left_as_they_are_are_known() -> None:
    loop = "{0}: {1} add.s32 %r1, %r1, 1; setp.lt.s32 %p1, %r1, 9; @%p1 bra {0};"
    left = '.pragma "nounroll";'
    assert read_function(HEAD + loop.format("L1", left) + "}").rolled
    # One that is unrolled has a rest, which the compiler itself leaves as it is.
    assert not read_function(HEAD + loop.format("L1", "") + loop.format("L2", left) + "}").rolled
    assert not read_function(HEAD + "bra L1; L1: ret; }").rolled
