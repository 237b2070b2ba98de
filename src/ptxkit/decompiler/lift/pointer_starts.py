"""Pointers that begin in the middle of what a loop accesses: they begin where the source began.

A compiler that reads four rows in a turn moves a pointer to the third of them: ``p + 64``, with
``p[-64]`` to ``p[32]``. Where a pointer always begins so far from something, it begins there, and
what is accessed is counted from there.
"""

from __future__ import annotations

from collections import Counter, defaultdict

from ptxkit.decompiler.lift.algebra import make
from ptxkit.decompiler.lift.function import Program
from ptxkit.decompiler.lift.reading import exit_values
from ptxkit.decompiler.lift.sums import sum_of
from ptxkit.decompiler.lift.values import Step, Value, Variable, const, replaced

_WIDTH = 64


def with_pointer_starts(program: Program) -> None:
    """Move the pointers of one function to where they are counted from."""
    sets: dict[Variable, list[Step]] = defaultdict(list)
    steps = [s for b in program.flow.blocks.values() for s in b.statements]
    for step in steps:
        for target in step.targets:
            sets[target.variable].append(step)
    shifts = {
        variable: shift
        for variable, own in sets.items()
        if len(own) > 1
        and variable.width == _WIDTH
        and not variable.role
        and all(s.kind == "set" for s in own)
        and (shift := _shift(variable, own))
    }
    for variable in used_otherwise(program, steps, shifts):
        shifts.pop(variable, None)
    if not shifts:
        return

    def lookup(value: Value) -> Value | None:
        shift = shifts.get(value.data.variable)
        if shift is None:
            return None
        return make("add", _WIDTH, value, const(shift, _WIDTH))

    for step in steps:
        target = step.targets[0].variable if step.targets else None
        moved = target is not None and _moves(step, target)
        if target not in shifts:
            step.args[:] = [replaced(a, lookup) for a in step.args]
        elif not moved:
            value = replaced(step.args[0], lookup)
            step.args[0] = make("add", _WIDTH, value, const(-shifts[target], _WIDTH))


def _moves(step: Step, variable: Variable) -> bool:
    """Whether a variable is moved on from where it was."""
    return any(t.op == "var" and t.data.variable is variable for t in sum_of(step.args[0]).terms)


def _shift(variable: Variable, steps: list[Step]) -> int:
    """What is always added to where a pointer begins; 0 for nothing, or for several numbers."""
    starts = {sum_of(s.args[0]).constant for s in steps if not _moves(s, variable)}
    return starts.pop() if len(starts) == 1 and len(steps) > 1 else 0


def used_otherwise(
    program: Program, steps: list[Step], candidates: dict[Variable, int]
) -> set[Variable]:
    """Of some variables those that are more than a part of the addresses of accesses."""
    found: set[Variable] = set()
    seen: set[Value] = set()
    pending: list[Value] = []

    def address(value: Value) -> None:
        for term, times in sum_of(value).terms.items():
            if not (term.op == "var" and times == 1):
                pending.append(term)

    once = Counter(t.variable for s in steps for t in s.targets)
    for step in steps:
        arguments = list(step.args)
        if step.kind == "store" or (
            # A place that is counted from it has a name of its own.
            step.kind == "set" and step.targets[0].variable.width == _WIDTH
            and once[step.targets[0].variable] == 1
        ):  # fmt: skip
            address(arguments.pop(0))
        elif step.kind == "set" and step.targets[0].variable in candidates:
            target = step.targets[0].variable
            whole = sum_of(arguments.pop(0)).terms
            pending.extend(t for t in whole if t.op != "var" or t.data.variable is not target)
        pending.extend(arguments)
        while pending:
            one = pending.pop()
            if one in seen:
                continue
            seen.add(one)
            if one.op == "var":
                found.add(one.data.variable)
            elif one.op in ("load", "atomic"):
                address(one.args[0])
                pending.extend(one.args[1:])
            else:
                pending.extend(one.args)
    for block in program.flow.blocks.values():
        for value in exit_values(block):
            found |= {part.data.variable for part in value.walk() if part.op == "var"}
    return found
