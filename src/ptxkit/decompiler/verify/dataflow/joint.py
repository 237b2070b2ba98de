"""Where threads have a part in what others do, and which of them come there.

A proof follows one thread. To it the two arms of a branch that wait at a barrier each do the same
as one barrier before the branch, or as two arms that other threads take: but threads that wait in
different places wait in vain.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable

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
    """Whether the same threads come to the same places in both, each to one of the other's."""
    legal = decisions.negate(first.broken)
    mine, theirs = (
        Counter(
            (opcode, made)
            for opcode, condition in region.joint
            if (made := decisions.both(condition, legal)) != decisions.false
        )
        for region in (first, second)
    )
    left = list((mine - theirs).elements())
    for opcode, condition in (theirs - mine).elements():
        partner = next(
            (one for one in left if one[0] == opcode
             and Agreement(decisions, timeless).same(one[1], condition)), None,
        )  # fmt: skip
        if partner is not None:
            left.remove(partner)
        elif not _never(condition, decisions, timeless):
            return False
    return all(_never(condition, decisions, timeless) for _, condition in left)


def _never(condition: Diagram, decisions: Decisions, timeless: Timeless) -> bool:
    return Agreement(decisions, timeless).never(condition)
