"""Which operand of a sum or a product stands first, where that is free."""

from __future__ import annotations

from dataclasses import dataclass, field

from ptxkit.decompiler.lift.function import Program
from ptxkit.decompiler.lift.order import Order
from ptxkit.decompiler.lift.reading import leaves
from ptxkit.decompiler.lift.values import (
    Definition,
    FactTable,
    Step,
    Value,
    raw,
)

#: So many more operations are not behind `&&` where they are always computed.
_HEAVY = 3
#: What takes no instruction of its own.
COPIES = frozenset(("const", "var", "symbol", "slot", "component"))


@dataclass(slots=True)
class Operands:
    """Puts the operands of one function in order."""

    program: Program
    order: Order
    exact: bool
    facts: FactTable
    uses: dict[Definition, int]
    loaded: dict[Definition, int] = field(default_factory=dict)
    """Loads that are used once, and their lines."""
    fixed: set[Definition] = field(default_factory=set)
    """What stays where it stands, since it has an effect."""
    read: dict[Definition, int] = field(default_factory=dict)
    """Indices of threads, and which of them was read first."""
    followed: set[Definition] = field(default_factory=set)
    """Addresses that something was read from."""

    def run(self) -> None:
        """Write what was computed first on the left, where the order is free."""
        places: dict[Definition, int] = {}
        weights: dict[Definition, int] = {}
        for number in self.program.flow.order:
            for step in self.program.flow.blocks[number].statements:
                step.args = [self._sorted(value, places, weights) for value in step.args]
                for target in step.targets:
                    places[target] = self._place(step, places)
                    if step.kind == "set" and step.args[0].op == "builtin":
                        self.read[target] = len(self.read) + 1
                    if step.kind != "set" or self.facts.of(step.args[0]).effect:
                        self.fixed.add(target)
                if step.kind == "set":
                    if _is_load(step.args[0]) and self.uses.get(step.targets[0]) == 1:
                        self.loaded[step.targets[0]] = step.line
                    inner = [weights.get(d, 0) for d in leaves(step.args[0]) if self.uses[d] == 1]
                    weights[step.targets[0]] = sum(inner) + (step.args[0].op not in COPIES)

    def _sorted(
        self, value: Value, places: dict[Definition, int], weights: dict[Definition, int]
    ) -> Value:
        if value.op in ("fadd", "fmul") or (self.exact and value.op == "fma"):
            return value  # they stay in the order of the source, whatever is read first
        if self.program.lift.in_order and value.width == 1 and value.op in ("and", "or"):
            return value
        if value.width == 1 and value.op in ("and", "or"):
            # Both were computed: what takes long would not have been, after `&&`.
            one, two = (weights.get(a.data, 0) if a.op == "var" else 0 for a in value.args)
            if abs(one - two) > _HEAVY:
                return value if one > two else raw(value.op, 1, value.args[::-1], value.data)
        if value.op in _FREE and all(a.op == "var" and a.data in self.loaded for a in value.args):
            # The compiler reads the second one first, if it moves loads about.
            one, two = (self.loaded[a.data] for a in value.args)
            if (one < two) == self.program.lift.in_order:
                return value
            return raw(value.op, value.width, value.args[::-1], value.data)
        if self.program.lift.in_order and value.op != "fma":
            stays = any(a.op != "var" or a.data in self.fixed for a in value.args)
            return self._as_read(value) if stays else _ordered(value, places, self.uses)
        if value.op == "fma" and self._after_loads(value):
            return raw("fma", value.width, value.args, (*value.data[:2], "after"))
        if self.order == "line" and value.width > 1:
            return value  # what is computed first stands on a line of its own
        return _ordered(value, places, self.uses)

    def _place(self, step: Step, places: dict[Definition, int]) -> int:
        """Where a value stands among others; 0 where that says nothing."""
        if step.kind == "set" and step.args[0].op == "load":
            # The compiler moves loads about: where the address is computed counts, for the first.
            address = step.args[0].args[0]
            if address.op == "add" and address.args[1].op == "const":
                address = address.args[0]
            if address.op != "var" or address.data in self.followed:
                return 0
            self.followed.add(address.data)
            return places.get(address.data, 0)
        if step.kind == "set" and step.args[0].op == "builtin":
            return 0
        return len(places) + 1

    def _as_read(self, value: Value) -> Value:
        """``threadIdx.x + blockIdx.x * blockDim.x``, if that was read first."""
        if value.op != "add" or value.args[0].op != "mul":
            return value
        product, index = (min((self.read.get(d, 0) for d in leaves(a)), default=0)
                          for a in value.args)  # fmt: skip
        if not index or index > product:
            return value
        return raw("add", value.width, value.args[::-1], value.data)

    def _after_loads(self, value: Value) -> bool:
        """Whether what a product is added to was computed before its factors were read."""
        *factors, addend = value.args
        if addend.op != "var" or self.uses.get(addend.data, 0) != 1 or addend.data in self.loaded:
            return False
        return all(f.op == "var" and f.data in self.loaded for f in factors)


def _is_load(value: Value) -> bool:
    inner = value.args[0] if value.op in ("sext", "zext") else value
    return inner.op == "load"


_FREE = frozenset("add mul and or xor eq ne feq fne".split())


def _ordered(value: Value, places: dict[Definition, int], uses: dict[Definition, int]) -> Value:
    if value.op not in _FREE and value.op != "fma":
        return value
    known = []
    for argument in value.args:
        if argument.op != "var":
            known.append(0)
            continue
        known.append(places.get(argument.data, 0) if uses.get(argument.data, 0) == 1 else 0)
    if value.op == "fma":
        loads = not any(known[:2])
        if known[2] and (known[2] < max(known[:2]) or loads):
            return raw("fma", value.width, value.args, (*value.data[:2], "after"))
        return value
    if known[0] and known[1] and known[1] < known[0]:
        return raw(value.op, value.width, value.args[::-1], value.data)
    return value
