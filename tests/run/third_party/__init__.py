"""Kernels that other compilers make, run on the simulator and on a GPU.

They are compiled when they are needed, where the compiler is installed
(``pip install triton numba-cuda``); no GPU is needed for that.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from importlib import import_module

from tests.run.kernels.case import Case


@dataclass(frozen=True, slots=True)
class Recipe:
    """A kernel: ``compile()`` gives PTX, ``case`` runs it by its kernel's name or its only one."""

    case: Case
    compile: Callable[[], str]


#: Compiler -> the module that imports it.
COMPILERS = {"numba": "numba.cuda", "triton": "triton"}


@cache
def recipes(compiler: str) -> dict[str, Recipe]:
    """The recipes of a compiler by name; ImportError where it is not installed."""
    import_module(COMPILERS[compiler])
    found = import_module(f"tests.run.third_party.{compiler}_kernels").RECIPES
    return {recipe.case.name: recipe for recipe in found}


#: The names of all recipes, known without importing the compilers.
NAMES = (
    *(("numba", name) for name in """axpy reduction matmul histogram scan mandelbrot monte_carlo
      heat functions records complex_numbers reduce_min""".split()),
    *(("triton", name) for name in """add softmax matmul matmul_tf32 layer_norm attention
      dropout reduce atomics sort""".split()),
)  # fmt: skip
