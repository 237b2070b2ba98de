"""The stack machine in numpy: an oracle that shares nothing with `ptxkit.stack`."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

Array = Any
Stacks = dict[str, list[Array]]


@dataclass(frozen=True, slots=True)
class Instruction:
    """What an instruction takes from which stacks, and what it does."""

    operands: tuple[str, ...]
    result: str
    compute: Callable[..., Array]


def _fused(a: Array, b: Array, c: Array) -> Array:
    # A product of two floats is exact in double precision.
    return (a.astype(np.float64) * b + c).astype(np.float32)


def _population(a: Array) -> Array:
    bits = np.unpackbits(a.view(np.uint8).reshape(-1, 4), axis=1)
    return bits.sum(axis=1).astype(np.int32)


def _arithmetic(type: str, stack: str, rounding: str) -> dict[str, Instruction]:
    two, one = (stack, stack), (stack,)
    return {
        f"add{rounding}.{type}": Instruction(two, stack, np.add),
        f"sub{rounding}.{type}": Instruction(two, stack, np.subtract),
        f"min.{type}": Instruction(two, stack, np.minimum),
        f"max.{type}": Instruction(two, stack, np.maximum),
        f"neg.{type}": Instruction(one, stack, np.negative),
        f"abs.{type}": Instruction(one, stack, np.abs),
        f"setp.lt.{type}": Instruction(two, "pred", np.less),
        f"setp.ge.{type}": Instruction(two, "pred", np.greater_equal),
        f"selp.{type}": Instruction((*two, "pred"), stack, lambda a, b, p: np.where(p, a, b)),
    }


INSTRUCTIONS: dict[str, Instruction] = {
    **_arithmetic("f32", "f32", ".rn"),
    **_arithmetic("f64", "f64", ".rn"),
    **_arithmetic("s32", "b32", ""),
    "mul.rn.f32": Instruction(("f32", "f32"), "f32", np.multiply),
    "mul.rn.f64": Instruction(("f64", "f64"), "f64", np.multiply),
    "mul.lo.s32": Instruction(("b32", "b32"), "b32", np.multiply),
    "fma.rn.f32": Instruction(("f32", "f32", "f32"), "f32", _fused),
    "sqrt.rn.f32": Instruction(("f32",), "f32", np.sqrt),
    "sqrt.rn.f64": Instruction(("f64",), "f64", np.sqrt),
    "and.b32": Instruction(("b32", "b32"), "b32", np.bitwise_and),
    "or.b32": Instruction(("b32", "b32"), "b32", np.bitwise_or),
    "xor.b32": Instruction(("b32", "b32"), "b32", np.bitwise_xor),
    "not.b32": Instruction(("b32",), "b32", np.invert),
    "popc.b32": Instruction(("b32",), "b32", _population),
    "and.pred": Instruction(("pred", "pred"), "pred", np.logical_and),
    "or.pred": Instruction(("pred", "pred"), "pred", np.logical_or),
    "not.pred": Instruction(("pred",), "pred", np.logical_not),
    "cvt.rn.f32.s32": Instruction(("b32",), "f32", lambda a: a.astype(np.float32)),
    "cvt.rn.f64.s32": Instruction(("b32",), "f64", lambda a: a.astype(np.float64)),
    "cvt.f64.f32": Instruction(("f32",), "f64", lambda a: a.astype(np.float64)),
    "cvt.rn.f32.f64": Instruction(("f64",), "f32", lambda a: a.astype(np.float32)),
}
"""Every instruction of the grammar by its word."""


@dataclass
class Machine:
    """The stacks of all threads; a program is run for all of them at once."""

    inputs: dict[str, tuple[str, Array]]
    """Each input by its name, with its stack."""
    stacks: Stacks = field(default_factory=dict)
    slots: dict[tuple[str, int], Array] = field(default_factory=dict)

    def run(self, words: Sequence[Any]) -> None:
        """Run words; a tuple is a block: ``("if", then, otherwise)`` or ``("repeat", n, body)``."""
        for word in words:
            if isinstance(word, tuple):
                self._block(word)
            elif word in INSTRUCTIONS:
                self._instruction(INSTRUCTIONS[word])
            elif word in self.inputs:
                stack, value = self.inputs[word]
                self._of(stack).append(value)
            elif "." in word and word.split(".")[0] in ("f32", "f64", "b32", "pred"):
                self._move(word)
            else:
                self._constant(word)

    def _of(self, stack: str) -> list[Array]:
        return self.stacks.setdefault(stack, [])

    def _instruction(self, instruction: Instruction) -> None:
        for stack in set(instruction.operands):
            if len(self._of(stack)) < instruction.operands.count(stack):
                return  # too few operands: nothing is done
        taken = [self._of(stack).pop() for stack in reversed(instruction.operands)]
        self._of(instruction.result).append(instruction.compute(*reversed(taken)))

    def _move(self, word: str) -> None:
        stack, _, what = word.partition(".")
        values = self._of(stack)
        name, _, number = what.partition("#")
        match name:
            case "dup" if len(values) > int(number or 0):
                values.append(values[-1 - int(number or 0)])
            case "swap" if len(values) > 1:
                values[-1], values[-2] = values[-2], values[-1]
            case "drop" if values:
                values.pop()
            case "reverse":
                values.reverse()
            case "to" if values:
                self.slots[stack, int(number)] = values.pop()
            case "from" if (stack, int(number or 0)) in self.slots:
                values.append(self.slots[stack, int(number)])

    def _constant(self, word: str) -> None:
        text, _, type = word.partition(":")
        size = len(next(iter(self.inputs.values()))[1])
        if type == "f64":
            self._of("f64").append(np.full(size, float(text)))
        elif "." in text:
            self._of("f32").append(np.full(size, float(text), np.float32))
        else:
            self._of("b32").append(np.full(size, int(text), np.int32))

    def _block(self, block: tuple[Any, ...]) -> None:
        if block[0] == "repeat":
            for _ in range(block[1]):
                self.run(block[2])
            return
        if not self._of("pred"):
            return
        condition = self._of("pred").pop()
        sides = []
        for words in block[1:]:
            side = Machine(
                self.inputs, {k: list(v) for k, v in self.stacks.items()}, {**self.slots}
            )
            side.run(words)
            sides.append(side)
        then, otherwise = sides
        # As deep as the shallower side left it; a slot stays if both sides have it.
        self.stacks = {
            stack: [
                np.where(condition, a, b)
                for a, b in zip(then._of(stack), otherwise._of(stack), strict=False)
            ]
            for stack in {**then.stacks, **otherwise.stacks}
        }
        self.slots = {
            key: np.where(condition, then.slots[key], otherwise.slots[key])
            for key in then.slots
            if key in otherwise.slots
        }


def text_of(words: Sequence[Any]) -> str:
    """The words as a program is written."""
    found = []
    for word in words:
        if isinstance(word, tuple) and word[0] == "repeat":
            found.append(f"repeat#{word[1]} {text_of(word[2])} end")
        elif isinstance(word, tuple):
            other = f" else {text_of(word[2])}" if word[2] else ""
            found.append(f"if {text_of(word[1])}{other} end")
        else:
            found.append(word)
    return " ".join(found)
