"""Code that control can never come to: the conditions on all ways to it contradict each other.

Nothing can run it, so nothing has to. This follows the same rules as a proof that two functions
are equal, on one function alone; what they cannot tell is taken to be reached.
"""

from __future__ import annotations

from functools import lru_cache, partial

from ptxkit.decompiler.budget import UNLIMITED, Budget
from ptxkit.decompiler.verify.coverage import Coverage
from ptxkit.decompiler.verify.dataflow.agreement import Agreement
from ptxkit.decompiler.verify.dataflow.decisions import Decisions, Diagram
from ptxkit.decompiler.verify.dataflow.decode import Register
from ptxkit.decompiler.verify.dataflow.regions import Code, Executor, Program
from ptxkit.decompiler.verify.dataflow.terms import GiveUpError, Terms
from ptxkit.decompiler.verify.dataflow.timeless import Timeless
from ptxkit.isa.types import SCALAR_TYPES
from ptxkit.syntax import Function, Module

_MOST_INSTRUCTIONS = 5_000


def dead_blocks(covered: Coverage, budget: Budget = UNLIMITED, original: bool = False) -> set[int]:
    """The blocks, by their place among all, that have not run and that nothing can reach.

    Or through which no launch of the ``original`` comes: they go through a null pointer.
    """
    missing = {id(block) for block, _ in covered.missing()}
    found: set[int] = set()
    for function in {one.index: one for one in covered.functions}.values():
        wanted = {
            block.index: place
            for place, (block, owner) in enumerate(
                zip(covered.blocks, covered.functions, strict=True)
            )
            if owner == function and id(block) in missing
        }
        if wanted and len(function.instructions) <= _MOST_INSTRUCTIONS:
            try:
                dead = _unreachable(function, frozenset(wanted), budget, original)
            except (GiveUpError, RecursionError):
                continue
            found |= {wanted[index] for index in dead}
    return found


@lru_cache(maxsize=8)
def _unreachable(
    function: Function, wanted: frozenset[int], budget: Budget, original: bool
) -> frozenset[int]:
    """Those of some blocks of a function that no way leads to."""
    module = function.root
    assert isinstance(module, Module)
    program = Program(Code(module, function, {}, lambda name: (name,)))
    terms = Terms(special=program.special, arguments=program.arguments, budget=budget)
    decisions = Decisions(terms)
    executor = Executor(program, terms, decisions, original=original)
    agreement = Agreement(decisions, Timeless(decisions))
    left = set(wanted)
    for start in (program.entry, *program.headers):
        region = executor.region(
            start,
            decisions.leaf(terms.make("memory", start)),
            partial(_unknown, program, terms, decisions, start),
            decisions.true,
        )
        for block in left & region.visited.keys():
            if not agreement.never(region.visited[block]):
                left.discard(block)
    return frozenset(left)


def _unknown(
    program: Program, terms: Terms, decisions: Decisions, start: int, register: Register
) -> Diagram:
    """Whatever a register may hold at the beginning of a region."""
    type = program.types.get(register, "b32")
    term = terms.make("carried", start, register, SCALAR_TYPES[type].width)
    return decisions.ask(term) if type == "pred" else decisions.leaf(term)
