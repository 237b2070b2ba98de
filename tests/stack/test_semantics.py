"""What programs mean: the machine's rules, one test for each, and what peers get wrong."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from ptxkit import stack
from ptxkit.stack import Instruction, Interface, Isa, Operand, Routine, Stack, StackError

F = {"x": "f32", "y": "f32", "z": "f32"}


def value(program: str, **inputs: object) -> float:
    """The one f32 a program leaves on top."""
    arrays = {name: np.float32([number]) for name, number in inputs.items()}
    return float(stack.evaluate(program, arrays, {"out": "f32"})["out"][0])


@pytest.mark.parametrize(
    ("program", "expected"),
    [
        ("x y sub.rn.f32", -3.0),  # the last operand is the top
        ("x y f32.swap sub.rn.f32", 3.0),
        ("x y f32.drop", 2.0),
        ("x y f32.dup add.rn.f32", 10.0),
        ("x y f32.dup#1 sub.rn.f32", 3.0),
        ("x y 1.0 f32.yank#2", 2.0),
        ("x y 1.0 f32.rotate#2", 5.0),
        ("x y 1.0 f32.rotate#2 f32.drop f32.drop", 1.0),
        ("x y 1.0 f32.reverse", 2.0),
        ("x y 1.0 f32.replace f32.drop", 2.0),
        ("x y 1.0 f32.replace", 1.0),
        ("x y 1.0 f32.replace#1", 5.0),
        ("x y 1.0 f32.replace#1 f32.drop", 1.0),
        ("x f32.to#3 y f32.clear f32.from#3", 2.0),
        ("x f32.to#3 y f32.from#4", 5.0),  # an empty slot pushes nothing
        ("f32.reverse f32.drop f32.swap f32.yank#7 x", 2.0),  # empty stacks are no trouble
        ("x add.rn.f32", 2.0),  # too few operands: nothing happens
        ("x y setp.lt.f32 if x y add.rn.f32 else x y mul.rn.f32 end", 7.0),
        ("y x setp.lt.f32 if x y add.rn.f32 else x y mul.rn.f32 end", 10.0),
        ("x if 1.0 end", 2.0),  # no predicate: no block
        ("x true if 1.0 end", 2.0),  # as deep as the shallower side
        ("x true if f32.drop 1.0 end", 1.0),
        ("x y true @add.rn.f32", 7.0),
        ("x y false @add.rn.f32", 2.0),
        ("x y false @!add.rn.f32", 7.0),
        ("x y true @f32.swap f32.drop", 5.0),
        ("x repeat#10 f32.dup f32.drop 1.0 add.rn.f32 end", 12.0),
        ("x repeat#3 repeat#2 1.0 add.rn.f32 end end", 8.0),
        ("x true while#50 2.0 mul.rn.f32 f32.dup 100.0 setp.lt.f32 end", 128.0),
        ("x end else end 1.0 add.rn.f32", 3.0),  # stray words do nothing
        ("x true if 1.0 add.rn.f32", 3.0),  # an open block ends with the program
    ],
)  # fmt: skip
def test_programs(program: str, expected: float) -> None:
    assert value(program, x=2.0, y=5.0) == expected
    arrays = {"x": np.float32([2]), "y": np.float32([5])}
    text = stack.evaluate(program, arrays, {"out": "f32"}, via="text")
    assert text["out"][0] == expected


def test_outputs_are_in_the_order_of_the_stack() -> None:
    assert "mov" not in stack.compile("x y", {"x": "f32", "y": "f32"}, {"x": "f32", "y": "f32"})


@pytest.mark.parametrize("order", ["yx", "yzx", "zxy", "xzy", "zyx"])
def test_moves_to_outputs_happen_at_once(order: str) -> None:
    inputs = {name: np.float32([number]) for number, name in enumerate(sorted(order), 1)}
    names = sorted(order)
    outputs = {f"o{name}": ("f32", name) for name in names}
    interface = Interface(dict.fromkeys(names, "f32"), outputs)
    made = stack.evaluate(" ".join(order), inputs, interface, via="text")
    assert [float(made[f"o{name}"][0]) for name in names] == [
        float(inputs[name][0]) for name in order
    ]


def test_a_value_may_go_to_two_outputs_and_to_an_input() -> None:
    interface = Interface(F, {"a": "f32", "b": "f32", "o": ("f32", "x")})
    made = stack.evaluate(
        "x y add.rn.f32 f32.dup f32.dup",
        {name: np.float32([3]) for name in F}, interface, via="text",
    )  # fmt: skip
    assert [float(array[0]) for array in made.values()] == [6.0, 6.0, 6.0]


def test_missing_outputs() -> None:
    with pytest.raises(StackError, match="the output 'b' has no value"):
        stack.compile("1", {}, {"b": "f32"})
    assert "mov.f32 b, 0f00000000;" in stack.compile("", {}, {"b": "f32"}, missing="zero")
    assert "b" not in stack.compile("", {}, {"b": "f32"}, missing="keep")


def test_outputs_from_slots() -> None:
    interface = Interface(F, [Operand("a", "f32", slot=2), Operand("b", "f32")])
    made = stack.evaluate(
        "x f32.to#2 y", {name: np.float32([n]) for n, name in enumerate(F)}, interface
    )
    assert (made["a"][0], made["b"][0]) == (0, 1)


def test_long_chains_and_wide_constants() -> None:
    """Peers stop at eleven operations and at 32 bits."""
    program = "x " + "1.0 add.rn.f32 " * 5000
    assert value(program, x=1.0) == 5001
    stub = stack.compile("l 0x123456789ABCDEF0:u64 xor.b64", {"l": "u64"}, {"m": "u64"})
    assert "xor.b64 m, l, 1311768467463790320;" in stub
    assert "0xFFFFFFFFFFFFFFFF" in stack.compile("l -1:s64 add.s64", {"l": "u64"}, {"m": "u64"})


def test_only_needed_code_and_each_value_once() -> None:
    stub, told = stack.report(
        "x y mul.rn.f32 x y mul.rn.f32 add.rn.f32 f32.to#1 x sin.approx.f32 f32.drop f32.from#1",
        {"x": "f32", "y": "f32"}, {"z": "f32"},
    )  # fmt: skip
    assert stub.count("mul.rn.f32") == 1
    assert "sin" not in stub
    assert (told.executed, told.emitted, told.reused, told.dropped) == (4, 2, 1, 1)


def test_integers_commute() -> None:
    stub = stack.compile("i j add.u32 j i add.u32 mul.lo.u32", {"i": "u32", "j": "u32"},
                         {"k": "u32"})  # fmt: skip
    assert stub.count("add.u32") == 1


def test_constants_are_folded_when_exact() -> None:
    told = stack.report("2 3 add.u32 7 mul.lo.u32", {}, {"k": "u32"})
    assert "mov.b32 k, 35;" in told[0] and told[1].folded == 2
    third = stack.compile("1.0 3.0 div.rn.f32", {}, {"z": "f32"})
    assert "mov.f32 z, 0f3EAAAAAB;" in third
    assert "sin.approx.f32" in stack.compile("1.0 sin.approx.f32", {}, {"z": "f32"})
    assert "div.u32" in stack.compile("1 0 div.u32", {}, {"k": "u32"})  # has no defined value


def test_registers_are_used_again() -> None:
    _, told = stack.report("x " + "y add.rn.f32 y mul.rn.f32 " * 100, F, {"o": "f32"})
    assert told.registers == 1


def test_impure_instructions_stay_in_order() -> None:
    isa = Isa.default(memory=True)
    program = (
        "a x st.global.f32 a ld.global.f32 f32.to#0 a y st.global.f32 a ld.global.f32 "
        "f32.from#0 sub.rn.f32"
    )
    stub = stack.compile(program, {"a": "u64", "x": "f32", "y": "f32"}, {"o": "f32"}, isa)
    opcodes = [line.split()[0] for line in stub.splitlines() if "global" in line]
    assert opcodes == ["st.global.f32", "ld.global.f32"] * 2
    unused = stack.compile("a ld.global.f32 x", {"a": "u64", "x": "f32"}, {"o": "f32"}, isa)
    assert "ld.global" not in unused
    lone = stack.compile("a x st.global.f32", {"a": "u64", "x": "f32"}, {}, isa)
    assert "st.global.f32 [a], x;" in lone


def test_memory_is_reached_only_where_conditions_hold() -> None:
    isa = Isa.default(memory=True)
    inputs = {"a": "u64", "p": "pred", "q": "pred", "x": "f32"}
    stub = stack.compile("p if q if a x st.global.f32 end else a ld.global.f32 end", inputs, {},
                         isa)  # fmt: skip
    assert stub.splitlines()[-3:-1] == ["\tand.pred %sp0, p, q;",
                                        "\t@%sp0\tst.global.f32 [a], x;"]  # fmt: skip
    loaded = stack.compile("x p if f32.drop a ld.global.f32 end", inputs, {"o": "f32"}, isa)
    assert [line.strip() for line in loaded.splitlines()[2:-1]] == [
        "mov.f32 %sf0, 0f00000000;", "@p\tld.global.f32 %sf0, [a];", "selp.f32 o, %sf0, x, p;",
    ]  # fmt: skip


def test_memory_on_the_simulator() -> None:
    """Stores under a condition, run as text."""
    import ptxkit

    isa = Isa.default(memory=True)
    interface = Interface({"a": ("u64", "%rd1"), "t": ("u32", "%r1")}, {}, isa)
    program = (
        "t 3 and.b32 0 setp.eq.u32 if t 4 mul.wide.u32 a add.s64 t cvt.rn.f32.u32 st.global.f32 end"
    )
    stub = stack.compile(program, interface)
    kernel = ptxkit.load(
        f".version 8.0\n.target sm_90\n.address_size 64\n.visible .entry k(.param .u64 p) {{\n"
        f".reg .b64 %rd<2>;\n.reg .b32 %r<2>;\nld.param.u64 %rd1, [p];\nmov.u32 %r1, %tid.x;\n"
        f"{stub}ret;\n}}\n"
    )["k"]
    out = np.full(16, -1, np.float32)
    kernel[1, 16](out)
    assert [float(n) for n in out] == [n if n % 4 == 0 else -1 for n in range(16)]


def test_warp_operations() -> None:
    lanes = np.arange(32, dtype=np.uint32)
    made = stack.evaluate("i 1 31 shfl.sync.bfly.b32", {"i": lanes}, {"o": "u32"})
    np.testing.assert_array_equal(made["o"], lanes ^ 1)
    # Under a condition every lane takes part all the same.
    program = "i 16 setp.lt.u32 if i redux.sync.add.u32 else i end"
    made = stack.evaluate(program, {"i": lanes}, {"o": "u32"})
    np.testing.assert_array_equal(made["o"], np.where(lanes < 16, lanes.sum(), lanes))


def test_routines() -> None:
    isa = Isa.default().extended(
        routines=[
            Routine("double", "f32.dup add.rn.f32"),
            Routine("lerp", "b a sub.rn.f32 t a fma.rn.f32", ("a:f32", "b:f32", "t:f32"), ("f32",)),
            Routine("quad", "double double"),
            Routine("bare", "x_only", ("x_only:f32", "f32"), ()),
        ]
    )
    inputs = {name: np.float32([n]) for n, name in enumerate("xyz", 2)}

    def run(program: str) -> float:
        return float(stack.evaluate(program, inputs, {"o": "f32"}, isa)["o"][0])

    assert run("x double") == 4
    assert run("x quad") == 8
    assert run("x y 0.5 lerp") == 2.5
    assert run("x 7.0 y 0.5 lerp add.rn.f32") == 7.0
    assert run("x y lerp") == 3  # too few arguments: nothing happens
    assert run("x y z bare") == 2
    assert run("x y setp.lt.f32 if x double else x end") == 4


def test_arguments_are_all_a_closed_routine_sees() -> None:
    isa = Isa.default().extended(routines=[Routine("greedy", "add.rn.f32 f32.clear", ("f32",), ())])
    made = stack.evaluate("x x greedy", {"x": np.float32([2])}, {"o": "f32"}, isa)
    assert made["o"][0] == 2


def test_own_instructions_and_stacks() -> None:
    angle = Stack("angle", "f32", "float")
    isa = Isa.default().extended(
        [
            Instruction("turn", ("angle", "angle"), ("angle",), "add.rn.f32 $0, $1, $2;"),
            Instruction("as.angle", ("f32",), ("angle",), "mov.f32 $0, $1;"),
            Instruction(
                "lerp.f32", ("f32", "f32", "f32"), ("f32",),
                "{ .reg .f32 lerp_t; sub.rn.f32 lerp_t, $2, $1; fma.rn.f32 $0, lerp_t, $3, $1; }",
            ),
        ],
        stacks=[angle],
    )  # fmt: skip
    outputs = [Operand("o", "f32", stack="angle")]
    arrays = {"x": np.float32([2]), "y": np.float32([4])}
    made = stack.evaluate("x as.angle y as.angle turn 1.0:angle turn", arrays, outputs, isa)
    assert made["o"][0] == 7
    made = stack.evaluate("x y 0.25 lerp.f32", arrays, {"o": "f32"}, isa)
    assert made["o"][0] == 2.5


def test_only_and_random_stay_within_a_set() -> None:
    isa = Isa.default().only(["add.rn.f32", "mul.rn.f32"])
    program = stack.random(200, 3, inputs=["x"], isa=isa)
    assert {word for word in program.words() if ".rn." in word} <= {"add.rn.f32", "mul.rn.f32",
        "@add.rn.f32", "@mul.rn.f32", "@!add.rn.f32", "@!mul.rn.f32"}  # fmt: skip
    with pytest.raises(StackError, match=r"sub\.rn\.f32"):
        stack.compile("x x sub.rn.f32", {"x": "f32"}, {"y": "f32"}, isa)


def test_many_is_like_one_by_one() -> None:
    interface = Interface(F, {"o": "f32"}, missing="zero")
    source = stack.Source(F, interface.isa)
    programs = stack.random_many(200, 60, 5, source=source)
    stubs = stack.compile_many(programs, interface, threads=2)
    assert list(stubs) == [stack.compile(program, interface) for program in programs]
    assert [stack.report(p, interface)[1] for p in programs] == stubs.reports
    assert stubs[-1] == list(stubs)[199] and stubs[3:5] == [stubs[3], stubs[4]]
    with pytest.raises(IndexError):
        stubs[200]


def test_faulty_programs_among_many() -> None:
    stubs = stack.compile_many(["x", ""], F, {"o": "f32"}, errors="return")
    assert list(stubs.errors) == [1] and "mov" in stubs[0]
    with pytest.raises(StackError, match="program 1: the output 'o' has no value"):
        stubs[1]
    with pytest.raises(StackError, match="program 1"):
        stack.compile_many(["x", ""], F, {"o": "f32"})


def test_names_around_the_stub_are_left_alone() -> None:
    stub = stack.compile("%sf0 %sf0 add.rn.f32 %sf0 mul.rn.f32", {"%sf0": "f32"}, {"y": "f32"})
    assert ".reg .f32 %stf<1>;" in stub
    long = "a_register_with_a_name_that_is_longer_than_sixteen_bytes"
    stub = stack.compile([long, long, "add.rn.f32"], {long: "f32"}, {long + "2": "f32"})
    assert f"add.rn.f32 {long}2, {long}, {long};" in stub


def test_what_limits_do() -> None:
    interface = Interface(F, {"o": "f32"}, steps=20, strict=False)
    stub, told = stack.report("x repeat#100 1.0 add.rn.f32 end", interface)
    assert told.limit == "steps" and 0 < told.emitted < 20 and stub
    unlimited = stack.report("x", Interface(F, {"o": "f32"}))[1]
    assert unlimited.limit == "" and unlimited.live_fraction == 1.0


@pytest.mark.parametrize("shape", [(0,), (0, 3), (2, 0)])
@pytest.mark.parametrize("via", ["nodes", "text"])
def test_no_values_at_all(shape: tuple[int, ...], via: Any) -> None:
    x = np.zeros(shape, np.float32)
    found = stack.evaluate("x x add.rn.f32 x", {"x": x}, {"y": "f32", "z": "f32"}, via=via)
    assert {name: value.shape for name, value in found.items()} == {"y": shape, "z": shape}
    many = stack.evaluate_many(["x", "1.0"], {"x": x}, {"y": "f32"})["y"]
    assert many.shape == (2, *shape)


def test_many_instructions_that_are_not_shared() -> None:
    """Reads of the clock are all kept apart, and more than the table of a short program holds."""
    program = "repeat#1000 %clock end repeat#999 add.s32 end"
    stub, told = stack.report(program, {}, {"y": "b32"})
    assert stub.count("%clock") == 1000
    assert told.emitted == 1999
