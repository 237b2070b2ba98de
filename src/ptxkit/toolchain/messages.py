"""What compilers say, as an exception and a warning that carry diagnostics."""

from __future__ import annotations

from collections.abc import Iterable

from ptxkit.diagnostics import Diagnostic
from ptxkit.errors import ToolchainError


class CompilerError(ToolchainError):
    """A compiler refused its input. The message is the rendered diagnostics.

    >>> error = CompilerError([Diagnostic("error", "ptxas", "Unknown symbol 'x'", 3, 9)])
    >>> print(error)
    <input>:3:9: error[ptxas]: Unknown symbol 'x'
    >>> error.line, error.column
    (3, 9)
    """

    def __init__(self, diagnostics: Iterable[Diagnostic], log: str = "") -> None:
        self.diagnostics = tuple(diagnostics)
        """What was found, in the order the compiler gave it; never empty."""
        if not self.diagnostics:
            raise ValueError("a compiler error needs at least one diagnostic")
        self.log = log
        """The compiler's own words, whole."""
        # The arguments of an exception are what pickle rebuilds it from.
        super().__init__(self.diagnostics, log)
        first = next((d for d in self.diagnostics if d.severity == "error"), self.diagnostics[0])
        self.line = first.line
        """Line of the first error, counted from 1."""
        self.column = first.column
        """Column of the first error, counted from 1."""
        self.filename = first.filename
        """Name of the source."""

    def __str__(self) -> str:
        return "\n".join(diagnostic.render() for diagnostic in self.diagnostics)


class CompilerWarning(UserWarning):
    """A compiler took its input, with a remark about it."""
