"""Lifting takes as long for an instruction of a long function as for one of a short function.

Calls are counted, not seconds: they are the same on every machine.
"""

from __future__ import annotations

import cProfile
import pstats

import pytest
from benchmarks.large import NAME, PIECES, module

from ptxkit.decompiler.engines import FORMS
from ptxkit.decompiler.lift.lifter import lift_module


def calls(kind: str, instructions: int) -> float:
    """Calls of functions for each instruction that is lifted."""
    made = module(kind, instructions)
    profile = cProfile.Profile()
    profile.enable()
    lift_module(made, FORMS[0])
    profile.disable()
    total: int = pstats.Stats(profile).total_calls  # type: ignore[attr-defined]
    return total / len(made[NAME].instructions)


@pytest.mark.parametrize("kind", PIECES)
def test_work_for_an_instruction_does_not_grow(kind: str) -> None:
    # What is loaded or mined on first use, for the numbers of this one, is not counted.
    lift_module(module(kind, 2000), FORMS[0])
    assert calls(kind, 2000) < 1.25 * calls(kind, 800)
