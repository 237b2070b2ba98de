"""What can be wrong with a stack program, an instruction set or an interface."""

from __future__ import annotations

from ptxkit.errors import PtxkitError


class StackError(PtxkitError):
    """A stack program that can't be compiled; the message says which item, and why.

    ``item`` counts from 0 in the program, or in the routine named by ``routine``; it is
    None where the fault is not one of an item.

    >>> print(StackError("there is no instruction 'ad.f32'", item=3))
    item 3: there is no instruction 'ad.f32'
    """

    def __init__(
        self,
        message: str,
        *,
        item: int | None = None,
        routine: str = "",
        program: int | None = None,
        hint: str = "",
    ) -> None:
        super().__init__(message, item, routine, program, hint)
        self.message, self.item, self.routine = message, item, routine
        self.program, self.hint = program, hint

    def __str__(self) -> str:
        places = []
        if self.program is not None:
            places.append(f"program {self.program}")
        if self.routine:
            places.append(f"routine '{self.routine}'")
        if self.item is not None:
            places.append(f"item {self.item}")
        text = f"{', '.join(places)}: {self.message}" if places else self.message
        return f"{text}\n  hint: {self.hint}" if self.hint else text
