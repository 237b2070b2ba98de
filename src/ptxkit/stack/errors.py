"""What can be wrong with a stack program, an instruction set or an interface."""

from __future__ import annotations

from functools import partial
from typing import Any

from ptxkit.errors import PtxkitError


class StackError(PtxkitError):
    """A stack program that can't be compiled; the message says which item, and why.

    ``item`` counts from 0 in the program, or in the routine named by ``routine``; it is
    None where the fault is not one of an item. ``program`` counts among many, and ``place``
    is the line and column in a text.

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
        place: tuple[int, int] | None = None,
        hint: str = "",
    ) -> None:
        super().__init__(message)
        self.message, self.item, self.routine = message, item, routine
        self.program, self.place, self.hint = program, place, hint

    def __reduce__(self) -> tuple[Any, ...]:
        names = ("item", "routine", "program", "place", "hint")
        keywords = {name: getattr(self, name) for name in names}
        return partial(StackError, **keywords), (self.message,)

    def within(self, **places: Any) -> StackError:
        """The same error with more said about its place."""
        made = StackError(self.message, item=self.item, routine=self.routine,
                          program=self.program, place=self.place, hint=self.hint)  # fmt: skip
        for name, value in places.items():
            setattr(made, name, value)
        return made

    def __str__(self) -> str:
        places = []
        if self.program is not None:
            places.append(f"program {self.program}")
        if self.routine:
            places.append(f"routine '{self.routine}'")
        if self.item is not None:
            places.append(f"item {self.item}")
        if self.place is not None:
            places.append(f"line {self.place[0]}, column {self.place[1]}")
        text = f"{', '.join(places)}: {self.message}" if places else self.message
        return f"{text}\n  hint: {self.hint}" if self.hint else text
