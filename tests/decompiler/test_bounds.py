"""What takes too long is left out, and the verdict says so."""

from __future__ import annotations

import pytest

import ptxkit
from ptxkit.decompiler import variants
from ptxkit.decompiler.verify import execution, same_execution

SCALE = """extern "C" __global__ void scale(float *x, float a, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) x[i] = a * x[i];
}"""


def test_a_function_that_takes_too_long_is_tried_in_one_form(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(variants, "_SEARCH", 0.0)
    monkeypatch.setattr(variants, "_ENOUGH", 0.0)
    monkeypatch.setattr(variants, "same_ptx", lambda *_: False)
    tried = []
    monkeypatch.setattr(
        variants, "certify", lambda *given, **_: tried.append(given) or variants.Verdict(True)
    )
    module = ptxkit.compile_cuda(SCALE, arch="sm_90")
    _, verdict = variants.best_form(module, "scale", "sm_90")
    assert len(tried) == 1
    assert verdict.level == "E0"
    assert verdict.reasons == ("no other form was tried: this took 0 seconds of computing",)


def test_too_few_launches_in_too_long_a_time_claim_nothing(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    module = ptxkit.compile_cuda(SCALE, arch="sm_90")
    assert same_execution(module, module, "scale").equal
    monkeypatch.setattr(execution, "_LONGEST", 0.0)
    found = same_execution(module, module, "scale")
    assert not found.equal
    assert not found.different
    assert found.reason.endswith("in 0 seconds of computing")
