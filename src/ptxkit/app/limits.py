"""How much the workbench takes from a stranger, and the words that refuse the rest."""

from __future__ import annotations

import re

from ptxkit.app.lexer import READERS, Word, words
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


# What can read a file of this machine into a program, or tell whether it is there.
_DIRECTIVES = frozenset(
    "define undef if ifdef ifndef elif elifdef elifndef else endif error warning line pragma "
    "include".split()
)
_ASKING = frozenset({"__has_include", "__has_include_next", "__has_embed"})
_HEADER = re.compile(r'<([\w+-][\w+./-]*)>|"([\w+-][\w+./-]*)"', re.ASCII)
_PRAGMA_READS = re.compile(r"dependency|include|import|embed|pch|hdrstop|region_file|system_header")
#: Headers of the languages: nvcc finds them among those of the machine.
_STANDARD = frozenset(
    "algorithm array atomic bit cassert cctype cerrno cfloat chrono climits cmath complex concepts "
    "cstddef cstdint cstdio cstdlib cstring functional initializer_list iostream iterator limits "
    "memory new numeric optional random ratio span stdexcept string string_view tuple type_traits "
    "utility variant vector version assert.h ctype.h errno.h float.h inttypes.h limits.h math.h "
    "alloca.h stdbool.h stddef.h stdint.h stdio.h stdlib.h string.h".split()
)
#: Headers that include others by macros, which a text could make into another file.
_BY_MACROS = re.compile(r"(?:thrust|cub)/")


def check_cuda(text: str) -> str:
    """CUDA C++ that reads no files but the compiler's own headers; raises where it would.

    >>> check_cuda("#include <cuda_fp16.h>")
    '#include <cuda_fp16.h>'
    >>> check_cuda('#include "/etc/passwd"')
    Traceback (most recent call last):
    ptxkit.app.limits.InputRefused: line 1 includes "/etc/passwd"; the page takes ...
    """
    try:
        text.encode()
    except UnicodeEncodeError as error:
        line = text.count("\n", 0, error.start) + 1
        raise InputRefused(f"line {line} has half of a character, which is no text") from None
    rows: list[list[Word]] = [[]]
    for word in words(text):
        if word.kind == "odd":
            raise InputRefused(
                f"line {word.line} has {word.text[:40]!r}, which compilers understand in different "
                "ways; the page takes none of it"
            )
        if word.text in _ASKING:
            raise InputRefused(
                f"line {word.line} asks for files with {word.text}; the page has none"
            )
        if word.kind == "line" or word.first:
            rows.append([])
        if word.kind != "line":
            rows[-1].append(word)
    directives = []
    for row in filter(None, rows):
        if row[0].text in ("#", "%:"):
            directives.append(row[1:])
        else:
            _check_import(row)
        _check_pragma_operators(row)
    headers = [_check_directive(row) for row in directives if row]
    if any(map(_BY_MACROS.match, headers)):
        _check_names(directives)
    _check_conditions(directives)
    return text


def _check_directive(row: list[Word]) -> str:
    """The header that a directive includes, if it does; raises where it may not."""
    name, operands = row[0], row[1:]
    rest = " ".join(word.text for word in operands)
    where = f"line {name.line}"
    if name.text in READERS:
        header = operands[0] if operands else None
        if name.text != "include" or header is None or not _is_compilers(header.text):
            raise InputRefused(
                f"{where} {name.text}s {rest[:80] or 'nothing'}; the page takes "
                "compilers' own headers alone, such as #include <cuda_fp16.h>"
            )
        return header.text[1:-1]
    if name.text not in _DIRECTIVES:
        raise InputRefused(
            f"{where} has the directive #{name.text[:40]}, which the page leaves out"
        )
    if name.text == "line" and [word.kind for word in operands] != ["number"]:
        raise InputRefused(f"{where} names another file with #line; the page takes numbers alone")
    if name.text == "pragma" and _PRAGMA_READS.search(rest):
        raise InputRefused(f"{where} has a #pragma about files: {rest[:80]}; the page has none")
    return ""


def _is_compilers(operand: str) -> bool:
    from ptxkit.toolchain import locate

    found = _HEADER.fullmatch(operand)
    if found is None:
        return False
    name = found[1] or found[2]
    if {"", ".", ".."} & set(name.split("/")):
        return False
    if found[1] and name in _STANDARD:
        return True
    return any((folder / name).is_file() for folder in locate.include_dirs())


def _check_import(row: list[Word]) -> None:
    """Modules of C++20: ``import <x>;`` reads a file without a ``#``."""
    after = row[row[0].text == "export" :]
    if len(after) < 2 or after[0].text != "import":
        return
    if after[1].text in ("<", ":") or after[1].kind != "mark":
        raise InputRefused(
            f"line {row[0].line} imports a module; the page takes compilers' own headers alone"
        )


def _check_pragma_operators(row: list[Word]) -> None:
    for at, word in enumerate(row):
        if word.text not in ("_Pragma", "__pragma"):
            continue
        after = row[at + 1 : at + 4]
        plain = [one.text for one in after[::2]] == ["(", ")"] and after[1].kind == "literal"
        if not plain or "\\" in after[1].text or _PRAGMA_READS.search(after[1].text):
            raise InputRefused(
                f"line {word.line} has {word.text} of something that is no plain string; "
                "write it as #pragma"
            )


def _check_names(directives: list[list[Word]]) -> None:
    """No macros that could be part of the paths which Thrust and CUB put together."""
    for row in directives:
        if len(row) < 2 or row[0].text not in ("define", "undef"):
            continue
        name = row[1].text
        if name.islower() or re.search(r"^_|THRUST|CUB|CCCL|LIBCUDA", name):
            raise InputRefused(
                f"line {row[1].line} defines {name[:40]}; beside headers of Thrust and CUB the "
                "page takes macros of capital letters that are not theirs"
            )


def _check_conditions(directives: list[list[Word]]) -> None:
    """No condition with a path in it: a word for asking can be pasted, or be a header's macro."""
    users: dict[str, set[str]] = {}  # word -> macros with it in their bodies
    for row in directives:
        if len(row) > 1 and row[0].text == "define":
            for word in row[2:]:
                users.setdefault(_part(word), set()).add(row[1].text)
    paths = {"/", ".", '"'}
    todo = list(paths)
    while todo:
        more = users.get(todo.pop(), set()) - paths
        paths |= more
        todo += more
    for row in directives:
        if not row or row[0].text not in ("if", "elif"):
            continue
        parts = list(map(_part, row))
        for at, part in enumerate(parts):
            named = "defined" in (parts[at - 1], parts[at - 2] if parts[at - 1] == "(" else "")
            if part in paths and not named:
                raise InputRefused(
                    f"line {row[at].line} has {row[at].text[:40]} in a condition, which may be "
                    "part of a path; the page has no files to ask for"
                )


def _part(word: Word) -> str:
    """A word, all strings being one."""
    return '"' if word.kind == "literal" and '"' in word.text[:4] else word.text
