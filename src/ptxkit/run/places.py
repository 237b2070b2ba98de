"""Where an instruction comes from: the ``.loc`` above it, the variable at an address."""

from __future__ import annotations

from bisect import bisect_right
from functools import lru_cache

from ptxkit._native import Node
from ptxkit.syntax import File, Loc, Module


@lru_cache(maxsize=2)
def _locations(module: Module) -> tuple[list[int], list[Loc], dict[int, str]]:
    locations: list[Loc] = list(module.find("Loc"))
    files: list[File] = list(module.find("File"))
    return [one.index for one in locations], locations, {f.number: f.path for f in files}


def source_place(module: Module, node: Node) -> tuple[str, int] | None:
    """The file and line a ``.loc`` gives for an instruction; None without one.

    >>> import ptxkit
    >>> m = ptxkit.parse('.file 1 "k.cu"\\n.func f() {\\n.loc 1 7 3\\nret;\\n}')
    >>> source_place(m, m["f"].instructions[0])
    ('k.cu', 7)
    """
    indices, locations, files = _locations(module)
    at = bisect_right(indices, node.index)
    if at == 0:
        return None
    found = locations[at - 1]
    function = next((one for one in node.ancestors if one.kind == "Function"), None)
    if function is None or found.index < function.index:
        return None
    file, line, _ = found.place
    return files.get(file, f"file {file}"), line


def describe_offset(layout: list[tuple[str, int, int]], offset: int) -> str | None:
    """A phrase on where an offset of shared memory lies.

    >>> describe_offset([("tile", 0, 64)], 8)
    "byte 8 of 'tile' (64 bytes)"
    >>> describe_offset([("tile", 0, 64)], 68)
    "4 bytes past the end of 'tile' (64 bytes)"
    """
    best: tuple[int, str] | None = None
    for name, begin, size in layout:
        end = begin + size
        if begin <= offset < end or (size == 0 and offset >= begin):
            return f"byte {offset - begin} of '{name}'" + (f" ({size} bytes)" if size else "")
        if offset >= end and (best is None or offset - end < best[0]):
            best = offset - end, f"{offset - end} bytes past the end of '{name}' ({size} bytes)"
    return None if best is None else best[1]
