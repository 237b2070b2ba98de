"""The engine with the weights of the package, and the command that trains others."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest
from typer.testing import CliRunner

torch = pytest.importorskip("torch")

import ptxkit  # noqa: E402
from ptxkit.cli import build_app  # noqa: E402
from ptxkit.decompiler.neural.engine import TRAINED, NeuralEngine, words_of_function  # noqa: E402
from ptxkit.decompiler.neural.inspect import draw, look  # noqa: E402

SOURCE = """extern "C" __global__ void axpy(float *y, const float *x, float a, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) y[i] = a * x[i] - 1.75f;
}"""


@pytest.fixture(scope="module")
def engine() -> NeuralEngine:
    torch.set_num_threads(1)
    return NeuralEngine(device="cpu")


def test_a_simple_kernel_is_answered_and_proved(engine: NeuralEngine) -> None:
    module = ptxkit.compile_cuda(SOURCE, arch="sm_90")
    found = ptxkit.decompile(module, engine="neural", beams=2)
    assert found.engine == "neural"
    assert found.verdict.equivalent
    assert "__global__ void axpy(" in found.cuda
    assert "1.75f" in found.cuda


def test_what_the_grammar_lacks_has_no_answer(engine: NeuralEngine) -> None:
    source = 'struct S { float a, b; }; extern "C" __global__ void k(S s, float *o) { *o = s.b; }'
    module = ptxkit.compile_cuda(source, arch="sm_90")
    assert engine.propose(module, module["k"]) == ()


def test_loops_are_rolled_where_those_of_the_ptx_are(engine: NeuralEngine) -> None:
    """Answers leave it open: without it a compiler makes copies, which are another program."""
    source = """extern "C" __global__ void k(float *o, const float *x, int n) {
        int i = blockIdx.x * blockDim.x + threadIdx.x; float sum = 0.0f;
        if (i >= n) return;
        #pragma unroll 1
        for (int j = 0; j < 4; j++) sum += x[j * 128 + i];
        o[i] = sum; }"""
    module = ptxkit.compile_cuda(source, arch="sm_90")
    found = ptxkit.decompile(module, engine="neural", beams=4)
    assert found.engine == "neural"
    assert found.verdict.level in ("E1", "E2")
    assert "#pragma unroll 1" in found.cuda


def test_an_answer_can_be_looked_into(engine: NeuralEngine, tmp_path: Path) -> None:
    module = ptxkit.compile_cuda(SOURCE, arch="sm_90")
    source = words_of_function(module, module["axpy"])
    (answer,) = engine.decoder.answers([source])[0]
    found = look(engine.decoder, source, answer)
    assert found.attention.shape == (len(answer.words), len(source.texts))
    assert found.attention.sum(1) == pytest.approx(1.0, abs=1e-3)
    assert found.generated == pytest.approx(answer.generated, abs=1e-3)
    json.dumps(found.as_dict())
    assert found.taken_from()
    assert all(found.source[at] == found.answer[row] for row, at in found.taken_from().items())
    pytest.importorskip("matplotlib")
    draw(found, tmp_path / "heat.png")
    assert (tmp_path / "heat.png").stat().st_size > 5000


def test_the_files_of_weights_fit_a_repository() -> None:
    sizes = [path.stat().st_size for path in TRAINED.iterdir()]
    assert max(sizes) <= 15_000_000
    assert sum(sizes) <= 45_000_000
    stored = json.loads((TRAINED / "config.json").read_text())
    assert 9e6 < stored["parameters"] < 14e6


def test_train_says_what_is_missing(tmp_path: Path) -> None:
    run = CliRunner()
    arguments = ["train", "--data", str(tmp_path / "no"), "--out", str(tmp_path)]
    result = run.invoke(build_app(), arguments)
    assert result.exit_code == 2
    assert "there is no folder" in result.output
    result = run.invoke(build_app(), [*arguments, "--generate", "1000000", "--resume"])
    assert result.exit_code == 2  # before anything is made
    assert "there is no run to resume" in result.output
    (tmp_path / "empty").mkdir()
    result = run.invoke(
        build_app(), ["train", "--data", str(tmp_path / "empty"), "--out", str(tmp_path)]
    )
    assert result.exit_code == 2
    assert "is no dataset" in result.output


def test_train_on_pairs_that_it_makes(tmp_path: Path) -> None:
    result = CliRunner().invoke(
        build_app(),
        ["train", "--data", str(tmp_path / "pairs"), "--out", str(tmp_path / "run"), "--preset",
         "tiny", "--generate", "48", "--workers", "1", "--steps", "2", "--budget", "512"],
    )  # fmt: skip
    assert result.exit_code == 0, result.output
    assert (tmp_path / "run" / "model-1-of-1.safetensors").exists()
    assert "words/s" in result.output
    assert " pairs: " in result.output and "by tier: 1: " in result.output
    assert "{" not in result.output


def test_a_new_run_is_not_mixed_with_an_old_one(tmp_path: Path) -> None:
    arguments = ["train", "--data", str(tmp_path / "no"), "--generate", "48", "--out"]
    (tmp_path / "run").mkdir()
    curve = tmp_path / "run" / "curve.csv"
    curve.write_text("step,loss\n1,2\n")
    result = CliRunner().invoke(build_app(), [*arguments, str(tmp_path / "run")])
    assert result.exit_code == 2
    assert "curve.csv of another run" in result.output
    (tmp_path / "run" / "state.pt").write_bytes(b"")
    result = CliRunner().invoke(build_app(), [*arguments, str(tmp_path / "run")])
    assert result.exit_code == 2
    assert "--resume, or choose another folder" in result.output
    assert curve.read_text() == "step,loss\n1,2\n"
    result = CliRunner().invoke(build_app(), [*arguments, str(curve)])
    assert result.exit_code == 2
    assert "is no folder" in result.output
    assert not (tmp_path / "no").exists()


def test_torch_is_not_loaded_for_what_the_network_cannot_read() -> None:
    """A second process: here it is loaded already."""
    program = (
        "import sys, ptxkit\n"
        "text = '.version 8.0 .target sm_90 .address_size 64 '\n"
        "text += '.visible .entry k(.param .align 4 .b8 s[12]) { ret; }'\n"
        "found = ptxkit.decompile(text)\n"
        "print(found.verdict.equivalent, 'torch' in sys.modules)\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True
    )
    assert done.stdout.split() == ["True", "False"]
