"""Run a case on both devices and compare what they leave in memory."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cache
from typing import Any

import numpy as np
from tests.run.kernels.case import Case, arrays, check_against_numpy

import ptxkit
from ptxkit.decompiler.verify.gpu import unfused

Record = Callable[[str, Any], None]


@cache
def loaded(module: ptxkit.Module, device: str) -> Any:
    """A module on a device."""
    return ptxkit.load(module, device=device)


rounded = cache(unfused)


def check_both(case: Case, module: ptxkit.Module, record: Record) -> None:
    """The GPU equals numpy, and the simulator equals the GPU."""
    gpu, simulator = (_outputs(case, loaded(module, device)) for device in ("cuda", "cpu"))
    check_against_numpy(case, gpu)
    if _same(gpu, simulator):
        record("equality", "bit for bit")
        return
    plain = rounded(module)
    gpu, simulator = (_outputs(case, loaded(plain, device)) for device in ("cuda", "cpu"))
    if _same(gpu, simulator):
        record("equality", "bit for bit where `.rn` forbids the assembler to fuse")
        return
    assert case.approximate, _differences(gpu, simulator)
    for a, b in zip(gpu, simulator, strict=True):
        np.testing.assert_allclose(b, a, rtol=case.tolerance, atol=case.tolerance)
    record("equality", "within the error of `.approx` instructions")


def _outputs(case: Case, module: Any) -> list[Any]:
    """What a run leaves in the arrays that the case says something about."""
    values = case.make()
    case.run(module, *values)
    return arrays(values)[-len(case.expected(*case.make())) :]


def _same(gpu: Sequence[Any], simulator: Sequence[Any]) -> bool:
    pairs = zip(gpu, simulator, strict=True)
    return all(np.array_equal(a.reshape(-1).view("u1"), b.reshape(-1).view("u1")) for a, b in pairs)


def _differences(gpu: Sequence[Any], simulator: Sequence[Any]) -> str:
    lines = []
    for a, b in zip(gpu, simulator, strict=True):
        one, two = a.reshape(-1), b.reshape(-1)
        at = np.flatnonzero(one.view(f"V{a.itemsize}") != two.view(f"V{a.itemsize}"))
        shown = [f"[{i}] GPU {one[i]!r}, simulator {two[i]!r}" for i in at[:4]]
        lines.append(f"{len(at)} of {a.size} differ: {', '.join(shown)}")
    return "\n".join(lines)
