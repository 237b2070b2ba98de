"""Where the registers, variables and labels of a function are, while it is lowered."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import NamedTuple

from ptxkit.syntax import Function, Name, Parameter
from ptxkit.syntax.scopes import Scope


class Register(NamedTuple):
    """Where a register lives: its slot, its bytes, its type."""

    slot: int
    bytes: int
    type: str


@dataclass(slots=True)
class FunctionState:
    """What lowering knows of a function: where its registers, variables and labels are."""

    index: int
    node: Function
    scope: Scope
    registers: dict[tuple[int, str], Register] = field(default_factory=dict)
    register_bytes: int = 64  # slot 0 holds the carry flags
    locals: dict[int, int] = field(default_factory=dict)  # by declaring node
    local_bytes: int = 0
    labels: dict[tuple[int, str], int] = field(default_factory=dict)
    fixups: list[tuple[int, Name]] = field(default_factory=list)
    table_fixups: list[tuple[int, Name]] = field(default_factory=list)
    #: Registers by their names, but for names that a block inside declares for itself.
    named: dict[str, Register] = field(default_factory=dict)
    hidden: set[str] | None = field(default_factory=set)  # None: those are ranges
    #: Results in .reg space: each with its place, to which ``ret`` copies it.
    register_results: list[tuple[Parameter, int]] = field(default_factory=list)
