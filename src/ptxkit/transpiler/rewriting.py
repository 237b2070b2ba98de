"""Passes, and the proof of what they do.

A *pass* takes one function and gives it back with another body::

    class ShortLabels:
        name = "short labels"

        def __call__(self, function: FunctionSuite, skip: frozenset[int]) -> FunctionSuite:
            ...
            return function.rewritten(body, sites, names)

It never changes a line or a suite in place: what it rewrites it makes anew, what it leaves it
passes on. So the function before the pass is still there, and undoing costs nothing.

``sites`` says where it rewrote: the ``index`` of the first and of the last PTX node that a
rewrite covers, and a number that stands for it. ``skip`` holds the numbers of rewrites that
must not be done, because they were tried and the bytes changed. ``names`` gives symbols other
Python names.

:func:`rewrite` runs the passes. The Python of a function that came through all of them is
run, and its PTX compared with the file's. Only where that differs the passes are tried one
by one: the first byte that differs leads to the site that covers it, the pass is run again
without that site, and so on until the bytes are the same.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import ptxkit.dsl
from ptxkit.dsl import Module as DslModule
from ptxkit.dsl.functions import Function
from ptxkit.dsl.writer import write
from ptxkit.errors import PtxkitError
from ptxkit.syntax import Module
from ptxkit.transpiler.tree import File, FunctionSuite, Line, Site, Suite, printed_function
from ptxkit.transpiler.verify import run_python_names, to_bytes

#: How often a pass is tried again without the site that went wrong before it is left out.
MOST_ATTEMPTS = 12
FILENAME = "<function>"


class Pass(Protocol):
    """One kind of sugar."""

    name: str

    def __call__(self, function: FunctionSuite, skip: frozenset[int]) -> FunctionSuite:
        """The function, rewritten everywhere but at the nodes to skip."""
        ...


@dataclass(frozen=True, slots=True)
class Fault:
    """What is wrong with a function's Python: where, and what was found."""

    node: int | None
    """The index of the PTX node that came out wrong, where it is known."""
    reason: str


@dataclass(frozen=True, slots=True)
class Undone:
    """A rewrite that changed a byte and was taken back."""

    name: str
    function: str
    site: int | None
    """The first node of the rewrite; None: the pass was left out of the function."""
    reason: str


class Prover:
    """Runs the Python of single functions against the file they came from."""

    def __init__(self, module: Module, file: File, names: Mapping[str, Any] | None = None) -> None:
        self._module = module
        self._file = file
        self._source = module.source()
        # Passes may use whatever there is to import.
        known = {name: getattr(ptxkit.dsl, name) for name in ptxkit.dsl.__all__}
        self._names = {**known, **(names or run_python_names(file.text()))}

    def fault(self, function: FunctionSuite) -> Fault | None:
        """None where the function's Python gives its PTX, byte for byte."""
        printed = printed_function(function, self._file.names)
        text = "\n".join([text for text, _ in printed])
        assert function.node is not None
        start, end = function.node.span
        try:
            found = self._run(text)
        except (PtxkitError, ArithmeticError, LookupError, NameError, SyntaxError,
                TypeError, ValueError, AttributeError) as error:  # fmt: skip
            # Whatever a pass printed: an error in it is a fault of the pass.
            return Fault(_failing_node(error, printed), f"{type(error).__name__}: {error}")
        expected = self._source[start:end]
        if found == expected:
            return None
        place = next(
            (at for at, (a, b) in enumerate(zip(found, expected, strict=False)) if a != b),
            min(len(found), len(expected)),
        )
        offset = min(start + place, end - 1)
        node = self._module.node_at(offset)
        shown = expected[max(0, place - 20) : place + 40].decode("utf-8", "replace")
        return Fault(node.index, f"the PTX differs at {shown!r}")

    def _run(self, text: str) -> bytes:
        """The PTX of one function, run among the names of the file."""
        given: DslModule = self._names["module"]
        scratch = given.like()
        names = {**self._names, "module": scratch}
        exec(compile(text, FILENAME, "exec"), names)
        made = scratch.last_function()
        assert isinstance(made, Function)
        scratch.number_like(made, given)
        statements = made.statements()
        statements[0].before = ""
        return to_bytes(write(statements, scratch.style))


def _failing_node(error: BaseException, printed: Sequence[tuple[str, Line | None]]) -> int | None:
    """The PTX node of the Python line that raised."""
    trace = error.__traceback__
    number = None
    while trace is not None:
        if trace.tb_frame.f_code.co_filename == FILENAME:
            number = trace.tb_lineno
        trace = trace.tb_next
    if number is None or number > len(printed):
        return None
    line = printed[number - 1][1]
    return line.node.index if line is not None and line.node is not None else None


def rewrite(
    file: File,
    module: Module,
    passes: Sequence[Pass],
    names: Mapping[str, Any] | None = None,
) -> list[Undone]:
    """Run passes over every function of a file that has been proved plain.

    ``names`` are those of the plain file, where it has been run. Gives what had to be undone;
    the file then holds what is proved.
    """
    undone: list[Undone] = []
    if not passes:
        return undone
    prover = Prover(module, file, names)
    for number, entry in enumerate(file.body):
        if isinstance(entry, FunctionSuite) and entry.body:
            file.body[number] = _rewrite_function(entry, passes, prover, undone)
    return undone


def _rewrite_function(
    plain: FunctionSuite, passes: Sequence[Pass], prover: Prover, undone: list[Undone]
) -> FunctionSuite:
    function = plain
    for one in passes:
        function = one(function, frozenset())
    if prover.fault(function) is None:
        return function
    function = plain
    for one in passes:
        function = _proved_pass(function, one, prover, undone)
    return function


def _proved_pass(
    before: FunctionSuite, one: Pass, prover: Prover, undone: list[Undone]
) -> FunctionSuite:
    """One pass over a function, without the rewrites that change a byte."""
    name = getattr(before.node, "name", "")
    skip: frozenset[int] = frozenset()
    reason = ""
    for _ in range(MOST_ATTEMPTS):
        after = one(before, skip)
        fault = prover.fault(after)
        if fault is None:
            return after
        reason = fault.reason
        site = _site_of(fault, after.sites, skip)
        if site is None:
            break
        skip |= {site}
        undone.append(Undone(one.name, name, site, reason))
    undone.append(Undone(one.name, name, None, reason))
    return before


def _site_of(fault: Fault, sites: Sequence[Site], skip: frozenset[int]) -> int | None:
    """The rewrite to blame: the last one that covers the node, else the last before it."""
    if fault.node is None:
        return None
    before = [site for site in sites if site.key not in skip and site.first <= fault.node]
    covering = [site for site in before if fault.node <= site.last]
    return max(covering or before).key if before else None


__all__ = ["Fault", "Pass", "Prover", "Suite", "Undone", "rewrite"]
