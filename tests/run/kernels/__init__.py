"""Whole kernels as people write them, each with what numpy says it must give.

The same cases run on the simulator (``make test``) and on a GPU (``make test-gpu``), where
the simulator's memory must equal the GPU's.
"""

from __future__ import annotations

from functools import cache
from importlib import import_module
from pathlib import Path

from tests.run.kernels.case import Case

import ptxkit

#: The files of this folder that hold a SOURCE and its CASES.
TOPICS = tuple(
    sorted(
        path.stem
        for path in Path(__file__).parent.glob("*.py")
        if path.stem not in ("__init__", "__main__", "case")
    )
)


def all_cases() -> tuple[tuple[str, Case], ...]:
    """Every case with its topic."""
    return tuple(
        (topic, case)
        for topic in TOPICS
        for case in import_module(f"tests.run.kernels.{topic}").CASES
    )


@cache
def compiled(topic: str) -> ptxkit.Module:
    """The kernels of a topic."""
    found = import_module(f"tests.run.kernels.{topic}")
    return ptxkit.compile_cuda(found.SOURCE, arch=getattr(found, "ARCH", "sm_80"))
