"""Mistakes in kernels: each is an error with the Python line and what to write instead."""

import re
from pathlib import Path

import pytest

from ptxkit.dsl import (
    DslError,
    Module,
    addr,
    f32,
    kernel,
    lit,
    param,
    ptr,
    ptx,
    reg,
    smem,
    sreg,
    u32,
)
from ptxkit.errors import PtxkitError

ESCAPED = []


def python_if(x: u32):
    if x < 4:
        ptx.ret()


def python_while(x: u32):
    while x != 4:
        x += 1


def python_and(x: u32):
    with ptx.if_(x > 1 and x < 4):
        ptx.ret()


def condition_of_python(x: u32):
    with ptx.if_(True):
        ptx.ret()


def unknown_instruction():
    ptx.ad.u32(1, 2)


def unknown_modifier():
    a = reg.u32()
    ptx.add.u23(a, a, a)


def wrong_type():
    a, b = reg.f32(), reg.u32()
    ptx.add.f32(a, a, b)


def wrong_count():
    a = reg.f32()
    ptx.add.f32(a, a)


def written_constant():
    ptx.mov.u32(4, 5)


def wrong_target():
    ptx.wgmma.fence.sync.aligned()


def special_register_of_another_target():
    a = reg.u32()
    ptx.mov.u32(a, sreg.cluster_ctarank)


def no_special_register():
    return sreg.thread


def undefined_label():
    ptx.bra("nowhere")


def label_never_placed():
    somewhere = ptx.new_label()
    ptx.bra(somewhere)


def block_never_closed():
    ptx.open_block()
    ptx.ret()


def block_never_opened():
    ptx.close_block()


def loop_left_by_python():
    for _ in ptx.range(4):
        break


def break_outside():
    ptx.break_()


def else_without_if():
    with ptx.else_():
        ptx.ret()


def else_too_late(x: u32):
    with ptx.if_(x < 4):
        ptx.ret()
    ptx.bar.sync(0)
    with ptx.else_():
        ptx.ret()


def case_after_default(x: u32):
    with ptx.switch(x) as choice:
        with choice.default():
            ptx.ret()
        with choice.case(1):
            ptx.ret()


def step_of_zero():
    for _ in ptx.range(0, 4, 0):
        ptx.ret()


def guard_is_no_predicate(x: u32):
    ptx.ret(when=x)


def mixed_types(x: u32, y: f32):
    x + y


def sign_unknown():
    a = reg.b32()
    return a < 3


def float_for_an_integer(x: u32):
    x + 1.5


def bits_of_a_float(x: f32):
    x & 1


def operator_of_predicates(x: u32):
    (x < 3) + (x < 4)


def conversion_of_bits():
    a = reg.b32()
    a.to("f64")


def not_an_operand():
    a = reg.u32()
    ptx.mov.u32(a, object())


def not_a_name():
    ptx.bra("no where")


def not_a_constant():
    lit("x+1")


def not_a_declarator():
    smem.f32("a b")


def not_a_size():
    smem.f32[-1]


def register_type():
    reg.tf32()


def returns_something():
    return reg.u32()


def no_type(x):
    pass


def strange_type(x: int):
    pass


def from_another_kernel():
    a = reg.u32()
    ptx.mov.u32(a, ESCAPED[0])


def declared_too_late():
    reg.b32()
    reg.b32("%r<4>")


def spaced_too_far():
    ptx.ret().spaced({9: " "})


def spaced_by_words():
    ptx.bar.sync(0).spaced({2: " x "})


def comment_of_two_lines():
    ptx.comment("a\nb")


def vector_of_nothing():
    ptx.ld.global_.v2.f32([], addr(reg.u64()))


def iterate_memory():
    for _ in smem.f32("a[4]"):
        pass


def python_range(x: u32):
    for _ in range(x):
        ptx.ret()


def python_index(x: u32):
    return [1, 2, 3][x]


def too_large_for_the_register(x: u32):
    x + 2**40


def set_to_too_much(x: u32):
    x.set(-(2**31) - 1)


def odd_alignment():
    smem.align(3).f32("tile[4]")


def unknown_word():
    smem.flot32("tile[4]")


def register_beyond_a_long_range():
    reg.u32[10**7][10**7]


def if_without_with(x: u32):
    ptx.if_(x < 4)
    ptx.ret()


def loop_without_with():
    ptx.loop()
    ptx.ret()


def switch_without_with(x: u32):
    ptx.switch(x)
    ptx.ret()


def label_twice():
    ptx.label("here")
    ptx.label("here")


def unsigned_range_below_zero(x: u32):
    for _ in ptx.range(x, -1, -1):
        ptx.ret()


def range_beyond_the_type():
    for _ in ptx.range(0, 2**31):
        ptx.ret()


def range_of_floats(x: f32):
    for _ in ptx.range(x):
        ptx.ret()


def loop_that_starts_nowhere():
    with ptx.loop(inside=True):
        ptx.ret()


def start_of_another_loop():
    with ptx.loop() as loop:
        loop.start_here()


def odd_order_of_registers():
    ptx.registers("%r<8> 3-x")


def order_beyond_the_range():
    ptx.registers("%r<8> 3 9")
    for _ in range(2):
        ptx.mov.u32.new(1)


MISTAKES = [
    value
    for value in list(globals().values())
    if callable(value) and getattr(value, "__module__", "") == __name__
]


def mistake(body) -> DslError:
    with pytest.raises(DslError) as caught:
        kernel(target="sm_80")(body).ptx()
    return caught.value


@pytest.mark.parametrize("body", MISTAKES, ids=lambda body: body.__name__)
def test_message(body, snapshot):
    if body is from_another_kernel:

        @kernel
        def other():
            ESCAPED.append(reg.u32())

        other.ptx()
    error = mistake(body)
    assert isinstance(error, PtxkitError)
    text = str(error).replace(str(Path(__file__).parent) + "/", "")
    # The line is that of the function; its number changes with the file.
    first = body.__code__.co_firstlineno
    assert error.filename == __file__
    assert first <= error.line <= first + 12
    assert re.sub(r"\.py:\d+", ".py:N", re.sub(r"object at 0x\w+", "object", text)) == snapshot


def test_statements_outside_a_kernel():
    for make in (ptx.ret, lambda: ptx.label("x"), lambda: reg.f32(), lambda: smem.f32("x")):
        with pytest.raises(DslError, match="no kernel is being traced"):
            make()


def test_a_kernel_needs_a_grid():
    @kernel
    def nothing(x: ptr):
        ptx.ret()

    with pytest.raises(DslError, match=r"write nothing\[grid, block\]"):
        nothing(1)


def test_unknown_compile_time_parameter():
    @kernel
    def nothing(*, width: int):
        ptx.ret()

    with pytest.raises(DslError, match="no compile-time parameter 'height'; there are: width"):
        nothing.ptx(height=3)
    with pytest.raises(DslError, match="'width' of 'nothing' has no value"):
        nothing.ptx()
    with pytest.raises(DslError, match="compile-time values are numbers"):
        nothing.ptx(width=[1])


def test_calls_are_checked():
    module = Module(version="8.0", target="sm_80")

    @module.func
    def twice(x: f32) -> f32:
        return x + x

    @module.func
    def raw(x: param.b32):
        ptx.ret()

    def trace(body):
        module.kernel(body)
        module.ptx()

    def wrong_count():
        twice(1.0, 2.0)

    def wrong_type():
        twice(reg.u32())

    def raw_call():
        raw(3)

    for body, message in (
        (wrong_count, "takes 1 arguments, not 2"),
        (wrong_type, "argument 0 is .u32, and the function takes .f32"),
        (raw_call, "says its parameters as PTX declarations"),
    ):
        module = module.like()
        with pytest.raises(DslError, match=message):
            trace(body)


def test_words_of_a_module():
    module = Module()
    with pytest.raises(DslError, match="a module has no 'globl'"):
        module.globl.u32("x")
    with pytest.raises(DslError, match=r"'\.visble' is no word of a declaration"):
        module.global_.visble.u32("x")
    assert not hasattr(module, "globl")
    module.global_.word("newtype")("x")
    assert ".global .newtype x;" in module.ptx()


def test_many_registers_at_once():
    @kernel
    def many():
        before, several, after = reg.u32(), reg.u32[10**7], reg.u32()
        assert len(several) == 10**7
        ptx.add.u32(before, several[0], several[-1])
        ptx.add.u32(after, several[5], several[6:8][1])
        ptx.ret()

    text = many.ptx()
    assert ".reg .u32 %r<10000003>;" in text
    assert "add.u32 %r1, %r2, %r10000001;" in text
    assert "add.u32 %r10000002, %r7, %r9;" in text


def test_errors_can_be_pickled():
    import pickle

    error = mistake(wrong_type)
    again = pickle.loads(pickle.dumps(error))
    assert (str(again), again.line) == (str(error), error.line)
