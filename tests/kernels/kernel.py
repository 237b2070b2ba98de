"""One kernel of the suite: its source, how it is launched, and what numpy says it gives."""

from __future__ import annotations

import zlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import cache
from typing import Any

import numpy as np

import ptxkit

#: What every kernel is compiled for.
ARCHITECTURES = ("sm_75", "sm_90", "sm_120")


@dataclass(frozen=True, slots=True)
class Setup:
    """A launch."""

    grid: Any
    block: Any
    arguments: tuple[Any, ...]
    shared: int = 0
    cooperative: bool = False

    def run(self, loaded: Any, entry: str, **options: Any) -> Any:
        """Launch on a loaded module."""
        launcher = loaded[entry][self.grid, self.block, self.shared]
        if self.cooperative:
            launcher = launcher.with_options(cooperative=True)
        return launcher(*self.arguments, **options)


@dataclass(frozen=True, slots=True)
class Kernel:
    """A kernel as someone wrote it.

    ``setup(generator, size)`` makes a launch; ``reference(*arguments)`` gives, from the arguments
    as they were before, what each of the last arrays must hold afterwards.
    """

    name: str
    source: str
    setup: Callable[[np.random.Generator, int], Setup]
    reference: Callable[..., Sequence[Any]]
    sizes: tuple[int, ...] = (1, 37, 300)
    tolerance: float = 0.0
    """Relative; 0 asks for equality with numpy."""
    theme: str = field(default="", compare=False)

    def module(self, arch: str) -> ptxkit.Module:
        """Its PTX, as NVRTC makes it."""
        return _compiled(self.source, arch)

    def entry(self, arch: str = "sm_90") -> str:
        """The name of the kernel in PTX: its own, or the mangled one of a template."""
        names = [f.name for f in self.module(arch).functions if f.is_entry]
        return self.name if self.name in names else next(x for x in names if self.name in x)

    def launch(self, size: int) -> Setup:
        """A launch with arguments that are always the same ones."""
        return self.setup(np.random.default_rng([zlib.crc32(self.name.encode()), size]), size)


@cache
def _compiled(source: str, arch: str) -> ptxkit.Module:
    return ptxkit.compile_cuda(source, arch=arch)


# ---- short forms for set-ups -------------------------------------------------------------


def line(n: int, *arguments: Any, block: int = 128, shared: int = 0) -> Setup:
    """A thread for each of n, in blocks of a line."""
    return Setup(max(1, -(-n // block)), block, arguments, shared)


def plane(width: int, height: int, *arguments: Any, block: tuple[int, int] = (16, 8)) -> Setup:
    """A thread for each place of a plane."""
    return Setup((-(-width // block[0]), -(-height // block[1])), block, arguments)


def floats(g: np.random.Generator, *shape: int) -> Any:
    """Numbers around zero."""
    return g.standard_normal(shape).astype(np.float32)


def small(g: np.random.Generator, *shape: int) -> Any:
    """Floats that are small integers, whose sums have no rounding."""
    return g.integers(-8, 9, shape).astype(np.float32)


def integers(g: np.random.Generator, *shape: int, low: int = -1000, high: int = 1000) -> Any:
    """Integers."""
    return g.integers(low, high, shape).astype(np.int32)


def zeros(*shape: int, dtype: Any = np.float32) -> Any:
    """What a kernel fills."""
    return np.zeros(shape, dtype)
