"""What goes wrong with annotations, markers and stubs, with its place."""

from __future__ import annotations

from collections.abc import Iterable

from ptxkit.diagnostics import Diagnostic
from ptxkit.errors import PtxkitError


class InjectError(PtxkitError):
    """Something about an injection that has a place. The message is the diagnostics."""

    def __init__(self, diagnostics: Iterable[Diagnostic]) -> None:
        self.diagnostics = tuple(diagnostics)
        """What was found, in the order of the source; never empty."""
        if not self.diagnostics:
            raise ValueError("an error with places needs at least one diagnostic")
        # The arguments of an exception are what pickle rebuilds it from.
        super().__init__(self.diagnostics)
        first = self.diagnostics[0]
        self.line = first.line
        """Line of the first one, counted from 1."""
        self.column = first.column
        """Column of the first one, counted from 1."""
        self.filename = first.filename
        """Name of the source, the PTX or the stub."""

    def __str__(self) -> str:
        return "\n".join(diagnostic.render() for diagnostic in self.diagnostics)


class AnnotationError(InjectError):
    """An annotation in CUDA source, or a marker in PTX, that is not right.

    >>> print(AnnotationError([Diagnostic("error", "inject-type", "there is no type 'f33'", 2, 9,
    ...                        filename="k.cu", source_line="    in  f33 x")]))
    k.cu:2:9: error[inject-type]: there is no type 'f33'
            in  f33 x
                ^
    """


class StubError(InjectError):
    """A stub that does not fit its site, or is no PTX; the place is in the stub."""
