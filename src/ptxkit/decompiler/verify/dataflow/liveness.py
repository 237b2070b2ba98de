"""Which registers are still read: only they have to be equal where two functions meet."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Protocol, TypeVar

from ptxkit.decompiler.verify.dataflow.decode import Operand, Register, Step

_Name = TypeVar("_Name")
#: The carry of additions with more bits than a register has.
CARRY: Register = (-1, "carry")
_WITH_CARRY = frozenset(("addc", "subc", "madc"))


class HasSteps(Protocol):
    """A block."""

    steps: list[Step]
    last: Step | None
    targets: list[int]


def live_registers(blocks: Mapping[int, HasSteps]) -> dict[int, frozenset[Register]]:
    """For each block what is read there, or after it, before it is set."""
    uses = {index: _used(block) for index, block in blocks.items()}
    return flowed_back(uses, {index: block.targets for index, block in blocks.items()})


def flowed_back(
    uses: Mapping[int, tuple[frozenset[_Name], frozenset[_Name]]],
    after: Mapping[int, Sequence[int]],
) -> dict[int, frozenset[_Name]]:
    """The same of what each block reads before it sets it, and sets in any case.

    >>> a, b = frozenset("a"), frozenset("b")
    >>> flowed_back({0: (a, b), 1: (a | b, frozenset())}, {0: [1], 1: []})[0]
    frozenset({'a'})
    """
    live = {index: used for index, (used, _) in uses.items()}
    changed = True
    while changed:
        changed = False
        # Control goes forward for the most part, and this goes against it.
        for index in reversed(list(uses)):
            used, whole = uses[index]
            read = frozenset[_Name]().union(*(live[one] for one in after[index] if one in live))
            found = used | (read - whole)
            if found != live[index]:
                live[index] = found
                changed = True
    return live


def _used(block: HasSteps) -> tuple[frozenset[Register], frozenset[Register]]:
    """What a block reads before it sets it, and what it sets in any case."""
    used: set[Register] = set()
    whole: set[Register] = set()
    last: Sequence[Step] = () if block.last is None else (block.last,)
    for step in (*block.steps, *last):
        used.update(register for register in _read(step) if register not in whole)
        if step.guard is None:
            whole.update(_set(step))
    return frozenset(used), frozenset(whole)


def _read(step: Step) -> Iterator[Register]:
    for source in step.sources:
        yield from registers_in(source)
    if step.guard is not None:
        # Where the guard does not hold, registers keep what they had.
        yield step.guard[0]
        yield from _set(step)
    if step.name in _WITH_CARRY or ".cc" in step.modifiers:
        yield CARRY


def _set(step: Step) -> Iterator[Register]:
    yield from (target[0] for target in step.targets if target is not None)
    if ".cc" in step.modifiers:
        yield CARRY


def registers_in(source: Operand) -> list[Register]:
    """The registers of an operand, and of its parts."""
    if source.kind == "register":
        return [source.value]
    return [register for part in source.parts for register in registers_in(part)]
