"""Stubs of PTX out of programs for a typed stack machine.

A program is a sequence of words: constants and names of inputs push values, instructions
take their operands from the stack of each operand's type and push their results. An
instruction that finds too few operands does nothing, so any sequence of words is a program.

>>> from ptxkit import stack
>>> stub = stack.compile("x x mul.rn.f32 1.0 add.rn.f32", inputs={"x": "f32"}, outputs={"y": "f32"})
>>> print(stub.expandtabs(4), end="")
{
    .reg .f32 %sf<1>;
    mul.rn.f32 %sf0, x, x;
    add.rn.f32 y, %sf0, 0f3F800000;
}
"""

from ptxkit.stack.compiler import Report, Stubs, compile, compile_many, report
from ptxkit.stack.errors import StackError
from ptxkit.stack.evolve import Source, crossover, mutate, mutate_many, random, random_many
from ptxkit.stack.instructions import Instruction
from ptxkit.stack.interface import Interface, Operand
from ptxkit.stack.isa import Isa
from ptxkit.stack.program import Program
from ptxkit.stack.routines import Routine
from ptxkit.stack.types import STACKS, Stack

__all__ = [
    "STACKS",
    "Instruction",
    "Interface",
    "Isa",
    "Operand",
    "Program",
    "Report",
    "Routine",
    "Source",
    "Stack",
    "StackError",
    "Stubs",
    "compile",
    "compile_many",
    "crossover",
    "mutate",
    "mutate_many",
    "random",
    "random_many",
    "report",
]
