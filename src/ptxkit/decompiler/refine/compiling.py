"""Many versions of one function, compiled together: most of the time of a compiler goes by once."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace

from ptxkit.cuda import nodes as n
from ptxkit.cuda import print_module
from ptxkit.decompiler.refine.distance import Code
from ptxkit.decompiler.verify.certificates import compiled


def codes(
    tree: n.CudaModule,
    name: str,
    versions: Sequence[n.Function],
    arch: str,
    *,
    separate: bool = False,
    line_info: bool = False,
) -> list[Code | None]:
    """What the compiler makes of each version of a function; None for what it does not take.

    >>> from ptxkit.cuda import read
    >>> good, bad = (read(f"(kernel k (params (param (ptr int) x)) (= ([] x 0) {what}))")
    ...              for what in ("7", "y"))
    >>> made = codes(n.CudaModule((good,)), "k", [good, bad, good], "sm_90")
    >>> [code is not None for code in made]
    [True, False, True]
    """
    left = dict(enumerate(versions))
    found: list[Code | None] = [None] * len(versions)
    while left:
        text, starts = _text(tree, name, left)
        made = compiled(text, arch, separate=separate, line_info=line_info)
        if made.module is not None:
            read = Code.in_module(made.module.emit())
            for number in left:
                found[number] = read.get(_called(number))
            return found
        wrong = {_last(starts, line) for line in made.lines} - {None}
        if not wrong:
            return found  # what is wrong is not in any of them
        left = {number: one for number, one in left.items() if number not in wrong}
    return found


def _last(starts: dict[int, int], line: int) -> int | None:
    """The version that a line belongs to."""
    return max((number for number in starts if starts[number] < line), default=None)


def _called(number: int) -> str:
    return f"version_{number}"


def _text(
    tree: n.CudaModule, name: str, versions: dict[int, n.Function]
) -> tuple[str, dict[int, int]]:
    """A file with all versions, and the line before each."""
    place = next(
        k for k, i in enumerate(tree.items)
        if isinstance(i, n.Function) and i.name == name and i.body is not None
    )  # fmt: skip
    made = [replace(one, name=_called(k), linkage="C") for k, one in versions.items()]
    items = (*tree.items[:place], *made, *tree.items[place + 1 :])
    text = print_module(replace(tree, items=items))
    starts: dict[int, int] = {}
    for line, words in enumerate(text.splitlines()):
        for number in re.findall(r"version_(\d+)\(", words):
            starts[int(number)] = line
    return text, starts
