"""Pointers into the middle of a structure: they begin where it does.

A compiler that needs the address of ``p[i].speed`` in several places keeps it in a register, and
what lies before it is accessed at negative places from there. The distance from the start of the
array is so many whole structures and a number that is less than one of them; without that number it
is a pointer to a structure, and the others say what these are made of.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from math import gcd

from ptxkit.decompiler.lift.algebra import make
from ptxkit.decompiler.lift.context import Access
from ptxkit.decompiler.lift.function import Program
from ptxkit.decompiler.lift.pointer_starts import used_otherwise
from ptxkit.decompiler.lift.reading import exit_values
from ptxkit.decompiler.lift.sums import Sum, sum_of
from ptxkit.decompiler.lift.values import Step, Value, Variable, const, replaced

_WIDTH = 64


def with_record_starts(program: Program) -> None:
    """Move pointers of one function that are set once to where a structure begins."""
    steps = [s for b in program.flow.blocks.values() for s in b.statements]
    once = Counter(t.variable for s in steps for t in s.targets)
    found: dict[Variable, tuple[int, int]] = {}
    for step in steps:
        if step.kind == "set" and once[step.targets[0].variable] == 1:
            inside = _inside(sum_of(step.args[0]))
            variable = step.targets[0].variable
            if inside is not None and variable.width == _WIDTH and not variable.role:
                found[variable] = inside
    if not found:
        return
    shifts = {variable: shift for variable, (shift, _) in found.items()}
    for variable in used_otherwise(program, steps, shifts):
        shifts.pop(variable, None)
    for total, access in _accesses(program, steps):
        for term, times in total.terms.items():
            variable = term.data.variable if term.op == "var" else None
            if times == 1 and variable in shifts:
                shift, size = found[variable]
                start = total.constant + shift
                beside = (k for other, k in total.terms.items() if other is not term)
                end = start + access.size
                if start < 0 or end > size or any(k % size for k in beside):
                    del shifts[variable]
    if not shifts:
        return

    def lookup(value: Value) -> Value | None:
        shift = shifts.get(value.data.variable)
        return None if shift is None else make("add", _WIDTH, value, const(shift, _WIDTH))

    for step in steps:
        step.args[:] = [replaced(a, lookup) for a in step.args]
        target = step.targets[0].variable if step.targets else None
        if target in shifts:
            step.args[0] = make("add", _WIDTH, step.args[0], const(-shifts[target], _WIDTH))


def _inside(total: Sum) -> tuple[int, int] | None:
    """How far inside of a structure a pointer begins, and how large that is."""
    starts = [t for t, times in total.terms.items() if times == 1 and t.op == "var"
              and t.width == _WIDTH]  # fmt: skip
    if len(starts) != 1:
        return None
    size = gcd(*(times for term, times in total.terms.items() if term is not starts[0]))
    shift = total.constant % size if size else 0
    return (shift, size) if shift else None


def _accesses(program: Program, steps: list[Step]) -> Iterator[tuple[Sum, Access]]:
    """All addresses that are loaded from and stored to."""
    seen: set[Value] = set()
    pending: list[Value] = []
    for block in program.flow.blocks.values():
        pending += exit_values(block)
    for step in steps:
        pending += step.args
        if step.kind == "store":
            yield sum_of(step.args[0]), step.data
    while pending:
        one = pending.pop()
        if one not in seen:
            seen.add(one)
            pending += one.args
            if one.op in ("load", "atomic"):
                yield sum_of(one.args[0]), one.data if one.op == "load" else one.data[1]
