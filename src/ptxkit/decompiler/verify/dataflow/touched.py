"""Whether a candidate loads from memory that the original does not touch.

What is loaded in vain changes no result, but beyond the end of an array there may be no memory.
"""

from __future__ import annotations

from functools import partial

from ptxkit.decompiler.verify.dataflow.agreement import Agreement
from ptxkit.decompiler.verify.dataflow.decisions import Decisions, Diagram
from ptxkit.decompiler.verify.dataflow.regions import Region
from ptxkit.decompiler.verify.dataflow.terms import Term
from ptxkit.decompiler.verify.dataflow.timeless import Timeless

#: Accesses of the original that are compared with one of the candidate, the nearest first.
_NEAREST = 24


def touches_more(first: Region, second: Region, decisions: Decisions, timeless: Timeless) -> bool:
    """Whether the second loads where, or when, the first touches nothing."""
    known: dict[Term, list[tuple[int, Diagram]]] = {}
    for one in first.touched:
        for term, case in decisions.cases(one.address).items():
            condition = decisions.both(one.condition, case)
            known.setdefault(term, []).append((one.bits, condition))
    for place, one in enumerate(second.touched):
        if not one.loaded or one in first.touched:
            continue
        left = decisions.false
        for term, case in decisions.cases(one.address).items():
            alone = decisions.both(one.condition, case)
            for bits, condition in known.get(term, ()):
                if bits >= one.bits:
                    alone = decisions.both(alone, decisions.negate(condition))
            left = decisions.either(left, alone)
        if left == decisions.false:
            continue
        near = sorted(range(len(first.touched)), key=partial(_apart, place))[:_NEAREST]
        for other in (first.touched[k] for k in near):
            if other.bits >= one.bits and left != decisions.false:
                there = decisions.choose(other.condition, other.address, decisions.undefined)
                left = Agreement(decisions, timeless).differing(left, one.address, there)
        if left != decisions.false:
            return True
    return False


def _apart(one: int, other: int) -> int:
    return abs(one - other)
