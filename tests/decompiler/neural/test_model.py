"""The network: constrained decoding, probabilities, training that can be interrupted."""

from __future__ import annotations

import csv
import os
import subprocess
import sys
from collections import Counter
from dataclasses import replace
from pathlib import Path

import pytest

torch = pytest.importorskip("torch")

import ptxkit  # noqa: E402
from ptxkit import cuda  # noqa: E402
from ptxkit.cuda import nodes as n  # noqa: E402
from ptxkit.decompiler.engines import engine  # noqa: E402
from ptxkit.decompiler.neural import tokens, training  # noqa: E402
from ptxkit.decompiler.neural.decoding import Decoder  # noqa: E402
from ptxkit.decompiler.neural.engine import tree_of  # noqa: E402
from ptxkit.decompiler.neural.evaluation import evaluate, is_exact  # noqa: E402
from ptxkit.decompiler.neural.grammar import Grammar  # noqa: E402
from ptxkit.decompiler.neural.model import Config, Model  # noqa: E402
from ptxkit.decompiler.neural.raising import check  # noqa: E402
from ptxkit.decompiler.neural.tables import Tables  # noqa: E402
from ptxkit.decompiler.neural.vocabulary import PAD, START, UNKNOWN, Vocabulary  # noqa: E402
from ptxkit.decompiler.neural.weights import load_weights, save_weights  # noqa: E402
from ptxkit.errors import UsageError  # noqa: E402
from ptxkit.toolchain import compile_cuda  # noqa: E402

from . import programs  # noqa: E402


@pytest.fixture(scope="module", autouse=True)
def _one_thread() -> None:
    torch.set_num_threads(1)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Prepared pairs, without calling a compiler once more."""
    path = tmp_path_factory.mktemp("tokens")
    found = [replace(pair, split="train") for pair in programs.pairs()]
    vocabulary = tokens.vocabulary_of(found)
    vocabulary.save(path / tokens.VOCABULARY)
    tokens._write(path, 0, [tokens.encode(found, vocabulary, Counter())], {"seed": 5})
    return path


def _untrained(vocabulary: Vocabulary, seed: int, habits: float = 3.0) -> Decoder:
    torch.manual_seed(seed)
    config = Config(len(vocabulary), vocabulary.answers, 32, 2, 64, 1, 1)
    model = Model(config)
    # Far from uniform: every seed has habits of its own.
    torch.nn.init.normal_(model.say.weight, std=habits)
    return Decoder(model, vocabulary)


def test_every_beam_is_a_program_that_compiles(folder: Path) -> None:
    """Whatever the weights: the grammar alone makes it so, and NVRTC is the judge."""
    vocabulary = Vocabulary.load(folder / tokens.VOCABULARY)
    chosen = list(programs.pairs())[::4]
    items: list[n.Function] = []
    for seed in range(4):
        answers = _untrained(vocabulary, seed).answers(
            [pair.source for pair in chosen], beams=3, most=40 + 10 * seed
        )
        for number, (pair, candidates) in enumerate(zip(chosen, answers, strict=True)):
            assert candidates
            for place, candidate in enumerate(candidates):
                check(candidate.words, pair.source.parameters)
                tree = tree_of(candidate.words, pair.source)
                (kernel,) = tree.kernels
                # Arrays of unknown size share a name in one file: their types would clash.
                if not any(isinstance(x, n.Declare) and "extern" in x.space for x in tree.walk()):
                    items.append(replace(kernel, name=f"k{seed}_{number}_{place}"))
    assert len(items) > 60
    text = cuda.print_module(n.CudaModule(tuple(items), ("cuda_fp16.h",)))
    compile_cuda(text, "sm_90", options=("-w",), cache=False)


def test_the_tables_allow_what_the_grammar_allows(folder: Path) -> None:
    vocabulary = Vocabulary.load(folder / tokens.VOCABULARY)
    tables, grammar = Tables(vocabulary, "cpu"), Grammar()
    said = [w for w in vocabulary.words[: vocabulary.answers] if w[0] != "<"]
    for pair in list(programs.pairs())[::9]:
        state = grammar.begin(pair.source.parameters)
        frontier = tables.begin([pair.source.parameters], [{}])
        for word in pair.answer:
            mask = frontier.mask(tables, 500)[0]
            allowed = {w for w in said if mask[vocabulary.index[w]]}
            assert allowed == {w for w in said if w in grammar.allowed(state)}
            if word not in vocabulary.index:
                break
            grammar.advance(state, word)
            frontier.advance(tables, torch.tensor([vocabulary.index[word]]))
        else:
            assert state.finished and int(frontier.size) == 0


def test_probabilities_add_up_to_one(folder: Path) -> None:
    vocabulary = Vocabulary.load(folder / tokens.VOCABULARY)
    decoder = _untrained(vocabulary, 1)
    sources = [pair.source for pair in programs.pairs()[:3]]
    encoded = [decoder.vocabulary.encode_source(s) for s in sources]
    memory = decoder._read(sources, encoded)
    said = torch.full((3, 1), START)
    states = decoder.model.decode(said, memory)
    vocabulary_logs, copied, odds = decoder.model.mixture(states, memory)
    generated = odds.sigmoid()
    total = (vocabulary_logs.exp().sum(-1, keepdim=True) * generated
             + copied.exp().sum(-1, keepdim=True) * (1 - generated))  # fmt: skip
    assert torch.allclose(total, torch.ones_like(total), atol=1e-5)
    # What is copied is a word that can be said, never a register or an opcode.
    places = copied[0, 0].exp() > 1e-6
    assert (memory.words[0][places][1:] < vocabulary.answers).all()


def test_a_cache_gives_what_reading_all_again_gives(folder: Path) -> None:
    """Greedy words are those that the whole answer's probabilities say."""
    vocabulary = Vocabulary.load(folder / tokens.VOCABULARY)
    decoder = _untrained(vocabulary, 4, habits=0.5)
    pair = programs.pairs()[0]
    (candidates,) = decoder.answers([pair.source], beams=2, most=40)
    encoded = vocabulary.encode_source(pair.source)
    memory = decoder._read([pair.source], [encoded])
    for candidate in candidates:
        numbers = vocabulary.encode_answer(candidate.words, encoded[1])
        assert numbers is not None
        source = torch.tensor([encoded[0]])
        loss, _ = decoder.model.loss(
            source, torch.tensor([pair.source.made_at]), torch.tensor([len(encoded[0])]),
            torch.tensor([[START, *numbers[:-1]]]), torch.tensor([numbers]),
        )  # fmt: skip
        # Scores differ by the words that the grammar forbade: they are never better.
        assert candidate.score == pytest.approx(-float(loss.sum()), rel=1e-3)
    assert memory.words.shape[0] == 1


def _losses(folder: Path) -> list[float]:
    with (folder / training.CURVE).open(newline="") as file:
        return [float(line["loss"]) for line in csv.DictReader(file)]


_SMALL = training.preset("tiny", steps=12, budget=1500, width=32, inner=64, layers=1,
                         report_every=2, save_steps=4)  # fmt: skip


def test_a_killed_run_goes_on_with_the_same_losses(folder: Path, tmp_path: Path) -> None:
    prepared = tokens.Tokens(folder)
    training.train(prepared, tmp_path / "whole", _SMALL, say=lambda text: None)

    def killed(text: str) -> None:
        if text.startswith("step 10"):
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        training.train(prepared, tmp_path / "part", _SMALL, say=killed)
    training.train(prepared, tmp_path / "part", _SMALL, resume=True, say=lambda text: None)
    whole, part = _losses(tmp_path / "whole"), _losses(tmp_path / "part")
    assert whole == part
    assert len(whole) == 6
    assert whole[-1] < whole[0]
    assert (tmp_path / "part" / "curve.png").stat().st_size > 5000


def test_a_run_that_pauses_goes_on(folder: Path, tmp_path: Path) -> None:
    prepared = tokens.Tokens(folder)
    said: list[str] = []
    run = tmp_path / "run"
    training.train(prepared, run, replace(_SMALL, pause=1e-9), say=said.append)
    assert said[-1].startswith("step 1 ")
    assert (run / "config.json").exists()
    training.train(prepared, run, _SMALL, resume=True, say=said.append)
    assert said[-1].startswith("step 12 ")


def test_two_processes_train_one_model_and_go_on(folder: Path, tmp_path: Path) -> None:
    """As on several GPUs: torchrun starts the processes, on a CPU they talk through gloo."""
    command = [
        sys.executable, "-m", "torch.distributed.run", "--standalone", "--nproc-per-node", "2",
        "-m", "ptxkit", "train", "--preset", "tiny", "--budget", "600", "--save-steps", "2",
        "--data", str(folder), "--out", str(tmp_path / "run"),
    ]  # fmt: skip
    environment = {**os.environ, "OMP_NUM_THREADS": "1"}
    for steps, more in ((2, []), (4, ["--resume"])):
        done = subprocess.run(
            [*command, "--steps", str(steps), *more],
            capture_output=True, text=True, env=environment, timeout=240, check=False,
        )  # fmt: skip
        assert done.returncode == 0, done.stderr[-2000:]
        state = torch.load(tmp_path / "run" / training.STATE, weights_only=True)
        assert state["place"]["step"] == steps


def test_a_run_of_other_sizes_is_not_resumed(folder: Path, tmp_path: Path) -> None:
    prepared = tokens.Tokens(folder)
    with pytest.raises(UsageError, match="no run to resume"):
        training.train(prepared, tmp_path / "none", _SMALL, resume=True)
    one = replace(_SMALL, steps=2)
    training.train(prepared, tmp_path / "run", one, say=lambda text: None)
    with pytest.raises(UsageError, match="another width"):
        training.train(prepared, tmp_path / "run", replace(one, width=64), resume=True)


def test_weights_come_back_from_their_files(folder: Path, tmp_path: Path) -> None:
    vocabulary = Vocabulary.load(folder / tokens.VOCABULARY)
    model = _untrained(vocabulary, 2).model
    save_weights(tmp_path, model, vocabulary, {"steps": 1})
    again, words, about = load_weights(tmp_path)
    assert words.words == vocabulary.words
    assert about["about"] == {"steps": 1}
    for (name, one), two in zip(
        model.state_dict().items(), again.state_dict().values(), strict=True
    ):
        assert torch.equal(one.bfloat16().float(), two), name
    (tmp_path / "model-1-of-1.safetensors").unlink()
    with pytest.raises(UsageError, match="no weights"):
        load_weights(tmp_path)


def test_exact_means_the_same_program_in_any_order() -> None:
    pair = next(p for p in programs.pairs() if "+.f32" in p.answer and p.tier == 2)
    assert is_exact(pair.answer, pair)
    other = [w if w != "+.f32" else "-.f32" for w in pair.answer]
    assert not is_exact(other, pair)


def test_evaluation_counts_by_tier(folder: Path) -> None:
    vocabulary = Vocabulary.load(folder / tokens.VOCABULARY)
    chosen = list(programs.pairs())[:8]
    found = evaluate(_untrained(vocabulary, 3), chosen).as_dict()
    assert sum(row["asked"] for row in found["tiers"].values()) == 8
    assert (PAD, START, UNKNOWN) == (0, 1, 2)


@pytest.mark.parametrize("keep", [0, 100, 5000, -1000])
def test_a_damaged_state_is_a_sentence(folder: Path, tmp_path: Path, keep: int) -> None:
    prepared = tokens.Tokens(folder)
    training.train(prepared, tmp_path, replace(_SMALL, steps=1), say=lambda text: None)
    state = tmp_path / training.STATE
    state.write_bytes(state.read_bytes()[:keep])
    with pytest.raises(UsageError, match="is damaged"):
        training.train(prepared, tmp_path, _SMALL, resume=True, say=lambda text: None)


def test_half_a_line_of_a_curve_is_dropped(tmp_path: Path) -> None:
    curve = tmp_path / training.CURVE
    training._append(curve, {"step": 1, "loss": 2.0})
    with curve.open("a") as file:
        file.write("2,1.")
    training._cut_curve(curve, 5)
    assert _losses(tmp_path) == [2.0]


def test_trained_weights_are_used_by_name(folder: Path, tmp_path: Path) -> None:
    prepared = tokens.Tokens(folder)
    run = tmp_path / "run"
    training.train(prepared, run, replace(_SMALL, steps=1), say=lambda text: None)
    own = engine("neural", run)
    assert own.decoder.model.size < engine("neural").decoder.model.size  # type: ignore[attr-defined]
    text = ".version 8.0 .target sm_90 .address_size 64 .entry k() { ret; }"
    assert ptxkit.decompile(text, "neural", weights=run).verdict.equivalent
    with pytest.raises(UsageError, match="has no weights"):
        ptxkit.decompile(text, "symbolic", weights=run)
    with pytest.raises(UsageError, match="there are no weights in"):
        ptxkit.decompile(text, weights=tmp_path / "none")
    file = next(run.glob("model-*.safetensors"))
    file.write_bytes(file.read_bytes()[:100])
    other = run.rename(tmp_path / "other")  # what was loaded is kept
    with pytest.raises(UsageError, match="are damaged"):
        ptxkit.decompile(text, weights=other)


def test_a_full_disk_is_a_sentence(
    folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(state: object, path: Path) -> None:
        path.write_bytes(b"half")
        raise RuntimeError("unexpected pos 64 vs 0\nand a list of calls")

    monkeypatch.setattr(torch, "save", full)
    with pytest.raises(UsageError, match=r"cannot be written to .*state\.pt\.part"):
        training.train(tokens.Tokens(folder), tmp_path, _SMALL, say=lambda text: None)
    assert not list(tmp_path.glob("state*"))
