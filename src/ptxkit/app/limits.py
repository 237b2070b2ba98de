"""How much the workbench takes from a stranger, and the words that refuse the rest."""

from __future__ import annotations

import re

from ptxkit.errors import UsageError

#: What a text may be, and the architectures to choose from.
KINDS = ("auto", "PTX", "CUDA C++")
ARCHITECTURES = ("sm_75", "sm_80", "sm_86", "sm_89", "sm_90", "sm_100", "sm_120")
#: Bytes of a text that is pasted, and of a file that is uploaded.
MOST_TEXT = 1 << 20
MOST_FILE = 20 << 20
#: Characters of a line; compilers write lines of a few hundred.
MOST_LINE = 20_000
#: Lines that a pane shows.
MOST_ROWS = 4_000
#: Characters of a stack program and of what an argument says.
MOST_PROGRAM = 4_000
MOST_ARGUMENT = 200
#: Bytes of all arrays of a run, and threads of its launch.
MOST_ARRAYS = 64 << 20
MOST_THREADS = 1 << 16
#: Seconds that a piece of work may take.
SECONDS = {"explore": 60.0, "decompile": 120.0, "run": 30.0, "generate": 90.0}
#: Bytes of memory that a worker may write to.
MOST_MEMORY = 8 << 30


class InputRefused(UsageError):  # noqa: N818 - it says what happened
    """An input that the workbench does not work on; the message says what to do."""


def size(count: int) -> str:
    """A number of bytes for people.

    >>> size(512), size(3 << 20)
    ('512 bytes', '3.0 MB')
    """
    if count < 10_000:
        return f"{count:,} bytes"
    return f"{count / (1 << 20):.1f} MB" if count >= 1 << 20 else f"{count / 1024:.0f} kB"


def check_text(text: object, what: str = "the input") -> str:
    r"""A pasted text that is worth looking at; raises where it is not.

    >>> check_text("ret;")
    'ret;'
    >>> check_text("a\0b")
    Traceback (most recent call last):
    ptxkit.app.limits.InputRefused: the input has a NUL byte in line 1: it is no text; ...
    """
    if not isinstance(text, str) or not text.strip():
        raise InputRefused(f"{what} is empty; paste PTX or CUDA C++, or choose an example")
    count = len(text.encode("utf-8", "surrogatepass"))
    if count > MOST_TEXT:
        raise InputRefused(
            f"{what} has {size(count)}; the page takes {size(MOST_TEXT)} of text. The commands "
            "'ptxkit check', 'stats' and 'to-python' take any size"
        )
    at = text.rstrip("\0 \t\r\n").find("\0")
    if at >= 0:
        line = text.count("\n", 0, at) + 1
        raise InputRefused(
            f"{what} has a NUL byte in line {line}: it is no text; upload a binary as a file"
        )
    text = text.rstrip("\0")
    longest = max(map(len, text.splitlines()), default=0)
    if longest > MOST_LINE:
        raise InputRefused(
            f"{what} has a line of {longest:,} characters; {MOST_LINE:,} are the most here. "
            "'ptxkit fmt' breaks such lines"
        )
    return text


# What can read a file of this machine into a program, spelled in any way C++ allows.
_SPLICE = re.compile(r"\\[ \t]*\r?\n|\?\?/\r?\n")
_COMMENT = re.compile(r"//[^\n]*|/\*.*?(?:\*/|\Z)", re.DOTALL)
_DIRECTIVE = re.compile(r"^[ \t\v\f]*(?:#|%:|\?\?=)[ \t\v\f]*(\w+)(.*)$", re.MULTILINE)
_PLAIN_HEADER = re.compile(r"\s*<([\w+-][\w+./-]*)>\s*$", re.ASCII)
_READERS = re.compile(r"\b(?:__has_include(?:_next)?|__has_embed)\b")


def check_cuda(text: str) -> str:
    """CUDA C++ that reads no files but the compiler's own headers; raises where it would.

    >>> check_cuda("#include <cuda_fp16.h>")
    '#include <cuda_fp16.h>'
    >>> check_cuda('#include "/etc/passwd"')
    Traceback (most recent call last):
    ptxkit.app.limits.InputRefused: line 1 includes "/etc/passwd"; the page takes ...
    """
    plain = _SPLICE.sub("", text)
    # A comment is a space, and so is a line break in it: what follows may be a directive. Strings
    # stay as they are, and can only make this stricter.
    bare = _COMMENT.sub(lambda m: " " + "\n" * m[0].count("\n"), plain)
    for version in (plain, bare):
        for found in _DIRECTIVE.finditer(version):
            word, rest = found[1], found[2]
            if not word.startswith(("include", "import", "embed")):
                continue
            header = _PLAIN_HEADER.match(_COMMENT.sub(" ", rest))
            if word != "include" or header is None or ".." in header[1].split("/"):
                line = version.count("\n", 0, found.start()) + 1
                raise InputRefused(
                    f"line {line} {word}s {rest.strip()[:80] or 'nothing'}; the page takes "
                    "compilers' own headers alone, such as #include <cuda_fp16.h>"
                )
    reader = _READERS.search(bare)
    if reader:
        line = bare.count("\n", 0, reader.start()) + 1
        raise InputRefused(f"line {line} asks for files with {reader[0]}; the page has none")
    return text
