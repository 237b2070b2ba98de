"""What a function passes to others, and what these give back."""

from __future__ import annotations

from collections.abc import Iterator

from ptxkit.cuda.types import Pointer
from ptxkit.decompiler.lift.function import Program
from ptxkit.decompiler.lift.values import Value, Variable


def call_slots(program: Program) -> dict[Variable, tuple[str, int]]:
    """Variables passed to or given by a direct call: the function, and which parameter."""
    found: dict[Variable, tuple[str, int]] = {}
    for block in program.flow.blocks.values():
        for step in block.statements:
            for value in step.args:
                if value.op != "function" or value.data[0] != "direct":
                    continue
                for place, argument in enumerate(value.args):
                    if argument.op == "whole":
                        found[argument.data] = (value.data[1], place)
                    elif argument.op == "var":
                        variable = argument.data.variable
                        if variable.role == "argument":
                            found[variable] = (value.data[1], place)
                if value.data[2] is not None:
                    found[value.data[2]] = (value.data[1], -1)
    return found


def passed_pointers(program: Program) -> Iterator[tuple[Value, Pointer]]:
    """What is passed where functions, which are lifted by now, take pointers, and to what."""
    for block in program.flow.blocks.values():
        for step in block.statements:
            for value in step.args:
                if value.op != "function" or value.data[0] != "direct":
                    continue
                signature = program.lift.signatures.functions.get(value.data[1])
                slots = signature.parameters if signature is not None else []
                for argument, slot in zip(value.args, slots, strict=False):
                    if isinstance(slot.c_type, Pointer) and argument.width == 64:
                        yield argument, slot.c_type
