"""Every kernel of tests/run/kernels on the simulator, against numpy."""

from __future__ import annotations

from functools import cache
from typing import Any

import pytest
from tests.run.kernels import all_cases, source
from tests.run.kernels.case import Case, check_against_numpy

import ptxkit

CASES = all_cases()


@cache
def loaded(topic: str) -> Any:
    return ptxkit.load(ptxkit.compile_cuda(source(topic), arch="sm_80"), device="cpu")


@pytest.mark.parametrize(("topic", "case"), CASES, ids=[f"{t}-{c.name}" for t, c in CASES])
def test_equals_numpy(topic: str, case: Case) -> None:
    arguments = case.make()
    case.run(loaded(topic), *arguments)
    check_against_numpy(case, arguments)
