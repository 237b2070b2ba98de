"""The verifier accepts no bug; ``python -m tests.decompiler.seeded.campaign`` tries 1,000."""

from __future__ import annotations

import pytest
from tests.decompiler.seeded.campaign import run


@pytest.mark.parametrize("source", ["trees", "code"])
def test_no_seeded_bug_is_accepted(source: str) -> None:
    result = run(18, seed=22, sources=source)
    assert result.accepted == []
    assert result.bugs >= 12
