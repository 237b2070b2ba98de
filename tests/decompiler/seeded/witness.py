"""Launches that show a bug, made without the verifier: neither its inputs nor what it knows.

They are those that a program was written with, at its sizes and at others, first as its author
fills memory, then with numbers that numpy draws in ways of their own.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
from tests.kernels.kernel import Kernel, Setup

import ptxkit
from ptxkit.errors import PtxkitError
from ptxkit.run import Surface
from ptxkit.syntax import Module
from ptxkit.synth.tiers.sample import Sample

#: Says whether two modules differ on some launch.
Witness = Callable[[Module, Module], bool]

_SIZES = (1, 7, 31, 64, 100, 257, 1000)
_DRAWS = 6
_SEED = 0xBEE5
_SPECIAL = (0.0, -0.0, 1.0, -1.0, np.inf, -np.inf, np.nan, 1e-40, 3e38, 0.5, 2.0, 65504.0)
_SECONDS = 5.0


def redrawn(array: Any, draw: int, generator: np.random.Generator) -> Any:
    """An array of the same kind with other numbers; as it is for the first draw."""
    if draw == 0 or not isinstance(array, np.ndarray) or array.dtype.fields is not None:
        return array
    shape, kind = array.shape, array.dtype.kind
    if kind == "f":
        scale = 10.0 ** generator.integers(-3, 6)
        made = generator.standard_normal(shape) * scale
        special = generator.random(shape) < (0.0, 0.05, 0.5)[draw % 3]
        made = np.where(special, generator.choice(_SPECIAL, shape), made)
        with np.errstate(over="ignore", invalid="ignore"):
            return made.astype(array.dtype)
    if kind in "iu":
        info = np.iinfo(array.dtype)
        low, high = ((0, 3), (0, 100), (info.min, info.max))[draw % 3]
        return generator.integers(low, high, shape, array.dtype, endpoint=True)
    if kind == "b":
        return generator.random(shape) < 0.5
    return array


def _left(run: Callable[[list[Any]], Any], arguments: list[Any]) -> list[bytes] | None:
    """What is in memory after a launch; None where it failed."""
    try:
        run(arguments)
    except PtxkitError:
        return None
    arrays = [one.array if isinstance(one, Surface) else one for one in arguments]
    return [one.tobytes() for one in arrays if isinstance(one, np.ndarray)]


def _differ(
    loaded: list[Any], runs: Callable[[Any, list[Any]], Any], make: Callable[[], list[Any]]
) -> bool:
    """Whether two modules leave different things; a launch that the first fails says nothing."""
    first = _left(lambda values: runs(loaded[0], values), make())
    return first is not None and first != _left(lambda values: runs(loaded[1], values), make())


def tier_witness(sample: Sample) -> Witness:
    """The launches of a program of the tiers."""

    def differ(a: Module, b: Module) -> bool:
        loaded = [ptxkit.load(m, device="cpu") for m in (a, b)]
        for launch in sample.launches:
            names = [
                next((f.name for f in m.kernels if launch.kernel in f.name), None) for m in (a, b)
            ]
            if None in names:
                return True
            by_module = dict(zip(map(id, loaded), names, strict=True))

            def runs(module: Any, values: list[Any], at: Any = launch, of: Any = by_module) -> Any:
                kernel = module[of[id(module)]]
                return kernel[at.grid, at.block, at.dynamic_shared](
                    *values, threads=1, time_limit=_SECONDS
                )

            for trial in range(12 * (1 + _DRAWS)):

                def make(trial: int = trial, at: Any = launch) -> list[Any]:
                    generator = np.random.default_rng([_SEED, sample.index, trial])
                    values = sample.arguments(at, trial)
                    return [redrawn(value, trial // 12, generator) for value in values]

                if _differ(loaded, runs, make):
                    return True
        return False

    return differ


def suite_witness(kernel: Kernel, entry: str) -> Witness:
    """The launches of a kernel of the suite, and others of its kind."""

    def differ(a: Module, b: Module) -> bool:
        loaded = [ptxkit.load(m, device="cpu") for m in (a, b)]
        for size in dict.fromkeys((*kernel.sizes, *_SIZES)):
            for draw in range(_DRAWS if size in kernel.sizes else 2):
                setups: list[Setup] = []

                def make(size: int = size, draw: int = draw, made: Any = setups) -> list[Any]:
                    made[:] = [kernel.launch(size)]
                    generator = np.random.default_rng([_SEED, size, draw])
                    return [redrawn(one, draw, generator) for one in made[0].arguments]

                def runs(module: Any, values: list[Any], made: Any = setups) -> Any:
                    setup = replace(made[0], arguments=tuple(values))
                    return setup.run(module, entry, threads=1, time_limit=_SECONDS)

                try:
                    if _differ(loaded, runs, make):
                        return True
                except (ValueError, IndexError, ZeroDivisionError):
                    break  # it is not made for such a size
        return False

    return differ
