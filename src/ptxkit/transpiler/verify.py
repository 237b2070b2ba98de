"""Run a generated file and compare what it prints."""

from __future__ import annotations

from typing import Any

from ptxkit.dsl import Module as DslModule
from ptxkit.errors import PtxkitError


class TranspileError(PtxkitError):
    """The generated Python does not give the PTX back; a bug, never a matter of the input."""


def run_python(source: str, filename: str = "<transpiled>") -> DslModule:
    """Run a generated file in a fresh namespace; gives its ``module``.

    >>> run_python("from ptxkit.dsl import Module\\nmodule = Module()").ptx().split()[0]
    '.version'
    """
    module: DslModule = run_python_names(source, filename)["module"]
    return module


def run_python_names(source: str, filename: str = "<transpiled>") -> dict[str, Any]:
    """Run a generated file in a fresh namespace; gives all its names."""
    names: dict[str, Any] = {"__name__": "transpiled", "__file__": filename}
    exec(compile(source, filename, "exec"), names)
    if not isinstance(names.get("module"), DslModule):
        raise TranspileError(f"'{filename}' does not define 'module'")
    return names


def to_bytes(text: str) -> bytes:
    """The bytes of a text; surrogates stand for bytes that are not UTF-8."""
    return text.encode("utf-8", "surrogateescape")


def first_difference(expected: bytes, found: bytes) -> str:
    """Where two texts part, in words.

    >>> first_difference(b"a\\nbc\\n", b"a\\nbd\\n")
    "line 2: 'bc' came back as 'bd'"
    """
    left, right = expected.split(b"\n"), found.split(b"\n")
    for number, (one, other) in enumerate(zip(left, right, strict=False), 1):
        if one != other:
            shown = [part[:160].decode("utf-8", "replace") for part in (one, other)]
            return f"line {number}: {shown[0]!r} came back as {shown[1]!r}"
    return f"{len(left)} lines came back as {len(right)}"
