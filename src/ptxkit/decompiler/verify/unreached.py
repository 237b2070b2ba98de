"""What is said about code that no launch has reached.

Running says nothing about it. A claim still needs it to be the same in both kernels, by what it
computes, and on which conditions:

| ground | the code that did not run |
| --- | --- |
| all | there is none |
| same | is the same in both, up to the names of registers and labels |
| alike | does the same in both, on the same conditions, in other words |
| seen | does the same in both with registers that held the same numbers in all launches |
| dead | nothing can reach: the conditions on all ways to it contradict each other |
| idle | as all the other code of both, does nothing that anybody sees |

Two pieces of code do the same where all that they store, update, wait for and leave in registers
are the same expressions, down to parameters, special registers and memory, with all constants.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Container
from dataclasses import dataclass
from functools import partial

from ptxkit.decompiler.budget import UNLIMITED, Budget
from ptxkit.decompiler.verify.coverage import Coverage
from ptxkit.decompiler.verify.dataflow.accesses import Access, accesses
from ptxkit.decompiler.verify.dataflow.bounds import launched
from ptxkit.decompiler.verify.dataflow.decode import PURE, Known
from ptxkit.decompiler.verify.dataflow.terms import GiveUpError, Terms
from ptxkit.decompiler.verify.expressions import Expressions, Found
from ptxkit.decompiler.verify.region import Region
from ptxkit.decompiler.verify.variables import Variables
from ptxkit.syntax import Instruction
from ptxkit.syntax.graph import BasicBlock

#: The share that must have run where the rest is not the same to the letter.
ENOUGH = 0.5
_TERMS = 1_000_000
#: Rounds through code that has not run, at most.
_ROUNDS = 24

_QUIET = PURE | {"ld", "bra", "ret", "exit"}
_NAME = re.compile(r"(?<![\w.])[%$A-Za-z_][\w$.]*")


@dataclass(frozen=True, slots=True)
class Ground:
    """On what a claim about unreached code stands; no name where nothing can be claimed."""

    name: str
    reason: str = ""


#: Runs launches that said something, and notes what registers of both hold; whether that worked.
Look = Callable[[Region, Region], bool]


def ground(
    original: Coverage,
    candidate: Coverage,
    look: Look | None = None,
    budget: Budget = UNLIMITED,
) -> Ground:
    """What can be said about what has not run; more, if launches can be looked at again."""
    if original.complete and candidate.complete:
        return Ground("dead" if original.dead or candidate.dead else "all")
    if not any(map(_acts, (original, candidate))):
        return Ground("idle")
    left = [[one for _, one in covered.missing()] for covered in (original, candidate)]
    lines = sorted({one[0].line for one in left[0]})
    where = f"; of the original from line {', '.join(map(str, lines[:4]))}" if lines else ""
    count = sum(map(len, left[0])) + sum(map(len, left[1]))
    why = "differ"
    try:
        works = _works((original, candidate), budget)
        if works[0] == works[1]:
            shapes = [Counter(map(_shape, missing)) for missing in left]
            if shapes[0] == shapes[1]:
                return Ground("same")
            if min(original.share, candidate.share) >= ENOUGH:
                return Ground("alike")
    except (GiveUpError, RecursionError) as error:
        why = f"cannot be compared: {error}"
    if look is not None and min(original.share, candidate.share) >= ENOUGH:
        try:
            if _seen_alike(original, candidate, look, budget):
                return Ground("seen")
        except (GiveUpError, RecursionError) as error:
            why = f"cannot be compared: {error}"
    return Ground("", f"{count} instructions of both never ran, and {why}{where}")


def _seen_alike(original: Coverage, candidate: Coverage, look: Look, budget: Budget) -> bool:
    """Whether blocks that have not run do the same with what was seen in launches."""
    terms = _terms(original, budget)
    both = original, candidate
    first, second = (
        Region(one, terms, known, access)
        for one, known, access in zip(both, _sides(both), _accesses(both), strict=True)
    )
    regions = first, second
    if not all(region.missing for region in regions) or not look(*regions):
        return False
    rounds = min(_ROUNDS, 2 + max(len(region.missing) for region in regions))
    return regions[0].works(rounds) == regions[1].works(rounds)


def _acts(covered: Coverage) -> bool:
    """Whether a kernel has instructions that do more than compute."""
    return any(one.name not in _QUIET for one in covered.instructions())


Work = tuple[object, ...]


def _terms(original: Coverage, budget: Budget) -> Terms:
    return Terms(_TERMS, launched(original.functions[0]), budget=budget)


def _sides(covered: tuple[Coverage, Coverage]) -> list[Known]:
    """For each of two programs, what its variables are known as in both."""
    variables = Variables(*(one.functions[0].root for one in covered))
    return [partial(variables.known, side) for side in (0, 1)]


def _accesses(covered: tuple[Coverage, Coverage]) -> tuple[Access, Access]:
    original, candidate = covered
    return accesses(original.instructions(), candidate.instructions())


def _works(covered: tuple[Coverage, Coverage], budget: Budget) -> list[Counter[Work]]:
    """What the blocks do that have not run, for both."""
    terms = _terms(covered[0], budget)
    both = [
        Expressions(one, terms, known, access)
        for one, known, access in zip(covered, _sides(covered), _accesses(covered), strict=True)
    ]
    rounds = max(one.rounds for one in both)
    found = [one.run(rounds) for one in both]
    return [_of_missing(*pair) for pair in zip(covered, found, strict=True)]


def _of_missing(covered: Coverage, found: list[Found]) -> Counter[Work]:
    """What the blocks of one program do that have not run, and where control goes from them."""
    missing = {id(block) for block, _ in covered.missing()}
    contexts = {id(b): one.context for b, one in zip(covered.blocks, found, strict=True)}
    works: Counter[Work] = Counter()
    for block, one in zip(covered.blocks, found, strict=True):
        if id(block) in missing:
            goes = tuple(sorted(contexts[id(after)] for after in _onward(block, contexts)))
            works[one.context, tuple(one.effects), tuple(one.leaves), goes] += 1
    return works


def _onward(block: BasicBlock, known: Container[int]) -> list[BasicBlock]:
    """The blocks with instructions that control comes to from one."""
    found: dict[int, BasicBlock] = {}
    pending, passed = list(block.successors), {id(block)}
    while pending:
        after = pending.pop()
        if id(after) in known:
            found[id(after)] = after
        elif id(after) not in passed:
            passed.add(id(after))
            pending += after.successors
    return list(found.values())


def _shape(instructions: list[Instruction]) -> tuple[str, ...]:
    """Instructions with their registers and labels numbered in the order they appear."""
    numbers: dict[str, str] = {}

    def number(match: re.Match[str]) -> str:
        return numbers.setdefault(match[0], f"${len(numbers)}")

    shapes = []
    for one in instructions:
        guard = f"@{'!' * one.guard.negated}{one.guard.predicate.text} " if one.guard else ""
        operands = ", ".join(operand.text for operand in one.operands)
        shapes.append(_NAME.sub(number, guard) + one.opcode + " " + _NAME.sub(number, operands))
    return tuple(shapes)
