"""Shuffles of 64 bits: two of 32 bits each, of which one number is made.

CUDA C++ shuffles a ``double`` or a ``long long`` by its halves.
"""

from __future__ import annotations

from dataclasses import replace

from ptxkit.decompiler.lift.flow import FlowBlock
from ptxkit.decompiler.lift.reading import exit_values
from ptxkit.decompiler.lift.values import EFFECTS, Definition, Value, raw

_HALF = 32


def join_shuffles(blocks: dict[int, FlowBlock]) -> None:
    """Make one shuffle of two, wherever all that is done with these is to join what they give."""
    uses: dict[Definition, int] = {}
    for block in blocks.values():
        read = [argument for step in block.statements for argument in step.args]
        for argument in (*read, *exit_values(block)):
            for part in argument.walk():
                if part.op == "var":
                    uses[part.data] = uses.get(part.data, 0) + 1
    for block in blocks.values():
        _Block(block, uses).run()


class _Block:
    """The shuffles of one block."""

    def __init__(self, block: FlowBlock, uses: dict[Definition, int]) -> None:
        self.block = block
        self.uses = uses
        self.known: dict[Definition, Value] = {
            s.targets[0]: s.args[0] for s in block.statements if s.kind == "set"
        }

    def run(self) -> None:
        gone: set[Definition] = set()
        for place, step in enumerate(self.block.statements):
            halves = self._halves(step.args[0]) if step.kind == "set" else None
            if halves is None:
                continue
            made = self._joined(*halves)
            if made is not None and self._may_wait(halves, place):
                step.args[0] = made
                gone.update(halves)
        if gone:
            kept = [s for s in self.block.statements if not (s.targets and s.targets[0] in gone)]
            self.block.statements[:] = kept

    def _may_wait(self, halves: tuple[Definition, Definition], place: int) -> bool:
        """Whether nothing else happens between two shuffles and the place of one instead."""
        steps = self.block.statements
        first = next(k for k, s in enumerate(steps) if s.targets and s.targets[0] in halves)
        return all(
            s.kind == "set" and (s.targets[0] in halves or s.args[0].op not in EFFECTS)
            for s in steps[first:place]
        )

    def _look(self, value: Value) -> Value:
        """What a variable of this block is, where only one reads it; and no more than that."""
        while value.op == "var" and self.uses.get(value.data) == 1:
            inner = self.known.get(value.data)
            if inner is None or inner.op == "collective":
                break
            value = inner
        if value.op == "zext" and value.args[0].op == "trunc":
            return self._look(value.args[0].args[0])
        return value

    def _halves(self, value: Value) -> tuple[Definition, Definition] | None:
        """The upper and the lower half that a number of 64 bits is made of."""
        if value.op not in ("or", "add") or value.width != 2 * _HALF:
            return None
        for one, two in (value.args, value.args[::-1]):
            upper, lower = self._look(one), self._look(two)
            if upper.op != "shl" or upper.args[1].op != "const" or upper.args[1].data != _HALF:
                continue
            found = [self._shuffled(self._look(upper.args[0])), self._shuffled(lower)]
            if found[0] is not None and found[1] is not None:
                return found[0], found[1]
        return None

    def _shuffled(self, value: Value) -> Definition | None:
        """The shuffle that a number of 32 bits comes from which is widened."""
        inner = value.args[0] if value.op == "zext" else value
        if inner.op != "var" or self.uses.get(inner.data) != 1:
            return None
        made = self.known.get(inner.data)
        if made is None or made.op != "collective" or not made.data[0].name.startswith("__shfl"):
            return None
        found: Definition = inner.data
        return found if found.variable.definitions == 1 else None

    def _joined(self, upper: Definition, lower: Definition) -> Value | None:
        one, two = self.known[upper], self.known[lower]
        same = [a is b for k, (a, b) in enumerate(zip(one.args, two.args, strict=False)) if k != 1]
        if one.data[0] != two.data[0] or len(one.args) != len(two.args) or not all(same):
            return None
        high, low = self._part(one.args[1]), self._part(two.args[1])
        if high.op != "trunc" or low.op != "trunc":
            return None
        shifted, whole = self._part(high.args[0]), low.args[0]
        if shifted.op != "shr.u" or shifted.args[1].op != "const":
            return None
        if shifted.args[1].data != _HALF or shifted.args[0] is not whole:
            return None
        call = one.data[0]
        takes = tuple("b64" if k == 1 else type for k, type in enumerate(call.takes))
        intrinsic = replace(call, takes=takes, gives="b64")
        arguments = (one.args[0], whole, *one.args[2:])
        return raw("collective", 2 * _HALF, arguments, (intrinsic, one.data[1]))

    def _part(self, value: Value) -> Value:
        return self.known.get(value.data, value) if value.op == "var" else value
