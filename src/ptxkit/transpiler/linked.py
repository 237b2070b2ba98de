"""Which line of the Python is which lines of PTX."""

from __future__ import annotations

from collections.abc import Iterator

from ptxkit.syntax import Module
from ptxkit.transpiler.transpile import transpiled
from ptxkit.transpiler.tree import Argument, Group, Line

Links = dict[int, tuple[int, ...]]
"""Lines of Python, and the lines of PTX that each says; both count from 1."""


def to_linked_python(module: Module | str | bytes, sugar: bool = True) -> tuple[str, Links]:
    """The Python of a module as :func:`ptxkit.to_python` gives it, and its links to PTX.

    >>> ptx = ".version 8.0\\n.target sm_80\\n.func f() {\\n    ret;\\n}\\n"
    >>> text, links = to_linked_python(ptx)
    >>> [text.splitlines()[line - 1].strip() for line, ptx in links.items() if ptx == (4,)]
    ['ptx.ret()']
    """
    text, file = transpiled(module, sugar)
    links = {}
    for number, line in file.lines().items():
        found = sorted(set(_places(line)))
        if found:
            links[number] = tuple(found)
    return text, links


def _places(argument: Argument) -> Iterator[int]:
    if isinstance(argument, Line):
        if argument.node is not None:
            yield argument.node.line
        for one in (*argument.arguments, *(value for _, value in argument.keywords)):
            yield from _places(one)
    elif isinstance(argument, Group):
        for one in argument.parts:
            yield from _places(one)
