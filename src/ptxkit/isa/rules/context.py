"""What all rules share: the module, what it is for, and a place to report to."""

from __future__ import annotations

import re
from dataclasses import dataclass, field

from ptxkit._native import Node
from ptxkit.diagnostics import Diagnostic
from ptxkit.isa.targets import Requirement, Target, Version
from ptxkit.syntax import Module, Scopes

_LONG_WORD = re.compile(r"[^\s']{200,}")


@dataclass(slots=True)
class Context:
    """One run of the checker over a module."""

    module: Module
    version: Version | None
    target: Target | None
    scopes: Scopes
    found: list[Diagnostic] = field(default_factory=list)
    origin: str = "the file says"  # or "asked for", where another target was given
    short_addresses: int = 0  # 32-bit addresses in a module of 64-bit ones
    wide: bool = field(init=False)  # addresses have 64 bits
    target_options: tuple[str, ...] = field(init=False)

    def __post_init__(self) -> None:
        # Each of these goes through all that stands in the module.
        self.wide = self.module.address_size == 64
        self.target_options = self.module.target_options

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
        if len(message) > 200:  # a name may be a megabyte long
            message = _LONG_WORD.sub(lambda word: f"{word[0][:80]}...", message)
        self.found.append(self.module.diagnostic(severity, code, message, span, hint))

    def meets(self, requirement: Requirement) -> bool:
        """Say whether the file meets a requirement, as far as its version and target are known."""
        if self.version is None or self.target is None:
            return True
        return requirement.met_by(self.version, self.target)

    def require(self, node: Node | tuple[int, int], what: str, need: Requirement) -> None:
        """Report an error unless the file meets a requirement."""
        if self.version is None or self.target is None or self.meets(need):
            return
        gone = [one for one in need.removals if one.met_by(self.version, self.target)]
        if gone:
            said, hint = f"is gone from {gone[0]} on", "use what has taken its place"
        else:
            said, hint = f"needs {need}", "raise .version or .target, or do without it"
        self.error(node, "target", f"{what} {said}; {self.origin} {self.says()}", hint)

    @staticmethod
    def word(node: Node, text: str, further: int = 0) -> tuple[int, int]:
        """The bytes of a node's own word, or of one some words further; else of the node."""
        tokens = node.tokens(own=True)
        for number, (_, word, _, _) in enumerate(tokens):
            if word == text and number + further < len(tokens):
                _, _, start, end = tokens[number + further]
                return start, end
        return node.span

    def says(self) -> str:
        """What the file says of itself, for hints: ``7.5 / sm_80``."""
        return f"{self.version or '(no version)'} / {self.target or '(no target)'}"
