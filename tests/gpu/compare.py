"""Run a case on both devices and compare what they leave in memory."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from tests.run.kernels.case import Case, arrays, check_against_numpy

Record = Callable[[str, Any], None]


def check_both(case: Case, loaded: Callable[[str], Any], record: Record) -> None:
    """The GPU equals numpy, and the simulator equals the GPU."""
    results = []
    for device in ("cuda", "cpu"):
        values = case.make()
        case.run(loaded(device), *values)
        results.append(values)
    gpu, simulator = results
    check_against_numpy(case, gpu)
    compared = len(case.expected(*case.make()))
    pairs = list(zip(arrays(gpu)[-compared:], arrays(simulator)[-compared:], strict=True))
    if all(np.array_equal(a.reshape(-1).view("u1"), b.reshape(-1).view("u1")) for a, b in pairs):
        record("equality", "bit for bit")
        return
    assert case.approximate, "\n".join(_differences(a, b) for a, b in pairs)
    for a, b in pairs:
        np.testing.assert_allclose(b, a, rtol=case.tolerance, atol=case.tolerance)
    record("equality", "within the error of `.approx` instructions")


def _differences(gpu: Any, simulator: Any) -> str:
    different = np.flatnonzero(gpu.reshape(-1) != simulator.reshape(-1))
    shown = [
        f"[{i}] GPU {gpu.reshape(-1)[i]!r}, simulator {simulator.reshape(-1)[i]!r}"
        for i in different[:4]
    ]
    return f"{len(different)} of {gpu.size} differ: {', '.join(shown)}"
