"""The asm statement of a site, whose text is the marker that `Template` looks for.

`include/ptxkit_inject.cuh` makes the same statement with macros.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from ptxkit.inject.types import Type

DIRECTIONS = ("in", "mod", "out")
FLAGS = ("pure", "volatile", "memory")
_PREFIX = {"in": "", "mod": "+", "out": "="}


@dataclass(frozen=True, slots=True)
class AnnotatedOperand:
    """One line of an annotation."""

    direction: str
    type: Type
    name: str
    expression: str
    place: tuple[int, int]
    """Line and column of the expression, from 1."""


@dataclass(slots=True)
class Statement:
    """The text of an asm statement, and where in it the operands' expressions are."""

    text: str = ""
    places: list[tuple[int, int, AnnotatedOperand]] = field(default_factory=list)
    """(start, end) in the text, for each operand."""

    def add_operand(self, operand: AnnotatedOperand) -> None:
        """Write one operand."""
        value = operand.type.operand(operand.expression, operand.direction)
        self.text += f'"{_PREFIX[operand.direction]}{operand.type.constraint}"('
        start = len(self.text)
        self.text += f"{value})"
        self.places.append((start, len(self.text) - 1, operand))


def statement(
    name: str, operands: Sequence[AnnotatedOperand], flags: Sequence[str], line: int
) -> Statement:
    """The asm statement of a site at a line of the source.

    >>> from ptxkit.inject.types import TYPES
    >>> x = AnnotatedOperand("in", TYPES["f32"], "x", "a[i]", (1, 1))
    >>> statement("f", [x], ["volatile"], 7).text
    'asm volatile("// PTX_INJECT f in:f32:f32:x @7 volatile = %0" : : "f"(a[i]));'
    """
    outputs = [one for one in operands if one.direction != "in"]
    inputs = [one for one in operands if one.direction == "in"]
    words = ["//", "PTX_INJECT", name]
    words += [f"{o.direction}:{o.type.name}:{o.type.register}:{o.name}" for o in operands]
    words += [f"@{line}", "pure" if "pure" in flags else "volatile"]
    words += ["memory"] if "memory" in flags else []
    words += ["=", *(f"%{number}" for number in range(len(operands)))]
    word = "asm" if "pure" in flags else "asm volatile"
    made = Statement(f'{word}("{" ".join(words)}" :')
    for group in (outputs, inputs):
        for number, operand in enumerate(group):
            made.text += ", " if number else " "
            made.add_operand(operand)
        made.text += " :" if group is outputs else ""
    made.text += ' : "memory");' if "memory" in flags else ");"
    return made
