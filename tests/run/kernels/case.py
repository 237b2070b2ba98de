"""One kernel, its arguments, and what they hold afterwards."""

from __future__ import annotations

import zlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np


@dataclass(frozen=True, slots=True)
class Case:
    """A kernel to run.

    ``run(loaded, *arguments)`` launches it on a loaded module, on whichever device;
    ``expected(*arguments)`` gives, from arguments as they were before, what each of the last
    arrays must hold afterwards.
    """

    name: str
    arguments: Callable[[np.random.Generator], tuple[Any, ...]]
    run: Callable[..., None]
    expected: Callable[..., Sequence[Any]]
    tolerance: float = 0.0
    """Relative; 0 asks for equality with numpy."""
    approximate: bool = False
    """Uses instructions that the PTX ISA defines by an error bound (``ex2.approx``, ...), so
    that simulator and GPU are equal within the tolerance, not bit for bit."""

    def make(self) -> tuple[Any, ...]:
        """The arguments, always the same ones."""
        return self.arguments(np.random.default_rng(zlib.crc32(self.name.encode())))


def arrays(values: Sequence[Any]) -> list[np.ndarray[Any, Any]]:
    """The arrays among arguments."""
    return [value for value in values if isinstance(value, np.ndarray)]


def check_against_numpy(case: Case, after: Sequence[Any]) -> None:
    """Compare arguments, or the last arrays of them, after a run with what numpy expects."""
    expected = [np.asarray(value) for value in case.expected(*case.make())]
    found = arrays(after)[-len(expected) :]
    for one, truth in zip(found, expected, strict=True):
        assert one.shape == truth.shape, (one.shape, truth.shape)
        if case.tolerance == 0:
            np.testing.assert_array_equal(one, truth)
        else:
            np.testing.assert_allclose(one, truth, rtol=case.tolerance, atol=case.tolerance)


def launch(
    kernel: str, grid: Any, block: Any, shared: int = 0, **options: Any
) -> Callable[..., None]:
    """The ``run`` of a case that is one launch of all its arguments."""

    def run(loaded: Any, *arguments: Any) -> None:
        launcher = loaded[kernel][grid, block, shared]
        (launcher.with_options(**options) if options else launcher)(*arguments)

    return run
