"""PTX of other compilers: numba-cuda and Triton for sm_80, on GPU and simulator."""

from __future__ import annotations

import pytest
from tests.gpu.compare import Record, check_both
from tests.run.third_party import NAMES, recipes

import ptxkit


@pytest.mark.parametrize(("compiler", "name"), NAMES, ids=["-".join(pair) for pair in NAMES])
def test_equal_on_both(compiler: str, name: str, record_property: Record) -> None:
    try:
        recipe = recipes(compiler)[name]
    except ImportError:
        pytest.skip(f"{compiler} is not installed: pip install triton numba-cuda")
    check_both(recipe.case, ptxkit.parse(recipe.compile()), record_property)
