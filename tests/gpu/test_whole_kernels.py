"""Whole kernels: GPU against numpy and against the simulator."""

from __future__ import annotations

from functools import cache

import pytest
from tests.gpu.compare import Record, check_both
from tests.run.kernels import all_cases, source
from tests.run.kernels.case import Case

import ptxkit

CASES = all_cases()


@cache
def compiled(topic: str) -> ptxkit.Module:
    return ptxkit.compile_cuda(source(topic), arch="sm_80")


@pytest.mark.parametrize(("topic", "case"), CASES, ids=[f"{t}-{c.name}" for t, c in CASES])
def test_equal_on_both(topic: str, case: Case, record_property: Record) -> None:
    check_both(case, compiled(topic), record_property)
