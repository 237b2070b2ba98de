"""Programs as text and as arrays; random ones against the naive machine and ptxas."""

from __future__ import annotations

import pickle

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ptxkit import stack
from ptxkit.errors import UsageError
from ptxkit.stack import Interface, Isa, Program, Routine, Source, StackError
from tests.stack.soak import compare, edits, make, refused

SOURCE = Source(["x", "y"], Isa.default())


def test_random_programs_compute_what_the_naive_machine_does() -> None:
    interface, source = make()
    stubs: list[str] = []
    for seed in range(4):
        programs = stack.random_many(50, 300, 77_000 + seed, source=source)
        wrong, made = compare(interface, programs, np.random.default_rng(seed))
        assert wrong == []
        stubs += made
    assert refused(interface, stubs) == []


def test_random_edits_compile() -> None:
    _, source = make()
    assert edits(source, 2000, 100, 5)[0] == []


def test_evaluating_nodes_is_like_running_text() -> None:
    inputs = {"x": np.float32([1.5, -2, np.nan, 7]), "n": np.int32([1, -5, 7, 100])}
    interface = Interface({"x": "f32", "n": "s32"}, {"y": "f32", "m": "s32", "p": "pred"},
                          missing="zero")  # fmt: skip
    names = [row.name for row in interface.isa.instructions if row.arguments]
    source = Source(inputs, interface.isa, instructions=names)
    programs = stack.random_many(60, 80, 3, source=source)
    many = stack.evaluate_many(programs, inputs, interface)
    for number, program in enumerate(programs):
        text = stack.evaluate(program, inputs, interface, via="text")
        for name, array in text.items():
            np.testing.assert_array_equal(array.view(np.uint8), many[name][number].view(np.uint8))


@settings(max_examples=200, deadline=None)
@given(st.integers(0, 1 << 40), st.integers(0, 60))
def test_text_is_the_inverse_of_reading(seed: int, length: int) -> None:
    program = stack.random(length, seed, source=SOURCE)
    again = Program(str(program), inputs=program.inputs)
    assert [again.words(), len(again)] == [program.words(), len(program)]
    interface = Interface(["x:f32", "y:f32"], ["z:f32", "n:u32"], missing="zero")
    assert stack.compile(again, interface) == stack.compile(program, interface)


@pytest.mark.parametrize("name", stack.STACKS)
@given(bits=st.integers(0, (1 << 64) - 1))
@settings(max_examples=100, deadline=None)
def test_constants_are_read_as_they_are_written(name: str, bits: int) -> None:
    kind = stack.STACKS[name]
    bits &= (1 << kind.width) - 1
    assert kind.bits(kind.text(bits)) == bits


@settings(max_examples=100, deadline=None)
@given(st.binary(max_size=640))
def test_any_bytes_compile_or_are_refused(data: bytes) -> None:
    data = data[: len(data) // 16 * 16]
    interface = Interface(["x:f32"], ["y:f32"], missing="zero", steps=500)
    try:
        assert stack.compile(data, interface).endswith("}\n")
    except StackError as error:
        assert "item" in str(error)


def test_forms_of_a_program() -> None:
    forms = [
        "x 2.5 mul.rn.f32", ["x", 2.5, "mul.rn.f32"], ("x", np.float32(2.5), "mul.rn.f32"),
        ["x", (2.5, "f32"), "mul.rn.f32"], Program("x 2.5 mul.rn.f32", inputs=["x"]),
        Program("x 2.5 mul.rn.f32", inputs=["a", "x"]),
        Program("x 2.5 mul.rn.f32", inputs=["x"]).items, "x ; comment\n2.5:f32\tmul.rn.f32",
    ]  # fmt: skip
    assert len({stack.compile(form, {"x": "f32"}, {"y": "f32"}) for form in forms}) == 1


def test_numbers_take_the_type_they_have() -> None:
    stub = stack.compile([np.int64(-1), np.float64(2), True, np.float16(1)], {},
                         {"l": "s64", "d": "f64", "p": "pred", "h": "f16"})  # fmt: skip
    for text in ("mov.b64 l, 0xFFFFFFFFFFFFFFFF;", "mov.f64 d, 0d4000000000000000;",
                 "mov.pred p, 1;", "mov.b16 h, 0x3C00;"):  # fmt: skip
        assert text in stub


def test_routines_survive_text() -> None:
    isa = Isa.default().extended(routines=[Routine("twice", "f32.dup add.rn.f32")])
    program = Program("x twice @twice", inputs=["x"], isa=isa)
    assert str(program) == "x twice @twice"


def test_errors_can_be_pickled() -> None:
    with pytest.raises(StackError) as caught:
        stack.compile("x nothing.here", {"x": "f32"}, {"y": "f32"})
    again = pickle.loads(pickle.dumps(caught.value))
    assert str(again) == str(caught.value) and again.place == (1, 3)


def test_a_default_set_is_one_object() -> None:
    """A packed program is used as it is if its set is the interface's: that must be seen."""
    assert Isa.default() is Isa.default("sm_90") is Isa.default(memory=False)
    assert Interface(["x:f32"]).isa is Program("x", inputs=["x"]).isa


def test_the_same_seed_gives_the_same() -> None:
    one, two = (stack.random_many(5, 40, 9, source=SOURCE) for _ in range(2))
    np.testing.assert_array_equal(one, two)
    program = Program.from_items(one[0], inputs=SOURCE.inputs, isa=SOURCE.isa)
    other = Program.from_items(one[1], inputs=SOURCE.inputs, isa=SOURCE.isa)
    for work in (lambda: stack.mutate(program, 4, changes=5, source=SOURCE),
                 lambda: stack.crossover(program, other, 4)):  # fmt: skip
        assert work() == work()


def test_a_child_is_the_first_parent_around_a_piece_of_the_second() -> None:
    one = Program([(n, "b32") for n in range(12)])
    two = Program([(n, "b32") for n in range(100, 109)])
    kinds = set()
    for seed in range(60):
        child = stack.crossover(one, two, seed).items[:, 1].tolist()
        piece = [n for n in child if n >= 100]
        begin = next((at for at, n in enumerate(child) if n >= 100), 0)
        if piece:
            assert child[begin : begin + len(piece)] == piece  # in one place,
            assert piece == list(range(piece[0], piece[0] + len(piece)))  # and in order
        rest = [n for n in child if n < 100]
        cut = begin if piece else next((at for at, n in enumerate(rest) if n != at), len(rest))
        assert rest[:cut] == list(range(cut))  # a prefix of the first
        assert rest[cut:] == list(range(12 - len(rest) + cut, 12))  # and a suffix of it
        kinds.add((bool(piece), bool(rest)))
    assert (True, True) in kinds


def test_programs_and_what_they_hold_can_be_pickled() -> None:
    narrow = Isa.default().only(["add.rn.f32"])
    for isa in (Isa.default(), narrow):
        program = Program("x x add.rn.f32", inputs=["x"], isa=isa)
        interface = Interface(["x:f32"], ["y:f32=%f9"], isa, missing="zero", steps=99)
        wanted = stack.compile(program, interface)
        again, other = pickle.loads(pickle.dumps((program, interface)))
        assert again == program and hash(again) == hash(program)
        assert stack.compile(again, other) == wanted
        assert (other.missing, other.steps) == ("zero", 99)
        crossed = stack.crossover(program, pickle.loads(pickle.dumps(program)), 3)
        assert crossed == stack.crossover(program, program, 3)


def test_opcodes_that_are_not_listed_keep_their_meaning() -> None:
    """An open set numbers them as they come, which another object does in another order."""
    wide = Isa.default().extended()
    names = ["add.rz.ftz.f32", "sub.rm.ftz.f32"]
    assert wide.open and not {row.name for row in wide.instructions} & set(names)
    one = Program(["x", "x", *names], inputs=["x"], isa=wide)
    fresh = Isa.default().extended()
    two = Program(["x", "x", *reversed(names)], inputs=["x"], isa=fresh)
    assert one.within(fresh).words() == one.words() == pickle.loads(pickle.dumps(one)).words()
    assert one != two and one == one.within(fresh) and hash(one) == hash(one.within(fresh))
    for seed in range(20):
        allowed = set(one.words()) | set(two.words())
        assert set(stack.crossover(one, two, seed).words()) <= allowed


@pytest.mark.parametrize("word", ["if", "else", "end", "nothing"])
def test_words_of_the_language_are_no_names(word: str) -> None:
    with pytest.raises(UsageError, match="part of the language"):
        Program("1.0", inputs=[word])
    with pytest.raises(UsageError, match="part of the language"):
        stack.compile("1.0", {word: "f32"}, {"y": "f32"})


def test_what_makes_no_sense_is_refused_in_words() -> None:
    with pytest.raises(StackError, match="an int of 16,610 bits"):
        stack.evaluate([10**5000], {"x": np.float32([1])}, {"y": "b32"})
    for threads in (0, -3, 1.5, "2", True, 10**5000):
        with pytest.raises(UsageError, match="threads is a number"):
            stack.compile_many(["x"], {"x": "f32"}, {"y": "f32"}, threads=threads)
        with pytest.raises(UsageError, match="threads is a number"):
            stack.evaluate_many(["x"], {"x": np.float32([1])}, {"y": "f32"}, threads=threads)
    with pytest.raises(UsageError, match="the programs are a list"):
        stack.compile_many(None, {"x": "f32"}, {"y": "f32"})
