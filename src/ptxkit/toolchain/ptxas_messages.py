"""The log of ptxas and nvJitLink, read into diagnostics on the nodes of a module.

ptxas names a line and nothing else. The column comes from the tree: the name that the
message quotes, or else the statement that stands in that line.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from ptxkit.diagnostics import Diagnostic, Severity
from ptxkit.syntax import Module, Node

_MESSAGE = re.compile(
    r"^(?:(?:ptxas|nvlink)\s+)?(?:(?P<file>.*), line (?P<line>\d+); )?"
    r"(?P<severity>fatal|error|warning|Advisory|info)\s*: (?P<message>.*)$"
)
_SEVERITIES: dict[str, Severity] = {
    "fatal": "error",
    "error": "error",
    "warning": "warning",
    "Advisory": "note",
}
# Said after the real errors; alone they say nothing.
_CLOSING = "Ptx assembly aborted due to errors"
_LINKER = re.compile(r"^ERROR (?:NVJITLINK_\w+|\d+): (?P<message>.*)$")
_QUOTED = re.compile(r"'([^']+)'")
_STATEMENTS = frozenset(
    {"Instruction", "Variable", "Function", "Label", "Version", "Target", "AddressSize", "Error"}
)


@dataclass(frozen=True, slots=True)
class Remark:
    """One line of a log."""

    severity: Severity
    message: str
    line: int | None
    """The line it is about, where it names one."""


def remarks(log: str) -> list[Remark]:
    """The errors and warnings of a log.

    >>> remarks("ptxas k.ptx, line 3; error   : Unknown symbol 'x'")
    [Remark(severity='error', message="Unknown symbol 'x'", line=3)]
    """
    found = []
    linker = []
    for text in log.splitlines():
        match = _MESSAGE.match(text)
        if match is None:
            refused = _LINKER.match(text)
            if refused is not None:
                linker.append(Remark("error", refused["message"], None))
        elif match["severity"] in _SEVERITIES and match["message"] != _CLOSING:
            line = int(match["line"]) if match["line"] else None
            found.append(Remark(_SEVERITIES[match["severity"]], match["message"].strip(), line))
    # The linker repeats that ptxas failed; its own words count only where those are all.
    return found if any(remark.severity == "error" for remark in found) else found + linker


def diagnostics(log: str, module: Module) -> list[Diagnostic]:
    """The remarks of a log at their places in the module they are about."""
    return [place(remark, module) for remark in remarks(log)]


def place(remark: Remark, module: Module) -> Diagnostic:
    """One remark at its place."""
    quoted = _QUOTED.findall(remark.message)
    line = remark.line
    span = _named(quoted, module) if line is None else _in_line(line, quoted, module)
    return module.diagnostic(remark.severity, "ptxas", remark.message, span)


def _named(quoted: list[str], module: Module) -> tuple[int, int]:
    """What a message without a line is about: a function, or the first use of a name."""
    for function in module.functions:
        if function.name in quoted:
            return _first_line(module, function.span)
    for word in quoted:
        at = 0
        for line in module.source().split(b"\n"):
            found = _find_word(line, word.encode("utf-8", "surrogateescape"))
            if found is not None:
                return at + found[0], at + found[1]
            at += len(line) + 1
    return (0, 0)


def _in_line(line: int, quoted: list[str], module: Module) -> tuple[int, int]:
    line = min(max(line, 1), module.line_count)
    start = module.line_start(line)
    text = module.line_text(line).encode("utf-8", "surrogateescape")
    for word in quoted:
        at = _find_word(text, word.encode("utf-8", "surrogateescape"))
        if at is not None:
            return start + at[0], start + at[1]
    indent = len(text) - len(text.lstrip())
    node = _statement_at(module, start + indent)
    if node is not None:
        return _first_line(module, (max(node.span[0], start), node.span[1]))
    return start + indent, start + max(indent, len(text.rstrip()))


def _find_word(text: bytes, word: bytes) -> tuple[int, int] | None:
    """Where `word` stands in the line, not inside a longer name and not in a comment."""
    code = text.partition(b"//")[0]
    edge = rb"[\w$%]"
    before = rb"(?<!" + edge + rb")" if re.match(edge, word) else b""
    found = re.search(before + re.escape(word) + rb"(?![\w$])", code)
    return None if found is None else found.span()


def _statement_at(module: Module, offset: int) -> Node | None:
    node = module.node_at(offset)
    while node is not None and node.kind not in _STATEMENTS:
        node = node.parent
    return node if isinstance(node, Node) else None


def _first_line(module: Module, span: tuple[int, int]) -> tuple[int, int]:
    """The span up to the end of its first line."""
    line, _ = module.position(span[0])
    text = module.line_text(line).encode("utf-8", "surrogateescape").rstrip()
    return span[0], max(span[0], min(span[1], module.line_start(line) + len(text)))
