"""Numbers that count bytes on the way through an array: as indices of its elements.

A compiler that reads ``part[i]`` in a loop may count the bytes instead of the elements, and from
the middle of what it does in one turn on: from 64 to 2112, by 128. Where such a number is added to
addresses and compared with numbers, and nothing else, it counts elements again, from the first
that is read on: from 0 to 512, by 32.
"""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass, field

from ptxkit.decompiler.lift.algebra import OPPOSITE, make
from ptxkit.decompiler.lift.function import Program
from ptxkit.decompiler.lift.reading import exit_values, set_exit
from ptxkit.decompiler.lift.sums import sum_of
from ptxkit.decompiler.lift.values import Definition, Step, Value, Variable, const, signed

_WIDTHS = frozenset((32, 64))
_SUMS = frozenset(("add", "sub"))
_COMPARISONS = frozenset(op for op in OPPOSITE if not op.startswith("f"))
#: What is larger may have wrapped around.
_LARGEST = 1 << 30


def count_elements(program: Program) -> None:
    """Rewrite the numbers of one function that count bytes."""
    _Counters(program).run()


@dataclass(slots=True)
class _Uses:
    """What one variable is used for."""

    bases: set[Variable] = field(default_factory=set)
    """Variables that are set to a sum with it."""
    sizes: set[int] = field(default_factory=set)
    """The bytes of what is accessed at addresses that it is a part of."""
    offsets: set[int] = field(default_factory=set)
    """What is added to it there."""
    limits: set[int] = field(default_factory=set)
    """What it is compared with."""
    other: bool = False


@dataclass(slots=True)
class _Counters:
    program: Program
    uses: dict[Variable, _Uses] = field(default_factory=lambda: defaultdict(_Uses))
    sets: dict[Variable, list[Step]] = field(default_factory=lambda: defaultdict(list))
    numbers: dict[Definition, Value] = field(default_factory=dict)
    """Versions of variables that are a number, and which."""
    shifts: dict[Variable, int] = field(default_factory=dict)
    """Variables that are an array and a counter, and by how much they are less than they were."""

    def run(self) -> None:
        """Find and rewrite them."""
        self._survey()
        counters = {
            variable: found
            for variable, steps in self.sets.items()
            if len(steps) > 1 and (found := self._counter(variable, steps)) is not None
        }
        # An array and a counter are counted from the first element on, too.
        self.shifts = {
            base: before
            for counter, (_, before) in counters.items()
            for base in self.uses[counter].bases - {counter}
        }
        if counters:
            self._rewrite(counters)

    # ---- what variables are used for -------------------------------------------------------

    def _survey(self) -> None:
        blocks = self.program.flow.blocks.values()
        for step in (s for b in blocks for s in b.statements):
            if step.kind == "set" and step.args[0].op == "const":
                self.numbers[step.targets[0]] = step.args[0]
        for block in blocks:
            for step in block.statements:
                for target in step.targets:
                    self.sets[target.variable].append(step)
                    if step.kind != "set":
                        self.uses[target.variable].other = True
                arguments = list(step.args)
                if step.kind == "store":
                    self._address(arguments.pop(0), step.data.size)
                elif step.kind == "set" and step.args[0].op in _SUMS:
                    self._sum(arguments.pop(0), step.targets[0].variable)
                for value in arguments:
                    self._value(value)
            for value in exit_values(block):
                self._value(value)

    def _value(self, value: Value) -> None:
        """A value that is used for itself."""
        if value.op == "var":
            if value.data not in self.numbers:
                self.uses[value.data.variable].other = True
        elif value.op == "load":
            self._address(value.args[0], value.data.size)
        elif value.op in _COMPARISONS and value.args[1].op == "const":
            total = sum_of(value.args[0])
            for term, times in total.terms.items():
                if term.op == "var" and times == 1 and len(total.terms) == 1:
                    limit = signed(value.args[1]) - total.constant
                    self.uses[term.data.variable].limits.add(limit)
                else:
                    self._value(term)
        else:
            for part in value.args:
                self._value(part)

    def _address(self, value: Value, size: int) -> None:
        total = sum_of(value)
        for term, times in total.terms.items():
            if term.op == "var" and times == 1:
                self.uses[term.data.variable].sizes.add(size)
                self.uses[term.data.variable].offsets.add(total.constant)
            else:
                self._value(term)

    def _sum(self, value: Value, target: Variable) -> None:
        """A sum that a variable is set to."""
        for term, times in sum_of(value).terms.items():
            if term.op == "var" and times == 1:
                self.uses[term.data.variable].bases.add(target)
            else:
                self._value(term)

    # ---- which of them count ---------------------------------------------------------------

    def _counter(self, variable: Variable, steps: list[Step]) -> tuple[int, int] | None:
        """The bytes of an element and of what comes before the first, if a variable counts."""
        found = self.uses[variable]
        if variable.width not in _WIDTHS or variable.role or found.other:
            return None
        starts: set[int] = set()
        numbers: set[int] = set()
        factors: set[int] = set()
        for step in steps:
            total = sum_of(step.args[0])
            own = [
                k for t, k in total.terms.items() if t.op == "var" and t.data.variable is variable
            ]
            if own and (own != [1] or len(total.terms) > 1):
                return None
            (numbers if own else starts).add(total.constant)
            factors |= set() if own else set(total.terms.values())
        sizes, offsets = set(found.sizes), set(found.offsets)
        for base in found.bases - {variable}:
            places = self._places(base, variable)
            if places is None:
                return None
            sizes |= places[0]
            offsets |= places[1]
        if len(starts) != 1 or not sizes or min(numbers, default=0) <= 0:
            return None
        size, first = min(sizes), starts.pop() + min(offsets)
        if factors and (found.limits or any(factor % size for factor in factors)):
            return None
        before = -min(offsets) if 0 <= first < _LARGEST else first - min(offsets)
        counted = {first, *numbers, *(limit - before for limit in found.limits)}
        if size < 2 or any(number % size or not 0 <= number < _LARGEST for number in counted):
            return None
        return size, before

    def _places(self, base: Variable, counter: Variable) -> tuple[set[int], set[int]] | None:
        """What is accessed at a variable that is an array and a counter: sizes and offsets."""
        found, steps = self.uses[base], self.sets[base]
        if len(steps) != 1 or found.other or found.limits or found.bases:
            return None
        total = sum_of(steps[0].args[0])
        if sum(t.op == "var" and t.data.variable is counter for t in total.terms) != 1:
            return None
        return found.sizes, {offset + total.constant for offset in found.offsets}

    # ---- elements instead of bytes -----------------------------------------------------------

    def _rewrite(self, counters: dict[Variable, tuple[int, int]]) -> None:
        for block in self.program.flow.blocks.values():
            for step in block.statements:
                target = step.targets[0].variable if step.targets else None
                if target in counters:
                    step.args[0] = self._moved(target, step.args[0], *counters[target])
                else:
                    step.args[:] = [self._changed(a, counters) for a in step.args]
                if target in self.shifts:
                    shift = const(-self.shifts[target], target.width)
                    step.args[0] = make("add", target.width, step.args[0], shift)
            for value in exit_values(block):
                set_exit(block, self._changed(value, counters))

    def _moved(self, variable: Variable, value: Value, size: int, before: int) -> Value:
        """What a counter is set to."""
        total, width = sum_of(value), value.width
        if any(t.op == "var" and t.data.variable is variable for t in total.terms):
            return make("add", width, *total.terms, const(total.constant // size, width))
        made = const((total.constant - before) // size, width)
        for term, times in total.terms.items():
            made = make("add", width, make("mul", width, term, const(times // size, width)), made)
        return made

    def _changed(self, value: Value, counters: dict[Variable, tuple[int, int]]) -> Value:
        """A value that reads counters of elements as the bytes that they stand for."""
        width = value.width
        if value.op == "var":
            if value.data.variable in counters and value.data in self.numbers:
                return self.numbers[value.data]
            size, before = counters.get(value.data.variable, (1, self._shift(value)))
            bytes = make("mul", width, value, const(size, width))
            return make("add", width, bytes, const(before, width))
        if value.op in _COMPARISONS and value.args[1].op == "const":
            total = sum_of(value.args[0])
            for term in total.terms:
                if term.op == "var" and term.data.variable in counters:
                    size, before = counters[term.data.variable]
                    limit = (signed(value.args[1]) - total.constant - before) // size
                    return make(value.op, width, term, const(limit, term.width))
        args = tuple([self._changed(a, counters) for a in value.args])
        if all(a is b for a, b in zip(args, value.args, strict=True)):
            return value
        return make(value.op, width, *args, data=value.data)

    def _shift(self, value: Value) -> int:
        return self.shifts.get(value.data.variable, 0)
