"""Whether a candidate loads from memory that the original does not touch.

What is loaded in vain changes no result, but beyond the end of an array there may be no memory:
a load that nobody needs may be left out, and none may be added but where memory is known to be.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from typing import Any

from ptxkit.decompiler.verify.dataflow.agreement import Agreement
from ptxkit.decompiler.verify.dataflow.bounds import unbounded_sum
from ptxkit.decompiler.verify.dataflow.decisions import Decisions, Diagram
from ptxkit.decompiler.verify.dataflow.regions import Region
from ptxkit.decompiler.verify.dataflow.state import Touched
from ptxkit.decompiler.verify.dataflow.terms import Term, Terms
from ptxkit.decompiler.verify.dataflow.timeless import Timeless

#: Accesses of the original that are compared with one of the candidate, the nearest first.
_NEAREST = 24
#: More bits than anything has: how much is touched does not matter.
_ANY = 1 << 30


def touches_more(
    first: Region,
    second: Region,
    decisions: Decisions,
    timeless: Timeless,
    earlier: Sequence[Touched] = (),
) -> bool:
    """Whether the second loads where, or when, the first touches nothing, nor did ``earlier``."""
    mine = [one for one in enumerate(second.touched) if one[1].loaded]
    return _beyond([*first.touched, *earlier], mine, first, decisions, timeless)


def takes_for_global(
    first: Region,
    second: Region,
    decisions: Decisions,
    timeless: Timeless,
    earlier: Sequence[Touched] = (),
) -> bool:
    """Whether the second takes memory for global that the first does not take for that."""
    mine = [one for one in enumerate(second.touched) if one[1].in_global]
    theirs = [replace(one, bits=_ANY) for one in (*first.touched, *earlier) if one.in_global]
    return _beyond(theirs, mine, first, decisions, timeless, variables=False)


def _beyond(
    theirs: Sequence[Touched],
    mine: Sequence[tuple[int, Touched]],
    first: Region,
    decisions: Decisions,
    timeless: Timeless,
    variables: bool = True,
) -> bool:
    """Whether something is touched of which it is not known that the original does so, too.

    What is inside of ``variables`` may be.
    """
    known: dict[tuple[str, Term, Diagram | None], list[tuple[int, Diagram]]] = {}
    for one in theirs:
        for term, case in decisions.cases(one.address).items():
            condition = decisions.both(one.condition, case)
            known.setdefault((one.space, term, one.since), []).append((one.bits, condition))
    for place, one in mine:
        if one in theirs:
            continue
        left = decisions.false
        for term, case in decisions.cases(one.address).items():
            if variables and _inside(decisions.terms, term, one):
                continue
            alone = decisions.both(one.condition, case)
            for bits, condition in known.get((one.space, term, one.since), ()):
                if bits >= one.bits:
                    alone = decisions.both(alone, decisions.negate(condition))
            left = decisions.either(left, alone)
        left = decisions.both(left, decisions.negate(first.broken))
        if left == decisions.false:
            continue
        # What is touched in other cases only says nothing here, and a compiler may move code far.
        wide = (
            k for k, other in enumerate(theirs)
            if other.bits >= one.bits and (other.space, other.since) == (one.space, one.since)
        )  # fmt: skip
        likely = [k for k in wide if decisions.both(left, theirs[k].condition) != decisions.false]
        for other in (theirs[k] for k in sorted(likely, key=partial(_apart, place))[:_NEAREST]):
            if left != decisions.false:
                there = decisions.choose(other.condition, other.address, decisions.undefined)
                left = Agreement(decisions, timeless).differing(left, one.address, there)
        if left != decisions.false and not Agreement(decisions, timeless).never(left):
            return True
    return False


def _inside(terms: Terms, address: Term, access: Touched) -> bool:
    """Whether an address is one of a variable, whatever is added to where that begins."""
    size = access.bits // 8
    start, parts = terms.parts(64, address)
    symbols = [one for one in parts if terms.rows[one][0] == "symbol"]
    row = terms.rows[symbols[0]] if len(symbols) == 1 and parts[symbols[0]] == 1 else ("",) * 2
    if row[1] == "parameter" and len(parts) == 1:
        return access.space == "param"  # a part that is told by its place
    if row[1] not in ("local", "shared", "variable") or not isinstance(row[-2], int):
        return False
    if not _is_of(access.space, row):
        return False  # the same number says another place
    others = tuple((one, factor) for one, factor in parts.items() if one != symbols[0])
    if row[-1] % size or any(by % size for by in (start, *(factor for _, factor in others))):
        return False  # it may be misaligned
    least, most = unbounded_sum(terms, ("sum", 64, start, others), True)
    return least >= 0 and most + size <= row[-2]


def _is_of(space: str, row: tuple[Any, ...]) -> bool:
    """Whether an access is one to the kind of memory that a variable lies in."""
    if row[1] != "variable":
        return bool(space == row[1])
    # How it is declared is several words; its name, which may be any, is one.
    told = [str(word).split() for word in row[2:-2]]
    declared = {words[0] for words in told if len(words) > 1} & {"global", "const"}
    # Addresses of global memory are the same for who takes them for any.
    return space in declared or (not space and "global" in declared)


def _apart(one: int, other: int) -> int:
    return abs(one - other)
