"""Whole kernels: GPU against numpy and against the simulator."""

from __future__ import annotations

import pytest
from tests.gpu.compare import Record, check_both
from tests.run.kernels import all_cases, compiled
from tests.run.kernels.case import Case

CASES = all_cases()


@pytest.mark.parametrize(("topic", "case"), CASES, ids=[f"{t}-{c.name}" for t, c in CASES])
def test_equal_on_both(topic: str, case: Case, record_property: Record) -> None:
    check_both(case, compiled(topic), record_property)
