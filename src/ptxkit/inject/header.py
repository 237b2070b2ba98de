"""Headers: the one of the macro form, and those of the user."""

from __future__ import annotations

import re
from collections.abc import Iterable
from pathlib import Path

from ptxkit.diagnostics import Diagnostic
from ptxkit.inject.annotation import BEGIN
from ptxkit.inject.errors import AnnotationError

_INCLUDE = re.compile(r"^[ \t]*#[ \t]*include[ \t]*[\"<]([^\">\n]+)[\">]", re.MULTILINE)


def include_dir() -> Path:
    """The folder of ``ptxkit_inject.cuh``, for ``nvcc -I``.

    >>> (include_dir() / "ptxkit_inject.cuh").is_file()
    True
    """
    return Path(__file__).parent / "include"


def refuse_annotations(source: str, folders: Iterable[Path]) -> None:
    """Raise for an annotation in a header, which a compiler would take for a comment."""
    places = list(folders)
    waiting = [source]
    seen: set[Path] = set()
    while waiting:
        for name in _INCLUDE.findall(waiting.pop()):
            path = next((one / name for one in places if (one / name).is_file()), None)
            if path is None or path in seen:
                continue
            seen.add(path)
            try:
                text = path.read_text("utf-8", "surrogateescape")
            except OSError:
                continue  # the compiler says it better
            found = BEGIN.search(text)
            if found is not None:
                raise AnnotationError([_in_header(path, text, found.start(), found.end())])
            places.append(path.parent)
            waiting.append(text)


def _in_header(path: Path, text: str, start: int, end: int) -> Diagnostic:
    line = text.count("\n", 0, start) + 1
    column = start - (text.rfind("\n", 0, start) + 1) + 1
    return Diagnostic(
        "error", "inject-header", "an annotation in a header is not seen", line, column,
        "write it as a macro: #include <ptxkit_inject.cuh> and PTX_INJECT(...)",
        filename=str(path), span=(start, end), source_line=text.split("\n")[line - 1],
    )  # fmt: skip
