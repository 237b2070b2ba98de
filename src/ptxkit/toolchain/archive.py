"""Members of ``.a`` archives."""

from __future__ import annotations

from collections.abc import Iterator

from ptxkit.toolchain.elf import BinaryFormatError

MAGIC = b"!<arch>\n"
THIN_MAGIC = b"!<thin>\n"
_HEADER = 60
_END = b"`\n"
_TABLES = frozenset({"/", "/SYM64/", "__.SYMDEF", "__.SYMDEF SORTED"})


def members(data: bytes) -> Iterator[tuple[str, bytes]]:
    """Name and content of every member, symbol tables left out.

    >>> list(members(b"!<arch>\\n"))
    []
    """
    if data[: len(THIN_MAGIC)] == THIN_MAGIC:
        raise BinaryFormatError("this is a thin archive: its members are separate files")
    at = len(MAGIC)
    long_names = b""
    while at < len(data):
        header = data[at : at + _HEADER]
        if len(header) < _HEADER or header[58:60] != _END:
            raise BinaryFormatError(f"the archive is damaged at offset {at}")
        field = header[48:58].strip()
        if not field.isdigit() or at + _HEADER + int(field) > len(data):
            raise BinaryFormatError(f"the archive is cut off at offset {at}")
        size = int(field)
        content = data[at + _HEADER : at + _HEADER + size]
        name = header[:16].decode("utf-8", "replace").rstrip()
        at += _HEADER + size + size % 2
        if name == "//":
            long_names = content
            continue
        if name in _TABLES:
            continue
        if name.startswith("#1/") and name[3:].isdigit():  # BSD: the name leads the content
            length = int(name[3:])
            name = content[:length].rstrip(b"\0").decode("utf-8", "replace")
            content = content[length:]
        elif name.startswith("/") and name[1:].isdigit():
            rest = long_names[int(name[1:]) :]
            name = rest.partition(b"/\n")[0].decode("utf-8", "replace")
        yield name.removesuffix("/"), content
