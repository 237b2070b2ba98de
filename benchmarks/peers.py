"""The peers, called as their users call them. Each one may be missing."""

from __future__ import annotations

import importlib
import re
import subprocess
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

from ptxkit.toolchain.locate import find

_ERROR_LINE = re.compile(r"line (\d+); (?:error|fatal)")
_BAD_LAST_LINE = "\n.func broken( {\n"


def pyptx_parser(text: str) -> Callable[[str], Any] | None:
    """pyptx's parse function; None where pyptx is not installed or does not read the text."""
    try:
        parse: Callable[[str], Any] = importlib.import_module("pyptx.parser").parse
    except ImportError:
        return None
    try:
        parse(text)
    except Exception:  # its errors have no common base
        return None
    return parse


def pyptx_walk(module: Any) -> int:
    """Opcode and operand texts of every instruction of a module pyptx has parsed.

    Operands have no text of their own there: the emitter's function makes it.
    """
    kind = importlib.import_module("pyptx.ir.nodes").Instruction
    text_of = importlib.import_module("pyptx.emitter.emitter")._emit_operand
    count = 0
    for directive in module.directives:
        for statement in getattr(directive, "body", ()):
            if isinstance(statement, kind):
                statement.opcode + "".join(statement.modifiers)
                [text_of(operand) for operand in statement.operands]
                count += 1
    return count


class Ptxas:
    """ptxas as a checker: a bad last line keeps it from generating code."""

    def __init__(self, text: str) -> None:
        """Raises LookupError where ptxas is missing or refuses the text before its end."""
        found = find("ptxas")
        if found is None:
            raise LookupError("there is no ptxas")
        self._tool = str(found.path)
        self._folder = tempfile.TemporaryDirectory()
        self._file = self._write("text.ptx", text + _BAD_LAST_LINE)
        self._nothing = self._write("nothing.ptx", text[: text.find("\n\n") + 1] + _BAD_LAST_LINE)
        lines = [int(line) for line in _ERROR_LINE.findall(self._run(self._file))]
        if not lines or min(lines) <= text.count("\n"):
            raise LookupError("ptxas refuses the text")

    def _write(self, name: str, text: str) -> str:
        path = Path(self._folder.name) / name
        path.write_text(text)
        return str(path)

    def _run(self, file: str) -> str:
        command = [self._tool, "-arch", "sm_80", file, "-o", "/dev/null"]
        return subprocess.run(command, capture_output=True, text=True, check=False).stderr

    def check(self) -> None:
        """Check the whole text once."""
        self._run(self._file)

    def start_up(self) -> None:
        """Check nothing: what the process itself takes. Ours runs in this one."""
        self._run(self._nothing)
