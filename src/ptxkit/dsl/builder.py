"""Where statements go while a kernel's Python runs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextvars import ContextVar
from typing import TYPE_CHECKING

from ptxkit.dsl.errors import DslError, python_place
from ptxkit.dsl.statements import Statement, comment_text, white_space
from ptxkit.dsl.styles import Style

if TYPE_CHECKING:
    from ptxkit.dsl.module import Module
    from ptxkit.dsl.registers import Register

ASM_BEGINS, ASM_ENDS = "// begin inline asm", "// end inline asm"


class Builder:
    """A list of statements that grows, and what has been said about the next one."""

    is_body = False

    @property
    def is_nested(self) -> bool:
        """Whether a block inside a body is open."""
        return False

    def __init__(self, module: Module) -> None:
        self.module = module
        self.style: Style = module.style
        self.statements: list[Statement] = []
        self.pending: int | str | None = None
        """What stands before the next statement, where the style is not to decide."""
        self.is_asm = False

    def add(self, kind: str, text: str) -> Statement:
        """Add a statement that is laid out already."""
        statement = Statement(kind, text, self.pending)
        self.pending = None
        self.statements.append(statement)
        return statement

    def last(self) -> Statement:
        """The statement made last."""
        if not self.statements:
            raise DslError("there is no statement yet that this could be said of")
        return self.statements[-1]

    def declare(self, name: str) -> None:
        """Take note of a name that is declared here."""

    def fresh(
        self, type: str, width: int = 1, *, to: int | None = None, next: int | None = None
    ) -> Register:
        """A new register that nobody named."""
        raise DslError("registers belong to functions", "declare them in a function's body")

    def fresh_several(self, type: str, count: int, width: int = 1) -> Sequence[Register]:
        """So many new registers that nobody named."""
        return [self.fresh(type, width) for _ in range(count)]

    def new_name(self, kind: str) -> str:
        """A name for a variable that nobody named."""
        self.module.name_count += 1
        return f"${kind}{self.module.name_count}"

    # -- what is not a statement to PTX ----------------------------------------------------

    def comment(self, text: str, before: int | str | None = None) -> Statement:
        """Put a comment in a line of its own; ``//`` is added where it has no mark."""
        written = comment_text(text)
        if before is not None:
            self.pending = white_space(before) if isinstance(before, str) else before
        if written == ASM_BEGINS:
            self.is_asm = True
        elif written == ASM_ENDS:
            self.is_asm = False
        return self.add(self.style.comment_kind(written), written)

    def blank(self, lines: int = 1) -> None:
        """Put exactly so many blank lines before the next statement."""
        self.pending = lines

    def gap(self, text: str) -> None:
        """Put exactly this white space before the next statement."""
        self.pending = white_space(text)

    def note(self, text: str, before: str | None = None) -> None:
        """Put a comment behind the last statement, on its line."""
        self.last().note(text, before)

    def spaced(self, gaps: Mapping[int, str]) -> None:
        """Set white space inside the last statement, before its numbered tokens."""
        self.last().spaced(gaps)


_current: ContextVar[Builder | None] = ContextVar("ptxkit_dsl_builder", default=None)
get_current = _current.get
set_current = _current.set
reset_current = _current.reset


def current() -> Builder:
    """The builder of the kernel that is being traced."""
    found = get_current()
    if found is None:
        raise DslError(
            "no kernel is being traced",
            "statements are made in the body of a function under @kernel or @module.func",
            place=python_place(),
        )
    return found
