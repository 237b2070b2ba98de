"""What was pasted or uploaded, as a module of PTX."""

from __future__ import annotations

import re
import tempfile
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from ptxkit.app.limits import MOST_FILE, InputRefused, check_cuda, check_text, size
from ptxkit.diagnostics import Diagnostic
from ptxkit.errors import PtxkitError, ToolchainError
from ptxkit.syntax import Module, parse
from ptxkit.toolchain import CompilerError, ExtractedPtx, compile_cuda, extract, locate

_PTX = re.compile(r"^\s*\.(?:version|target|visible|entry|func|global|extern|weak|reg)\b", re.M)
_CUDA = re.compile(r"__global__|__device__|#\s*include|\btemplate\s*<|\bvoid\s+\w+\s*\(")
_NAME = re.compile(r"[^\w.+-]", re.ASCII)


@dataclass(frozen=True, slots=True)
class Given:
    """An input that could be read."""

    kind: str
    """``"PTX"`` or ``"CUDA C++"``."""
    module: Module
    """The PTX, with errors in it where it has some."""
    cuda: str = ""
    """The source, where it was CUDA C++."""
    diagnostics: tuple[Diagnostic, ...] = ()
    """What a compiler has to say about the CUDA source; its PTX is empty then."""


def guess(text: str) -> str:
    """What a text is.

    >>> guess(".version 8.0"), guess("__global__ void k() {}")
    ('PTX', 'CUDA C++')
    """
    if _PTX.search(text):
        return "PTX"
    return "CUDA C++" if _CUDA.search(text) else "PTX"


def safe_name(name: str) -> str:
    """The name of an upload without anything that is a path.

    >>> safe_name("../../etc/passwd"), safe_name("")
    ('passwd', 'input')
    """
    last = name.replace("\\", "/").rpartition("/")[2]
    return _NAME.sub("_", last)[:80].strip(".") or "input"


def read(text: str, kind: str = "auto", arch: str = "sm_90", name: str = "") -> Given:
    """A text as a module of PTX.

    >>> read(".version 8.0 .target sm_80").kind
    'PTX'
    """
    text = check_text(text)
    if kind == "auto":
        kind = guess(text)
    if kind != "CUDA C++":
        return Given("PTX", parse(text, filename=safe_name(name or "input.ptx"), recover=True))
    name = safe_name(name or "input.cu")
    try:
        with own_words(text, name):
            module = compile_cuda(check_cuda(text), arch or "sm_90", name=name)
    except CompilerError as error:
        return Given(kind, parse(""), text, diagnostics=tuple(error.diagnostics))
    return Given(kind, module, text)


@contextmanager
def own_words(text: str, name: str) -> Iterator[None]:
    """What a compiler says in here about other files than the text and its headers is left out."""
    try:
        yield
    except CompilerError as error:
        raise CompilerError(_shown(error.diagnostics, text, name)) from None
    except ToolchainError as error:
        # It may quote all of a log in which no error was found.
        what, failed, _ = str(error).partition(" failed: ")
        if not failed:
            raise
        raise InputRefused(f"{what} failed, and names no error in the source") from None


def _shown(found: Iterable[Diagnostic], text: str, name: str) -> list[Diagnostic]:
    """Diagnostics of a text and of compilers' headers; of other files, that there are some.

    >>> secret = Diagnostic("error", "cuda", 'no "root"', 7, 2, filename="/x", source_line="root:")
    >>> print(_shown([secret], "", "k.cu")[0].render())
    k.cu:1:1: error[cuda]: the compiler refuses another file, which is not shown
    """
    lines = set(text.replace("\r", "\n").split("\n"))
    folders = [folder.resolve() for folder in locate.include_dirs()]
    shown: list[Diagnostic] = []
    for one in found:
        if one.filename in (None, name):
            known = one.source_line is None or one.source_line.rstrip("\r") in lines
            shown.append(one if known else replace(one, source_line=None))
        elif any(Path(str(one.filename)).resolve().is_relative_to(folder) for folder in folders):
            shown.append(one)
        else:
            words = "the compiler refuses another file, which is not shown"
            other = Diagnostic(one.severity, "cuda", words, 1, 1, filename=name)
            if other not in shown:
                shown.append(other)
    return shown


def unpack(data: bytes, name: str, part: int = 0) -> Iterator[tuple[str, Any]]:
    """The text of an upload: itself, or the PTX inside of a binary."""
    name = safe_name(name)
    if len(data) > MOST_FILE:
        raise InputRefused(
            f"{name} has {size(len(data))}; the page takes {size(MOST_FILE)}. "
            "'ptxkit extract' takes any size"
        )
    if is_text(data):
        yield "parts", []
        yield "text", check_text(data.decode("utf-8", "replace"), name)
        return
    found = _extracted(data, name)
    chosen = found[min(max(int(part), 0), len(found) - 1)]
    yield "parts", [f"{number + 1}: {one.name}" for number, one in enumerate(found)]
    yield "text", check_text(chosen.text.encode("utf-8", "replace").decode(), f"the PTX in {name}")


def _extracted(data: bytes, name: str) -> list[ExtractedPtx]:
    with tempfile.TemporaryDirectory(prefix="ptxkit-") as folder:
        path = Path(folder) / "upload"
        path.write_bytes(data)
        try:
            found = extract(path)
        except PtxkitError as error:
            words = str(error).replace(str(path), name)
            raise InputRefused(f"{name} is no text, and no binary with PTX: {words}") from error
    if not found:
        raise InputRefused(
            f"{name} is a binary without PTX; 'ptxkit disassemble' shows machine code"
        )
    return found


def is_text(data: bytes) -> bool:
    r"""Whether an upload is a text rather than a binary.

    >>> is_text(b"ret;\0"), is_text(b"\x7fELF\x02")
    (True, False)
    """
    head = data[: 1 << 16].rstrip(b"\0 \r\n\t")
    return b"\0" not in head and not data.startswith((b"\x7fELF", b"!<arch>\n", b"PK\x03\x04"))
