"""Keep samples out that repeat texts the user names, such as a benchmark's."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np

from ptxkit.errors import UsageError
from ptxkit.synth.schema import shingles
from ptxkit.synth.source import Rejected

_SHARE = 0.8
_LENGTH = 8


class Filter:
    """Refuses a sample of whose runs of eight tokens four fifths are in one of the texts.

    >>> text = "def k(a, b):\\n    a[0] = b[0] * 2.0 + b[1] - b[2]"
    >>> Filter([text]).verdict("x = 1\\n" * 9) is None
    True
    >>> Filter([text]).verdict(text).stage
    'decontaminate'
    """

    def __init__(self, texts: Sequence[str]) -> None:
        self._known = [shingles(text, _LENGTH) for text in texts]

    def verdict(self, text: str) -> Rejected | None:
        """None, or why the sample is refused."""
        if not self._known:
            return None
        own = shingles(text, _LENGTH)
        for number, known in enumerate(self._known):
            shared = np.isin(own, known).mean()
            if shared >= _SHARE:
                return Rejected(
                    "decontaminate", f"{shared:.0%} of it is in text {number + 1} to avoid"
                )
        return None


def read_texts(paths: Sequence[Path]) -> tuple[str, ...]:
    """The texts of some files; a folder stands for every file below it."""
    found = []
    for path in paths:
        files = sorted(p for p in path.rglob("*") if p.is_file()) if path.is_dir() else [path]
        for file in files:
            try:
                found.append(file.read_text(errors="replace"))
            except OSError as error:
                raise UsageError(f"'{file}' cannot be read: {error.strerror}") from error
    return tuple(found)
