"""Whether threads that come together in one function still do so where the other has copies.

A compiler that turns a loop round has two copies of what the loop begins with. To one thread that
is the same. But threads that exchange something must be at the same copy, all of them. They are, if
they come there in step: whenever all threads of a warp, or of a block, have come together at one
place of each function, the next such place of the original tells which one it is in the candidate.
The original is taken to be right: who comes together there comes to the same place.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from ptxkit.decompiler.verify.dataflow.cuts import JOINT
from ptxkit.decompiler.verify.dataflow.decode import Step
from ptxkit.decompiler.verify.dataflow.meetings import Meeting, Way
from ptxkit.decompiler.verify.dataflow.registers import Registers

#: Instructions that say which threads of a warp take part, and those for all threads of a block.
_OF_WARPS = frozenset(("vote", "shfl", "match", "redux"))
_OF_BLOCKS = frozenset(("bar", "barrier"))
_ALL_LANES = 0xFFFFFFFF


def keeps_step(
    registers: Registers,
    meetings: Mapping[tuple[int, int] | None, Meeting],
    ways: Iterable[Way],
) -> bool:
    """Whether all threads that come together are at the same place of the second function, too."""
    after: dict[Meeting, set[Meeting]] = {}
    for way in ways:
        found = meetings.get(way.targets)
        if found is not None:
            after.setdefault(way.source, set()).add(found)
    reached = {registers.entry, *after, *(one for some in after.values() for one in some)}
    joint: set[Meeting] = set()
    for meeting in reached:
        steps = [_joint_steps(registers, meeting, side) for side in (0, 1)]
        if steps[0] is None or steps[1] is None:
            return False
        if any(not _takes_all(registers, meeting, side, step)
               for side, some in enumerate(steps) for step in some or ()):  # fmt: skip
            return False
        if steps[0] or steps[1]:
            joint.add(meeting)
    for start in (registers.entry, *joint):
        partners: dict[int, int] = {}
        for one in _next(start, after, joint):
            first, second = one.blocks
            if partners.setdefault(first, second) != second:
                return False
    return True


def _next(
    start: Meeting, after: Mapping[Meeting, set[Meeting]], joint: set[Meeting]
) -> Iterable[Meeting]:
    """Where threads come together next, behind whatever loops there are between."""
    found: set[Meeting] = set()
    pending = list(after.get(start, ()))
    while pending:
        one = pending.pop()
        if one not in found:
            found.add(one)
            pending += () if one in joint else after.get(one, ())
    return [one for one in found if one in joint]


def _joint_steps(registers: Registers, meeting: Meeting, side: int) -> list[Step] | None:
    """Where threads come together from a meeting on: at once, or nowhere; None for elsewhere."""
    program = registers.programs[side]
    if meeting.regions is None:
        return None
    found: list[Step] = []
    for block in meeting.regions[side].visited:
        for place, step in enumerate(program.blocks[block].steps):
            if not program.meets(step):
                continue
            if place or block != meeting.blocks[side] or step.name not in JOINT:
                return None
            found.append(step)
    return found


def _takes_all(registers: Registers, meeting: Meeting, side: int, step: Step) -> bool:
    """Whether an instruction is for all threads of a warp or of a block."""
    if step.guard is not None:
        return False
    if step.name in _OF_BLOCKS and ".warp" not in step.modifiers:
        return len(step.sources) == 1 and ".arrive" not in step.modifiers
    if step.name not in _OF_WARPS | _OF_BLOCKS or ".sync" not in step.modifiers:
        return False
    lanes = step.sources[-1]
    if lanes.kind == "number":
        return int(lanes.value) & _ALL_LANES == _ALL_LANES
    if lanes.kind != "register":
        return False
    held = registers.decisions.term(registers.incoming(meeting, side, lanes.value))
    return held is not None and registers.terms.constant_of(held) == _ALL_LANES
