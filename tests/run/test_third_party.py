"""Kernels of numba-cuda and Triton on the simulator, where those compilers are installed."""

from __future__ import annotations

import pytest
from tests.run.kernels.case import check_against_numpy
from tests.run.third_party import NAMES, recipes

import ptxkit


@pytest.mark.parametrize(("compiler", "name"), NAMES, ids=["-".join(pair) for pair in NAMES])
def test_equals_numpy(compiler: str, name: str) -> None:
    try:
        recipe = recipes(compiler)[name]
    except ImportError:
        pytest.skip(f"{compiler} is not installed: pip install triton numba-cuda")
    loaded = ptxkit.load(recipe.compile(), device="cpu")
    arguments = recipe.case.make()
    recipe.case.run(loaded, *arguments)
    check_against_numpy(recipe.case, arguments)


@pytest.mark.parametrize("compiler", sorted({compiler for compiler, _ in NAMES}))
def test_every_recipe_is_named(compiler: str) -> None:
    try:
        found = recipes(compiler)
    except ImportError:
        pytest.skip(f"{compiler} is not installed: pip install triton numba-cuda")
    assert sorted(found) == sorted(name for one, name in NAMES if one == compiler)
