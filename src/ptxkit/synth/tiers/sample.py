"""One sample: a module of CUDA C++, and how to launch its kernels."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from ptxkit.cuda import nodes as n
from ptxkit.cuda.arithmetic import dtype_of
from ptxkit.cuda.types import Scalar
from ptxkit.synth.streams import Stream


@dataclass(frozen=True, slots=True)
class ArraySpec:
    """An array argument: its element type, size, and the range its numbers come from."""

    type: Scalar
    count: int
    low: float
    high: float
    written: bool = False


@dataclass(frozen=True, slots=True)
class Launch:
    """How one kernel is launched: arguments are arrays, or numbers as they are."""

    kernel: str
    grid: tuple[int, int, int]
    block: tuple[int, int, int]
    arguments: tuple[ArraySpec | int | float, ...]
    dynamic_shared: int = 0


@dataclass(frozen=True, slots=True)
class Sample:
    """A program of one tier."""

    seed: int
    index: int
    tier: int
    module: n.CudaModule
    launches: tuple[Launch, ...]
    ast: str = ""
    """The tree as an S-expression with its names numbered, once that was made."""

    def arguments(self, launch: Launch, trial: int = 0) -> list[Any]:
        """Random arguments, the same for the same trial."""
        stream = Stream(self.seed, "tiers", self.index, "arguments", trial)
        made: list[Any] = []
        for spec in launch.arguments:
            if isinstance(spec, ArraySpec):
                made.append(_array(spec, stream))
            else:
                made.append(spec)
        return made

    def own_names(self) -> set[str]:
        """The names that programs in one file must not share.

        Those are functions, and shared memory of a size that the launch decides about: it is one
        variable of the whole file, with one type.
        """
        names = {i.name for i in self.module.items if isinstance(i, n.Function)}
        for launch in self.launches:
            if launch.dynamic_shared:
                names |= {
                    node.name
                    for node in self.module.walk()
                    if isinstance(node, n.Declare) and node.space == "extern shared"
                }
        return names

    def renamed(self, prefix: str) -> Sample:
        """The same program with a prefix on its own names, to put many into one file."""
        launches = tuple(replace(x, kernel=prefix + x.kernel) for x in self.launches)
        module = _prefixed(self.module, self.own_names(), prefix)
        assert isinstance(module, n.CudaModule)
        return replace(self, module=module, launches=launches)


def _array(spec: ArraySpec, stream: Stream) -> Any:
    dtype = dtype_of(spec.type)
    if spec.written:
        return np.zeros(spec.count, dtype)
    if spec.type.is_float:
        return stream.reals((spec.count,), spec.low, spec.high).astype(dtype)
    return stream.integers((spec.count,), int(spec.low), int(spec.high)).astype(dtype)


def _prefixed(node: n.Node, names: set[str], prefix: str) -> n.Node:
    changes: dict[str, Any] = {}
    if isinstance(node, n.Function | n.Declare | n.Name):
        if node.name in names:
            changes["name"] = prefix + node.name
    elif isinstance(node, n.Call) and node.function in names:
        changes["function"] = prefix + node.function
    return node.rebuilt(lambda child: _prefixed(child, names, prefix), **changes)
