"""Programs of memory and threads on the simulator: bit for bit what the GPU wrote."""

from __future__ import annotations

from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tests.gpu.programs import Program, module_text, programs

import ptxkit

RECORDING = Path(__file__).parent / "gpu" / "programs.npz"


@lru_cache(maxsize=1)
def _recorded() -> dict[str, Any]:
    with np.load(RECORDING) as recording:
        return {name: recording[name] for name in recording.files}


def run(one: Program) -> Any:
    """What the simulator writes."""
    kernel = ptxkit.load(module_text((one,)), device="cpu")[one.name]
    out = np.zeros(one.words, dtype=np.uint64)
    launcher = kernel[one.grid, one.block]
    if one.cluster > 1:
        launcher = launcher.with_options(cluster=one.cluster)
    launcher(one.source.copy(), out, threads=1)
    return out


def _groups() -> dict[str, list[Program]]:
    found: dict[str, list[Program]] = {}
    for one in programs():
        found.setdefault(one.key.split(" ")[0].split(".")[0], []).append(one)
    return found


@pytest.mark.parametrize("group", sorted(_groups()))
def test_equal_to_the_gpu_bit_for_bit(group: str) -> None:
    wrong = []
    recorded = _recorded()
    for one in _groups()[group]:
        ours, theirs = run(one), recorded[one.key]
        if not np.array_equal(ours, theirs):
            at = int(np.flatnonzero(ours != theirs)[0])
            wrong.append(f"{one.key}: word {at}: GPU {theirs[at]:#x}, simulator {ours[at]:#x}")
    assert wrong == []


def test_the_recording_holds_every_program() -> None:
    assert {one.key for one in programs()} == set(_recorded())
