"""Which candidate a function gets: the one with the highest level, then the easiest to read.

What the lifter has is proved first. A candidate of another engine is compiled only where it could
win, and only the levels that would make it win are tried: where two programs are the same PTX,
nobody runs a third that is longer than both.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from ptxkit.decompiler.budget import UNLIMITED, Budget
from ptxkit.decompiler.engines import Candidate, Engine
from ptxkit.decompiler.lift.flags import Flags
from ptxkit.decompiler.metrics import reading_cost
from ptxkit.decompiler.refine.search import EFFORT
from ptxkit.decompiler.variants import best_form
from ptxkit.decompiler.verify import LEVELS, Verdict
from ptxkit.decompiler.verify.certificates import WEAKEST, certify, compiled, paired
from ptxkit.decompiler.verify.identity import same_ptx
from ptxkit.decompiler.verify.trials import Experience
from ptxkit.syntax import Module

#: The share of all time after which no other candidate of an engine is proved.
_SHARE = 0.33


@dataclass(frozen=True, slots=True)
class Answer:
    """A candidate for a function, and what is known about it."""

    candidate: Candidate
    verdict: Verdict
    cost: float
    """How hard it is to read."""

    def beats(self, other: Answer | None) -> bool:
        """Whether it is the better one."""
        return other is None or (self.verdict.rank, -self.cost) > (other.verdict.rank, -other.cost)


def best_answer(
    part: Module,
    name: str,
    engines: Sequence[Engine],
    arch: str,
    *,
    beams: int = 1,
    effort: int = EFFORT,
    flags: Flags | None = None,
    budget: Budget = UNLIMITED,
) -> Answer | None:
    """The best of what engines propose for a function; None where they have no idea.

    What an engine guesses, and nobody could prove, never takes the place of the lifted form. When
    the time of the ``budget`` is over, it is the best until then.

    >>> import ptxkit
    >>> from ptxkit.decompiler.engines import engine
    >>> m = ptxkit.compile_cuda("__global__ void k(int *x) { x[threadIdx.x] += 1; }", arch="sm_90")
    >>> best_answer(m, "_Z1kPi", [engine("symbolic")], "sm_90").verdict.level
    'E1'
    """
    in_hand: Answer | None = None
    known = Experience()
    for one in engines:
        if one.name == "symbolic":
            form, verdict = best_form(part, name, arch, flags, effort, known, budget)
            lifted = Answer(form, verdict, reading_cost(form.tree, name))
            if in_hand is None or not in_hand.verdict.equivalent or lifted.beats(in_hand):
                in_hand = lifted
        else:
            proposed = one.propose(part, part[name], beams=beams)
            in_hand = _best_proposal(part, name, proposed, in_hand, arch, known, budget)
    return in_hand


def needed_level(in_hand: Answer | None, cost: float) -> str | None:
    """The weakest level with which a candidate of that cost would win; None if it cannot.

    >>> lifted = Answer(Candidate(None, "symbolic"), Verdict(True, same_dataflow=True), 10.0)
    >>> needed_level(None, 12.0), needed_level(lifted, 8.0), needed_level(lifted, 12.0)
    ('E3', 'E2', 'E1')
    """
    if in_hand is None or not in_hand.verdict.equivalent:
        return WEAKEST
    needed = in_hand.verdict.rank + (cost >= in_hand.cost)
    return LEVELS[needed] if needed < len(LEVELS) else None


def _best_proposal(
    part: Module,
    name: str,
    proposed: Sequence[Candidate],
    in_hand: Answer | None,
    arch: str,
    known: Experience,
    budget: Budget,
) -> Answer | None:
    """What is in hand, or a proposal that is better: identical PTX first, which is seen at once."""
    lifted = in_hand
    left: list[tuple[float, Candidate, Module, str]] = []
    for candidate in proposed:
        cost = reading_cost(candidate.tree, name)
        if needed_level(in_hand, cost) is None:
            continue
        made = compiled(candidate.tree, arch, separate=not part[name].is_entry)
        if made.module is None:
            answer = Answer(candidate, Verdict(reasons=(f"E0: {made.error}",)), cost)
            in_hand = _better(in_hand, answer, lifted)
            continue
        partner = paired(part, made.module).get(name, name)
        if partner in made.module and same_ptx(part, made.module, name, partner):
            same = Answer(candidate, Verdict(True, same_ptx=True), cost)
            in_hand = _better(in_hand, same, lifted)
        else:
            left.append((cost, candidate, made.module, partner))
    own = budget.part(_SHARE)
    for cost, candidate, module, partner in sorted(left, key=lambda one: one[0]):
        least = needed_level(in_hand, cost)
        if least is None or LEVELS.index(least) > LEVELS.index("E2"):
            continue
        if in_hand is not None and own.over:
            break
        verdict = certify(part, module, name, partner, known=known, least=least, budget=budget)
        in_hand = _better(in_hand, Answer(candidate, verdict, cost), lifted)
    return in_hand


def _better(in_hand: Answer | None, answer: Answer, lifted: Answer | None) -> Answer | None:
    """The better of two; what is not proved does not take the place of the lifted form."""
    if lifted is not None and not answer.verdict.equivalent:
        return in_hand
    return answer if answer.beats(in_hand) else in_hand
