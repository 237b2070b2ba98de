"""Frames that small pieces of PTX are put in, so that each is a whole file."""

from __future__ import annotations

import os
import re
import subprocess
import tempfile
from dataclasses import dataclass
from pathlib import Path

from isa.ptxas import find_ptxas

HEAD = ".version 8.0\n.target sm_90\n.address_size 64\n"
KERNEL = ".visible .entry k(.param .u64 kp)\n"

#: Line 4 of every `kernel`: names to call, load from and store to.
NAMES = (
    ".global .u32 gv[4]; .shared .u32 sv; .const .u32 cv = 7; .func f0() { ret; } "
    ".func (.reg .b32 r) f1(.reg .b32 a) { ret; } .func f2(.param .b32 a) { ret; }\n"
)
#: Line 7 of every `kernel`.
REGISTERS = (
    "    .reg .pred %p<4>; .reg .b16 %h<4>; .reg .b32 %r<8>; .reg .b64 %rd<8>; "
    ".reg .f32 %f<8>; .reg .f64 %d<8>;\n"
)


def module(text: str, head: str = HEAD) -> str:
    """Text at module level; it begins at 4:1, and a kernel follows in the next line."""
    return f"{head}{text}\n.entry last() {{ ret; }}\n"


def kernel(text: str, head: str = HEAD) -> str:
    """Statements in a kernel; they begin at 8:5, and ``ret`` follows in the next line."""
    return f"{head}{NAMES}{KERNEL}{{\n{REGISTERS}    {text}\n    ret;\n}}\n"


@dataclass(frozen=True, slots=True)
class Bad:
    """A text that is not PTX, and where its first error is.

    ``marked`` has « and » around what the caret stands under (nothing between them: the caret
    points at that place); ``at`` says the same as line:column.
    """

    name: str
    marked: str
    at: str

    @property
    def text(self) -> str:
        """The text without the marks."""
        return self.marked.replace("«", "").replace("»", "")

    @property
    def span(self) -> tuple[int, int]:
        """Byte offsets of what is marked."""
        before, rest = self.marked.split("«")
        under, _ = rest.split("»")
        start = len(before.encode("utf-8", "surrogateescape"))
        return start, start + len(under.encode("utf-8", "surrogateescape"))


def ptxas_accepts(data: bytes, folder: Path, *options: str) -> bool:
    """Ask ptxas, for the target the file names or else for sm_90."""
    target = re.search(rb"\.target\s+(sm_(?:75|8[0679]|90|1[012][0-9])[af]?)\b", data)
    arch = target[1].decode() if target else "sm_90"
    ptxas = find_ptxas()
    assert ptxas is not None
    with tempfile.NamedTemporaryFile(dir=folder, suffix=".ptx") as file:
        file.write(data)
        file.flush()
        command = [ptxas, "-arch", arch, *options, file.name, "-o", os.devnull]
        return subprocess.run(command, capture_output=True, check=False).returncode == 0
