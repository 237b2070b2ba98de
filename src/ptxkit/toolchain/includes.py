"""What a CUDA source includes, so that a cached compilation is made again when a header
changes.

Headers of the toolchain count by their folder and release. Others are read, and what they
include in turn. What can't be followed (a name made by a macro, a header that is not
found) makes the source one that is not cached.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Sequence
from pathlib import Path

_DIRECTIVE = re.compile(
    rb"^[ \t]*(?:#|%:)[ \t]*(include(?:_next)?|import|embed)\b[ \t]*(.*)$", re.MULTILINE
)
_NAME = re.compile(rb'["<]([^">\n]+)[">]')
_PROBE = re.compile(rb"\b__has_(?:include|embed)")
# Options that bring in files of their own.
_FILE_OPTIONS = (
    "-I", "--include-path", "-include", "--pre-include", "-isystem", "--options-file", "-optf",
    "@", "--pch", "-pch", "--use-pch", "-use-pch", "--create-pch", "-create-pch",
)  # fmt: skip


def brings_files(option: str) -> bool:
    """Whether an option names files that the result depends on.

    >>> brings_files("--pre-include=x.h"), brings_files("-O2")
    (True, False)
    """
    return option.startswith(_FILE_OPTIONS)


def fingerprint(source: bytes, folders: Sequence[Path], toolchain: Sequence[Path]) -> bytes | None:
    """A hash of every header that is not the toolchain's; None where it can't be known."""
    digest = hashlib.blake2b(digest_size=32)
    waiting = [source]
    seen: set[Path] = set()
    while waiting:
        text = waiting.pop().replace(b"\\\r\n", b"").replace(b"\\\n", b"")
        if _PROBE.search(text):
            return None
        for kind, rest in _DIRECTIVE.findall(text):
            name = _NAME.match(rest.strip())
            if kind != b"include" or name is None:
                return None
            header = name[1].decode("utf-8", "surrogateescape")
            own = [folder / header for folder in folders if (folder / header).is_file()]
            theirs = [folder / header for folder in toolchain if (folder / header).is_file()]
            if not own and not theirs:
                return None
            # Which of several is taken depends on where the directive stands: all count.
            for path in (*own, *theirs[:1]):
                digest.update(str(path).encode("utf-8", "surrogateescape") + b"\0")
            for path in own:
                if path in seen:
                    continue
                seen.add(path)
                try:
                    content = path.read_bytes()
                except OSError:
                    return None
                digest.update(hashlib.blake2b(content).digest())
                waiting.append(content)
                # Its own folder is searched for what it includes.
                folders = [*folders, path.parent]
    return digest.digest()
