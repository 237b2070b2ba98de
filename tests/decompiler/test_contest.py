"""Which engine's candidate is taken, and what is done to find out."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import pytest

import ptxkit
from ptxkit.cuda import CudaModule, read
from ptxkit.decompiler import choose, evaluate, variants
from ptxkit.decompiler.budget import UNLIMITED
from ptxkit.decompiler.contest import best_answer
from ptxkit.decompiler.engines import Candidate, SymbolicEngine, engine
from ptxkit.decompiler.isolation import isolated
from ptxkit.decompiler.verify import certificates
from ptxkit.decompiler.verify.trials import Experience

SOURCE = """extern "C" __global__ void fill(int *x, int v) {
    x[threadIdx.x] = v;
}"""
HEAD = "(kernel fill (params (param (ptr int) x) (param int v))"
STORE = "(= ([] x threadIdx.x) v)"
#: What could be proposed for it: the same PTX, the same results, and others.
SHORT = f"{HEAD} {STORE})"
LONG = f"{HEAD} (if (>= threadIdx.x 0) (then {STORE})) {STORE} {STORE})"
WRONG = f"{HEAD} (= ([] x threadIdx.x) 3))"
BROKEN = f"{HEAD} (= ([] x nothing) v))"


class Guessing:
    """Proposes what it is given."""

    name = "guessing"

    def __init__(self, *texts: str) -> None:
        self.texts = texts

    def propose(self, module: Any, function: Any, *, beams: int = 1) -> Sequence[Candidate]:
        trees = [CudaModule((read(text),)) for text in self.texts]  # type: ignore[arg-type]
        return [Candidate(tree, self.name) for tree in trees]


@pytest.fixture
def module() -> ptxkit.Module:
    return ptxkit.compile_cuda(SOURCE, arch="sm_90")


@pytest.fixture
def runs(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The names of the kernels that are run to be compared, one for each comparison."""
    found: list[str] = []
    real = certificates.same_execution

    def counted(original: Any, candidate: Any, kernel: str, *others: Any, **options: Any) -> Any:
        found.append(kernel)
        return real(original, candidate, kernel, *others, **options)

    monkeypatch.setattr(certificates, "same_execution", counted)
    return found


def test_what_cannot_win_is_not_run(module: ptxkit.Module, runs: list[str]) -> None:
    engines = [engine("symbolic"), Guessing(LONG, WRONG, BROKEN)]
    found = best_answer(module, "fill", engines, "sm_90", beams=4)
    assert found is not None
    assert (found.candidate.engine, found.verdict.level) == ("symbolic", "E1")
    assert runs == []


def test_what_could_win_is_proved(module: ptxkit.Module, runs: list[str]) -> None:
    found = best_answer(module, "fill", [Guessing(WRONG)], "sm_90", beams=4)
    assert found is not None
    assert (found.candidate.engine, found.verdict.level) == ("guessing", "E0")
    assert runs == ["fill"]


def test_identical_ptx_comes_first(module: ptxkit.Module, runs: list[str]) -> None:
    found = best_answer(module, "fill", [Guessing(BROKEN, WRONG, LONG, SHORT)], "sm_90", beams=4)
    assert found is not None
    assert found.verdict.same_ptx
    assert runs == []


def test_no_idea_is_none(module: ptxkit.Module) -> None:
    assert best_answer(module, "fill", [Guessing()], "sm_90") is None


@pytest.mark.parametrize(
    ("guess", "said"),
    [((WRONG,), "E3: "), ((BROKEN,), "E0: it does not compile"), ((), "has nothing to propose")],
)
def test_an_unproved_guess_is_the_lifted_form(
    module: ptxkit.Module, guess: tuple[str, ...], said: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(choose, "_engines", lambda name, weights: ([Guessing(*guess)], []))
    found = ptxkit.decompile(module, "guessing")
    assert found.engine == "symbolic"
    assert found.verdict.same_ptx  # of what is returned
    (note,) = found.notes
    assert said in note and note.endswith("this is the lifted form")


def test_guesses_are_measured_as_guesses(
    module: ptxkit.Module, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The lifted form that a user gets instead is no success of the engine that guessed."""
    item = evaluate.Item("fill", "test", module.emit())
    for guess, compiles, equivalent in ((SHORT, True, True), (WRONG, True, False)):
        monkeypatch.setattr(evaluate, "find_engine", lambda name, weights, g=guess: Guessing(g))
        row = evaluate.measure(item, "guessing", arch="sm_90")
        assert (row.compiles, row.equivalent) == (compiles, equivalent)
    monkeypatch.setattr(evaluate, "find_engine", lambda name, weights: Guessing())
    row = evaluate.measure(item, "guessing", arch="sm_90")
    assert not row.compiles and "nothing to propose" in row.reason


TWO = """.version 8.5
.target sm_90
.address_size 64
.visible .entry a(.param .u64 p) {
.reg .b64 %rd<2>;
.reg .b32 %r<3>;
ld.param.u64 %rd1, [p];
ld.global.u32 %r1, [%rd1];
div.s32 %r2, %r1, 7;
st.global.u32 [%rd1], %r2;
ret;
}
.visible .entry b(.param .u64 p) {
.reg .b64 %rd<2>;
.reg .b32 %r<3>;
ld.param.u64 %rd1, [p];
mov.u32 %r1, BODY;
st.global.u32 [%rd1], %r1;
ret;
}
"""


def test_a_file_is_not_run_again_for_what_was_run_alone(
    monkeypatch: pytest.MonkeyPatch, runs: list[str]
) -> None:
    monkeypatch.setattr(certificates, "same_dataflow", lambda *words, **options: _Unproved())
    found = ptxkit.decompile(TWO.replace("BODY", "%tid.x"), "symbolic", effort=0)
    assert [part.level for part in found.verdict.parts.values()] == ["E3", "E3"]
    assert sorted(runs) == ["a", "b"]


class _Unproved:
    equal, reason = False, "nobody tries"


def test_what_cannot_be_lifted_is_left_out_and_said() -> None:
    found = ptxkit.decompile(ptxkit.parse(TWO.replace("BODY", "%r7"), "two.ptx"), "symbolic")
    assert found.verdict.parts["a"].equivalent
    assert not found.verdict.equivalent
    assert found.badge == "[not verified] symbolic"
    assert found.notes == (
        "'b' cannot be lifted: two.ptx:17:14: '%r7' is not declared; ptxkit check says more",
    )


def test_what_takes_long_is_left_as_lifted(
    module: ptxkit.Module, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(choose, "preferred", None)  # must not be called
    found = ptxkit.decompile(module, "symbolic", seconds=1e-6)
    assert found.verdict.same_ptx
    assert found.notes == ("written as lifted: stopped after 0 seconds of computing",)


def test_a_part_keeps_its_lines() -> None:
    module = ptxkit.parse(TWO.replace("BODY", "1"))
    part = isolated(module, module["b"])
    assert "a" not in part
    assert part["b"].line == module["b"].line


def test_what_a_launch_shows_to_differ_is_not_proved(monkeypatch: pytest.MonkeyPatch) -> None:
    """A proof of it would take longer, and come to nothing."""
    text = 'extern "C" __global__ void k(int *x, int n) { x[threadIdx.x] %s n; }'
    module, other = (ptxkit.compile_cuda(text % way, arch="sm_90") for way in ("+=", "-="))
    candidate = next(SymbolicEngine().provable_forms(other, other["k"], None))
    proving = variants._Proving(
        module, "k", "sm_90", False, Experience(), UNLIMITED, [], iter(()), iter(())
    )
    tried = replace(proving._compiled(candidate), thorough=True)
    with monkeypatch.context() as patch:
        patch.delattr(variants, "certify")
        verdict = proving._verdict(tried, False)
    assert verdict is not None and verdict.execution is not None and verdict.execution.different
    assert verdict.reasons[0].startswith("E3: with ")
