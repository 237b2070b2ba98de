"""The same kernels on the GPU and on the simulator: bit for bit the same memory after."""

from __future__ import annotations

import copy
from functools import cache
from typing import Any

import numpy as np
import pytest
from tests.run.test_kernels import SOURCE

import ptxkit

RANDOM = np.random.default_rng(11)


def floats(*shape: int) -> Any:
    return RANDOM.standard_normal(shape).astype(np.float32)


def integers(low: int, high: int, *shape: int, dtype: Any = np.int32) -> Any:
    return RANDOM.integers(low, high, shape).astype(dtype)


LAUNCHES: list[tuple[str, Any, Any, int, tuple[Any, ...]]] = [
    ("saxpy", 4, 256, 0, (2.5, floats(1000), floats(1000), 1000)),
    ("matmul", (4, 4), (16, 16), 0, (floats(64, 64), floats(64, 64), np.zeros((64, 64), "f4"), 64)),
    ("recursion", 1, 64, 0, (np.zeros(64, np.int32),)),
    ("total", 8, 256, 0, (integers(-1000, 1000, 9999), np.zeros(1, np.int32), 9999)),
    ("histogram", 4, 256, 0, (integers(0, 256, 5000, dtype=np.uint8), np.zeros(256, "u4"), 5000)),
    ("switches", 1, 96, 0, (integers(-(2**62), 2**62, 96, dtype="i8"),
                            integers(-(2**40), 2**40, 96, dtype="i8"), np.zeros(96, "i8"))),
    ("scan", 1, 256, 1024, (integers(-50, 50, 256),)),
    ("variables", 1, 64, 0, (np.zeros(64, "f4"),)),
    ("spin", 2, 64, 0, (np.zeros(1, np.int32), np.zeros(1, np.int32))),
    ("doubles", 1, 64, 0, (RANDOM.standard_normal(64) * 10, np.zeros(64))),
]  # fmt: skip


@cache
def loaded(device: str) -> Any:
    return ptxkit.load(ptxkit.compile_cuda(SOURCE, arch="sm_80"), device=device)


@pytest.mark.parametrize("launch", LAUNCHES, ids=[launch[0] for launch in LAUNCHES])
def test_equal_on_both(launch: tuple[str, Any, Any, int, tuple[Any, ...]]) -> None:
    name, grid, block, shared, arguments = launch
    results = []
    for device in ("cpu", "cuda"):
        values = copy.deepcopy(arguments)
        loaded(device)[name][grid, block, shared](*values)
        results.append([v for v in values if isinstance(v, np.ndarray)])
    for ours, theirs in zip(*results, strict=True):
        np.testing.assert_array_equal(ours.view(np.uint8), theirs.view(np.uint8))


def test_torch_tensors_are_passed_by_address() -> None:
    torch = pytest.importorskip("torch")
    x = torch.randn(1000, device="cuda")
    y = torch.randn(1000, device="cuda")
    expected = torch.addcmul(y, x, torch.tensor(2.5, device="cuda"))
    loaded("cuda")["saxpy"][4, 256](2.5, x, y, 1000)
    torch.testing.assert_close(y, expected)


def test_time_by_events() -> None:
    torch = pytest.importorskip("torch")
    x, y = torch.randn(2, 1 << 22, device="cuda")
    milliseconds = loaded("cuda")["saxpy"].time(1 << 14, 256, 2.5, x, y, 1 << 22)
    assert 0 < milliseconds < 10


def test_errors_name_the_kernel() -> None:
    with pytest.raises(ptxkit.PtxkitError, match="saxpy"):
        loaded("cuda")["saxpy"][1, 1024, 1 << 30](1.0, np.zeros(4, "f4"), np.zeros(4, "f4"), 4)
    with pytest.raises(ptxkit.UnknownNameError, match="saxpy"):
        loaded("cuda")["nothing"]
