"""What all rules share: the module, what it is for, and a place to report to."""

from __future__ import annotations

from dataclasses import dataclass, field

from ptxkit._native import Node
from ptxkit.diagnostics import Diagnostic
from ptxkit.isa.targets import Requirement, Target, Version
from ptxkit.syntax import Module, Scopes


@dataclass(slots=True)
class Context:
    """One run of the checker over a module."""

    module: Module
    version: Version | None
    target: Target | None
    scopes: Scopes
    found: list[Diagnostic] = field(default_factory=list)

    def error(
        self, node: Node | tuple[int, int], code: str, message: str, hint: str | None = None
    ) -> None:
        """Report an error at a node or a span."""
        self._report("error", node, code, message, hint)

    def warning(
        self, node: Node | tuple[int, int], code: str, message: str, hint: str | None = None
    ) -> None:
        """Report a warning at a node or a span."""
        self._report("warning", node, code, message, hint)

    def note(
        self, node: Node | tuple[int, int], code: str, message: str, hint: str | None = None
    ) -> None:
        """Report something worth knowing that is no fault."""
        self._report("note", node, code, message, hint)

    def _report(
        self,
        severity: str,
        node: Node | tuple[int, int],
        code: str,
        message: str,
        hint: str | None,
    ) -> None:
        span = node if isinstance(node, tuple) else node.span
        self.found.append(self.module.diagnostic(severity, code, message, span, hint))

    def meets(self, requirement: Requirement) -> bool:
        """Say whether the file meets a requirement, as far as its version and target are known."""
        if self.version is None or self.target is None:
            return True
        return requirement.met_by(self.version, self.target)

    def says(self) -> str:
        """What the file says of itself, for hints: ``7.5 / sm_80``."""
        return f"{self.version or '(no version)'} / {self.target or '(no target)'}"
