"""The sources `triton`, `numba` and `ptx`: every row is compiled, executed and replayed."""

from __future__ import annotations

from dataclasses import replace
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import ptxkit
from ptxkit.errors import MissingExtraError
from ptxkit.synth import Made, Plan, Rejected, Settings, find, generate
from ptxkit.synth.dataset import Dataset
from ptxkit.synth.schema import row
from ptxkit.synth.stacked.machine import Machine, text_of
from ptxkit.synth.validation import validate

PACKAGES = {"triton": "triton", "numba": "numba_cuda", "ptx": "numpy"}


def _source(name: str) -> Any:
    if find_spec(PACKAGES[name]) is None:
        pytest.skip(f"{PACKAGES[name]} is not installed")
    return find(name)


@pytest.mark.parametrize("name", PACKAGES)
def test_samples_are_a_function_of_their_place(name: str) -> None:
    source = find(name)  # which needs no compiler
    settings = Settings()
    texts = [source.sample(3, index, settings).text for index in range(200)]
    assert texts == [source.sample(3, index, settings).text for index in range(200)]
    assert len({source.sample(3, index, settings).shape for index in range(200)}) >= 180
    assert {source.sample(3, index, settings).category for index in range(200)} == set(
        source.categories
    )


@pytest.mark.parametrize("name", PACKAGES)
def test_rows_are_verified_and_replayed(name: str, tmp_path: Path) -> None:
    source, settings = _source(name), Settings()
    samples = [source.sample(8, index, settings) for index in range(len(source.categories) * 2)]
    made = source.make(8, samples, settings, tmp_path)
    assert all(isinstance(one, Made) for one in made), made
    for sample, one in zip(samples, made, strict=True):
        stored = row(source, 8, sample, one)
        assert source.replay(8, sample, stored) is None
        target = stored["targets"][0]
        # No line of the source is in the PTX, nor any file of this machine.
        assert "//" not in target["ptx_forward"] and "\t.loc\t" not in target["ptx_raw"]
        assert str(tmp_path) not in target["ptx_raw"] and ".file" not in target["ptx_raw"]
        assert ptxkit.parse(target["ptx_raw"]).kernels[0].name == sample.name
    stored["verification"]["output_digest"] = "0"
    assert source.replay(8, samples[-1], stored) == "the outputs have another digest"
    stored["verification"]["input_digest"] = "0"
    assert source.replay(8, samples[-1], stored) == "the inputs have another digest"


@pytest.mark.parametrize("name", PACKAGES)
def test_what_numpy_disagrees_with_is_rejected(name: str, tmp_path: Path) -> None:
    source, settings = _source(name), Settings()
    sample = source.sample(8, 0, settings)
    program = sample.program

    def wrong(values: dict[str, Any]) -> dict[str, Any]:
        return {key: value + 1 for key, value in program.compute(values).items()}

    broken = replace(sample, program=replace(program, compute=wrong))
    (found,) = source.make(8, [broken], settings, tmp_path)
    assert isinstance(found, Rejected) and found.stage == "compare"
    assert "differs at" in found.reason


@pytest.mark.parametrize("name", ["triton", "numba"])
def test_raw_ptx_does_not_depend_on_what_was_compiled_before(name: str, tmp_path: Path) -> None:
    source, settings = _source(name), Settings()
    samples = [source.sample(2, index, settings) for index in range(3)]
    together = source.make(2, samples, settings, tmp_path)
    (alone,) = source.make(2, samples[2:], settings, tmp_path)
    assert together[2] == alone


@pytest.mark.parametrize("name", ["triton", "numba"])
def test_a_missing_package_is_one_sentence(name: str, tmp_path: Path) -> None:
    if find_spec(PACKAGES[name]) is not None:
        pytest.skip(f"{PACKAGES[name]} is installed")
    with pytest.raises(MissingExtraError, match=rf"pip install 'ptxkit\[{name}\]'"):
        generate(Plan(name, 1, 4), tmp_path / "x")
    assert not (tmp_path / "x").exists()


def test_a_dataset_of_stack_programs(tmp_path: Path) -> None:
    folder = tmp_path / "stack"
    manifest = generate(Plan("ptx", 4, 60, shard_size=30), folder, workers=1)
    assert manifest["counts"]["rejected"] == 0
    assert not list(validate(Dataset(folder)))


def test_the_machine_does_what_the_manual_says() -> None:
    x, y = np.float32([1, 2, 3]), np.float32([3, 2, 1])
    words = ["x", "y", "setp.lt.f32", ("if", ["x"], ["y", "y"]), "sub.rn.f32", "2.0", "mul.rn.f32"]
    machine = Machine({"x": ("f32", x), "y": ("f32", y)})
    machine.run(words)
    # One value comes out of both sides: the shallower one decides. It has no partner to subtract.
    assert machine.stacks["f32"][-1].tolist() == [2.0, 4.0, 2.0]
    assert text_of(words) == "x y setp.lt.f32 if x else y y end sub.rn.f32 2.0 mul.rn.f32"
