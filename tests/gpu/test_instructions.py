"""Single instructions: the GPU gives what was recorded, the simulator what the GPU gives."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from tests.gpu.compare import Record
from tests.run.approximations import approximation
from tests.run.errors import table
from tests.run.replay import RECORDING, replays


@pytest.fixture(scope="module")
def fresh(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("recording")
    command = [sys.executable, "-m", "tests.gpu.record", str(folder)]
    subprocess.run(command, check=True, timeout=300)
    return folder


def test_this_gpu_gives_what_was_recorded(fresh: Path, record_property: Record) -> None:
    facts: dict[str, str] = {}
    different = []
    for file in sorted(fresh.glob("*.npz")):
        kept = RECORDING.with_name(file.name)
        if not kept.exists():
            facts[f"`{file.name}`"] = "recorded for the first time"
            continue
        with np.load(file) as now, np.load(kept) as before:
            names = sorted(set(now.files) & set(before.files))
            wrong = [name for name in names if not np.array_equal(now[name], before[name])]
            missing = sorted(set(before.files) - set(now.files))
        facts[f"`{file.name}` recorded again"] = (
            f"{len(names) - len(wrong)} of {len(names)} results equal bit for bit"
        )
        different += [f"{file.name}: {name}" for name in (*wrong, *missing)]
    record_property("facts", facts)
    assert facts and different == []


def test_simulator_equals_the_gpu(fresh: Path, record_property: Record) -> None:
    exact = approximate = 0
    wrong = []
    for one in replays(fresh / RECORDING.name):
        if approximation(one.opcode) is not None:
            approximate += 1
        elif np.array_equal(one.gpu, one.simulator):
            exact += 1
        else:
            wrong.append(one.case.text)
    record_property(
        "facts",
        {
            "variants equal on GPU and simulator, bit for bit, on 512 inputs each": exact,
            "variants that differ": len(wrong),
            "variants that are approximations, listed below": approximate,
        },
    )
    record_property("table", table(fresh / RECORDING.name))
    assert wrong == []
