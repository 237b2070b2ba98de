"""Addresses of shared memory that move: as indices of the array that they point into.

An address of shared memory is a number of 32 bits, and C++ has no pointers of that size. Where a
variable holds nothing but the start of one array plus something, it is counted from that start
instead, in elements where all that is added are whole ones: ``p += 4`` on the way through an
array of ``int`` is ``i += 1``, and what it points to is ``array[i]``. That is the same number,
whatever wraps around.
"""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass, field

from ptxkit.decompiler.lift.algebra import make
from ptxkit.decompiler.lift.function import Program
from ptxkit.decompiler.lift.reading import exit_values, set_exit
from ptxkit.decompiler.lift.sums import Sum, sum_of
from ptxkit.decompiler.lift.values import (
    Definition,
    Step,
    Value,
    Variable,
    const,
    parts_of,
    replaced,
)

_WIDTH = 32
_LINEAR = frozenset(("add", "sub", "shl", "mul", "neg", "symbol", "const", "var"))
_DEPTH = 16


def count_in_elements(program: Program) -> None:
    """Rewrite the addresses of shared memory of one function."""
    Offsets(program).run()


@dataclass
class Offsets:
    """The variables of one function that are addresses of shared memory."""

    program: Program
    sets: dict[Variable, list[Step]] = field(default_factory=lambda: defaultdict(list))
    values: dict[Definition, Value] = field(default_factory=dict)
    places: dict[Definition, tuple[int, int]] = field(default_factory=dict)
    """The block in which a version is set, and where in it."""
    arrays: dict[Variable, Value] = field(default_factory=dict)
    """Those that move, and the arrays that they point into."""
    after: dict[int, set[int]] = field(default_factory=dict)
    """The blocks that may come after a block: itself, too, if it is in a loop."""

    def run(self) -> None:
        """Find and rewrite them."""
        steps = [s for b in self.program.flow.blocks.values() for s in b.statements]
        if not any(_is_shared(part) for s in steps for part in parts_of(s.args, set())):
            return
        other: set[Variable] = {v for v in self.program.variables if v.role}
        for number, block in self.program.flow.blocks.items():
            for place, step in enumerate(block.statements):
                self.places.update((target, (number, place)) for target in step.targets)
        for step in steps:
            for target in step.targets:
                if step.kind == "set" and target.variable.width == _WIDTH:
                    self.sets[target.variable].append(step)
                    self.values[target] = step.args[0]
                else:
                    other.add(target.variable)
        for variable in other:
            self.sets.pop(variable, None)
        before = dict(self.values)
        settled = self._settle()
        self._find()
        for step in settled:
            # What leads to none that moves stays as it was: parts of it may be variables.
            if not self._leads(before[step.targets[0]], before):
                step.args[0] = self.values[step.targets[0]] = before[step.targets[0]]
        self._convert(steps)

    # ---- what addresses are ----------------------------------------------------------------

    def _linear(self, value: Value, here: Definition | None, depth: int = _DEPTH) -> Sum:
        """A value as a sum, with what variables hold in their place, as far as it can be said.

        ``here`` is what is set to it, or nothing where it must be true anywhere.
        """
        total = Sum()
        whole = sum_of(value)
        total.constant = whole.constant
        for term, times in whole.terms.items():
            inner = self._held(term.data, here, depth) if term.op == "var" else None
            total.add(inner if inner is not None else Sum({term: 1}), times)
        return total

    def _held(self, version: Definition, here: Definition | None, depth: int) -> Sum | None:
        """What a version of a variable holds, if that can be said here."""
        value = self.values.get(version)
        if value is not None and value.op == "and":
            value = self._multiple(value)
        if value is None or not depth or value.op not in _LINEAR:
            return None
        inner = self._linear(value, here, depth - 1)
        if any(t.op == "load" for t in inner.terms):
            return None
        moving = {t.data.variable for t in inner.terms
                  if t.op == "var" and t.data.variable.definitions > 1}  # fmt: skip
        return inner if not moving or self._unmoved(moving, version, here) else None

    def _multiple(self, value: Value) -> Value:
        """``(x << 4) & 240`` as a multiple: ``(x & 15) * 16``."""
        inner, mask = value.args
        if inner.op == "var" and inner.data.variable.definitions == 1:
            held = self.values.get(inner.data, inner)
            inner = held if held.op in ("shl", "builtin") else inner
        whole = sum_of(make("and", value.width, inner, mask))
        return _built(whole) if all(times > 1 for times in whole.terms.values()) else value

    def _unmoved(self, moving: set[Variable], version: Definition, here: Definition | None) -> bool:
        """Whether variables still hold what they did when a version was set."""
        if here is None:
            return False
        begin, end = self.places[version], self.places[here]
        return self._comes(begin, end) and not any(
            self._comes(begin, place) and self._comes(place, end)
            for target, place in self.places.items()
            if target.variable in moving and place not in (begin, end)
        )

    def _comes(self, first: tuple[int, int], second: tuple[int, int]) -> bool:
        """Whether something may come after something else."""
        if first[0] == second[0] and first[1] < second[1]:
            return True
        if first[0] not in self.after:
            found: set[int] = set()
            stack = [first[0]]
            while stack:
                fresh = set(self.program.flow.blocks[stack.pop()].successors()) - found
                found |= fresh
                stack += fresh
            self.after[first[0]] = found
        return second[0] in self.after[first[0]]

    def _leads(self, value: Value, values: dict[Definition, Value]) -> bool:
        """Whether a value depends on an address that moves."""
        seen: set[Definition] = set()
        stack = [value]
        while stack:
            one = stack.pop()
            if one.op != "var":
                stack.extend(one.args)
            elif one.data.variable in self.arrays:
                return True
            elif one.data not in seen and one.data in values:
                seen.add(one.data)
                stack.append(values[one.data])
        return False

    def _settle(self) -> list[Step]:
        """Addresses that do not move do not depend on variables that do; those that changed."""
        changed: list[Step] = []
        for variable, steps in self.sets.items():
            if variable.definitions != 1 or len(steps) != 1:
                continue
            held = self._held(steps[0].targets[0], None, _DEPTH)
            if held is not None and _array(held) is not None:
                steps[0].args[0] = self.values[steps[0].targets[0]] = _built(held)
                changed.append(steps[0])
        return changed

    def _find(self) -> None:
        """Variables that are set to an array plus something, or to another one of them."""
        changed = True
        while changed:
            changed = False
            for variable, steps in self.sets.items():
                if variable in self.arrays:
                    continue
                found = {self._start(self._linear(s.args[0], s.targets[0]), variable)
                         for s in steps}  # fmt: skip
                found.discard(variable)
                if len(found) == 1 and isinstance(array := found.pop(), Value):
                    settled = variable.definitions == 1 and _array(sum_of(steps[0].args[0]))
                    if not settled:
                        self.arrays[variable] = array
                        changed = True

    def _start(self, total: Sum, own: Variable) -> Value | Variable | None:
        """The array that a sum begins in; the variable itself where it is moved on."""
        if any(t.width != _WIDTH for t in total.terms):
            return None
        found: list[Value | Variable] = []
        for term, times in total.terms.items():
            if _is_shared(term):
                found.append(term)
            elif term.op == "var" and term.data.variable in self.arrays:
                found.append(self.arrays[term.data.variable])
            elif term.op == "var" and term.data.variable is own:
                found.append(own)
            else:
                continue
            if times != 1:
                return None
        return found[0] if len(found) == 1 else None

    # ---- as indices ------------------------------------------------------------------------

    def _convert(self, steps: list[Step]) -> None:
        if not self.arrays:
            return
        totals = {id(s): self._linear(s.args[0], s.targets[0])
                  for v in self.arrays for s in self.sets[v]}  # fmt: skip
        scales = {name: self._scale(name, steps, totals) for name in set(self.arrays.values())}

        def lookup(value: Value) -> Value | None:
            array = self.arrays.get(value.data.variable)
            if array is None:
                return None
            index = make("mul", _WIDTH, value, const(scales[array], _WIDTH))
            return make("add", _WIDTH, array, index)

        for step in steps:
            target = step.targets[0].variable if step.kind == "set" else None
            if target is not None and target in self.arrays:
                step.args[0] = self._index(totals[id(step)], scales[self.arrays[target]])
            else:
                step.args[:] = [replaced(a, lookup) for a in step.args]
        for block in self.program.flow.blocks.values():
            for value in exit_values(block):
                set_exit(block, replaced(value, lookup))

    def _scale(self, array: Value, steps: list[Step], totals: dict[int, Sum]) -> int:
        """The bytes of an element: what is accessed, if all moves are by whole ones."""
        sizes = set()
        for step in steps:
            parts = list(parts_of(step.args, set()))
            places = [(p.args[0], p.data) for p in parts if p.op == "load"]
            if step.kind == "store":
                places.append((step.args[0], step.data))
            for address, access in places:
                if access.space == "shared" and any(
                    t.op == "var" and self.arrays.get(t.data.variable) is array
                    for t in sum_of(address).terms
                ):
                    sizes.add(access.size)
        size = min(sizes, default=1)
        for variable, mine in self.arrays.items():
            for step in self.sets[variable] if mine is array else ():
                total = totals[id(step)]
                moved = [k for t, k in total.terms.items() if not self._is_start(t)]
                if total.constant % size or any(k % size for k in moved):
                    return 1
        return size

    def _is_start(self, term: Value) -> bool:
        return _is_shared(term) or (term.op == "var" and term.data.variable in self.arrays)

    def _index(self, total: Sum, scale: int) -> Value:
        """What a variable is set to, from the start of the array on."""
        index = Sum(constant=total.constant // scale)
        for term, times in total.terms.items():
            if _is_shared(term):
                continue
            index.terms[term] = times if self._is_start(term) else times // scale
        return _built(index)


def _is_shared(value: Value) -> bool:
    return value.op == "symbol" and value.width == _WIDTH and value.data[0] == "shared"


def _array(total: Sum) -> Value | None:
    found = [t for t, k in total.terms.items() if _is_shared(t) and k == 1]
    return found[0] if len(found) == 1 and all(t.width == _WIDTH for t in total.terms) else None


def _built(total: Sum) -> Value:
    """A sum as a value; an array first."""
    made: Value | None = None
    for term, times in sorted(total.terms.items(), key=lambda item: not _is_shared(item[0])):
        part = make("mul", _WIDTH, term, const(times, _WIDTH))
        made = part if made is None else make("add", _WIDTH, made, part)
    number = const(total.constant, _WIDTH)
    return number if made is None else make("add", _WIDTH, made, number)
