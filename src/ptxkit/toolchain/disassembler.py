"""cubin to SASS, as text and as data, by nvdisasm."""

from __future__ import annotations

import re
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from ptxkit.errors import ToolchainError, UsageError
from ptxkit.toolchain import locate, process
from ptxkit.toolchain.cubin import Cubin
from ptxkit.toolchain.elf import Elf

_SECTION = re.compile(r"^\s*\.section\s+\.text\.([^,\s]+)")
_LABEL = re.compile(r"^([.$\w]+):\s*$")
_INSTRUCTION = re.compile(
    r"^\s*/\*(?P<address>[0-9a-f]+)\*/\s+(?:(?P<guard>@!?U?P\w+)\s+)?"
    r"(?P<opcode>[A-Z][\w.]*)\s*(?P<operands>[^;]*?)\s*;"
)
_PLACE = re.compile(
    r'^\s*//## File "(?P<file>.*?)", line (?P<line>\d+)'
    r'(?: inlined at "(?P<outer>.*?)", line (?P<outer_line>\d+))?'
)
_PTX = ".nv_debug_ptx_txt"


@dataclass(frozen=True, slots=True)
class SassInstruction:
    """One machine instruction."""

    address: int
    """Bytes from the begin of the kernel's code."""
    guard: str | None
    """The predicate it is under, such as ``"@!P0"``."""
    opcode: str
    """With its modifiers, such as ``"LDG.E.128"``."""
    operands: tuple[str, ...]
    labels: tuple[str, ...]
    """Labels that stand before it."""
    file: str | None
    """The CUDA source it comes from; None without line information."""
    line: int | None
    ptx_line: int | None
    """The line of PTX it comes from; None without line information."""

    @property
    def text(self) -> str:
        """The instruction as nvdisasm writes it."""
        guard = f"{self.guard} " if self.guard else ""
        return f"{guard}{self.opcode} {', '.join(self.operands)}".rstrip()


def disassemble(
    cubin: Cubin | bytes | str | Path,
    kernel: str | None = None,
    *,
    line_info: bool = True,
    encoding: bool = False,
    live_registers: bool = False,
) -> str:
    """The SASS of a cubin, or of one kernel in it, as nvdisasm prints it.

    With `line_info` comments name the lines of CUDA and PTX, if the cubin was assembled
    with them; `encoding` adds the bytes of each instruction, `live_registers` which
    registers are in use.

    >>> import ptxkit
    >>> cubin = ptxkit.assemble(
    ...     ".version 8.0\\n.target sm_80\\n.address_size 64\\n.visible .entry k() { ret; }\\n")
    >>> "EXIT" in ptxkit.disassemble(cubin, "k")
    True
    """
    words = ["--print-code"]
    if live_registers:
        words.append("--print-life-ranges")  # which excludes line information
    elif line_info:
        words += ["--print-line-info", "--print-line-info-ptx"]
    if encoding:
        words.append("--print-instruction-encoding")
    data = _data(cubin)
    if kernel is not None:
        words.append(f"--cuda-function-index={_symbol(data, kernel)}")
    return _nvdisasm(data, words)


def sass(
    cubin: Cubin | bytes | str | Path, kernel: str | None = None
) -> dict[str, list[SassInstruction]]:
    """The instructions of each function of a cubin, or of one kernel.

    >>> import ptxkit
    >>> cubin = ptxkit.assemble(
    ...     ".version 8.0\\n.target sm_80\\n.address_size 64\\n.visible .entry k() { ret; }\\n")
    >>> from ptxkit.toolchain import sass
    >>> [i.opcode for i in sass(cubin)["k"] if i.opcode == "EXIT"]
    ['EXIT']
    """
    found: dict[str, list[SassInstruction]] = {}
    for name, instruction in _read(disassemble(cubin, kernel)):
        found.setdefault(name, []).append(instruction)
    return found


def _read(text: str) -> Iterator[tuple[str, SassInstruction]]:
    name = ""
    labels: list[str] = []
    file: str | None = None
    line: int | None = None
    ptx_line: int | None = None
    for row in text.splitlines():
        section = _SECTION.match(row)
        place = _PLACE.match(row)
        label = _LABEL.match(row)
        instruction = _INSTRUCTION.match(row)
        if section:
            name, labels, file, line, ptx_line = section[1], [], None, None, None
        elif place and place["file"].startswith(_PTX):
            ptx_line = int(place["line"])
        elif place:
            file, line = place["file"], int(place["line"])
        elif label and label[1] not in (name, f".text.{name}"):
            labels.append(label[1])
        elif instruction:
            yield name, SassInstruction(
                int(instruction["address"], 16),
                instruction["guard"],
                instruction["opcode"],
                _operands(instruction["operands"]),
                tuple(labels), file, line, ptx_line,
            )  # fmt: skip
            labels = []


def _operands(text: str) -> tuple[str, ...]:
    """Split at commas that stand in no brackets and no comment."""
    found, depth, start = [], 0, 0
    for at, char in enumerate(text):
        if char in "[({":
            depth += 1
        elif char in "])}":
            depth -= 1
        elif char == "," and depth == 0:
            found.append(text[start:at].strip())
            start = at + 1
    return (*found, text[start:].strip()) if text else ()


def _data(cubin: Cubin | bytes | str | Path) -> bytes:
    if isinstance(cubin, Cubin):
        return cubin.data
    if isinstance(cubin, (bytes, bytearray, memoryview)):
        return bytes(cubin)
    if not isinstance(cubin, (str, Path)):
        raise UsageError(f"disassemble needs a Cubin, its bytes or a file, not {cubin!r}")
    try:
        return Path(cubin).read_bytes()
    except OSError as error:
        raise UsageError(f"'{cubin}' cannot be read: {error.strerror or error}") from error


def _symbol(data: bytes, kernel: str) -> int:
    elf = Elf(data)
    functions = {
        symbol.name: index
        for index, symbol in enumerate(elf.symbols)
        if elf.section(f".text.{symbol.name}") is not None
    }
    if kernel not in functions:
        names = ", ".join(functions) or "none"
        raise UsageError(f"no kernel is called '{kernel}'; there are: {names}")
    return functions[kernel]


def _nvdisasm(data: bytes, words: list[str]) -> str:
    tool = locate.require("nvdisasm").path
    Elf(data)  # a damaged header is an error with our words
    with tempfile.TemporaryDirectory(prefix="ptxkit-") as folder:
        file = Path(folder) / "image.cubin"
        file.write_bytes(data)
        done = process.run(tool, [*words, file])
    if done.code:
        log = done.everything.replace(str(file), "the cubin").strip()
        raise ToolchainError(f"nvdisasm failed: {log}")
    return done.output
