"""Flags of 16 bits: what is only ever 0 or 1 there was a ``bool``.

PTX has no registers of 8 bits, and predicates do not last where a compiler does not know a variable
for a condition: it keeps a ``bool`` in 16 bits. Written as a number of 16 bits it would be made one
of 32 again, since C++ computes with nothing less.
"""

from __future__ import annotations

from collections import defaultdict

from ptxkit.decompiler.lift.algebra import make
from ptxkit.decompiler.lift.function import Program
from ptxkit.decompiler.lift.reading import exit_values, leaves, set_exit
from ptxkit.decompiler.lift.values import Step, Value, Variable, const, raw, replaced

_WIDTH = 16


def with_truths(program: Program) -> None:
    """Make conditions of one function's variables that are only set to 0 and 1."""
    steps = [s for b in program.flow.blocks.values() for s in b.statements]
    sets: dict[Variable, list[Step]] = defaultdict(list)
    for step in steps:
        for target in step.targets:
            sets[target.variable].append(step)
    found = {
        variable
        for variable, own in sets.items()
        if variable.width == _WIDTH
        and not variable.role
        and all(s.kind == "set" and len(s.targets) == 1 for s in own)
    }
    before = -1
    while len(found) != before:  # one may be set to another one
        before = len(found)
        found = {v for v in found if all(_truth(s.args[0], found) is not None for s in sets[v])}
    # What is set once is a value, unless it goes on into one that is set again.
    pending = [v for v in found if len(sets[v]) > 1]
    kept = set(pending)
    while pending:
        for step in sets[pending.pop()]:
            fresh = {d.variable for d in leaves(step.args[0]) if d.variable in found} - kept
            kept |= fresh
            pending += fresh
    found = kept
    if not found:
        return
    for variable in found:
        for step in sets[variable]:
            value = _truth(step.args[0], found)
            assert value is not None
            step.args[0] = value

    def lookup(value: Value) -> Value | None:
        if value.data.variable not in found or value.width == 1:
            return None
        return make("zext", _WIDTH, raw("var", 1, (), value.data))

    for variable in found:
        variable.width, variable.declared = 1, "pred"
    for step in steps:
        step.args[:] = [replaced(a, lookup) for a in step.args]
    for block in program.flow.blocks.values():
        for value in exit_values(block):
            set_exit(block, replaced(value, lookup))


def _truth(value: Value, flags: set[Variable]) -> Value | None:
    """The condition that a value of 16 bits is, if it is 1 where that holds and 0 elsewhere."""
    match value.op, value.args:
        case "const", _ if value.data in (0, 1):
            return const(value.data, 1)
        case "var", _ if value.data.variable in flags:
            return raw("var", 1, (), value.data)
        case "zext", (inner,) if inner.width == 1:
            return inner
        case "select", (condition, first, second):
            one, two = (_truth(part, flags) for part in (first, second))
            if one is not None and two is not None:
                return make("select", 1, condition, one, two)
    return None
