"""Clusters, cooperative launches and pipelines on the GPU and on the simulator."""

from __future__ import annotations

import copy
from functools import cache
from typing import Any

import numpy as np
import pytest
from tests.run import test_asynchronous, test_clusters, test_progress

import ptxkit

RANDOM = np.random.default_rng(12)
SOURCES = {
    "clusters": (test_clusters.SOURCE, "sm_90"),
    "asynchronous": (test_asynchronous.PIPELINE, "sm_90"),
    "progress": (test_progress.SOURCE, "sm_80"),
}


def integers(*shape: int, dtype: Any = np.int32) -> Any:
    return RANDOM.integers(0, 256, shape).astype(dtype)


def zeros(*shape: int) -> Any:
    return np.zeros(shape, np.int32)


LAUNCHES: list[tuple[str, str, Any, Any, dict[str, Any], tuple[Any, ...]]] = [
    ("clusters", "reverse_twice", 16, 96, {"cooperative": True}, (zeros(1536), zeros(1536), 1536)),
    ("clusters", "histogram", 8, 64, {"cluster": 4},
     (integers(5000, dtype=np.uint8), np.zeros(256, np.uint32), 5000)),
    ("clusters", "ranks", (6, 4), 32, {}, (zeros(24),)),
    ("asynchronous", "stages", 1, 128, {},
     (RANDOM.standard_normal((20, 128)).astype("f4"), np.zeros((20, 128), "f4"), 20)),
    ("asynchronous", "bulk", 1, 64, {}, (integers(8, 256), zeros(8, 256), 8)),
    ("progress", "lanes", 1, 32, {}, (zeros(33), zeros(32))),
    ("progress", "ring", 1, 256, {}, (zeros(1), 20)),
    ("progress", "halves", 1, 64, {}, (zeros(64),)),
    ("progress", "look_back", 64, 64, {}, (integers(4096), zeros(4096), zeros(64), zeros(64))),
]  # fmt: skip


@cache
def loaded(source: str, device: str) -> Any:
    text, arch = SOURCES[source]
    return ptxkit.load(ptxkit.compile_cuda(text, arch=arch), device=device)


@pytest.mark.filterwarnings("ignore::ptxkit.toolchain.messages.CompilerWarning")
@pytest.mark.parametrize("launch", LAUNCHES, ids=[launch[1] for launch in LAUNCHES])
def test_equal_on_both(launch: Any) -> None:
    source, name, grid, block, options, arguments = launch
    results = []
    for device in ("cpu", "cuda"):
        values = copy.deepcopy(arguments)
        launcher = loaded(source, device)[name][grid, block]
        (launcher.with_options(**options) if options else launcher)(*values)
        results.append([value for value in values if isinstance(value, np.ndarray)])
    for ours, theirs in zip(*results, strict=True):
        np.testing.assert_array_equal(ours.view(np.uint8), theirs.view(np.uint8))
