"""Times of many runs of one thing. The smallest is the least disturbed one.

>>> sample = measure(lambda: sum(range(1000)), repeat=5)
>>> 0 < sample.minimum <= sample.median, sample.runs
(True, 5)
"""

from __future__ import annotations

import gc
from collections.abc import Callable
from statistics import median
from time import perf_counter
from typing import NamedTuple


class Sample(NamedTuple):
    """Seconds of one run: the smallest and the middle of ``runs``."""

    minimum: float
    median: float
    runs: int


def measure(
    work: Callable[[], object], *, repeat: int = 7, clock: Callable[[], float] = perf_counter
) -> Sample:
    """Run ``work`` ``repeat`` times, without the garbage collector in between."""
    return interleave({"": work}, repeat=repeat, clock=clock)[""]


def interleave(
    works: dict[str, Callable[[], object]],
    *,
    repeat: int = 7,
    clock: Callable[[], float] = perf_counter,
) -> dict[str, Sample]:
    """Time several things in turns, so that a busy machine slows all of them alike.

    Each runs once before, so that what is loaded on first use is not counted. Where all
    run in this process, ``process_time`` as the clock leaves out what others take.
    """
    times: dict[str, list[float]] = {name: [] for name in works}
    enabled = gc.isenabled()
    gc.disable()
    try:
        for work in works.values():
            work()
        for _ in range(max(1, repeat)):
            for name, work in works.items():
                begin = clock()
                work()
                times[name].append(clock() - begin)
                gc.collect(0)
    finally:
        if enabled:
            gc.enable()
    return {name: Sample(min(found), median(found), len(found)) for name, found in times.items()}
