"""Programs of the grammar, compiled once for all tests of this folder."""

from __future__ import annotations

from collections import Counter
from functools import lru_cache
from typing import Any

from ptxkit.cuda import nodes as n
from ptxkit.decompiler.neural.corpus import Pair, make_pairs
from ptxkit.decompiler.neural.program import Program
from ptxkit.decompiler.neural.statements import lower
from ptxkit.decompiler.neural.unsupported import UnsupportedError
from ptxkit.synth.tiers.grammar import make

TIERS = tuple(range(1, 11))


@lru_cache(maxsize=1)
def pairs() -> tuple[Pair, ...]:
    """What the compiler makes of some programs of every tier."""
    found, refused = make_pairs(5, 0, 90, TIERS, "sm_90")
    # Only calls of functions that are not inlined are outside the grammar.
    assert set(refused) <= {"a call of a function that is not inlined"}, Counter(refused)
    return tuple(found)


def lowered(seed: int, count: int) -> list[tuple[Any, n.Function, Program]]:
    """Programs with one of their kernels, as effects over values."""
    found = []
    for index in range(count):
        sample = make(seed, index, TIERS)
        functions = {f.name: f for f in sample.module.items
                     if isinstance(f, n.Function) and not f.kernel}  # fmt: skip
        for launch in sample.launches[:1]:
            kernel = next(k for k in sample.module.kernels if k.name == launch.kernel)
            try:
                found.append((sample, kernel, lower(kernel, functions)))
            except UnsupportedError:
                continue
    return found
