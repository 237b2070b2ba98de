"""What takes too long is left out, and the verdict says so."""

from __future__ import annotations

import time
from typing import Any

import pytest

import ptxkit
from ptxkit.decompiler import variants
from ptxkit.decompiler.budget import Budget, OverdueError
from ptxkit.decompiler.verify import certify, execution, outcome, same_execution
from ptxkit.decompiler.verify.dataflow.decisions import Decisions
from ptxkit.decompiler.verify.dataflow.terms import OFTEN, GiveUpError, Terms
from ptxkit.decompiler.verify.trials import Experience

SCALE = """extern "C" __global__ void scale(float *x, float a, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) x[i] = a * x[i];
}"""


def test_a_function_that_takes_too_long_is_tried_in_one_form(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(variants, "same_ptx", lambda *_: False)
    tried = []
    monkeypatch.setattr(
        variants, "certify", lambda *given, **_: tried.append(given) or variants.Verdict(True)
    )
    module = ptxkit.compile_cuda(SCALE, arch="sm_90")
    _, verdict = variants.best_form(module, "scale", "sm_90", budget=Budget(0))
    assert len(tried) == 1
    assert verdict.level == "E0"
    assert verdict.reasons == ("no other form was tried: stopped after 0 seconds of computing",)


def test_too_few_launches_in_too_long_a_time_claim_nothing(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    module = ptxkit.compile_cuda(SCALE, arch="sm_90")
    assert same_execution(module, module, "scale").equal
    monkeypatch.setattr(execution, "_LONGEST", 0.0)
    found = same_execution(module, module, "scale")
    assert not found.equal
    assert not found.different
    assert found.reason.endswith("and more would take too long")
    assert found.hopeless


def test_steps_end_when_the_time_is_over() -> None:
    module = ptxkit.compile_cuda(SCALE, arch="sm_90")
    other = ptxkit.compile_cuda(SCALE.replace("a * x[i]", "x[i] * a + 0.0f"), arch="sm_90")
    over = Budget(0)
    assert same_execution(module, other, "scale", budget=over).reason.startswith("stopped after 0")
    verdict = certify(module, other, "scale", budget=over)
    assert verdict.level == "E0"
    assert "stopped after 0 seconds of computing" in verdict.reasons[-1]


def test_a_proof_ends_after_some_work(monkeypatch: pytest.MonkeyPatch) -> None:
    terms = Terms(budget=Budget(0))
    with pytest.raises(OverdueError, match="stopped after 0"):
        for number in range(2 * OFTEN):
            terms.make("symbol", number)
    decisions = Decisions(Terms(), work=OFTEN)
    with pytest.raises(GiveUpError, match="too long"):
        made = decisions.true
        for number in range(4 * OFTEN):
            made = decisions.both(made, decisions.ask(decisions.terms.make("asks", number % 40)))


def test_what_told_one_candidate_apart_is_tried_first_with_the_next() -> None:
    module = ptxkit.compile_cuda(SCALE, arch="sm_90")
    wrong = ptxkit.compile_cuda(SCALE.replace("a * x[i]", "a * x[i] + 1"), arch="sm_90")
    known = Experience()
    first = same_execution(module, wrong, "scale", known=known)
    assert first.different
    assert len(known.telling) == 1
    again = same_execution(module, wrong, "scale", known=known)
    assert again.different
    assert not again.tried
    assert str(known.telling[0]) in again.reason


def test_launches_are_the_same_however_long_they_take(monkeypatch: pytest.MonkeyPatch) -> None:
    module = ptxkit.compile_cuda(SCALE, arch="sm_90")
    quick = same_execution(module, module, "scale")
    run = outcome.Side.run

    def slow(*given: Any, **options: Any) -> outcome.Outcome:
        time.sleep(0.001)
        return run(*given, **options)

    monkeypatch.setattr(outcome.Side, "run", slow)
    assert same_execution(module, module, "scale").tried == quick.tried
