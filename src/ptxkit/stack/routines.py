"""Named sub-programs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from ptxkit.errors import UsageError


@dataclass(frozen=True, slots=True)
class Routine:
    """A program that others run by its name.

    Without ``arguments`` it works on the stacks of its caller. With them, written
    ``"x:f32"`` or just ``"f32"``, it sees nothing but its arguments: they lie on its own
    stacks, and those with a name can be pushed by it. ``results`` are the stacks it gives
    back values from, in their order; everything it leaves if there are none.

    >>> Routine("square", "f32.dup mul.rn.f32", arguments=("f32",), results=("f32",)).name
    'square'
    """

    name: str
    program: str | Sequence[Any]
    arguments: tuple[str, ...] | None = None
    results: tuple[str, ...] | None = None

    def __post_init__(self) -> None:
        if self.results is not None and self.arguments is None:
            raise UsageError(
                f"the routine '{self.name}' has results but no arguments; give arguments=() "
                "if it takes none"
            )
        names = [name for name, _ in self.parameters if name]
        if len(set(names)) != len(names):
            raise UsageError(f"the routine '{self.name}' has two arguments of one name")

    @property
    def parameters(self) -> list[tuple[str, str]]:
        """Name (or '') and type of each argument."""
        return [
            (name.strip(), kind.strip()) if colon else ("", name.strip())
            for name, colon, kind in (one.partition(":") for one in self.arguments or ())
        ]
