"""Flags of 16 bits: what is only ever 0 or 1 there was a ``bool``.

PTX has no registers of 8 bits, and predicates do not last where a compiler does not know a variable
for a condition: it keeps a ``bool`` in 16 bits. Written as a number of 16 bits it would be made one
of 32 again, since C++ computes with nothing less. What the function's name says is a ``bool``, or
points to some, holds 0 or 1, too.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Sequence

from ptxkit.cuda.types import BOOL, Pointer, Type
from ptxkit.decompiler.lift.algebra import make
from ptxkit.decompiler.lift.function import Program
from ptxkit.decompiler.lift.reading import exit_values, leaves, set_exit
from ptxkit.decompiler.lift.values import Step, Value, Variable, const, raw, replaced

_WIDTH = 16


def with_truths(program: Program, declared: Sequence[Type | None] = ()) -> None:
    """Make conditions of one function's variables that are only set to 0 and 1.

    ``declared`` are the types of its parameters, as far as they are known.
    """
    bools = _Bools(program, declared)
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
        found = {
            v
            for v in found
            if all(truth_of(bools.asked(s.args[0]), found) is not None for s in sets[v])
        }
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
            value = truth_of(bools.asked(step.args[0]), found)
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


class _Bools:
    """What a function's name says of its bytes: which of them are of ``bool``."""

    def __init__(self, program: Program, declared: Sequence[Type | None]) -> None:
        self.lift = program.lift
        known = list(zip(program.parameters, declared, strict=False))
        self.numbers = {v for v, type in known if type == BOOL}
        self.pointers = {
            v for v, type in known if isinstance(type, Pointer) and type.target == BOOL
        }
        self.addresses = {v for v in program.parameters if v.width == 64}

    def asked(self, value: Value) -> Value:
        """A value with a comparison in place of a ``bool`` that it is, or chooses."""
        if not self.numbers and not self.pointers:
            return value
        if value.op in ("sext", "zext") and self._holds(value.args[0]):
            return make("zext", value.width, make("ne", 1, value.args[0], const(0, 8)))
        if value.op == "select":
            condition, *arms = value.args
            return make("select", value.width, condition, *map(self.asked, arms))
        return value

    def _holds(self, value: Value) -> bool:
        if value.op == "load" and value.width == 8:
            starts = self._variables(value.args[0]) & self.addresses
            return len(starts) == 1 and starts <= self.pointers
        return value.op == "var" and value.data.variable in self.numbers

    def _variables(self, address: Value) -> set[Variable]:
        """The variables that an address is the sum of."""
        found: set[Variable] = set()
        pending = [address]
        while pending:
            one = self.lift.behind(pending.pop())
            if one.op in ("add", "generic"):
                pending.extend(one.args)
            elif one.op == "var":
                found.add(one.data.variable)
        return found


def truth_of(value: Value, flags: Collection[Variable] = ()) -> Value | None:
    """The condition that a number is, if it is 1 where that holds and 0 elsewhere.

    ``flags`` are variables that hold nothing else.

    >>> truth_of(raw("select", 8, (raw("var", 1, ()), const(1, 8), const(0, 8)))).op
    'var'
    >>> truth_of(const(2, 8))
    """
    match value.op, value.args:
        case "const", _ if value.data in (0, 1):
            return const(value.data, 1)
        case "var", _ if value.data.variable in flags:
            return raw("var", 1, (), value.data)
        case "zext", (inner,) if inner.width == 1:
            return inner
        case "trunc", (inner,) if value.width > 1:
            return truth_of(inner, flags)
        case "select", (condition, first, second):
            one, two = (truth_of(part, flags) for part in (first, second))
            if one is not None and two is not None:
                return make("select", 1, condition, one, two)
    return None
