"""From what the assembler says to what the reader needs to know.

Two refusals have nothing to do with the code and get a sentence of their own: a PTX
version newer than the assembler, and an architecture the module can't run on. For the
others the checker often knows more than ptxas says.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace

from ptxkit.diagnostics import Diagnostic
from ptxkit.syntax import Module
from ptxkit.toolchain import ptxas_messages, versions
from ptxkit.toolchain.ptxas_messages import Remark

_VERSION = re.compile(r"Unsupported \.version (\S+); current version is '(\S+)'")
_NEWER_TARGET = re.compile(
    r"SM version specified by \.target is higher than default SM version assumed"
    r"|PTX with \.target '\S+' cannot be compiled (?:for|to) "
)
_SYNTAX = "Parsing error"
_NOT_PTX = ("bad input: does not match type", "Missing .version directive")
_OPTION = re.compile(
    r"^(?:Unknown option|Argument expected|Value '.*' is not defined for option|'.*' .*option)"
)
_TOO_NEW_HINT = (
    "install a newer assembler (pip install -U nvidia-nvjitlink nvidia-cuda-nvcc), "
    "or write '.version {highest}' if the code uses nothing newer"
)


def explain(
    remarks: Sequence[Remark], module: Module, arch: str, program: str
) -> Iterator[Diagnostic]:
    """Diagnostics for what an assembler said about a module."""
    failed = any(remark.severity == "error" for remark in remarks)
    known = _checker_says(module) if failed else {}
    for remark in remarks:
        special = (
            _version(remark, module, program)
            or _target(remark, module, arch)
            or _not_ptx(remark, module, program)
        )
        if special is not None:
            yield special
            continue
        found = ptxas_messages.place(remark, module)
        if found.severity == "error" and remark.line is not None:
            # One hint a line: ptxas often says several things about one mistake.
            better = known.pop(found.line, None)
            if better is not None:
                found = replace(found, hint=_hint(found, better))
            elif found.message.startswith(_SYNTAX) and module.diagnostics:
                found = replace(found, hint=_elsewhere(module.diagnostics[0]))
        yield found


def refused_options(remarks: Sequence[Remark], program: str) -> str | None:
    """The sentence for options that the assembler does not take."""
    for remark in remarks:
        if _OPTION.search(remark.message):
            return f"{program} refused its options: {remark.message}"
    return None


def unsupported_architecture(arch: str, program: str, supported: tuple[str, ...]) -> str:
    """The sentence for an architecture that the assembler does not have.

    >>> print(unsupported_architecture("sm_52", "ptxas 13.4", ("sm_75", "sm_80")))
    ptxas 13.4 does not assemble for sm_52; it does for sm_75, sm_80
    """
    renamed = versions.RENAMED.get(arch)
    if renamed in supported:
        return f"{program} does not assemble for {arch}, which is called {renamed} there"
    return f"{program} does not assemble for {arch}; it does for {', '.join(supported)}"


def _version(remark: Remark, module: Module, program: str) -> Diagnostic | None:
    found = _VERSION.search(remark.message)
    if found is None:
        return None
    written, highest = found.groups()
    return module.diagnostic(
        "error",
        "ptx-version",
        f"this is PTX {written}, and {program} takes PTX up to {highest}",
        _directive(module, "Version"),
        _TOO_NEW_HINT.format(highest=highest),
    )


def _target(remark: Remark, module: Module, arch: str) -> Diagnostic | None:
    if _NEWER_TARGET.search(remark.message) is None:
        return None
    target = module.target or "?"
    suffix = target[-1] if target[-1] in "af" else ""
    rule = {
        "a": f"'{target}' code runs on {target} alone",
        "f": f"'{target}' code runs on its family from {target[:-1]} on",
        "": f"'{target}' code runs on {target} and newer",
    }[suffix]
    return module.diagnostic(
        "error",
        "arch",
        f"code for {target} cannot run on {arch}: {rule}",
        _directive(module, "Target"),
        f"assemble for {target}, or write a '.target' that {arch} has if the code allows",
    )


def _directive(module: Module, kind: str) -> tuple[int, int]:
    return next((child.span for child in module.children if child.kind == kind), (0, 0))


def _not_ptx(remark: Remark, module: Module, program: str) -> Diagnostic | None:
    if not remark.message.startswith(_NOT_PTX):
        return None
    cuda = next((one for one in module.diagnostics if one.code == "cuda"), None)
    if cuda is not None:
        return cuda
    start = len(module.source()) - len(module.source().lstrip())
    return module.diagnostic(
        "error",
        "not-ptx",
        f"{program} does not take this for PTX, because it does not begin with '.version'",
        (start, start),
        "begin with '.version', '.target' and '.address_size 64'",
    )


def _checker_says(module: Module) -> dict[int, Diagnostic]:
    """What the parser and the checker found, the first of each line; ptxas is the judge."""
    from ptxkit.isa import check

    found: dict[int, Diagnostic] = {}
    for diagnostic in (*module.diagnostics, *check(module)):
        if diagnostic.severity == "error":
            found.setdefault(diagnostic.line, diagnostic)
    return found


def _elsewhere(first: Diagnostic) -> str:
    """What the parser says of a mistake that ptxas notices later."""
    return f"line {first.line}: {first.message}" + (f"; {first.hint}" if first.hint else "")


def _hint(found: Diagnostic, better: Diagnostic) -> str | None:
    said = better.message if better.message.lower() != found.message.lower() else None
    return "; ".join(part for part in (said, better.hint) if part) or None
