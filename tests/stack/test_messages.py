"""Every mistake has its own message, which says what and where."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from syrupy.assertion import SnapshotAssertion

from ptxkit import PtxkitError, stack
from ptxkit.stack import Instruction, Interface, Isa, Operand, Routine, Stack

X = {"x": "f32"}
Y = {"y": "f32"}


def item(kind: int, index: int = 0, number: int = 0, payload: int = 0) -> np.ndarray:  # type: ignore[type-arg]
    return np.array([[kind | number << 16 | index << 32, payload]], np.uint64)


def defined(text: str, **more: Any) -> Isa:
    return Isa.default().extended([Instruction("own", ("f32",), ("f32",), text, **more)])


def extended(*routines: Routine) -> Isa:
    return Isa.default().extended(routines=routines)


MISTAKES: dict[str, Callable[[], object]] = {
    "unknown instruction": lambda: stack.compile("x ad.rn.f32", X, Y),
    "unknown input": lambda: stack.compile("x z", X, Y),
    "nothing alike": lambda: stack.compile("qqqqqq", X, Y),
    "memory": lambda: stack.compile("ld.global.f32", X, Y),
    "constant too large": lambda: stack.compile("4294967296", {}, {"k": "u32"}),
    "constant too small": lambda: stack.compile("x -32769:s16", X, Y),
    "constant with a fraction": lambda: stack.compile([(1.5, "u32")], {}, {"k": "u32"}),
    "half too large": lambda: stack.compile("1e6:f16", X, Y),
    "bfloat too large": lambda: stack.compile("1e39:bf16", X, Y),
    "float too large": lambda: stack.compile([1e300], X, Y),
    "integer for a float too large": lambda: stack.compile([(10**400, "f64")], X, Y),
    "predicate": lambda: stack.compile("2:pred", X, Y),
    "not a number": lambda: stack.compile("12x", X, Y),
    "unknown type of a constant": lambda: stack.compile("1:f8", X, Y),
    "not an item": lambda: stack.compile(["x", None], X, Y),
    "not a program": lambda: stack.compile(7, X, Y),
    "slot": lambda: stack.compile("x f32.to#16", X, Y),
    "index": lambda: stack.compile("x repeat#4294967296", X, Y),
    "immediate": lambda: stack.compile("lop3.b32#256", X, Y),
    "no immediate": lambda: stack.compile("add.rn.f32#1", X, Y),
    "guarded block": lambda: stack.compile("x @if", X, Y),
    "line and column": lambda: stack.compile("x ; y z\n\n  x\tad.f32 ; z", X, Y),
    "NUL in a text": lambda: stack.compile("x \0", X, Y),
    "NUL in a word": lambda: stack.compile(["x", "a\0b"], X, Y),
    "not ASCII": lambda: stack.compile(["x", "addé"], X, Y),
    "missing output": lambda: stack.compile("x", X, {"k": "u32"}),
    "missing slot": lambda: stack.compile("x", X, [Operand("k", "u32", slot=3)]),
    "step limit": lambda: stack.compile("repeat#100000 end x", X, Y, steps=1000),
    "nesting limit": lambda: stack.compile("x " + "repeat#1 " * 65, X, Y),
    "limit in a routine": lambda: stack.compile(
        "x r", X, Y, extended(Routine("r", "repeat#100 end")), steps=50
    ),
    "recursion": lambda: extended(
        Routine("f", "g"), Routine("g", "h"), Routine("h", "1.0 f")
    ),
    "mistake in a routine": lambda: extended(Routine("f", "1.0 ad.rn.f32")),
    "name of a routine": lambda: extended(Routine("add.rn.f32", "")),
    "odd name of a routine": lambda: extended(Routine("a b", "")),
    "argument of a routine": lambda: extended(Routine("f", "", ("x:f8",))),
    "results without arguments": lambda: Routine("f", "", results=("f32",)),
    "type of an input": lambda: stack.compile("x", {"x": "float"}, Y),
    "input without a stack": lambda: stack.compile("x", {"x": "b128"}, Y),
    "form of an input": lambda: stack.compile("x", {"x": 7}, Y),
    "text of an input": lambda: stack.compile("x", ["x"], Y),
    "register of an input": lambda: stack.compile("x", {"x": ("f32", "a b")}, Y),
    "register with NUL": lambda: stack.compile("x", {"x": ("f32", "a\0")}, Y),
    "two inputs": lambda: stack.compile("x", ["x:f32=%f1", "y:f32=%f1"], Y),
    "two types of a register": lambda: stack.compile("x", {"x": "f32"}, {"x": "b32"}),
    "stack of an output": lambda: stack.compile("x", X, [Operand("y", "f32", stack="b32")]),
    "slot of an output": lambda: stack.compile("x", X, [Operand("y", "f32", slot=16)]),
    "rule for missing": lambda: stack.compile("x", X, Y, missing="none"),
    "steps": lambda: stack.compile("x", X, Y, steps=0),
    "packed array": lambda: stack.compile(np.zeros((3, 3)), X, Y),
    "packed bytes": lambda: stack.compile(b"123", X, Y),
    "packed programs": lambda: stack.compile_many(np.zeros((3, 2), np.uint64), X, Y),
    "packed: kind": lambda: stack.compile(item(99), X, Y),
    "packed: instruction": lambda: stack.compile(item(1, 10**6), X, Y),
    "packed: stack": lambda: stack.compile(item(2, number=40), X, Y),
    "packed: constant": lambda: stack.compile(item(2, number=1, payload=1 << 16), X, Y),
    "packed: input": lambda: stack.compile(item(3, 1), X, Y),
    "packed: argument": lambda: stack.compile(item(4), X, Y),
    "packed: routine": lambda: stack.compile(item(5), X, Y),
    "packed: slot": lambda: stack.compile(item(14, 16), X, Y),
    "program among many": lambda: stack.compile_many(["x", "x ad.rn.f32"], X, Y),
    "threads": lambda: stack.compile_many(["x"], X, Y, threads=0),
    "name of an instruction": lambda: Instruction("a b", (), ("f32",), "mov.f32 $0, 1;"),
    "operand of an instruction": lambda: Instruction("a", (), ("f32",), "mov.f32 $0, $1;"),
    "unwritten result": lambda: Instruction("a", ("f32",), ("f32",), "mov.f32 x, $1;"),
    "pure without result": lambda: Instruction("a", ("f32",), (), "st.f32 $0;"),
    "NUL in an instruction": lambda: Instruction("a", (), ("f32",), "mov.f32 $0, 1;\0"),
    "effect": lambda: Instruction("a", (), ("f32",), "mov.f32 $0, 1;", "impure"),  # type: ignore[arg-type]
    "stack of an instruction": lambda: Isa([Instruction("a", ("f8",), ("f32",), "b $0, $1;")]),
    "two instructions": lambda: Isa([Instruction("a", (), ("f32",), "b $0;")] * 2),
    "no predicates": lambda: Isa([], stacks=[Stack("f", "f32", "float")]),
    "two stacks of predicates": lambda: Isa.default().extended(
        stacks=[Stack("flag", "pred", "predicate")]
    ),
    "register of a stack": lambda: Stack("f", "f8", "float"),
    "hidden register": lambda: Interface(
        {"t": "f32"}, Y,
        Isa.default().extended([Instruction("a", (), ("f32",), "{ .reg .f32 t; mov.f32 $0, t; }")]),
    ),
    "instruction set": lambda: stack.compile("x", X, Y, 90),
    "target": lambda: stack.compile("x", X, Y, "sm90"),
    "weights": lambda: stack.Source(["x"], weights={"inputs": 1}),
    "text that is no instruction": lambda: defined("garbage $0, $1;"),
    "text of other types": lambda: defined("add.f64 $0, $1, $1;"),
    "text with too few operands": lambda: defined("add.f32 $0, $1;"),
    "text with an undeclared name": lambda: defined("add.f32 $0, $1, t;"),
    "text that closes": lambda: defined("add.f32 $0, $1, $1; } { mov.f32 $0, $1;"),
    "text that opens": lambda: defined("{ add.f32 $0, $1, $1;"),
    "text that never writes": lambda: defined("{ .reg .f32 t; add.f32 t, $0, $1; }"),
    "text that writes an argument": lambda: defined("neg.f32 $1, $1; neg.f32 $0, $1;"),
    "text with a guard before several": lambda: defined(
        "neg.f32 $0, $1; neg.f32 $0, $0;", effect="ordered", guardable=True
    ),
    "text of an only set": lambda: Isa([Instruction("f", ("f32",), ("f32",), "neg $0, $1;")]),
    "an instruction twice": lambda: Isa.default().extended(
        [Instruction("add.rn.f32", ("f32",), ("f32",), "neg.f32 $0, $1;")]
    ),
    "stacks as a text": lambda: Instruction("f", "f32", ("f32",), "neg.f32 $0, $1;"),
    "arrays as a list": lambda: stack.evaluate("x", [1.0], Y),
    "dtype of an input": lambda: stack.evaluate("x", {"x": np.zeros(3)}, Y, types={"x": "f32"}),
    "a seed below zero": lambda: stack.random_many(2, 3, -1, inputs=["x"]),
    "a seed that is a text": lambda: stack.random(3, "a"),
    "a length that is no number": lambda: stack.random_many(2, 1.5, inputs=["x"]),
    "a constant too large for its signed type": lambda: stack.Program("300:s8"),
    "a constant below its unsigned type": lambda: stack.Program("-1:u32"),
    "a double too large": lambda: stack.Program("1e400:f64"),
    "dtype": lambda: stack.evaluate("x", {"x": np.zeros(3, np.complex64)}, Y),
    "shapes": lambda: stack.evaluate(
        "x", {"x": np.zeros(3, np.float32), "z": np.zeros(2, np.float32)}, Y
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", MISTAKES)
def test_message(name: str, snapshot: SnapshotAssertion) -> None:
    with pytest.raises(PtxkitError) as caught:
        MISTAKES[name]()
    assert str(caught.value) == snapshot
