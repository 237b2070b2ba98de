"""The ten tiers. Each function makes what its name says."""

from __future__ import annotations

from collections.abc import Callable

from ptxkit.cuda import nodes as n
from ptxkit.cuda.types import HALF, Pointer
from ptxkit.synth.streams import Stream
from ptxkit.synth.tiers.calling import several_functions
from ptxkit.synth.tiers.cooperating import warp_and_atomic
from ptxkit.synth.tiers.elementwise import (
    nested_arithmetic,
    several_statements,
    simple_binary,
    ternary_and_compare,
    type_diversity,
    unary_math,
)
from ptxkit.synth.tiers.kernels import Made
from ptxkit.synth.tiers.looping import loops
from ptxkit.synth.tiers.sample import Sample
from ptxkit.synth.tiers.shared import shared_memory
from ptxkit.synth.tiers.tidy import called, tidy, tidy_function

TIERS: dict[int, tuple[str, Callable[[Stream], Made]]] = {
    1: ("simple_binary", simple_binary),
    2: ("nested_arithmetic", nested_arithmetic),
    3: ("unary_math", unary_math),
    4: ("ternary_and_compare", ternary_and_compare),
    5: ("type_diversity", type_diversity),
    6: ("several_statements", several_statements),
    7: ("shared_memory", shared_memory),
    8: ("loops", loops),
    9: ("warp_and_atomic", warp_and_atomic),
    10: ("several_functions", several_functions),
}
"""Number of a tier: its name and what makes one of it."""


def make(seed: int, index: int, tiers: tuple[int, ...] = tuple(TIERS)) -> Sample:
    """The sample of a seed and an index; tiers take turns."""
    draw = Stream(seed, "tiers", index)
    tier = tiers[index % len(tiers)]
    functions, launches = TIERS[tier][1](draw)
    how = {launch.kernel: launch for launch in launches}
    kept: list[n.Function] = []
    for function in called(functions):
        if function.name in how:
            function, how[function.name] = tidy(function, how[function.name])
        else:
            function = tidy_function(function)
        kept.append(function)
    includes = ("cuda_fp16.h",) if any(map(_has_half, kept)) else ()
    return Sample(seed, index, tier, n.CudaModule(tuple(kept), includes), tuple(how.values()))


def _has_half(function: n.Function) -> bool:
    """Whether halves occur in it: as an array, or, where that is not used, in a value of its own.

    >>> from ptxkit.cuda.types import FLOAT, VOID
    >>> [_has_half(n.Function("k", (), (n.Declare(t, "x"),), VOID)) for t in (HALF, FLOAT)]
    [True, False]
    """
    if any(isinstance(p.type, Pointer) and p.type.target == HALF for p in function.parameters):
        return True
    return any(
        "half" in node.function if isinstance(node, n.Call) else getattr(node, "type", None) == HALF
        for node in function.walk()
    )
