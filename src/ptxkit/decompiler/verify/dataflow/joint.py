"""Where threads have a part in what others do, and which of them come there.

A proof follows one thread. To it the two arms of a branch that wait at a barrier each do the same
as one barrier before the branch, or as two arms that other threads take: but threads that wait in
different places wait in vain.
"""

from __future__ import annotations

from collections import Counter, defaultdict, deque
from collections.abc import Iterable
from itertools import combinations

from ptxkit.decompiler.verify.dataflow.agreement import Agreement
from ptxkit.decompiler.verify.dataflow.cuts import JOINT
from ptxkit.decompiler.verify.dataflow.decisions import Decisions, Diagram
from ptxkit.decompiler.verify.dataflow.decode import Step
from ptxkit.decompiler.verify.dataflow.regions import Region
from ptxkit.decompiler.verify.dataflow.timeless import Timeless


def opcodes(steps: Iterable[Step]) -> Counter[str]:
    """The instructions in which threads come together, each as often as it is there."""
    return Counter(step.opcode for step in steps if step.name in JOINT)


def come_together(first: Region, second: Region, decisions: Decisions, timeless: Timeless) -> bool:
    """Whether the same threads come to the same places in both, each to one of the other's.

    And in the same order: of two places to which one thread comes, the first has to be first in
    both. Else what one thread does first meets what another does next.
    """
    legal = decisions.negate(first.broken)
    mine, theirs = (
        [
            (opcode, made)
            for opcode, condition in region.joint
            if (made := decisions.both(condition, legal)) != decisions.false
        ]
        for region in (first, second)
    )
    places: defaultdict[tuple[str, Diagram], deque[int]] = defaultdict(deque)
    for place, one in enumerate(theirs):
        places[one].append(place)
    partners: dict[int, int] = {}
    for place, one in enumerate(mine):
        if places[one]:
            partners[place] = places[one].popleft()
    left = sorted(place for rest in places.values() for place in rest)
    for place, (opcode, condition) in enumerate(mine):
        if place in partners:
            continue
        partner = next(
            (k for k in left if theirs[k][0] == opcode
             and Agreement(decisions, timeless).same(condition, theirs[k][1])), None,
        )  # fmt: skip
        if partner is not None:
            left.remove(partner)
            partners[place] = partner
        elif not _never(condition, decisions, timeless):
            return False
    if not all(_never(theirs[place][1], decisions, timeless) for place in left):
        return False
    inverted = (
        decisions.both(mine[one][1], mine[other][1])
        for one, other in combinations(sorted(partners), 2)
        if partners[one] > partners[other]
    )
    return all(both == decisions.false or _never(both, decisions, timeless) for both in inverted)


def _never(condition: Diagram, decisions: Decisions, timeless: Timeless) -> bool:
    return Agreement(decisions, timeless).never(condition)
