"""Which of the lifter's forms of a function to take.

Several spellings of one function mean the same. One that compiles to the PTX it came from is
the best guess at what was written: it costs a compilation each to find it. Where there is none,
forms are proved, the readable ones first. What takes too long is left out, and said.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import chain, islice

from ptxkit.decompiler.budget import UNLIMITED, Budget
from ptxkit.decompiler.engines import Candidate, SymbolicEngine
from ptxkit.decompiler.lift.flags import Flags
from ptxkit.decompiler.metrics import reading_cost
from ptxkit.decompiler.refine.distance import Code
from ptxkit.decompiler.refine.search import EFFORT, Search
from ptxkit.decompiler.verify import Verdict
from ptxkit.decompiler.verify.certificates import (
    PROOF,
    WEAKEST,
    Compiled,
    certify,
    compiled,
    paired,
)
from ptxkit.decompiler.verify.identity import same_ptx
from ptxkit.decompiler.verify.trials import Experience
from ptxkit.syntax import Module

#: Longer functions take long to compile: of these fewer forms are tried for identical PTX.
_LONG, _FEW = 2000, 3
#: The shares of all time after which no other form is compiled to find identical PTX, and for
#: changes to those: compilers take more than twice as long for twice the code. Where there is
#: little time, changes get more of it, up to the seconds that are enough for most.
_SEARCH, _REFINING, _REFINING_MOST, _ENOUGH = 0.25, 0.2, 0.35, 5.0
#: Instructions of functions that are not run once more as they were left by a compiler.
_HARD_TO_RUN = 400
#: The share of all time that a proof of a long function may take before that is run.
_BRIEF = 0.1
#: The share of all time in which all forms there are may be proved before one is run: a proof
#: takes less time than launches, or comes to its end soon.
_PROVING = 0.25
#: Forms that are proved though the search for identical PTX did not get to them.
_READABLE = 2


@dataclass(frozen=True, slots=True)
class _Tried:
    """A form and what the compiler made of it."""

    candidate: Candidate
    made: Compiled
    partner: str
    thorough: bool = False
    """Whether it is there to be proved, not to be run."""
    longer: bool = False
    """Whether a proof was cut short, and may take more time now."""


def best_form(
    module: Module,
    name: str,
    arch: str,
    flags: Flags | None = None,
    effort: int = EFFORT,
    known: Experience | None = None,
    budget: Budget = UNLIMITED,
) -> tuple[Candidate, Verdict]:
    """The lifted form of a function with the strongest certificate, and the most readable.

    ``flags`` is what it is compiled with; None for what the module shows. Where no form is the
    same PTX, changes to those that come near are tried: ``effort`` is how many instructions may
    be compiled for that. What launches show is put into ``known``. When the time of the ``budget``
    is over, it is the best until then, and its verdict says so.

    >>> import ptxkit
    >>> m = ptxkit.compile_cuda("__global__ void k(int *x) { x[threadIdx.x] += 1; }", arch="sm_90")
    >>> best_form(m, "_Z1kPi", "sm_90")[1].level
    'E1'
    """
    function = module[name]
    separate = not function.is_entry
    tried: list[_Tried] = []
    searching = budget.part(_SEARCH)
    forms = SymbolicEngine().forms(module, function, flags)
    for candidate in forms:
        one = _compiled(module, name, candidate, arch, separate)
        if one.made.module is not None and same_ptx(module, one.made.module, name, one.partner):
            return candidate, Verdict(True, same_ptx=True)
        tried.append(one)
        if len(function.instructions) > _LONG and len(tried) >= _FEW and not candidate.careful:
            break
        if searching.over:
            break
    refining = max(_REFINING, min(_REFINING_MOST, _ENOUGH / max(budget.seconds, 1)))
    refined = _refined(module, name, tried, arch, effort, separate, budget.part(refining))
    if refined is not None:
        return refined, Verdict(True, same_ptx=True)
    best: tuple[tuple[int, bool, float], Candidate, Verdict] | None = None
    # Readable, then careful; those between were for the same PTX alone.
    likely = [*tried[:_READABLE], *(t for t in tried[_READABLE:] if t.candidate.careful)]
    exact = SymbolicEngine().exact_forms(module, function, flags)
    others = (
        _compiled(module, name, candidate, arch, separate)
        for candidate in chain(islice(forms, max(0, _READABLE - len(tried))), exact)
    )
    written: list[_Tried] = []
    cut_short: list[_Tried] = []

    def provable() -> Iterator[_Tried]:
        for candidate in SymbolicEngine().provable_forms(module, function, flags):
            written.append(_compiled(module, name, candidate, arch, separate))
            yield replace(written[-1], thorough=True)

    def longer() -> Iterator[_Tried]:
        # What keeps most of the original comes last, and is proved most often.
        for one in reversed(cut_short):
            yield replace(one, longer=True)

    known = Experience() if known is None else known
    # What a compiler left as it was is nearest to the original in a run, too.
    again = (one for one in written if len(function.instructions) <= _HARD_TO_RUN)
    done: set[tuple[str, bool, bool]] = set()
    execute = True
    # Long functions are seldom covered by launches, and running them takes long: proofs come first,
    # but only those that are quick.
    long = len(function.instructions) > _HARD_TO_RUN
    share = _BRIEF if long else PROOF
    proving = budget.part(_BRIEF if long else _PROVING)
    early = ((one, True) for one in tried if not proving.over)
    rest = (
        (one, False)
        for one in chain(
            likely[: 0 if long else 1], provable(), likely[:1], longer(), likely[1:], again, others
        )
    )
    refuted: dict[str, tuple[str, ...]] = {}
    for one, only_proof in chain(early, rest):
        # Forms that a compiler makes the same of are all proved, or none is.
        text = one.made.module.emit() if one.made.module is not None else one.made.error
        followed = (text, True, False) in done or (text in refuted and not one.thorough)
        key = text, one.thorough, one.longer
        if key in done or (followed and (only_proof or not execute) and not one.longer):
            continue
        if not only_proof:
            done.add(key)
        part = _BRIEF if only_proof else share if one.thorough and not one.longer else PROOF
        before = budget.left
        verdict = _proved(
            module, name, one, known, budget, prove=one.longer or not followed, execute=execute,
            least="E2" if only_proof else WEAKEST, share=part,
        )  # fmt: skip
        if one.thorough and part < PROOF and before - budget.left >= part * budget.seconds:
            cut_short.append(one)
        if only_proof and not verdict.equivalent:
            # What had not enough time gets more of it later.
            if not any("stopped after" in reason for reason in verdict.reasons):
                refuted[text] = verdict.reasons
            continue
        if followed and text in refuted:
            # What was found before is what there is to say of a proof.
            later = (r for r in verdict.reasons if not r.startswith("E2:"))
            verdict = replace(verdict, reasons=(*refuted[text], *later))
        # What is wrong with the original itself is so for all of its forms.
        execute &= verdict.execution is None or not verdict.execution.hopeless
        # What was not proved is still better than what was seen to differ.
        wrong = verdict.execution is not None and verdict.execution.different
        rank = verdict.rank, not wrong, -reading_cost(one.candidate.tree, name)
        if best is None or rank > best[0]:
            best = rank, one.candidate, verdict
        if best[2].equivalent:
            break
        if budget.over:
            why = f"no other form was tried: {budget.reason}"
            return best[1], replace(best[2], reasons=(*best[2].reasons, why))
    assert best is not None
    return best[1], best[2]


def _refined(
    module: Module,
    name: str,
    tried: list[_Tried],
    arch: str,
    effort: int,
    separate: bool,
    budget: Budget,
) -> Candidate | None:
    """A form that small changes made the same PTX."""
    original = Code.in_module(module.emit()).get(name)
    if original is None or effort <= 0:
        return None
    forms = [
        (one.candidate.tree, code)
        for one in tried
        if one.made.module is not None
        and (code := Code.in_module(one.made.module.emit()).get(one.partner)) is not None
    ]
    tree = Search(original, name, arch, effort, separate, budget).run(forms)
    if tree is None:
        return None
    candidate = replace(tried[0].candidate, tree=tree)
    one = _compiled(module, name, candidate, arch, separate)
    same = one.made.module is not None and same_ptx(module, one.made.module, name, one.partner)
    return candidate if same else None


def _compiled(module: Module, name: str, candidate: Candidate, arch: str, separate: bool) -> _Tried:
    made = compiled(candidate.tree, arch, separate=separate)
    partner = paired(module, made.module).get(name, name) if made.module is not None else name
    return _Tried(candidate, made, partner)


def _proved(
    module: Module,
    name: str,
    one: _Tried,
    known: Experience,
    budget: Budget,
    *,
    prove: bool,
    execute: bool,
    share: float,
    least: str = WEAKEST,
) -> Verdict:
    if one.made.module is None:
        return Verdict(reasons=(f"E0: {one.made.error}",))
    return certify(
        module, one.made.module, name, one.partner, known=known, thorough=one.thorough,
        budget=budget, prove=prove, execute=execute, share=share, least=least,
    )  # fmt: skip
