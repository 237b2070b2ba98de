"""The peers, called as their users call them. Each one may be missing."""

from __future__ import annotations

import importlib
import re
import subprocess
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from benchmarks.timing import measure
from ptxkit.toolchain.locate import find

_ERROR_LINE = re.compile(r"line (\d+); (?:error|fatal)")
_BAD_LAST_LINE = "\n.func broken( {\n"


def pyptx_parser() -> Callable[[str], Any] | None:
    """pyptx's parse function, or None where pyptx is not installed."""
    try:
        parse: Callable[[str], Any] = importlib.import_module("pyptx.parser").parse
    except ImportError:
        return None
    return parse


def pyptx_reads(text: str) -> bool:
    """Whether pyptx is here and reads this text."""
    parse = pyptx_parser()
    if parse is None:
        return False
    try:
        parse(text)
    except Exception:  # its own errors have no common base
        return False
    return True


def pyptx_instructions(module: Any) -> Iterator[tuple[str, list[str]]]:
    """Opcode and operand texts of every instruction of a module pyptx has parsed.

    Operands have no text of their own there: the emitter's function makes it.
    """
    nodes = importlib.import_module("pyptx.ir.nodes")
    text_of = importlib.import_module("pyptx.emitter.emitter")._emit_operand
    for directive in module.directives:
        for statement in getattr(directive, "body", ()):
            if isinstance(statement, nodes.Instruction):
                opcode = statement.opcode + "".join(statement.modifiers)
                yield opcode, [text_of(operand) for operand in statement.operands]


class Ptxas:
    """ptxas as a checker: a bad last line keeps it from generating code."""

    def __init__(self, text: str) -> None:
        """Raises LookupError where ptxas is missing or refuses the text before its end."""
        found = find("ptxas")
        if found is None:
            raise LookupError("there is no ptxas")
        self.size = len(text)
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

    def start_up(self, repeat: int) -> float:
        """Seconds the process takes for no text, to be taken off: ours runs in-process."""
        return measure(lambda: self._run(self._nothing), repeat=repeat).minimum
