"""Instructions between the comments that compilers put around inline assembly."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, NamedTuple

from ptxkit.dsl.builder import ASM_BEGINS, ASM_ENDS, current
from ptxkit.dsl.instructions import Opcode, opcode
from ptxkit.dsl.statements import Statement
from ptxkit.dsl.words import word_of


class Braces(NamedTuple):
    """How an instruction stands in braces of its own."""

    before: str
    """Between the brace and the instruction."""
    after: str
    """Between the instruction and the other brace."""
    is_apart: bool
    """Whether a blank line follows."""
    is_tight: bool
    """Whether there are no spaces after commas."""


#: As the headers of CUDA write the instructions for small floats.
BRACES = {
    "braced": Braces("", "\n", is_apart=False, is_tight=True),
    "braced_wide": Braces("", "\n", is_apart=False, is_tight=False),
    "enclosed": Braces("", "", is_apart=True, is_tight=False),
    "padded": Braces("  ", "", is_apart=True, is_tight=False),
}


class AssemblyOpcode(Opcode):
    """An opcode whose instruction stands between the two comments, alone."""

    def __init__(self, text: str, is_checked: bool = True, braces: Braces | None = None) -> None:
        super().__init__(text, is_checked)
        self._braces = braces

    def __getattr__(self, name: str) -> AssemblyOpcode:
        if name.startswith("__"):
            raise AttributeError(name)
        made = AssemblyOpcode(f"{self._text}.{word_of(name)}", self._is_checked, self._braces)
        self.__dict__[name] = made
        return made

    def __call__(self, *operands: Any, when: Any = None) -> Statement:
        builder = current()
        braces = self._braces
        builder.comment(ASM_BEGINS)
        if braces is not None:
            builder.add("block", "{")
            builder.pending = braces.before
        made = super().__call__(*operands, when=when)
        if braces is not None:
            if braces.is_tight:
                made.tight()
            builder.pending = braces.after
            builder.add("block_close", "}")
            builder.pending = 1 if braces.is_apart else None
        builder.comment(ASM_ENDS)
        return made


class Assembly:
    """``ptx.asm.add.s32(a, b, c)``, or ``with ptx.asm():`` around several.

    ``ptx.asm.braced.add.f16(a, b, c)`` puts braces around it, as CUDA's headers do; so do
    ``braced_wide``, ``enclosed`` and ``padded``, each with its white space.
    """

    def __init__(self, braces: Braces | None = None) -> None:
        self._braces = braces

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        made: Any
        if name in BRACES and self._braces is None:
            made = Assembly(BRACES[name])
        else:
            made = AssemblyOpcode(opcode(name)._text, braces=self._braces)
        self.__dict__[name] = made
        return made

    @contextmanager
    def __call__(self) -> Iterator[None]:
        """The block is inline assembly."""
        current().comment(ASM_BEGINS)
        yield
        current().comment(ASM_ENDS)
