"""Instructions between the comments that compilers put around inline assembly."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from ptxkit.dsl.builder import ASM_BEGINS, ASM_ENDS, current
from ptxkit.dsl.instructions import Opcode, opcode
from ptxkit.dsl.statements import Statement
from ptxkit.dsl.words import word_of


class AssemblyOpcode(Opcode):
    """An opcode whose instruction stands between the two comments, alone."""

    def __getattr__(self, name: str) -> AssemblyOpcode:
        if name.startswith("__"):
            raise AttributeError(name)
        made = AssemblyOpcode(f"{self._text}.{word_of(name)}", self._is_checked)
        self.__dict__[name] = made
        return made

    def __call__(self, *operands: Any, when: Any = None) -> Statement:
        builder = current()
        builder.comment(ASM_BEGINS)
        made = super().__call__(*operands, when=when)
        builder.comment(ASM_ENDS)
        return made


class Assembly:
    """``ptx.asm.add.s32(a, b, c)``, or ``with ptx.asm():`` around several."""

    def __getattr__(self, name: str) -> AssemblyOpcode:
        if name.startswith("__"):
            raise AttributeError(name)
        made = AssemblyOpcode(opcode(name)._text)
        self.__dict__[name] = made
        return made

    @contextmanager
    def __call__(self) -> Iterator[None]:
        """The block is inline assembly."""
        current().comment(ASM_BEGINS)
        yield
        current().comment(ASM_ENDS)
