"""Every instruction of the recording on the simulator: bit for bit what the GPU gave."""

from __future__ import annotations

from functools import lru_cache

import numpy as np
import pytest
from tests.gpu.variants import cases, module_text
from tests.run.approximations import (
    approximation,
    approximations,
    content,
    elements,
    error,
    true_values,
)
from tests.run.replay import RECORDING, Replay, replays

import ptxkit


@lru_cache(maxsize=1)
def _all() -> tuple[Replay, ...]:
    return tuple(replays())


def _first_difference(one: Replay) -> str:
    row, lane = np.argwhere(one.gpu != one.simulator)[0]
    sources = [hex(value) for value in one.inputs[:, lane].tolist()]
    gpu, simulator = int(one.gpu[row, lane]), int(one.simulator[row, lane])
    return f"{one.case.text} of {sources}: GPU {gpu:#x}, simulator {simulator:#x}"


def test_the_recording_is_replayed_whole() -> None:
    # What was recorded is data, what is replayed comes from the table: neither may lose a form.
    with np.load(RECORDING) as recording:
        recorded = set(recording.files)
    assert {one.case.text for one in _all()} == recorded
    assert {case.text for case in cases()} == recorded


def test_exact_instructions_equal_the_gpu_bit_for_bit() -> None:
    wrong = [
        _first_difference(one)
        for one in _all()
        if approximation(one.opcode) is None and not np.array_equal(one.gpu, one.simulator)
    ]
    assert wrong == []


_APPROXIMATE = sorted(
    {case.text.split(" ")[0] for case in cases() if approximation(case.text.split(" ")[0])}
)


@pytest.mark.parametrize("opcode", _APPROXIMATE)
def test_approximations_stay_within_their_documented_error(opcode: str) -> None:
    scalar = content(opcode)
    for one in _all():
        if one.opcode != opcode:
            continue
        gpu, simulator = elements(one.gpu[0], scalar), elements(one.simulator[0], scalar)
        for row in approximations(opcode):
            true = true_values(row, one)
            assert error(row.measure, scalar, gpu, true).max() <= row.limit
            assert error(row.measure, scalar, simulator, true).max() <= row.limit
            inside = np.where(np.isfinite(true), gpu, np.nan)
            assert error(row.measure, scalar, simulator, inside).max() <= 2 * row.limit


@pytest.mark.parametrize("opcode", _APPROXIMATE)
def test_approximations_treat_special_values_as_the_gpu_does(opcode: str) -> None:
    for one in _all():
        if one.opcode != opcode:
            continue
        gpu = elements(one.gpu[0], content(opcode))
        simulator = elements(one.simulator[0], content(opcode))
        assert np.array_equal(np.isnan(gpu), np.isnan(simulator))
        assert np.array_equal(np.isinf(gpu), np.isinf(simulator))
        same = np.isinf(gpu) | (gpu == 0)
        assert np.array_equal(gpu[same], simulator[same])


def test_carry_chains_add_and_subtract_wide_numbers() -> None:
    chains = [case for case in cases() if "; " in case.text]
    assert chains
    kernels = ptxkit.load(module_text(tuple(chains)), device="cpu")
    by_text = {case.text: kernels[case.name] for case in chains}
    rng = np.random.default_rng(0)
    for name, operation in (("add", lambda a, b: a + b), ("sub", lambda a, b: a - b)):
        text = f"{name}.cc.u32 ur1, ur2, ur3; {name}c.u32 ur4, ur5, ur6;"
        low_a, low_b, high_a, high_b = rng.integers(0, 1 << 32, (4, 512), dtype=np.uint64)
        unused = np.zeros(512, np.uint64)
        source = np.stack([unused, low_a, low_b, unused, high_a, high_b])
        out = np.zeros((2, 512), np.uint64)
        by_text[text][1, 512](source, out)
        expected = operation(high_a << 32 | low_a, high_b << 32 | low_b)
        assert np.array_equal(out[1] << 32 | out[0], expected)
